//! The arguments of a function call, from the text the model wrote to the struct a handler wants (core.md 9.1).

mod place;
mod tracked;

use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;

use crate::FunctionCallError;

/// Reads the arguments of a function call straight into `T`.
///
/// Members that `T` does not know are passed over, unless it denies them. Blank arguments are none, and so an error.
/// Objects are objects at any depth: the list of its members that serde would take for a struct is refused.
///
/// # Errors
/// `failed to parse function arguments: {err}` for the model: serde_json's own text with line and column, or, for
/// JSON that is no object, `expected a JSON object, got {what}`.
pub fn parse_arguments<T: DeserializeOwned>(raw: &str) -> Result<T, FunctionCallError> {
    read_arguments(raw).map_err(|error| failure(&error.text))
}

/// As [`parse_arguments`], but blank arguments are `{}`, and an error begins with the JSON path of the member that it
/// is about.
pub(crate) fn parse_arguments_with_paths<T: DeserializeOwned>(raw: &str) -> Result<T, FunctionCallError> {
    let raw = if raw.trim_ascii().is_empty() { "{}" } else { raw };
    read_arguments(raw).map_err(|error| {
        let text = error.text_with_variants();
        match error.path {
            Some(path) => failure(&format!("`{path}`: {text}")),
            None => failure(&text),
        }
    })
}

fn failure(error: &str) -> FunctionCallError {
    FunctionCallError::respond(format!("failed to parse function arguments: {error}"))
}

/// Why a text is not the arguments that were wanted.
struct ArgumentError {
    text: String,
    /// The member it is about; none for the whole.
    path: Option<String>,
    /// The names that it could have been.
    variants: &'static [&'static str],
}

impl ArgumentError {
    /// serde_json says no more than "expected value" of something that is no enum at all.
    fn text_with_variants(&self) -> String {
        match self.text.strip_prefix("expected value at ") {
            Some(position) if !self.variants.is_empty() => {
                format!("expected one of `{}` at {position}", self.variants.join("`, `"))
            }
            Some(_) | None => self.text.clone(),
        }
    }
}

fn read_arguments<T: DeserializeOwned>(raw: &str) -> Result<T, ArgumentError> {
    if !raw.trim_ascii_start().starts_with('{') {
        let text = match serde_json::from_str::<IgnoredAny>(raw) {
            Ok(_) => format!("expected a JSON object, got {}", kind_of_text(raw)),
            Err(error) => error.to_string(),
        };
        return Err(ArgumentError { text, path: None, variants: &[] });
    }
    let mut deserializer = serde_json::Deserializer::from_str(raw);
    let trail = place::Trail::default();
    let read = T::deserialize(tracked::Tracked::root(&mut deserializer, &trail));
    let whole = read.and_then(|value| deserializer.end().map(|()| value));
    whole.map_err(|error| ArgumentError {
        text: error.to_string(),
        variants: trail.variants(),
        path: trail.into_path(),
    })
}

/// What a JSON text is, with its article. The text must be JSON.
fn kind_of_text(json: &str) -> &'static str {
    match json.trim_ascii_start().as_bytes().first() {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        Some(_) | None => "a number",
    }
}

/// What a JSON value is, with its article.
pub fn json_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
#[path = "arguments_tests.rs"]
mod tests;
