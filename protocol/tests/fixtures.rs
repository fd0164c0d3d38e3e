//! Every rule of the decoder has a stream of its own in `fixtures`, which decodes alike however it is cut.

use std::fs;
use std::path::{Path, PathBuf};

use pretty_assertions::assert_eq;
use tenon_protocol::{Decoded, EventDecoder, ItemKind, ResponseEvent, ResponseItem};

/// Fixtures are decoded with this limit, which only `too_large.sse` reaches.
const MAX_EVENT_BYTES: usize = 512;

const EXPECTED: &[(&str, &[&str])] = &[
    (
        "broken_events",
        &[
            "broken: not JSON: EOF while parsing an object at line 1 column 53",
            "broken: not JSON: expected ident at line 1 column 2",
            "broken: a `response.output_text.delta` event whose members don't fit: missing field `delta` at line 1 column 37",
            "broken: a `response.output_item.done` event whose `item` is no object with a `type`",
            "text: a",
        ],
    ),
    ("byte_order_mark", &["text: a"]),
    (
        "chat_completions",
        &[
            "broken: no Responses event: a `chat.completion.chunk` without `type`",
            "broken: no Responses event: a `chat.completion.chunk` without `type`",
        ],
    ),
    ("comments_and_other_fields", &["text: a"]),
    ("cut_off", &["text: a", "broken: not JSON: EOF while parsing a string at line 1 column 47"]),
    ("data_over_several_lines", &[r#"done: message {"type":"message","role":"assistant", "content":[]}"#]),
    ("done_marker_and_keepalives", &["text: a"]),
    ("failed", &["failed: insufficient_quota: no more", "failed: insufficient_quota: no more"]),
    ("incomplete", &["incomplete: max_output_tokens"]),
    ("line_ends", &["text: lf", "text: crlf", "text: cr", "text: mixed"]),
    (
        "lone_surrogates",
        &[
            "text: a\u{fffd}",
            "text: \u{fffd}b",
            r#"done: unknown, warned {"type":"message","role":"assistant","content":[{"type":"output_text","text":"\ud83d"}]}"#,
            r#"other: response.note {"type":"response.note","text":"\ud83d"}"#,
        ],
    ),
    ("no_last_blank_line", &["text: a", "text: b"]),
    ("no_utf8", &["text: caf\u{fffd}"]),
    ("null_usage", &["completed: resp_1, no usage", "completed: resp_2, 3 tokens, goes on"]),
    (
        "reasoning",
        &[
            "summary part: Some(0)",
            "summary: Thin",
            "summary done: Thinking",
            "thought: hm",
            "input: *** Begin",
        ],
    ),
    (
        "too_large",
        &[
            "text: a",
            "broken: an event of more than 512 bytes was skipped",
            "text: b",
            "broken: an event of more than 512 bytes was skipped",
            "text: c",
        ],
    ),
    ("type_anywhere", &["text: a", "text: b", "text: c", "text: d"]),
    (
        "unknown_events",
        &[
            r#"other: response.brand_new {"type":"response.brand_new","n":12345678901234567890123,"x":null}"#,
            r#"other: response.in_progress {"type":"response.in_progress","response":{"id":"resp_1"}}"#,
        ],
    ),
    (
        "unknown_items",
        &[
            r#"done: unknown {"type":"brand_new_item","id":"x_1","foo":[1e400,null]}"#,
            r#"done: unknown, warned {"type":"function_call","call_id":"call_1","arguments":"{}"}"#,
        ],
    ),
    (
        "whole_turn",
        &[
            "created: resp_1",
            r#"added: function_call {"id":"fc_1","type":"function_call","status":"in_progress","arguments":"","call_id":"call_1","name":"exec_command"}"#,
            r#"arguments: {"cmd":"true"}"#,
            r#"done: function_call {"id":"fc_1","type":"function_call","status":"completed","arguments":"{\"cmd\":\"true\"}","call_id":"call_1","name":"exec_command"}"#,
            "completed: resp_1, 10 tokens",
        ],
    ),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn decode(stream: &[u8], chunk: usize) -> Vec<Decoded> {
    let mut seen = Vec::new();
    let mut decoder = EventDecoder::with_max_event_bytes(MAX_EVENT_BYTES);
    for bytes in stream.chunks(chunk) {
        decoder.feed(bytes, &mut |decoded| seen.push(decoded));
    }
    decoder.finish(&mut |decoded| seen.push(decoded));
    seen
}

fn item(item: &ResponseItem) -> String {
    let kind = if matches!(item.kind(), ItemKind::Unknown(_)) { "unknown" } else { item.tag() };
    let warned = if item.warning().is_some() { ", warned" } else { "" };
    format!("{kind}{warned} {}", item.raw_json())
}

fn summary(decoded: &Decoded) -> String {
    let event = match decoded {
        Decoded::Event(event) => event,
        Decoded::Broken(broken) => return format!("broken: {}", broken.reason),
    };
    match event {
        ResponseEvent::Created { response_id } => {
            format!("created: {}", response_id.as_deref().unwrap_or("?"))
        }
        ResponseEvent::OutputItemAdded { item: i } => format!("added: {}", item(i)),
        ResponseEvent::OutputItemDone { item: i } => format!("done: {}", item(i)),
        ResponseEvent::OutputTextDelta { delta, .. } => format!("text: {delta}"),
        ResponseEvent::ReasoningSummaryTextDelta { delta, .. } => format!("summary: {delta}"),
        ResponseEvent::ReasoningSummaryTextDone { text, .. } => format!("summary done: {text}"),
        ResponseEvent::ReasoningSummaryPartAdded { summary_index, .. } => {
            format!("summary part: {summary_index:?}")
        }
        ResponseEvent::ReasoningTextDelta { delta, .. } => format!("thought: {delta}"),
        ResponseEvent::CustomToolCallInputDelta { delta, .. } => format!("input: {delta}"),
        ResponseEvent::FunctionCallArgumentsDelta { delta, .. } => format!("arguments: {delta}"),
        ResponseEvent::Completed { response_id, usage, end_turn } => {
            let usage = usage.map_or("no usage".to_owned(), |u| format!("{} tokens", u.total_tokens));
            let goes_on = if *end_turn == Some(false) { ", goes on" } else { "" };
            format!("completed: {}, {usage}{goes_on}", response_id.as_deref().unwrap_or("?"))
        }
        ResponseEvent::Failed(failure) => format!("failed: {failure}"),
        ResponseEvent::Incomplete { reason } => format!("incomplete: {reason}"),
        ResponseEvent::Skipped { reason } => format!("skipped: {reason}"),
        ResponseEvent::Other { kind, raw } => format!("other: {kind} {raw}"),
    }
}

#[test]
fn every_fixture_decodes_as_expected_however_it_is_cut() {
    for (name, expected) in EXPECTED {
        let stream = fs::read(folder().join(format!("{name}.sse"))).unwrap();
        let whole = decode(&stream, usize::MAX);
        assert_eq!(whole.iter().map(summary).collect::<Vec<_>>(), *expected, "{name}");
        for chunk in 1..stream.len().min(300) {
            assert_eq!(decode(&stream, chunk), whole, "{name} in chunks of {chunk}");
        }
    }
}

#[test]
fn every_fixture_is_expected() {
    let mut names: Vec<String> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "sse"))
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, EXPECTED.iter().map(|(name, _)| *name).collect::<Vec<_>>());
}
