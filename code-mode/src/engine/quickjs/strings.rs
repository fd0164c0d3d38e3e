//! JavaScript's strings to Rust's, whatever is in them.

use rquickjs::function::This;
use rquickjs::{Ctx, Error, IntoJs, String as JsString, Value};

use super::shared::Shared;

/// The string's text; each half of a surrogate pair that stands alone becomes U+FFFD.
pub(super) fn text_of<'js>(shared: &Shared<'js>, string: &JsString<'js>) -> rquickjs::Result<String> {
    match string.to_string() {
        Err(Error::Utf8(_)) => {
            let whole =
                shared.intrinsics()?.to_well_formed.call::<_, JsString<'js>>((This(string.clone()),))?;
            whole.to_string()
        }
        text => text,
    }
}

/// `String(value)`: of a symbol as well, and through the object's own `toString`.
pub(super) fn string_form<'js>(shared: &Shared<'js>, value: &Value<'js>) -> rquickjs::Result<String> {
    if let Some(string) = value.as_string() {
        return text_of(shared, string);
    }
    let string = shared.intrinsics()?.string.call::<_, JsString<'js>>((value.clone(),))?;
    text_of(shared, &string)
}

/// Throws a plain string, as all helpers do (runtime.md C5.4).
pub(super) fn throw<'js>(ctx: &Ctx<'js>, text: &str) -> Error {
    match text.into_js(ctx) {
        Ok(text) => ctx.throw(text),
        Err(error) => error,
    }
}
