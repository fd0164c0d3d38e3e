use pretty_assertions::assert_eq;

use super::*;
use crate::event::{ResponseFailure, TokenUsage};
use crate::item::ItemKind;

fn event(json: &str) -> ResponseEvent {
    read_event(json).unwrap_or_else(|reason| panic!("{reason}: {json}"))
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

/// Every event with all its members and some more, and with as few as it can have.
fn plain_events() -> Vec<(&'static str, ResponseEvent)> {
    vec![
        (
            r#"{"type":"response.created","sequence_number":0,"response":{"id":"r","object":"response","tools":[{"n":1e400}]}}"#,
            ResponseEvent::Created { response_id: some("r") },
        ),
        (r#"{"type":"response.created"}"#, ResponseEvent::Created { response_id: None }),
        (
            r#"{"type":"response.output_text.delta","sequence_number":3,"item_id":"m","output_index":0,"content_index":0,"delta":"a\n","logprobs":[],"obfuscation":"x"}"#,
            ResponseEvent::OutputTextDelta { item_id: some("m"), delta: "a\n".into() },
        ),
        (
            r#"{"type":"response.output_text.delta","item_id":null,"delta":""}"#,
            ResponseEvent::OutputTextDelta { item_id: None, delta: String::new() },
        ),
        (
            r#"{"type":"response.reasoning_summary_text.delta","item_id":"r","summary_index":1,"delta":"a"}"#,
            ResponseEvent::ReasoningSummaryTextDelta {
                item_id: some("r"),
                delta: "a".into(),
                summary_index: Some(1),
            },
        ),
        (
            r#"{"type":"response.reasoning_summary_text.done","item_id":"r","summary_index":0,"text":"all"}"#,
            ResponseEvent::ReasoningSummaryTextDone {
                item_id: some("r"),
                text: "all".into(),
                summary_index: Some(0),
            },
        ),
        (
            r#"{"type":"response.reasoning_summary_part.added","item_id":"r","summary_index":2,"part":{"type":"summary_text","text":""}}"#,
            ResponseEvent::ReasoningSummaryPartAdded { item_id: some("r"), summary_index: Some(2) },
        ),
        (
            r#"{"type":"response.reasoning_text.delta","item_id":"r","content_index":4,"delta":"a"}"#,
            ResponseEvent::ReasoningTextDelta {
                item_id: some("r"),
                delta: "a".into(),
                content_index: Some(4),
            },
        ),
        (
            r#"{"type":"response.custom_tool_call_input.delta","item_id":"i","call_id":"c","delta":"a"}"#,
            ResponseEvent::CustomToolCallInputDelta {
                item_id: some("i"),
                call_id: some("c"),
                delta: "a".into(),
            },
        ),
        (
            r#"{"type":"response.custom_tool_call_input.delta","delta":"a"}"#,
            ResponseEvent::CustomToolCallInputDelta { item_id: None, call_id: None, delta: "a".into() },
        ),
        (
            r#"{"type":"response.function_call_arguments.delta","item_id":"i","delta":"{\""}"#,
            ResponseEvent::FunctionCallArgumentsDelta {
                item_id: some("i"),
                call_id: None,
                delta: "{\"".into(),
            },
        ),
        (
            r#"{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"}}}"#,
            ResponseEvent::Incomplete { reason: "max_output_tokens".into() },
        ),
        (
            r#"{"type":"response.incomplete","response":{"incomplete_details":null}}"#,
            ResponseEvent::Incomplete { reason: "unknown".into() },
        ),
    ]
}

#[test]
fn plain_events_are_read() {
    for (json, expected) in plain_events() {
        assert_eq!(event(json), expected, "{json}");
    }
}

/// The type at the end, with spaces, with an escape in it: the same event.
#[test]
fn the_type_may_stand_anywhere() {
    for (json, expected) in plain_events() {
        let rest = json.strip_prefix("{\"type\":\"").unwrap();
        let (kind, members) = rest.split_once('"').unwrap();
        let members = members.trim_start_matches(',').strip_suffix('}').unwrap();
        let lead = if members.is_empty() { String::new() } else { format!("{members},") };
        for moved in [
            format!(r#"{{{lead}"type":"{kind}"}}"#),
            format!(r#"{{"x":{{"type":"y"}},{lead}"type":"{kind}"}}"#),
            format!(r#"{{ {lead} "type" : "{kind}" }}"#),
            format!(r#"{{{lead}"type":"{}"}}"#, kind.replace('.', "\\u002e")),
        ] {
            assert_eq!(event(&moved), expected, "{moved}");
        }
    }
}

#[test]
fn items_are_read_and_keep_their_text() {
    let item = r#"{ "id":"fc_1","status":"completed","type":"function_call","arguments":"{\"n\":1.0}","call_id":"c","name":"f","x":1e400 }"#;
    for kind in ["added", "done"] {
        let json = format!(r#"{{"type":"response.output_item.{kind}","output_index":0,"item":{item}}}"#);
        let (ResponseEvent::OutputItemAdded { item: read } | ResponseEvent::OutputItemDone { item: read }) =
            event(&json)
        else {
            panic!("{json}")
        };
        assert_eq!(read.raw_json(), item);
        assert!(matches!(read.kind(), ItemKind::FunctionCall(call) if call.arguments == r#"{"n":1.0}"#));
    }
    let done = event(&format!(r#"{{"type":"response.output_item.done","item":{item}}}"#));
    assert!(matches!(done, ResponseEvent::OutputItemDone { .. }));
}

#[test]
fn an_item_that_nobody_knows_is_still_an_item() {
    for (item, warns) in [
        (r#"{"type":"brand_new_item"}"#, false),
        (r#"{"type":"function_call","name":5}"#, true),
        (r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"\ud83d"}]}"#, true),
    ] {
        let json = format!(r#"{{"type":"response.output_item.done","item":{item}}}"#);
        let ResponseEvent::OutputItemDone { item: read } = event(&json) else { panic!("{json}") };
        assert!(matches!(read.kind(), ItemKind::Unknown(_)));
        assert_eq!(read.warning().is_some(), warns, "{item}");
        assert_eq!(read.raw_json(), item);
    }
}

#[test]
fn what_is_no_item_breaks_the_event() {
    for item in ["null", "5", "[]", "{}", r#"{"type":null}"#] {
        let json = format!(r#"{{"type":"response.output_item.done","item":{item}}}"#);
        assert_eq!(
            read_event(&json).unwrap_err(),
            "a `response.output_item.done` event whose `item` is no object with a `type`",
            "{item}"
        );
    }
}

#[test]
fn completed_tells_the_usage() {
    let json = r#"{"type":"response.completed","response":{"id":"r","output":[{"type":"message"}],"usage":{"input_tokens":10,"input_tokens_details":{"cached_tokens":4,"cache_write_tokens":2},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":3},"total_tokens":15,"num_sources_used":0},"end_turn":false}}"#;
    let usage = TokenUsage {
        input_tokens: 10,
        cached_input_tokens: 4,
        cache_write_input_tokens: 2,
        output_tokens: 5,
        reasoning_output_tokens: 3,
        total_tokens: 15,
    };
    assert_eq!(
        event(json),
        ResponseEvent::Completed { response_id: some("r"), usage: Some(usage), end_turn: Some(false) }
    );
}

#[test]
fn usage_may_lack_anything() {
    let usage = |json: &str| {
        let json = format!(r#"{{"type":"response.completed","response":{{"usage":{json}}}}}"#);
        let ResponseEvent::Completed { usage, .. } = event(&json) else { panic!("{json}") };
        usage
    };
    let two = TokenUsage { input_tokens: 1, output_tokens: 2, total_tokens: 3, ..Default::default() };
    assert_eq!(usage("null"), None);
    assert_eq!(usage("{}"), Some(TokenUsage::default()));
    assert_eq!(
        usage(
            r#"{"input_tokens":1,"input_tokens_details":null,"output_tokens":2,"output_tokens_details":null,"total_tokens":3}"#
        ),
        Some(two)
    );
    assert_eq!(usage(r#"{"input_tokens":1,"output_tokens":2,"total_tokens":null}"#), Some(two));
    assert_eq!(
        usage(r#"{"input_tokens_details":{"cached_tokens":null},"output_tokens_details":{}}"#),
        Some(TokenUsage::default())
    );
}

#[test]
fn the_end_of_an_answer_is_not_lost_to_odd_members() {
    for (response, id, usage, end_turn) in [
        (r#"{"id":"r","usage":{"input_tokens":1.5},"end_turn":true}"#, some("r"), None, Some(true)),
        (r#"{"id":7,"usage":{"total_tokens":1},"end_turn":"no"}"#, None, Some(1), None),
        (r#"{"id":"\ud83d","usage":{"total_tokens":4},"end_turn":null}"#, None, Some(4), None),
        (r#"{"id":"r","usage":{"total_tokens":-1}}"#, some("r"), None, None),
        ("null", None, None, None),
        ("5", None, None, None),
    ] {
        let json = format!(r#"{{"type":"response.completed","response":{response}}}"#);
        let usage = usage.map(|total_tokens| TokenUsage { total_tokens, ..Default::default() });
        assert_eq!(event(&json), ResponseEvent::Completed { response_id: id, usage, end_turn }, "{json}");
    }
    assert_eq!(
        event(r#"{"type":"response.completed"}"#),
        ResponseEvent::Completed { response_id: None, usage: None, end_turn: None }
    );
}

#[test]
fn failures_in_all_their_forms() {
    let failed =
        |error: &str| format!(r#"{{"type":"response.failed","response":{{"id":"r","error":{error}}}}}"#);
    let nothing = "the API gave no reason";
    for (json, code, message) in [
        (failed(r#"{"code":"rate_limit_exceeded","message":"slow down"}"#), some("rate_limit_exceeded"), "slow down"),
        (failed(r#"{"code":429,"message":"m"}"#), some("429"), "m"),
        (failed(r#"{"code":null,"type":"server_error","message":"m"}"#), some("server_error"), "m"),
        (failed(r#"{"message":"\ud83d!"}"#), None, "\u{fffd}!"),
        (failed(r#""boom""#), None, "boom"),
        (failed("null"), None, nothing),
        (failed("{}"), None, nothing),
        (r#"{"type":"response.failed"}"#.into(), None, nothing),
        (
            r#"{"type":"error","sequence_number":2,"error":{"type":"insufficient_quota","code":"insufficient_quota","message":"m","param":null}}"#.into(),
            some("insufficient_quota"),
            "m",
        ),
        (r#"{"type":"error","code":"c","message":"m","param":null,"error":null}"#.into(), some("c"), "m"),
        (r#"{"type":"error","code":null,"message":{"deep":1}}"#.into(), None, r#"{"deep":1}"#),
        (r#"{"type":"error"}"#.into(), None, nothing),
    ] {
        let expected = ResponseFailure { code, message: message.into() };
        assert_eq!(event(&json), ResponseEvent::Failed(expected), "{json}");
    }
}

#[test]
fn all_else_is_kept_as_it_came() {
    for (kind, json) in [
        ("response.in_progress", r#"{"type":"response.in_progress","response":{"id":"r"}}"#),
        ("response.metadata", r#"{"sequence_number":1,"type":"response.metadata","headers":{"a":[1e400]}}"#),
        ("keepalive", r#"{ "type" : "keepalive", "t":"\ud83d" }"#),
        (
            "response.shell_call_output_content.delta",
            r#"{"delta":{"stdout":"x"},"type":"response.shell_call_output_content.delta"}"#,
        ),
        ("", r#"{"type":""}"#),
    ] {
        let ResponseEvent::Other { kind: read, raw } = event(json) else { panic!("{json}") };
        assert_eq!((read.as_str(), raw.get()), (kind, json));
    }
}

#[test]
fn lone_surrogates_do_not_lose_a_delta() {
    for (json, delta) in [
        (r#"{"type":"response.output_text.delta","delta":"a\ud83d"}"#, "a\u{fffd}"),
        (r#"{"type":"response.output_text.delta","delta":"\ude00b\ud83d\ude00"}"#, "\u{fffd}b😀"),
        (r#"{"type":"response.output_text.delta","\ud83d":1,"delta":"c"}"#, "c"),
    ] {
        assert_eq!(event(json), ResponseEvent::OutputTextDelta { item_id: None, delta: delta.into() });
    }
}

#[test]
fn broken_events_say_why() {
    for (json, reason) in [
        ("", "not JSON: EOF while parsing a value at line 1 column 0"),
        ("5", "no Responses event: not a JSON object"),
        (r#"["type"]"#, "no Responses event: not a JSON object"),
        ("{}", "no Responses event: an object without `type`"),
        (r#"{"type":5}"#, "no Responses event: an object without `type`"),
        (
            r#"{"id":"x","object":"chat.completion.chunk","choices":[]}"#,
            "no Responses event: a `chat.completion.chunk` without `type`",
        ),
        (
            r#"{"type":"response.output_text.delta"}"#,
            "a `response.output_text.delta` event whose members don't fit: missing field `delta` at line 1 column 37",
        ),
        (
            r#"{"type":"response.output_text.delta","delta":1}"#,
            "a `response.output_text.delta` event whose members don't fit: invalid type: integer `1`, expected a string at line 1 column 46",
        ),
        (
            r#"{"type":"response.output_item.done"}"#,
            "a `response.output_item.done` event whose members don't fit: missing field `item` at line 1 column 36",
        ),
        (
            r#"{"type":"response.output_text.delta","delta":"a"} {}"#,
            "not JSON: trailing characters at line 1 column 51",
        ),
        (r#"{"type":"whatever",}"#, "not JSON: key must be a string at line 1 column 20"),
        (
            r#"{"type":"response.completed","response":{}"#,
            "not JSON: EOF while parsing an object at line 1 column 42",
        ),
    ] {
        assert_eq!(read_event(json), Err(reason.to_owned()), "{json}");
    }
}

#[test]
fn depth_alone_breaks_nothing() {
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    assert!(matches!(event(&format!(r#"{{"type":"x","a":{deep}}}"#)), ResponseEvent::Other { .. }));
    let item = format!(r#"{{"type":"tool_search_output","status":"s","execution":"e","tools":{deep}}}"#);
    let ResponseEvent::OutputItemDone { item: read } =
        event(&format!(r#"{{"type":"response.output_item.done","item":{item}}}"#))
    else {
        panic!("no item")
    };
    assert!(read.warning().is_some_and(|w| w.contains("recursion limit exceeded")));
    assert_eq!(read.raw_json(), item);
}
