use std::path::PathBuf;

use pretty_assertions::assert_eq;
use serde_json::json;
use tenon_protocol::{RolloutItem, RolloutLine, SessionMeta, parse_line};

use super::super::reader::LoadedLine;
use super::super::test_support::FIXED;
use super::*;
use crate::history::samples::*;

#[allow(clippy::needless_pass_by_value, reason = "it is called with a `json!` each time")]
fn line(tag: &str, payload: Value) -> RolloutItem {
    parse_line(&json!({"timestamp": FIXED, "type": tag, "payload": payload}).to_string()).unwrap().item
}

fn event(tag: &str) -> RolloutItem {
    line("event_msg", json!({"type": tag, "message": "", "reason": "interrupted"}))
}

fn rolled_back(count: usize) -> RolloutItem {
    line("event_msg", json!({"type": "thread_rolled_back", "num_turns": count}))
}

fn of(item: ResponseItem) -> RolloutItem {
    RolloutItem::ResponseItem(item)
}

fn rollout(lines: impl IntoIterator<Item = RolloutItem>) -> LoadedRollout {
    let lines = lines
        .into_iter()
        .zip(1..)
        .map(|(item, number)| LoadedLine { number, line: RolloutLine { timestamp: FIXED.to_owned(), item } });
    LoadedRollout {
        path: PathBuf::from("/r"),
        meta: SessionMeta::default(),
        lines: lines.collect(),
        skipped: Vec::new(),
        mended: Vec::new(),
        skipped_count: 0,
    }
}

/// The texts of the messages, and the ids and outputs of calls.
fn told(lines: impl IntoIterator<Item = RolloutItem>) -> Vec<String> {
    rollout(lines).history().iter().map(short).collect()
}

fn short(item: &ResponseItem) -> String {
    match item.kind() {
        tenon_protocol::ItemKind::Message(message) => message.text(),
        kind => format!("{} {}", kind.tag(), kind.call_id().unwrap_or_default()),
    }
}

#[test]
fn items_come_in_order_without_snapshots() {
    let snapshot = item(json!({"type": "ghost_snapshot", "ghost_commit": {}}));
    let lines = [of(user("one")), of(snapshot), event("turn_started"), of(assistant("two"))];
    assert_eq!(told(lines), ["one", "two"]);
}

#[test]
fn what_was_compacted_is_replaced() {
    let replacement = json!([
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "kept"}]},
        {"type": "ghost_snapshot", "ghost_commit": {}},
        {"no": "item"},
        {"type": "compaction", "encrypted_content": "x"},
    ]);
    let lines = [
        of(user("one")),
        line("compacted", json!({"message": "", "replacement_history": [{"type": "web_search_call"}]})),
        of(user("two")),
        line("compacted", json!({"message": "", "replacement_history": replacement})),
        of(user("three")),
    ];
    assert_eq!(told(lines), ["kept", "compaction ", "three"]);
}

#[test]
fn a_compaction_without_items_keeps_the_users_words_and_the_summary() {
    let lines = [
        of(user("<environment_context>\n</environment_context>")),
        of(user("one")),
        of(assistant("answer")),
        line("compacted", json!({"message": "first summary"})),
        of(user("two")),
        line("compacted", json!({"message": ""})),
        of(user("three")),
    ];
    assert_eq!(told(lines), ["one", "two", "(no summary available)", "three"]);
}

#[test]
fn the_oldest_of_the_users_words_are_cut_where_they_are_too_many() {
    // 4 bytes a token: the newest takes half, the next one the rest, the oldest finds no room.
    let half = "n".repeat(KEPT_USER_TOKENS * 2);
    let long = "o".repeat(KEPT_USER_TOKENS * 4);
    let lines =
        [of(user("oldest")), of(user(&long)), of(user(&half)), line("compacted", json!({"message": "s"}))];
    let told = told(lines);
    assert_eq!(told.len(), 3);
    assert!(told[0].contains("…10000 tokens truncated…"));
    assert_eq!((told[1].as_str(), told[2].as_str()), (half.as_str(), "s"));
}

#[test]
fn turns_that_were_rolled_back_are_gone() {
    let turn = |text: &str| {
        [
            event("turn_started"),
            of(user("<environment_context>")),
            of(user(text)),
            event("user_message"),
            of(assistant(&format!("re {text}"))),
            event("turn_complete"),
        ]
    };
    let three = || turn("one").into_iter().chain(turn("two")).chain(turn("three"));
    let one = ["<environment_context>", "one", "re one"];
    let and = |more: [&str; 3]| one.into_iter().chain(more).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(told(three().chain([rolled_back(2)])), one);
    let more = three().chain([rolled_back(1), rolled_back(1)]).chain(turn("four"));
    assert_eq!(told(more), and(["<environment_context>", "four", "re four"]));
    assert_eq!(told(three().chain([rolled_back(99)])), [""; 0]);
    assert_eq!(told(three().chain([rolled_back(0)])).len(), 9);
}

