use pretty_assertions::assert_eq;
use serde_json::json;
use tenon_protocol::ResponseItem;

use super::LoadedTools;

fn item(value: &serde_json::Value) -> ResponseItem {
    ResponseItem::parse(&value.to_string()).unwrap()
}

#[test]
fn names_come_from_the_outputs_of_searches() {
    let search = item(&json!({"type": "tool_search_output", "call_id": "c1", "status": "completed",
    "execution": "client", "tools": [
        {"type": "namespace", "name": "mcp__git", "description": "", "tools": [
            {"type": "function", "name": "log", "parameters": {}}, {"type": "custom", "name": "apply"}]},
        {"type": "function", "name": "plain"},
        "failed to serialize tool_search output: x",
        {"type": "something_new", "name": "other"},
    ]}));
    let call = item(&json!({"type": "function_call", "call_id": "c2", "name": "unfound", "arguments": "{}"}));
    let again = item(&json!({"type": "tool_search_output", "call_id": "c3", "status": "completed",
        "execution": "client", "tools": [{"type": "function", "name": "plain"}]}));
    let loaded: LoadedTools = [&search, &call, &again].into_iter().collect();
    let names: Vec<_> = loaded.names().map(ToString::to_string).collect();
    assert_eq!(names, ["plain", "mcp__git.apply", "mcp__git.log"]);
}
