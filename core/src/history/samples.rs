//! Items for tests.

use serde_json::json;
use tenon_protocol::ResponseItem;

/// An item from its JSON, as one that came from the API.
#[allow(clippy::needless_pass_by_value, reason = "it is called with a `json!` each time")]
pub(crate) fn item(json: serde_json::Value) -> ResponseItem {
    ResponseItem::parse(&json.to_string()).unwrap()
}

pub(crate) fn function_call(call_id: &str) -> ResponseItem {
    item(json!({"type": "function_call", "name": "exec_command", "arguments": "{}", "call_id": call_id}))
}

pub(crate) fn function_output(call_id: &str, text: &str) -> ResponseItem {
    item(json!({"type": "function_call_output", "call_id": call_id, "output": text}))
}

pub(crate) fn shell_call(call_id: &str) -> ResponseItem {
    item(json!({
        "type": "local_shell_call", "call_id": call_id, "status": "completed",
        "action": {"type": "exec", "command": ["ls"]},
    }))
}

pub(crate) fn custom_call(call_id: &str) -> ResponseItem {
    item(json!({"type": "custom_tool_call", "name": "apply_patch", "input": "x", "call_id": call_id}))
}

pub(crate) fn custom_output(call_id: &str, text: &str) -> ResponseItem {
    item(json!({"type": "custom_tool_call_output", "call_id": call_id, "output": text}))
}

pub(crate) fn notify(call_id: &str, text: &str) -> ResponseItem {
    item(json!({"type": "custom_tool_call_output", "call_id": call_id, "name": "exec", "output": text}))
}

pub(crate) fn search_call(call_id: &str) -> ResponseItem {
    item(
        json!({"type": "tool_search_call", "call_id": call_id, "execution": "client", "arguments": {"query": "q"}}),
    )
}

pub(crate) fn search_output(call_id: Option<&str>, execution: &str) -> ResponseItem {
    item(json!({
        "type": "tool_search_output", "call_id": call_id, "status": "completed", "execution": execution,
        "tools": [{"name": "found"}],
    }))
}

pub(crate) fn user(text: &str) -> ResponseItem {
    ResponseItem::message("user", text)
}

pub(crate) fn assistant(text: &str) -> ResponseItem {
    ResponseItem::message("assistant", text)
}

/// The JSON of items, one a line: what a failed assertion should show.
pub(crate) fn shown<T: std::borrow::Borrow<ResponseItem>>(items: &[T]) -> Vec<String> {
    items.iter().map(|item| item.borrow().raw_json().into_owned()).collect()
}