#[test]
fn only_turns_of_the_users_count() {
    // A turn without words of the user's goes with the turn before it, and counts for nothing.
    let lines = [
        event("turn_started"),
        of(user("one")),
        event("turn_complete"),
        event("turn_started"),
        of(user("two")),
        event("turn_complete"),
        event("turn_started"),
        of(assistant("by itself")),
        event("turn_aborted"),
        rolled_back(1),
    ];
    assert_eq!(told(lines), ["one"]);
}

#[test]
fn without_events_of_turns_the_users_words_begin_them() {
    let agent = item(json!({
        "type": "agent_message", "author": "a", "recipient": "b",
        "content": [{"type": "input_text", "text": "mail"}],
    }));
    let lines = |count| {
        [
            of(user("one")),
            event("user_message"),
            of(assistant("re one")),
            of(agent.clone()),
            of(assistant("re mail")),
            of(user("<turn_aborted>\n</turn_aborted>")),
            of(user("three")),
            event("user_message"),
            rolled_back(count),
        ]
    };
    assert_eq!(
        told(lines(1)),
        ["one", "re one", "agent_message ", "re mail", "<turn_aborted>\n</turn_aborted>"]
    );
    assert_eq!(told(lines(2)), ["one", "re one"]);
    assert_eq!(told(lines(3)), [""; 0]);
}

#[test]
fn a_compaction_that_was_rolled_back_has_not_been() {
    let lines = [
        event("turn_started"),
        of(user("one")),
        event("turn_complete"),
        event("turn_started"),
        of(user("two")),
        line("compacted", json!({"message": "", "replacement_history": []})),
        event("turn_complete"),
        rolled_back(1),
        of(assistant("after")),
    ];
    assert_eq!(told(lines), ["one", "after"]);
}

#[test]
fn the_newest_settings_that_stand_are_found() {
    let context = |model: &str| line("turn_context", json!({"model": model}));
    let lines = [
        event("turn_started"),
        of(user("one")),
        context("a"),
        event("turn_started"),
        of(user("two")),
        context("b"),
    ];
    let newest = |lines: Vec<RolloutItem>| rollout(lines).turn_context().cloned();
    assert_eq!(newest(lines.to_vec()), Some(json!({"model": "b"})));
    assert_eq!(newest(lines.iter().cloned().chain([rolled_back(1)]).collect()), Some(json!({"model": "a"})));
    assert_eq!(newest(vec![of(user("one"))]), None);
}

#[test]
fn an_output_that_was_settled_later_stands_at_its_call() {
    let journal = line(
        "call_progress",
        json!({
            "call_id": "x", "occurrence": 0, "fact": {"type": "request", "server": "s", "id": "1"},
        }),
    );
    let lines = [
        of(user("one")),
        of(function_call("a")),
        of(custom_call("b")),
        of(user("two")),
        of(function_call("c")),
        of(ResponseItem::message("developer", "of a hook")),
        of(function_output("c", "x")),
        of(custom_output("b", "late")),
        of(function_output("a", "late")),
    ];
    let expected = [
        "one",
        "function_call a",
        "function_call_output a",
        "custom_tool_call b",
        "custom_tool_call_output b",
        "two",
        "function_call c",
        "of a hook",
        "function_call_output c",
    ];
    assert_eq!(told([journal].into_iter().chain(lines.clone())), expected);
    // In a file of another's making nothing moves.
    let plain: Vec<String> = lines
        .iter()
        .filter_map(|line| match line {
            RolloutItem::ResponseItem(item) => Some(short(item)),
            _ => None,
        })
        .collect();
    assert_eq!(told(lines), plain);
}

#[test]
fn every_call_of_the_file_is_counted() {
    let lines = [
        of(function_call("a")),
        of(function_output("a", "x")),
        line("compacted", json!({"message": "", "replacement_history": []})),
        event("turn_started"),
        of(user("u")),
        of(custom_call("b")),
        rolled_back(1),
        of(search_call("c")),
    ];
    let rollout = rollout(lines);
    assert_eq!(shown(&rollout.calls()), shown(&[function_call("a"), custom_call("b"), search_call("c")]));
}
