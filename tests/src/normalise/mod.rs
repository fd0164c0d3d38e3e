//! Brings what a client did into the form in which scenarios say what is expected.
//!
//! The same rules as the recording harness's, so that a scenario's expectation means the same in both.
//!
//! # Layout
//! [`python_json`]: JSON text in the recorded form. [`rules`]: what varies. [`items`]: the requests that the client
//! sent. [`events`]: its `--json` lines. [`files`]: the working folder afterwards.

pub mod events;
pub mod files;
pub mod items;
pub mod python_json;
pub mod rules;

use serde_json::Value;

pub use self::rules::Places;

/// The value with everything that varies replaced by its mark.
///
/// # Errors
/// When the marks break the JSON; then a rule is wrong.
pub fn scrub(value: &Value, places: &Places) -> serde_json::Result<Value> {
    serde_json::from_str(&rules::scrub(&python_json::dumps(value), places))
}

/// The value in which an engine's own error keeps its class alone.
///
/// # Errors
/// When the result is no JSON; then a rule is wrong.
pub fn loosen(value: &Value) -> serde_json::Result<Value> {
    serde_json::from_str(&rules::loosen(&python_json::dumps(value)))
}

/// Whether two values say the same: members in any order, `1` and `1.0` alike.
pub fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| same(a, b)))
        }
        (
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_),
            _,
        ) => a == b,
    }
}

#[cfg(test)]
#[path = "mod_tests.rs"]
mod tests;
