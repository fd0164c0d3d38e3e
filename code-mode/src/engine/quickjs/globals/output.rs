//! `text` and `notify`, and how both show a value.

use std::rc::Rc;

use rquickjs::function::This;
use rquickjs::{Ctx, String as JsString, Type, Value};
use tenon_protocol::FunctionCallOutputContentItem;
use tenon_tools::{TruncationPolicy, truncate_text};

use crate::engine::quickjs::shared::{Arguments, Shared};
use crate::engine::quickjs::strings::{string_form, text_of, throw};
use crate::limits::MAX_TEXT_BYTES;

const BLANK: &str = "notify expects non-empty text";

/// Puts out one text item.
pub(super) fn text<'js>(
    ctx: &Ctx<'js>,
    shared: &Rc<Shared<'js>>,
    arguments: &Arguments<'js>,
) -> rquickjs::Result<Value<'js>> {
    let text = shown(ctx, shared, &arguments.first)?;
    shared.host.put_out(FunctionCallOutputContentItem::InputText { text });
    Ok(Value::new_undefined(ctx.clone()))
}

/// Says something at once (runtime.md C7.5).
pub(super) fn notify<'js>(
    ctx: &Ctx<'js>,
    shared: &Rc<Shared<'js>>,
    arguments: &Arguments<'js>,
) -> rquickjs::Result<Value<'js>> {
    let text = shown(ctx, shared, &arguments.first)?;
    if text.trim().is_empty() {
        return Err(throw(ctx, BLANK));
    }
    shared.host.notify(text).map_err(|refusal| throw(ctx, &refusal))?;
    Ok(Value::new_undefined(ctx.clone()))
}

/// A value as the model reads it: a primitive by its string form, anything else as JSON where it has one.
fn shown<'js>(ctx: &Ctx<'js>, shared: &Shared<'js>, value: &Value<'js>) -> rquickjs::Result<String> {
    let text = match value.type_of() {
        Type::Object
        | Type::Array
        | Type::Function
        | Type::Constructor
        | Type::Exception
        | Type::Promise
        | Type::Proxy => json_or_form(ctx, shared, value)?,
        _ => string_form(shared, value)?,
    };
    Ok(if text.len() > MAX_TEXT_BYTES {
        truncate_text(&text, TruncationPolicy::Bytes(MAX_TEXT_BYTES))
    } else {
        text
    })
}

fn json_or_form<'js>(ctx: &Ctx<'js>, shared: &Shared<'js>, value: &Value<'js>) -> rquickjs::Result<String> {
    let json = match ctx.json_stringify(value.clone()) {
        Ok(Some(json)) => json,
        Ok(None) => return string_form(shared, value),
        Err(_) => return Err(rethrown(ctx, shared)),
    };
    match original(ctx, shared, value, &json)? {
        Some(original) => text_of(shared, &original),
        None => text_of(shared, &json),
    }
}

/// The exception as a plain string.
fn rethrown<'js>(ctx: &Ctx<'js>, shared: &Shared<'js>) -> rquickjs::Error {
    match string_form(shared, &ctx.catch()) {
        Ok(text) => throw(ctx, &text),
        Err(error) => error,
    }
}

/// The JSON text that a tool gave, where `value` is its result and nothing in it was changed: it has digits that a
/// double has not.
fn original<'js>(
    ctx: &Ctx<'js>,
    shared: &Shared<'js>,
    value: &Value<'js>,
    json: &JsString<'js>,
) -> rquickjs::Result<Option<JsString<'js>>> {
    let intrinsics = shared.intrinsics()?;
    let text = intrinsics.get.call::<_, Value<'js>>((This(intrinsics.texts.clone()), value.clone()))?;
    let Some(original) = text.into_string() else { return Ok(None) };
    let again = ctx.json_parse(text_of(shared, &original)?)?;
    let untouched = ctx.json_stringify(again)?.map(|again| text_of(shared, &again)).transpose()?;
    Ok((untouched == Some(text_of(shared, json)?)).then_some(original))
}
