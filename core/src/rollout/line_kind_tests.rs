use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use tenon_protocol::parse_line;

use super::*;

/// What a line is, in a word.
fn word(tag: &str, payload: &Value) -> String {
    let line = json!({"timestamp": "t", "type": tag, "payload": payload}).to_string();
    let item = parse_line(&line).unwrap().item;
    let shown = format!("{:?}", LineKind::of(&item));
    shown.split(['(', ' ']).next().unwrap().to_owned()
}

fn message(role: &str, text: &str) -> Value {
    json!({"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]})
}

#[test]
fn items_are_what_somebody_says() {
    let output = |kind: &str| json!({"type": kind, "call_id": "c", "output": "x"});
    let search = |execution: &str| json!({"type": "tool_search_output", "call_id": "c", "status": "completed", "execution": execution, "tools": []});
    let rows = [
        (message("user", "do it"), "Prompt"),
        (message("user", "  <environment_context>x"), "Told"),
        (message("user", "# AGENTS.md instructions for /w"), "Told"),
        (message("user", "# AGENTS.md is missing"), "Prompt"),
        (message("user", ""), "Prompt"),
        (message("developer", "do it"), "Told"),
        (message("assistant", "done"), "Said"),
        (output("function_call_output"), "Told"),
        (output("custom_tool_call_output"), "Told"),
        (search("client"), "Told"),
        (search("server"), "Said"),
        (json!({"type": "function_call", "name": "f", "arguments": "{}", "call_id": "c"}), "Said"),
        (json!({"type": "function_call", "name": 5}), "Said"),
        (json!({"type": "from_the_future"}), "Said"),
        (json!({"type": "agent_message", "author": "a", "recipient": "b", "content": []}), "Mail"),
        (json!({"type": "ghost_snapshot", "ghost_commit": {}}), "Beside"),
    ];
    for (item, expected) in rows {
        assert_eq!(word("response_item", &item), expected, "{item}");
    }
}

#[test]
fn lines_are_what_they_tell_of_a_session() {
    let event = |kind: &str| json!({"type": kind, "message": "m", "reason": "r", "num_turns": 2});
    let rows = [
        ("session_meta", json!({"id": "t", "timestamp": "t", "cwd": "/"}), "Meta"),
        ("turn_context", json!({}), "Settings"),
        ("compacted", json!({"message": ""}), "Compacted"),
        ("event_msg", event("user_message"), "Words"),
        ("event_msg", event("task_started"), "TurnStarted"),
        ("event_msg", event("turn_complete"), "TurnCompleted"),
        ("event_msg", event("turn_aborted"), "TurnAborted"),
        ("event_msg", event("thread_rolled_back"), "RolledBack"),
        ("event_msg", event("agent_message"), "Other"),
        ("world_state", json!({}), "Other"),
        ("from_the_future", json!(1), "Other"),
    ];
    for (tag, payload, expected) in rows {
        assert_eq!(word(tag, &payload), expected, "{tag} {payload}");
    }
    let unfit = json!({"timestamp": "t", "type": "event_msg", "payload": {"type": "thread_rolled_back"}});
    let item = parse_line(&unfit.to_string()).unwrap().item;
    assert_eq!(LineKind::of(&item), LineKind::RolledBack(0));
}
