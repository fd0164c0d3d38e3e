//! What a script finds on its global object (runtime.md C5).

mod control;
mod media;
mod output;
mod store;
mod timeouts;
pub(super) mod tools;

use std::rc::Rc;

use rquickjs::{Ctx, Value};

use super::shared::{HostFunction, Shared, host_function};

/// What the engine brings that reaches beyond the language, or what the contract takes away (C5.2).
const REMOVED: &[&str] = &[
    "console",
    "Atomics",
    "SharedArrayBuffer",
    "WebAssembly",
    "performance",
    "queueMicrotask",
    "atob",
    "btoa",
    "DOMException",
    "navigator",
    "gc",
];

/// Whether a value is neither `undefined` nor `null`.
fn is_given(value: &Value<'_>) -> bool {
    !value.is_undefined() && !value.is_null()
}

/// Takes away what is not to be there and adds what is.
pub(super) fn install<'js>(ctx: &Ctx<'js>, shared: &Rc<Shared<'js>>) -> rquickjs::Result<()> {
    let globals = ctx.globals();
    for name in REMOVED {
        globals.remove(*name)?;
    }
    let functions: [(&str, HostFunction<'js>); 11] = [
        ("text", output::text),
        ("image", media::image),
        ("audio", media::audio),
        ("generatedImage", media::generated_image),
        ("store", store::store),
        ("load", store::load),
        ("notify", output::notify),
        ("yield_control", control::yield_control),
        ("exit", control::exit),
        ("setTimeout", timeouts::set_timeout),
        ("clearTimeout", timeouts::clear_timeout),
    ];
    for (name, function) in functions {
        globals.set(name, host_function(ctx, shared, name, function)?)?;
    }
    tools::install(ctx, shared)
}
