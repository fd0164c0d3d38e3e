//! The arguments of a function call, from the text the model wrote to the struct a handler wants (core.md 9.1).

use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;

use crate::FunctionCallError;

/// Reads the arguments of a function call straight into `T`.
///
/// Members that `T` does not know are passed over, unless it denies them; blank arguments are none, and so an error.
///
/// # Errors
/// `failed to parse function arguments: {err}` for the model: serde_json's own text with line and column, or, for
/// JSON that is no object, `expected a JSON object, got {what}`.
pub fn parse_arguments<T: DeserializeOwned>(raw: &str) -> Result<T, FunctionCallError> {
    read(raw)
        .map_err(|error| FunctionCallError::respond(format!("failed to parse function arguments: {error}")))
}

fn read<T: DeserializeOwned>(raw: &str) -> Result<T, String> {
    if !raw.trim_ascii_start().starts_with('{') {
        return Err(match serde_json::from_str::<IgnoredAny>(raw) {
            Ok(_) => format!("expected a JSON object, got {}", json_kind_of_text(raw)),
            Err(error) => error.to_string(),
        });
    }
    serde_json::from_str(raw).map_err(|error| error.to_string())
}

/// What a JSON text is, with its article. The text must be JSON.
fn json_kind_of_text(json: &str) -> &'static str {
    match json.trim_ascii_start().as_bytes().first() {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}

/// What a JSON value is, with its article.
pub(crate) fn json_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
