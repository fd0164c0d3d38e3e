//! `yield_control` and `exit`.

use std::rc::Rc;

use rquickjs::{Ctx, Value};

use crate::engine::quickjs::errors::EXIT;
use crate::engine::quickjs::shared::{Arguments, Shared};
use crate::engine::quickjs::strings::throw;

/// Hands control back; the script goes on (runtime.md C8.4).
pub(super) fn yield_control<'js>(
    ctx: &Ctx<'js>,
    shared: &Rc<Shared<'js>>,
    _arguments: &Arguments<'js>,
) -> rquickjs::Result<Value<'js>> {
    shared.host.yield_control();
    Ok(Value::new_undefined(ctx.clone()))
}

/// Ends the script as a success, if what it throws comes to the top.
pub(super) fn exit<'js>(
    ctx: &Ctx<'js>,
    shared: &Rc<Shared<'js>>,
    _arguments: &Arguments<'js>,
) -> rquickjs::Result<Value<'js>> {
    shared.exits.set(true);
    Err(throw(ctx, EXIT))
}
