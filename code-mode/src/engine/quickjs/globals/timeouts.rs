//! `setTimeout` and `clearTimeout`.

use std::rc::Rc;

use rquickjs::{Coerced, Ctx, FromJs, IntoJs, Value};

use super::is_given;
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
    let Some(callback) = arguments.first.as_function().cloned() else { return Err(throw(ctx, NO_FUNCTION)) };
    let delay = Coerced::<f64>::from_js(ctx, arguments.second.clone())?.0;
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
    if is_given(&arguments.first) {
        let id = arguments.first.as_number().ok_or_else(|| throw(ctx, NO_NUMBER))?;
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
