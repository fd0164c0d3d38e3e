//! The lines that a client prints with `--json`.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Value, json};

use super::{Places, scrub};

/// How much is kept of a line that is no JSON, in characters.
const LINE_LIMIT: usize = 200;
/// The kind under which such a line is kept.
const NOT_JSON: &str = "not json";

#[allow(clippy::expect_used, reason = "a constant pattern")]
static SHELL: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^\S*/(ba|z)?sh -l?c ").expect("a pattern"));

/// The events of standard output; a line that is no JSON is kept as an event of its own, so that it shows.
pub fn events(stdout: &[u8]) -> Vec<Value> {
    let text = String::from_utf8_lossy(stdout);
    let lines = text.split('\n').filter(|line| !line.trim().is_empty());
    lines
        .map(|line| {
            serde_json::from_str(line).unwrap_or_else(
                |_| json!({"type": NOT_JSON, "line": line.chars().take(LINE_LIMIT).collect::<String>()}),
            )
        })
        .collect()
}

/// The lines that were no JSON.
pub fn bad_lines(events: &[Value]) -> Vec<Value> {
    events.iter().filter(|event| event["type"] == NOT_JSON).cloned().collect()
}

/// The events without what varies: thread ids, usage, item ids, errors for the operator, the shell before a command.
///
/// # Errors
/// When the marks break the JSON.
pub fn shown(events: &[Value], places: &Places) -> serde_json::Result<Value> {
    let kept = events.iter().filter(|event| {
        event["type"] != "thread.started" && event.pointer("/item/type").is_none_or(|kind| kind != "error")
    });
    scrub(&Value::Array(kept.map(bare).collect()), places)
}

fn bare(event: &Value) -> Value {
    let mut event = event.clone();
    if let Some(members) = event.as_object_mut() {
        members.shift_remove("usage");
        if let Some(Value::Object(item)) = members.get_mut("item") {
            item.retain(|name, value| name != "id" && !value.is_null());
            if let Some(Value::String(command)) = item.get_mut("command") {
                *command = SHELL.replace(command, "<shell> ").into_owned();
            }
        }
    }
    event
}

/// The message of the error that ended the turn; null when it did not fail.
pub fn turn_failed(events: &[Value]) -> Value {
    let failed = events.iter().find(|event| event["type"] == "turn.failed");
    failed.and_then(|event| event.pointer("/error/message")).cloned().unwrap_or(Value::Null)
}

#[cfg(test)]
#[path = "events_tests.rs"]
mod tests;
