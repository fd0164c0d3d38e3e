use std::path::Path;

use pretty_assertions::assert_eq;
use serde_json::json;

use super::super::test_support::{FIXED, fixed_time, meta};
use super::*;

fn event(json: Value) -> RolloutItem {
    RolloutItem::EventMsg(serde_json::from_value::<EventMsgOf>(json).unwrap().0)
}

#[derive(Deserialize)]
#[serde(transparent)]
struct EventMsgOf(#[serde(deserialize_with = "through_text")] EventMsg);

/// As it is read from a file: an event keeps its text, which a value no longer has.
fn through_text<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<EventMsg, D::Error> {
    let text = Value::deserialize(deserializer)?.to_string();
    serde_json::from_str(&text).map_err(serde::de::Error::custom)
}

#[test]
fn events_are_kept_by_the_list() {
    let kept = [
        json!({"type": "token_count", "info": null}),
        json!({"type": "turn_started", "turn_id": "t"}),
        json!({"type": "turn_complete", "turn_id": "t"}),
        json!({"type": "turn_aborted", "reason": "interrupted"}),
        json!({"type": "user_message", "message": "m"}),
        json!({"type": "agent_message", "message": "m"}),
        json!({"type": "agent_reasoning", "text": "m"}),
        json!({"type": "thread_rolled_back", "num_turns": 1}),
        json!({"type": "mcp_tool_call_end"}),
        json!({"type": "external_context"}),
        json!({"type": "item_completed", "item": {"type": "Plan"}}),
        json!({"type": "item_completed", "item": {"type": "sleep"}}),
    ];
    let left_out = [
        json!({"type": "agent_message_delta", "delta": "m"}),
        json!({"type": "exec_command_begin"}),
        json!({"type": "exec_command_end"}),
        json!({"type": "error", "message": "m"}),
        json!({"type": "warning", "message": "m"}),
        json!({"type": "exec_approval_request"}),
        json!({"type": "item_completed", "item": {"type": "AgentMessage"}}),
        json!({"type": "item_completed"}),
    ];
    for json in kept {
        assert!(is_written(&event(json.clone())), "{json}");
    }
    for json in left_out {
        assert!(!is_written(&event(json.clone())), "{json}");
    }
}

#[test]
fn the_first_line_says_what_the_host_said() {
    let said = SessionMeta {
        session_id: Some("session".to_owned()),
        timestamp: "then".to_owned(),
        history_mode: Some("paginated".to_owned()),
        git: Some(tenon_protocol::GitInfo { branch: Some("b".to_owned()), ..Default::default() }),
        ..meta("id", Path::new("/w"))
    };
    let mut expected = said.clone();
    expected.extra.insert("call_journal".to_owned(), json!(true));
    let line = first_line(said, fixed_time());
    assert_eq!(line.timestamp, FIXED);
    assert_eq!(line.item, RolloutItem::SessionMeta(Box::new(expected)));
}
