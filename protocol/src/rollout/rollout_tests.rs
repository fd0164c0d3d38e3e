use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;
use crate::event::TokenUsage;
use crate::item::{FunctionCallOutput, ItemKind};
use crate::output::FunctionCallOutputPayload;

const AT: &str = "2026-11-30T10:00:00.000Z";

fn line(tag: &str, payload: &str) -> String {
    format!(r#"{{"timestamp":"{AT}","type":"{tag}","payload":{payload}}}"#)
}

fn read(tag: &str, payload: &str) -> RolloutItem {
    parse_line(&line(tag, payload)).unwrap().item
}

/// Lines as they are written, which are read and written again byte for byte.
#[test]
fn lines_go_there_and_back() {
    for (tag, payload) in [
        (
            "session_meta",
            r#"{"session_id":"s","id":"t","timestamp":"x","cwd":"/w","originator":"tenon_exec","cli_version":"0.1.0","source":"exec","model_provider":"p","base_instructions":{"text":"b"},"history_mode":"legacy","git":{"commit_hash":"h","branch":"main"},"memory_mode":"on"}"#,
        ),
        ("response_item", r#"{"type":"message","role":"user","content":[],"x":1e400}"#),
        ("response_item", r#"{"type":"brand_new_item","n":12345678901234567890123}"#),
        ("turn_context", r#"{"turn_id":"t","cwd":"/w","model":"m"}"#),
        ("world_state", r#"{"full":true,"state":{}}"#),
        ("compacted", r#"{"message":"m","replacement_history":[]}"#),
        ("event_msg", r#"{"type":"token_count","info":null,"rate_limits":null}"#),
        ("event_msg", r#"{"type":"turn_started","turn_id":"t","model_context_window":null}"#),
        ("event_msg", r#"{"type":"turn_complete","turn_id":"t","last_agent_message":"m"}"#),
        ("event_msg", r#"{"type":"turn_aborted","turn_id":"t","reason":"interrupted","duration_ms":5}"#),
        ("event_msg", r#"{"type":"user_message","message":"m"}"#),
        ("event_msg", r#"{"type":"agent_message","message":"m"}"#),
        ("event_msg", r#"{"type":"agent_reasoning","text":"t"}"#),
        ("event_msg", r#"{"type":"web_search_end","call_id":"c","n":1e400}"#),
        (
            "call_started",
            r#"{"call_id":"c","occurrence":1,"tool":"exec_command","source":"direct","effects":{"writes":["/a"]},"at":"x"}"#,
        ),
        (
            "call_progress",
            r#"{"call_id":"c","occurrence":0,"fact":{"type":"process","pid":7,"group":7,"started_at":99}}"#,
        ),
        (
            "call_progress",
            r#"{"call_id":"c","occurrence":0,"fact":{"type":"file","path":"/a","done":false}}"#,
        ),
        (
            "call_progress",
            r#"{"call_id":"c","occurrence":0,"fact":{"type":"request","server":"s","id":"1"}}"#,
        ),
        (
            "call_progress",
            r#"{"call_id":"c","occurrence":0,"fact":{"type":"nested","tool":"f","call_id":"d","outcome":"completed"}}"#,
        ),
        (
            "call_progress",
            r#"{"call_id":"c","occurrence":0,"fact":{"type":"nested","tool":"f","call_id":"d"}}"#,
        ),
        (
            "call_finished",
            r#"{"call_id":"c","occurrence":0,"outcome":"aborted","output":{"type":"function_call_output","call_id":"c","output":"x"},"at":"x"}"#,
        ),
        ("inter_agent_communication", r#"{"to":"a","n":1e400}"#),
    ] {
        let text = line(tag, payload);
        let parsed = parse_line(&text).unwrap();
        assert_eq!(parsed.timestamp, AT);
        assert_eq!(parsed.item.tag(), tag);
        assert_eq!(parsed.to_json().unwrap(), text);
        for (first, later) in [(AT, AT), ("early", AT), ("+012026-11-30T10:00:00.000Z", AT)] {
            let mut rendered = RenderedLine::of(&parsed.item, first).unwrap();
            rendered.set_timestamp("in between");
            rendered.set_timestamp(later);
            assert_eq!((rendered.text(), rendered.clone().into_text()), (text.as_str(), text.clone()));
        }
        assert_eq!(serde_json::from_str::<RolloutLine>(&text).unwrap(), parsed);
    }
}

#[test]
fn the_journal_says_what_was_known() {
    let item = read(
        "call_progress",
        r#"{"call_id":"c","occurrence":2,"fact":{"type":"process","pid":7,"group":8,"started_at":99}}"#,
    );
    let fact = CallFact::Process { pid: 7, group: 8, started_at: 99, boot_id: None };
    assert_eq!(item, RolloutItem::CallProgress(CallProgress { call_id: "c".into(), occurrence: 2, fact }));

    let output = ResponseItem::new(ItemKind::FunctionCallOutput(FunctionCallOutput {
        call_id: Some("c".into()),
        output: FunctionCallOutputPayload::text("x").with_success(true),
        ..Default::default()
    }));
    for (outcome, name) in [
        (CallOutcome::Completed, "completed"),
        (CallOutcome::Failed, "failed"),
        (CallOutcome::Blocked, "blocked"),
        (CallOutcome::Aborted, "aborted"),
    ] {
        let item = RolloutItem::CallFinished(CallFinished {
            call_id: "c".into(),
            occurrence: 0,
            outcome,
            output: output.clone(),
            aside: Vec::new(),
            at: AT.into(),
        });
        let json = serde_json::to_value(RolloutLine { timestamp: AT.into(), item }).unwrap();
        assert_eq!(
            json,
            json!({"timestamp": AT, "type": "call_finished", "payload": {
                "call_id": "c", "occurrence": 0, "outcome": name,
                "output": {"type": "function_call_output", "call_id": "c", "output": "x"}, "at": AT,
            }})
        );
    }
}

#[test]
fn other_members_of_a_line_do_no_harm() {
    let text = format!(
        r#"{{"ordinal":4,"metadata":{{"client_authored":true}},"payload":{{"type":"user_message","message":"m","text_elements":[]}},"type":"event_msg","timestamp":"{AT}"}}"#
    );
    let event = UserMessageEvent { message: "m".into(), images: None };
    assert_eq!(parse_line(&text).unwrap().item, RolloutItem::EventMsg(EventMsg::UserMessage(event)));
}

#[test]
fn old_names_of_turns_are_read() {
    let old = |payload| {
        let RolloutItem::EventMsg(event) = read("event_msg", payload) else { panic!("{payload}") };
        event
    };
    assert_eq!(
        old(r#"{"type":"task_started","turn_id":"t","model_context_window":9}"#),
        EventMsg::TurnStarted(TurnStartedEvent { turn_id: Some("t".into()), model_context_window: Some(9) })
    );
    assert_eq!(old(r#"{"type":"task_complete"}"#), EventMsg::TurnComplete(TurnCompleteEvent::default()));
}

#[test]
fn counts_are_read() {
    let RolloutItem::EventMsg(EventMsg::TokenCount(event)) = read(
        "event_msg",
        r#"{"type":"token_count","info":{"total_token_usage":{"input_tokens":5,"total_tokens":6},"last_token_usage":{"output_tokens":1},"model_context_window":100},"rate_limits":{"primary":null}}"#,
    ) else {
        panic!("no count")
    };
    assert_eq!(
        event.info,
        Some(TokenUsageInfo {
            total_token_usage: TokenUsage { input_tokens: 5, total_tokens: 6, ..Default::default() },
            last_token_usage: TokenUsage { output_tokens: 1, ..Default::default() },
            model_context_window: Some(100),
        })
    );
    assert_eq!(event.rate_limits, Some(json!({"primary": null})));
}

#[test]
fn odd_events_are_kept() {
    for (payload, tag) in
        [(r#"{"type":"user_message","message":5}"#, "user_message"), (r#"{"no":"type"}"#, ""), ("5", "")]
    {
        let RolloutItem::EventMsg(EventMsg::Unknown(event)) = read("event_msg", payload) else {
            panic!("{payload}")
        };
        assert_eq!((event.tag.as_str(), event.raw.get()), (tag, payload));
    }
}

#[test]
fn an_old_session_meta_is_read() {
    let RolloutItem::SessionMeta(meta) = read(
        "session_meta",
        r#"{"id":"t","timestamp":"x","cwd":"/w","originator":"o","cli_version":"v","instructions":null,"source":{"subagent":"review"}}"#,
    ) else {
        panic!("no meta")
    };
    assert_eq!((meta.id.as_str(), meta.session_id.as_deref(), meta.history_mode), ("t", None, None));
    assert_eq!(meta.source, json!({"subagent": "review"}));
    assert_eq!(meta.extra.get("instructions"), Some(&Value::Null));
}

#[test]
fn an_item_of_a_line_never_fails() {
    let RolloutItem::ResponseItem(item) = read("response_item", r#"{"type":"message","role":5}"#) else {
        panic!("no item")
    };
    assert!(item.warning().is_some());
}

#[test]
fn bad_lines_say_what_is_wrong() {
    for (text, reason) in [
        (String::new(), "not a rollout line: EOF while parsing a value at line 1 column 0"),
        (r#"{"timestamp":"x"#.into(), "not a rollout line: EOF while parsing a string at line 1 column 15"),
        (
            r#"{"timestamp":"x","type":"event_msg"}"#.into(),
            "not a rollout line: missing field `payload` at line 1 column 36",
        ),
        (
            r#"{"type":"event_msg","payload":{}}"#.into(),
            "not a rollout line: missing field `timestamp` at line 1 column 33",
        ),
        (
            line("call_started", r#"{"call_id":"c"}"#),
            "a `call_started` line whose payload doesn't fit: missing field `occurrence` at line 1 column 15",
        ),
        (
            line("call_progress", r#"{"call_id":"c","occurrence":0,"fact":{"type":"magic"}}"#),
            "a `call_progress` line whose payload doesn't fit: unknown variant `magic`, expected one of `process`, `asked`, `file`, `request`, `nested` at line 1 column 52",
        ),
    ] {
        assert_eq!(parse_line(&text).unwrap_err().to_string(), reason, "{text}");
    }
}

#[cfg(unix)]
#[test]
fn a_path_that_is_no_text_does_not_lose_the_line() {
    use std::os::unix::ffi::OsStringExt;
    let path = std::path::PathBuf::from(std::ffi::OsString::from_vec(b"/a\xff".to_vec()));
    let fact = CallFact::File { path: path.clone(), done: true };
    let item = RolloutItem::CallProgress(CallProgress { call_id: "c".into(), occurrence: 0, fact });
    let json = RolloutLine { timestamp: AT.into(), item }.to_json().unwrap();
    assert!(json.contains("\"path\":\"/a\u{fffd}\""), "{json}");
    let meta = SessionMeta { cwd: path, ..Default::default() };
    let line = RolloutLine { timestamp: AT.into(), item: RolloutItem::SessionMeta(Box::new(meta)) };
    assert!(line.to_json().unwrap().contains("\"cwd\":\"/a\u{fffd}\""));
}

#[test]
fn a_line_with_a_lone_surrogate_is_mended() {
    let line = r#"{"timestamp":"t","type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"a\ud83d b\ud83d\ude00"}}"#;
    let whole = line.replace(r"a\ud83d b", "a b");
    let output = |line: &RolloutLine| match &line.item {
        RolloutItem::ResponseItem(item) => match item.kind() {
            crate::ItemKind::FunctionCallOutput(output) => output.output.to_string(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    let (read, mended) = parse_line_mended(line).unwrap();
    assert_eq!((output(&read).as_str(), mended), ("a\u{fffd} b\u{1f600}", true));
    let (read, mended) = parse_line_mended(&whole).unwrap();
    assert_eq!((output(&read).as_str(), mended), ("a b\u{1f600}", false));
    assert!(parse_line_mended("{").is_err());
}
