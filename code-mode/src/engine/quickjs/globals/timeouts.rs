//! `setTimeout` and `clearTimeout`.

use std::rc::Rc;

use rquickjs::{Coerced, Ctx, FromJs, IntoJs, Value};

use crate::engine::quickjs::shared::{Arguments, Shared};
use crate::engine::quickjs::strings::throw;

const NO_FUNCTION: &str = "setTimeout expects a function callback";
const NO_NUMBER: &str = "clearTimeout expects a numeric timeout id";

/// Gives the timer's id. The callback gets no arguments (runtime.md C5).
pub(super) fn set_timeout<'js>(
    ctx: &Ctx<'js>,
    shared: &Rc<Shared<'js>>,
    arguments: &Arguments<'js>,
) -> rquickjs::Result<Value<'js>> {
    let callback = arguments.first.as_ref().and_then(Value::as_function).cloned();
    let Some(callback) = callback else { return Err(throw(ctx, NO_FUNCTION)) };
    let delay = match &arguments.second {
        Some(delay) => Coerced::<f64>::from_js(ctx, delay.clone())?.0,
        None => 0.0,
    };
    let id = shared.timers.borrow_mut().set(delay, callback);
    match id {
        Some(id) => id.into_js(ctx),
        None => Err(throw(ctx, &format!("more than {} timers are set", shared.script.limits.timers))),
    }
}

/// Takes a timer back; what cannot be one's id is ignored.
pub(super) fn clear_timeout<'js>(
    ctx: &Ctx<'js>,
    shared: &Rc<Shared<'js>>,
    arguments: &Arguments<'js>,
) -> rquickjs::Result<Value<'js>> {
    let id = arguments.first_or_undefined(ctx);
    if !id.is_undefined() && !id.is_null() {
        let id = id.as_number().ok_or_else(|| throw(ctx, NO_NUMBER))?;
        if let Some(id) = whole(id) {
            shared.timers.borrow_mut().clear_one(id);
        }
    }
    Ok(Value::new_undefined(ctx.clone()))
}

/// The number as an id, if it is one.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float beyond u64 becomes its end"
)]
fn whole(id: f64) -> Option<u64> {
    (id >= 1.0).then_some(id as u64)
}
