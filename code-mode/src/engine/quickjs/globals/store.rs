//! `store` and `load`: values that outlive the cell, as JSON.

use std::rc::Rc;
use std::sync::Arc;

use rquickjs::{Ctx, Value};

use crate::engine::quickjs::shared::{Arguments, Shared};
use crate::engine::quickjs::strings::{string_form, text_of, throw};

/// Keeps a value under a key. It is read back at once by this cell, and by later ones when this one is over.
pub(super) fn store<'js>(
    ctx: &Ctx<'js>,
    shared: &Rc<Shared<'js>>,
    arguments: &Arguments<'js>,
) -> rquickjs::Result<Value<'js>> {
    let key = key_of(ctx, shared, arguments, "store key must be a string")?;
    let Some(json) = json_of(ctx, shared, arguments.second.clone()) else {
        let text = format!("Unable to store {key:?}. Only plain serializable objects can be stored.");
        return Err(throw(ctx, &text));
    };
    let before = shared.stored_json(&key).map_or(0, |json| key.len() + json.len());
    let bytes = shared.stored_bytes.get() - before + key.len() + json.len();
    if bytes > shared.script.limits.stored_bytes {
        let most = shared.script.limits.stored_bytes;
        return Err(throw(ctx, &format!("Unable to store {key:?}. A session stores at most {most} bytes.")));
    }
    shared.stored_bytes.set(bytes);
    shared.writes.borrow_mut().insert(key, json.into());
    Ok(Value::new_undefined(ctx.clone()))
}

/// A copy of what is stored under a key, or `undefined`.
pub(super) fn load<'js>(
    ctx: &Ctx<'js>,
    shared: &Rc<Shared<'js>>,
    arguments: &Arguments<'js>,
) -> rquickjs::Result<Value<'js>> {
    let key = key_of(ctx, shared, arguments, "load key must be a string")?;
    let Some(json) = shared.stored_json(&key) else { return Ok(Value::new_undefined(ctx.clone())) };
    ctx.json_parse(json.as_bytes()).map_err(|_| {
        ctx.catch();
        throw(ctx, "failed to load stored value")
    })
}

impl Shared<'_> {
    fn stored_json(&self, key: &str) -> Option<Arc<str>> {
        self.writes.borrow().get(key).or_else(|| self.script.stored.get(key)).cloned()
    }
}

/// The key, coerced to a string; `complaint` where that cannot be.
fn key_of<'js>(
    ctx: &Ctx<'js>,
    shared: &Shared<'js>,
    arguments: &Arguments<'js>,
    complaint: &str,
) -> rquickjs::Result<String> {
    let key = &arguments.first;
    if key.is_symbol() {
        return Err(throw(ctx, complaint));
    }
    string_form(shared, key).map_err(|_| {
        ctx.catch();
        throw(ctx, complaint)
    })
}

/// The value as JSON; none where it has no such form.
fn json_of<'js>(ctx: &Ctx<'js>, shared: &Shared<'js>, value: Value<'js>) -> Option<String> {
    match ctx.json_stringify(value).and_then(|json| json.map(|json| text_of(shared, &json)).transpose()) {
        Ok(json) => json,
        Err(_) => {
            ctx.catch();
            None
        }
    }
}
