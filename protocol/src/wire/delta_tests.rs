use pretty_assertions::assert_eq;
use proptest::prelude::*;
use proptest::strategy::ValueTree;

use super::super::read_any;
use super::*;

/// What is read by hand, where it is; checked against what serde reads.
fn by_hand(json: &str) -> Option<ResponseEvent> {
    let event = read_delta(json);
    if let Some(event) = &event {
        assert_eq!(Ok(event.clone()), read_any(json), "{json}");
    }
    event
}

#[test]
fn deltas_of_every_kind_are_read_by_hand_wherever_their_type_stands() {
    let (item_id, call_id, delta) = (Some("i".to_owned()), Some("c".to_owned()), "né\n\"😀".to_owned());
    let events = [
        ("output_text", ResponseEvent::OutputTextDelta { item_id: item_id.clone(), delta: delta.clone() }),
        (
            "function_call_arguments",
            ResponseEvent::FunctionCallArgumentsDelta {
                item_id: item_id.clone(),
                call_id: call_id.clone(),
                delta: delta.clone(),
            },
        ),
        (
            "custom_tool_call_input",
            ResponseEvent::CustomToolCallInputDelta {
                item_id: item_id.clone(),
                call_id,
                delta: delta.clone(),
            },
        ),
        (
            "reasoning_summary_text",
            ResponseEvent::ReasoningSummaryTextDelta {
                item_id: item_id.clone(),
                delta: delta.clone(),
                summary_index: Some(7),
            },
        ),
        ("reasoning_text", ResponseEvent::ReasoningTextDelta { item_id, delta, content_index: Some(8) }),
    ];
    let rest = r#""sequence_number":1234567890123456789,"item_id":"i","call_id":"c","summary_index":7,"content_index":8,"logprobs":[],"obfuscation":"","a":null,"b":true,"c":false,"delta":"né\n\"\ud83d\ude00""#;
    for (kind, event) in events {
        let kind = format!(r#""type":"response.{kind}.delta""#);
        assert_eq!(by_hand(&format!("{{{kind},{rest}}}")), Some(event.clone()));
        assert_eq!(by_hand(&format!("{{{rest},{kind}}}")), Some(event));
    }
}

#[test]
fn whatever_is_unusual_is_left_to_serde() {
    let left = [
        "",
        "{}",
        "{",
        r#"{"type":"response.created","response":{"id":"r"}}"#,
        r#"{"type":"response.output_text.delta"}"#,
        r#"{"delta":"a"}"#,
        r#"{"type":"response.unheard_of.delta","delta":"a"}"#,
        r#"{"type":"response.output_text.delta","delta":"a","delta":"b"}"#,
        r#"{"type":"response.output_text.delta","item_id":"a","item_id":"b","delta":"a"}"#,
        r#"{"type":"response.output_text.delta","item_id":null,"delta":"a"}"#,
        r#"{"type":"response.output_text.delta","delta":null}"#,
        r#"{"type":"response.output_text.delta","delta":1}"#,
        r#"{"type":"response.output_text.delta", "delta":"a"}"#,
        r#"{"type":"response.output_text.delta","delta":"a"} "#,
        r#"{"type":"response.output_text.delta","delta":"a"}}"#,
        r#"{"type":"response.output_text.delta","delta":"a",}"#,
        r#"{"type":"response.output_text.delta","delta":"a""#,
        r#"{"type":"response.output_text.delta","delta":"a"#,
        r#"{"type":"response.output_text.delta","delta":"\ud83d"}"#,
        r#"{"type":"response.output_text.delta","delta":"\x"}"#,
        r#"{"type":"response.output_text.delta","delta":"\"}"#,
        "{\"type\":\"response.output_text.delta\",\"delta\":\"a\tb\"}",
        "{\"type\":\"response.output_text.delta\",\"delta\":\"\\n\tb\"}",
        r#"{"type":"response.output_text.delta","delta":"a","d\u0065lta":"b"}"#,
        r#"{"type":"response.output_text.delta","delta":"a","n":01}"#,
        r#"{"type":"response.output_text.delta","delta":"a","n":-1}"#,
        r#"{"type":"response.output_text.delta","delta":"a","n":1.5}"#,
        r#"{"type":"response.output_text.delta","delta":"a","n":12345678901234567890}"#,
        r#"{"type":"response.output_text.delta","delta":"a","n":nul}"#,
        r#"{"type":"response.output_text.delta","delta":"a","n":nulll}"#,
        r#"{"type":"response.output_text.delta","delta":"a","n":[1]}"#,
        r#"{"type":"response.output_text.delta","delta":"a","n":{}}"#,
        r#"{"type":"response.reasoning_text.delta","content_index":null,"delta":"a"}"#,
        r#"{"type":1,"type":"response.output_text.delta","delta":"a"}"#,
    ];
    for json in left {
        assert_eq!(read_delta(json), None, "{json}");
    }
}

#[test]
fn a_second_type_is_skipped_as_serde_skips_it() {
    let event = ResponseEvent::OutputTextDelta { item_id: None, delta: "a".to_owned() };
    assert_eq!(by_hand(r#"{"type":"response.output_text.delta","delta":"a","type":"error"}"#), Some(event));
}

#[test]
fn the_end_of_a_plain_text_is_found_at_every_place() {
    for length in 0..40 {
        for end in ['"', '\\', '\0', '\x1f', '\n'] {
            for filler in ["a", "é", "\x20", "\x7f", "!", "#", "[", "]", "\u{80}", "😀"] {
                let text = filler.repeat(length);
                assert_eq!(plain_length(format!("{text}{end}\"\\rest").as_bytes()), text.len());
                assert_eq!(plain_length(text.as_bytes()), text.len());
            }
        }
    }
}

/// Deltas, right ones and nearly right ones.
fn json() -> impl Strategy<Value = String> {
    let text = prop_oneof![
        4 => r#"[ -!#-\[\]-~é😀]{0,20}"#,
        1 => r#"(\\n|\\"|\\\\|\\u00e9|\\ud83d\\ude00|\\ud83d|\\x|\\|"|\t|a){0,6}"#,
    ];
    let value = prop_oneof![
        4 => text.prop_map(|text| format!("\"{text}\"")),
        1 => "(0|[0-9]{1,21}|-1|1.5|1e3|null|true|false|\\[\\]|\\{\\}|\\[1\\]|)",
    ];
    let key = prop::sample::select(vec![
        "delta",
        "item_id",
        "call_id",
        "summary_index",
        "content_index",
        "type",
        "logprobs",
        "é",
        "\\u0061",
    ]);
    let kind = prop::sample::select(vec![
        "response.output_text.delta",
        "response.function_call_arguments.delta",
        "response.reasoning_summary_text.delta",
        "response.reasoning_text.delta",
        "response.other.delta",
    ]);
    let member = (key, value).prop_map(|(key, value)| format!("\"{key}\":{value}"));
    let members = prop::collection::vec(member, 0..4);
    let end = prop_oneof![6 => Just(""), 1 => prop::sample::select(vec!["}", " ", ","])];
    (kind, members, 0_usize..7, end).prop_map(|(kind, mut members, at, end)| {
        members.insert(at.min(members.len()), format!(r#""type":"{kind}","delta":"x""#));
        format!("{{{}}}{end}", members.join(","))
    })
}

/// Otherwise the property below would say nothing.
#[test]
fn the_strategy_makes_enough_that_is_read_by_hand() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let made = (0..1000).map(|_| json().new_tree(&mut runner).unwrap().current());
    let read = made.filter(|json| by_hand(json).is_some()).count();
    assert!((100..900).contains(&read), "{read} of 1000");
}

proptest! {
    #[test]
    fn what_is_read_by_hand_is_what_serde_reads(json in json()) {
        by_hand(&json);
    }

    #[test]
    fn a_cut_delta_is_none(at in 0_usize..200) {
        let whole = r#"{"type":"response.output_text.delta","sequence_number":3,"item_id":"m","delta":"a\né","logprobs":[]}"#;
        if let Some(cut) = whole.get(..at.min(whole.len() - 1)) {
            prop_assert_eq!(read_delta(cut), None);
        }
    }
}
