use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::TruncationPolicy::{Bytes, Tokens};
use super::*;

fn text(text: &str) -> FunctionCallOutputContentItem {
    FunctionCallOutputContentItem::text(text)
}

fn image() -> FunctionCallOutputContentItem {
    FunctionCallOutputContentItem::InputImage {
        image_url: Some(format!("data:image/png;base64,{}", "A".repeat(400))),
        file_id: None,
        detail: None,
    }
}

fn audio(url: &str) -> FunctionCallOutputContentItem {
    FunctionCallOutputContentItem::InputAudio { audio_url: url.to_owned() }
}

fn encrypted() -> FunctionCallOutputContentItem {
    FunctionCallOutputContentItem::EncryptedContent { encrypted_content: "secret".repeat(20) }
}

fn truncated(
    items: &[FunctionCallOutputContentItem],
    policy: TruncationPolicy,
) -> Vec<FunctionCallOutputContentItem> {
    let payload = truncate_payload(FunctionCallOutputPayload::items(items.to_vec()), policy);
    match payload.body {
        FunctionCallOutputBody::ContentItems(items) => items,
        FunctionCallOutputBody::Text(text) => panic!("items became the text {text:?}"),
    }
}

#[test]
fn a_text_body_is_cut_plainly_and_success_stays() {
    for success in [None, Some(true), Some(false)] {
        let payload =
            FunctionCallOutputPayload { success, ..FunctionCallOutputPayload::text("example output") };
        let cut = truncate_payload(payload, Bytes(1));
        assert_eq!(cut.body, FunctionCallOutputBody::Text("…13 chars truncated…t".to_owned()));
        assert_eq!(cut.success, success);
    }
}

#[test]
fn one_budget_runs_through_the_items() {
    let items = [text("aaaa"), image(), text("bbbbbbbb"), text("ccc")];
    assert_eq!(
        truncated(&items, Bytes(8)),
        [text("aaaa"), image(), text("bb…4 chars truncated…bb"), text("[omitted 1 text items ...]")]
    );
}

#[test]
fn tokens_are_paid_in_tokens() {
    let items = [text("aaaa"), text("bbbbb"), text("cccc")];
    assert_eq!(
        truncated(&items, Tokens(3)),
        [text("aaaa"), text("bbbbb"), text("[omitted 1 text items ...]")]
    );
}

#[test]
fn empty_texts_vanish_silently() {
    assert_eq!(truncated(&[text(""), text("a"), text("")], Bytes(1)), [text("a")]);
    assert_eq!(truncated(&[text("")], Bytes(0)), []);
}

#[test]
fn images_and_encrypted_content_cost_nothing() {
    let items = [image(), encrypted(), image()];
    for policy in [Bytes(0), Tokens(0), Bytes(10), Tokens(10_000)] {
        assert_eq!(truncated(&items, policy), items);
    }
}

#[test]
fn audio_is_whole_or_counted() {
    let items = [audio("0123456789"), text("abc"), audio("0123456789"), text("x")];
    assert_eq!(
        truncated(&items, Bytes(13)),
        [
            audio("0123456789"),
            text("abc"),
            text("[omitted 1 text items ...]"),
            text("[omitted 1 audio items ...]")
        ]
    );
}

#[test]
fn texts_of_a_list_are_joined_and_formatted() {
    let items = vec![text("abcd"), image(), text("efgh"), text("ijkl"), image()];
    let (cut, tokens) = formatted_truncate_items(items.clone(), Bytes(8));
    let head = "Warning: truncated output (original token count: 4)\nTotal output lines: 3\n\n\
                abcd…6 chars truncated…ijkl";
    assert_eq!(cut, [text(head), image(), image()]);
    assert_eq!(tokens, Some(4));
    assert_eq!(formatted_truncate_items(items.clone(), Bytes(14)), (items, None));
}

#[test]
fn a_list_without_text_is_never_cut() {
    let items = vec![image(), encrypted(), audio("x")];
    assert_eq!(formatted_truncate_items(items.clone(), Bytes(0)), (items, None));
}

fn any_item() -> impl Strategy<Value = FunctionCallOutputContentItem> {
    prop_oneof![
        4 => "(\\PC){0,40}".prop_map(|t| text(&t)),
        1 => Just(image()),
        1 => Just(encrypted()),
        1 => "[a-z]{0,40}".prop_map(|t| audio(&t)),
    ]
}

proptest! {
    #[test]
    fn items_never_exceed_the_budget_by_more_than_markers(
        items in prop::collection::vec(any_item(), 0..12),
        budget in 0usize..200,
    ) {
        let cut = truncated(&items, Bytes(budget));
        let marker = "…99 chars truncated…".len();
        let notes = 2 * "[omitted 12 audio items ...]".len();
        let paid: usize = cut.iter().map(|item| match item {
            FunctionCallOutputContentItem::InputText { text } => text.len(),
            FunctionCallOutputContentItem::InputAudio { audio_url } => audio_url.len(),
            FunctionCallOutputContentItem::InputImage { .. }
            | FunctionCallOutputContentItem::EncryptedContent { .. } => 0,
        }).sum();
        prop_assert!(paid <= budget + marker + notes);
        let images = |list: &[FunctionCallOutputContentItem]| list.iter().filter(|i| **i == image()).count();
        prop_assert_eq!(images(&cut), images(&items));
    }

    #[test]
    fn a_list_within_the_budget_keeps_all_but_empty_texts(items in prop::collection::vec(any_item(), 0..12)) {
        let expected: Vec<_> = items.iter().filter(|item| **item != text("")).cloned().collect();
        prop_assert_eq!(truncated(&items, Bytes(10_000)), expected);
    }
}
