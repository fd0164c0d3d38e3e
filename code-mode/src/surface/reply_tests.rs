use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::{Value, json};
use tenon_protocol::CallId;
use tenon_tools::{ToolOutput, ToolPayload};

use super::*;

fn text(text: &str) -> FunctionCallOutputContentItem {
    FunctionCallOutputContentItem::text(text)
}

fn image(detail: Option<ImageDetail>) -> FunctionCallOutputContentItem {
    let image_url = Some("data:image/png;base64,AAAA".to_owned());
    FunctionCallOutputContentItem::InputImage { image_url, file_id: None, detail }
}

fn audio(bytes: usize) -> FunctionCallOutputContentItem {
    FunctionCallOutputContentItem::InputAudio { audio_url: "a".repeat(bytes) }
}

/// A model that takes everything.
const ALL: ModelAbilities = ModelAbilities {
    image_input: true,
    audio_input: true,
    original_image_detail: true,
    apply_patch: true,
    tool_search: true,
};

fn reply(status: CellStatus, items: &[FunctionCallOutputContentItem], error: Option<&str>) -> CellReply {
    let error = error.map(str::to_owned);
    CellReply { status, items: items.to_vec(), error, wall_time: Duration::from_millis(1_250) }
}

/// The items below the header.
fn shown(
    items: &[FunctionCallOutputContentItem],
    error: Option<&str>,
    tokens: usize,
) -> Vec<FunctionCallOutputContentItem> {
    let output = reply_output(reply(CellStatus::Completed, items, error), Some(tokens), ALL);
    output.body.into_iter().skip(1).collect()
}

fn wire(output: &FunctionToolOutput, payload: &ToolPayload) -> Value {
    serde_json::to_value(output.to_response_item(&CallId::from("c1"), payload)).unwrap()
}

#[test]
fn headers() {
    let rows = [
        (CellStatus::Completed, "Script completed", true),
        (CellStatus::Failed, "Script failed", false),
        (CellStatus::Terminated, "Script terminated", true),
        (CellStatus::Running { cell_id: "7".to_owned() }, "Script running with cell ID 7", true),
    ];
    for (status, line, success) in rows {
        let output = reply_output(reply(status, &[], None), None, ALL);
        assert_eq!(output.body, [text(&format!("{line}\nWall time 1.2 seconds\nOutput:\n"))]);
        assert_eq!(output.success, Some(success));
    }
}

#[test]
fn a_header_alone_is_a_string_and_more_is_a_list() {
    let exec = ToolPayload::Custom { input: String::new() };
    let wait = ToolPayload::Function { arguments: String::new() };
    let header = "Script completed\nWall time 1.2 seconds\nOutput:\n";
    let silent = reply_output(reply(CellStatus::Completed, &[], None), None, ALL);
    assert_eq!(
        wire(&silent, &exec),
        json!({"type": "custom_tool_call_output", "call_id": "c1", "output": header})
    );
    assert_eq!(
        wire(&silent, &wait),
        json!({"type": "function_call_output", "call_id": "c1", "output": header})
    );
    let spoken = reply_output(reply(CellStatus::Completed, &[text("")], None), None, ALL);
    let items = json!([{"type": "input_text", "text": header}, {"type": "input_text", "text": ""}]);
    assert_eq!(wire(&spoken, &exec)["output"], items);
}

#[test]
fn the_error_comes_last() {
    let items = shown(&[text("a"), text("b")], Some("Error: boom"), 100);
    assert_eq!(items, [text("a"), text("b"), text("Script error:\nError: boom")]);
}

#[test]
fn texts_are_cut_as_one() {
    // 9 bytes with the new line between them, for a budget of two tokens.
    assert_eq!(shown(&[text("abcd"), text("efg")], None, 2), [text("abcd"), text("efg")]);
    let cut = "Warning: truncated output (original token count: 3)\nTotal output lines: 2\n\nabcd…1 tokens truncated…efgh";
    assert_eq!(shown(&[text("abcd"), text("efgh")], None, 2), [text(cut)]);
    let cut = "Warning: truncated output (original token count: 6)\nTotal output lines: 3\n\nabcd…4 tokens truncated…boom";
    assert_eq!(shown(&[text("abcd")], Some("boom"), 2), [text(cut)]);
}

