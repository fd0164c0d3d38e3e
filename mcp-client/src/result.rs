//! What a server answered to a call, block by block: one that is unknown or broken loses nothing but itself.

use serde_json::{Value, json};
use tenon_protocol::CallToolResult;

/// Reads an answer to `tools/call`. Blocks stay as they came; whoever shows them to a model knows what to do with those
/// that are of no kind it knows.
pub(crate) fn read_result(answer: Value) -> CallToolResult {
    let mut members = match answer {
        Value::Object(members) => members,
        other => return CallToolResult { content: vec![text(&other)], ..CallToolResult::default() },
    };
    let content = match members.remove("content") {
        Some(Value::Array(blocks)) => blocks,
        None | Some(Value::Null) => match members.remove("toolResult") {
            // What servers of the first version answered.
            Some(old) => vec![text(&old)],
            None => Vec::new(),
        },
        // A server that gives one text, or one block, where a list belongs.
        Some(block @ Value::Object(_)) => vec![block],
        Some(other) => vec![text(&other)],
    };
    CallToolResult {
        content,
        structured_content: members.remove("structuredContent").filter(|value| !value.is_null()),
        is_error: members.remove("isError").and_then(|value| value.as_bool()),
        meta: members.remove("_meta").filter(|value| !value.is_null()),
    }
}

fn text(value: &Value) -> Value {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    json!({ "type": "text", "text": text })
}

#[cfg(test)]
#[path = "result_tests.rs"]
mod tests;