#[test]
fn ten_thousand_tokens_are_shown_unless_more_are_asked_for() {
    let of = |bytes: usize, tokens: Option<usize>| {
        let output =
            reply_output(reply(CellStatus::Completed, &[text(&"x".repeat(bytes))], None), tokens, ALL);
        output.body[1].as_text().unwrap().len()
    };
    assert_eq!(of(40_000, None), 40_000);
    assert!(of(40_001, None) > 40_001, "the header and the marker are beside the budget");
    assert_eq!(of(40_001, Some(10_001)), 40_001);
}

#[test]
fn beside_pictures_and_sound_texts_are_paid_for_in_order() {
    let items = [text("aaaa"), image(None), text("bbbbbbbb"), text("cccc"), audio(4)];
    assert_eq!(
        shown(&items, None, 2),
        [
            text("aaaa"),
            image(None),
            text("bb…1 tokens truncated…bb"),
            text("[omitted 1 text items ...]"),
            text("[omitted 1 audio items ...]")
        ]
    );
    assert_eq!(shown(&items, None, 6), items);
}

#[test]
fn an_error_beside_pictures_is_never_left_out() {
    let items = [text(&"a".repeat(400)), image(None)];
    let shown = shown(&items, Some("Error: boom"), 10);
    assert_eq!(
        shown,
        [
            text("aaaaaaaaaa…95 tokens truncated…aaaaaaaaaa"),
            image(None),
            text("Script err…2 tokens truncated…rror: boom"),
        ]
    );
}

#[test]
fn what_the_model_cannot_take_is_replaced() {
    let items = [image(Some(ImageDetail::Original)), image(Some(ImageDetail::Low)), audio(4)];
    let less = ModelAbilities { original_image_detail: false, audio_input: false, ..ALL };
    let output = reply_output(reply(CellStatus::Completed, &items, None), None, less);
    assert_eq!(
        output.body[1..],
        [
            image(Some(ImageDetail::High)),
            image(Some(ImageDetail::Low)),
            text("<audio content omitted because you do not support audio input>"),
        ]
    );
}

fn any_item() -> impl Strategy<Value = FunctionCallOutputContentItem> {
    prop_oneof![
        4 => "\\PC{0,60}".prop_map(|t| text(&t)),
        1 => Just(image(None)),
        1 => (0usize..60).prop_map(audio),
    ]
}

proptest! {
    #[test]
    fn what_is_shown_is_bounded(
        items in prop::collection::vec(any_item(), 0..12),
        error in prop::option::of("\\PC{0,80}"),
        tokens in 0usize..60,
    ) {
        let shown = shown(&items, error.as_deref(), tokens);
        let bytes: usize = shown.iter().map(|item| match item {
            FunctionCallOutputContentItem::InputText { text } => text.len(),
            FunctionCallOutputContentItem::InputAudio { audio_url } => audio_url.len(),
            FunctionCallOutputContentItem::InputImage { .. }
            | FunctionCallOutputContentItem::EncryptedContent { .. } => 0,
        }).sum();
        // Two markers, two notes and two times the bytes that fill up the last token.
        prop_assert!(bytes <= 4 * tokens + 250, "{} bytes", bytes);
        let images = |items: &[FunctionCallOutputContentItem]| {
            items.iter().filter(|item| matches!(item, FunctionCallOutputContentItem::InputImage { .. })).count()
        };
        prop_assert_eq!(images(&shown), images(&items));
    }

    #[test]
    fn the_end_of_an_error_is_always_seen(
        items in prop::collection::vec(any_item(), 0..12),
        error in "[a-z]{20,80}",
        tokens in 8usize..60,
    ) {
        let shown = shown(&items, Some(&error), tokens);
        let last = shown.iter().rev().find_map(|item| item.as_text()).unwrap();
        prop_assert!(last.ends_with(error.get(error.len() - 8..).unwrap()), "{}", last);
    }
}
