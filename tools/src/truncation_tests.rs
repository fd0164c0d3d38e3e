use std::num::NonZeroU64;

use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::TruncationPolicy::{Bytes, Tokens};
use super::*;

const SENTENCE: &str = "this is an example of a long output that should be truncated";

fn two_lines() -> String {
    format!("{SENTENCE}\nalso some other line")
}

fn emoji_lines() -> String {
    format!("{}\nsecond line with text\n", "😀".repeat(10))
}

#[test]
fn budgets() {
    assert_eq!((Bytes(10).byte_budget(), Tokens(10).byte_budget()), (10, 40));
    assert_eq!((Bytes(9).token_budget(), Bytes(8).token_budget(), Tokens(9).token_budget()), (3, 2, 9));
    assert_eq!(Tokens(usize::MAX).byte_budget(), usize::MAX);
    assert_eq!(TruncationPolicy::default(), Tokens(10_000));
}

#[test]
fn the_allowance_rounds_up_and_keeps_the_unit() {
    for (amount, scaled) in [(0, 0), (1, 2), (3, 4), (10, 12), (50, 60), (128, 154), (10_000, 12_000)] {
        assert_eq!(Bytes(amount).scaled(SERIALISATION_ALLOWANCE), Bytes(scaled));
        assert_eq!(Tokens(amount).scaled(SERIALISATION_ALLOWANCE), Tokens(scaled));
    }
    assert_eq!(Bytes(5).scaled(-1.0), Bytes(0));
    assert_eq!(Bytes(usize::MAX).scaled(2.0), Bytes(usize::MAX));
}

#[test]
fn tokens_are_counted_by_bytes() {
    for (text, tokens) in [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("éé", 1), ("日本語", 3)] {
        assert_eq!(approx_token_count(text), tokens, "{text}");
    }
}

#[test]
fn text_is_cut_in_the_middle() {
    let two = two_lines();
    let emoji = emoji_lines();
    let e = "é".repeat(10);
    let table = [
        ("example output", Bytes(1), "…13 chars truncated…t"),
        ("example output", Tokens(1), "ex…3 tokens truncated…ut"),
        ("example output", Tokens(0), "…4 tokens truncated…"),
        (SENTENCE, Bytes(30), "this is an exam…30 chars truncated…ld be truncated"),
        (SENTENCE, Tokens(5), "this is an…10 tokens truncated… truncated"),
        (two.as_str(), Tokens(10), "this is an example o…11 tokens truncated…also some other line"),
        (two.as_str(), Bytes(30), "this is an exam…51 chars truncated…some other line"),
        (e.as_str(), Bytes(5), "é…8 chars truncated…é"),
        ("abcdef", Bytes(0), "…6 chars truncated…"),
        ("abcdef", Tokens(0), "…2 tokens truncated…"),
        ("abcdefgh", Bytes(7), "abc…1 chars truncated…efgh"),
        ("日本語テキスト", Bytes(9), "日…5 chars truncated…ト"),
        ("日本語テキスト", Tokens(2), "日…4 tokens truncated…ト"),
        (emoji.as_str(), Bytes(20), "😀😀…21 chars truncated…with text\n"),
        (emoji.as_str(), Tokens(8), "😀😀😀😀…8 tokens truncated… line with text\n"),
        ("", Bytes(0), ""),
        ("", Tokens(3), ""),
        ("abcdef", Bytes(6), "abcdef"),
        ("abcdefgh", Tokens(2), "abcdefgh"),
    ];
    for (text, policy, expected) in table {
        assert_eq!(truncate_text(text, policy), expected, "{text:?} {policy:?}");
    }
}

#[test]
fn the_same_text_cut_twice_tells_a_tiny_count() {
    let thousand = "x".repeat(1000);
    let policy = Bytes(128).scaled(SERIALISATION_ALLOWANCE);
    let first = truncate_text(&thousand, policy);
    assert_eq!((first.chars().count(), first.contains("…846 chars truncated…")), (175, true));
    assert_eq!(first.len(), 179);
    let second = truncate_text(&first, policy);
    assert_eq!((second.len(), second.contains("…21 chars truncated…")), (178, true));

    let long = "x".repeat(100_000);
    let policy = Tokens(10_000).scaled(SERIALISATION_ALLOWANCE);
    let first = truncate_text(&long, policy);
    assert!(first.contains("…13000 tokens truncated…"));
    assert!(truncate_text(&first, policy).contains("…7 tokens truncated…"));
}

#[test]
fn a_formatted_cut_tells_tokens_and_lines() {
    assert_eq!(
        formatted_truncate_text("example output", Tokens(1)),
        "Warning: truncated output (original token count: 4)\nTotal output lines: 1\n\nex…3 tokens truncated…ut"
    );
    assert_eq!(
        formatted_truncate_text(&two_lines(), Tokens(10)),
        "Warning: truncated output (original token count: 21)\nTotal output lines: 2\n\n\
         this is an example o…11 tokens truncated…also some other line"
    );
    assert_eq!(formatted_truncate_text("exact", Bytes(5)), "exact");
    let final_newline = formatted_truncate_text("a\nb\n", Bytes(1));
    assert!(final_newline.contains("Total output lines: 2\n"), "{final_newline}");
}

#[test]
fn captured_output_keeps_the_marker_of_its_loss() {
    let lost = NonZeroU64::new(7);
    let captured = "head\n... 7 bytes omitted ...\ntail";
    assert_eq!(truncate_captured(captured, Tokens(50), Some(10), lost), captured);
    assert_eq!(truncate_captured("bare", Tokens(50), None, lost), "... 7 bytes omitted ...\nbare");
    assert_eq!(
        truncate_captured(captured, Bytes(8), Some(99), lost),
        "Warning: truncated output (original token count: 99)\n... 7 bytes omitted ...\n\nhead…25 chars truncated…tail"
    );
    // A marker that the cut has broken counts as gone.
    assert_eq!(
        truncate_captured(captured, Bytes(30), None, lost),
        "Warning: truncated output (original token count: 9)\n... 7 bytes omitted ...\n\n\
         head\n... 7 byte…3 chars truncated…mitted ...\ntail"
    );
}

#[test]
fn a_marker_that_survives_the_cut_is_not_repeated() {
    let marker = "... 7 bytes omitted ...";
    let captured = format!("{marker}\n{}", "x".repeat(100));
    let cut = truncate_captured(&captured, Bytes(60), None, NonZeroU64::new(7));
    assert_eq!(cut.matches(marker).count(), 1, "{cut}");
    assert!(
        cut.starts_with(&format!("Warning: truncated output (original token count: 31)\n\n{marker}\n")),
        "{cut}"
    );
}

#[test]
fn captured_output_without_loss_is_formatted() {
    assert_eq!(
        truncate_captured("example output", Tokens(1), Some(77), None),
        formatted_truncate_text("example output", Tokens(1))
    );
}

fn policies() -> impl Strategy<Value = TruncationPolicy> {
    prop_oneof![(0usize..300).prop_map(Bytes), (0usize..80).prop_map(Tokens)]
}

/// The longest marker for a text: its count has no more digits than the text has bytes to count.
fn marker_length(text: &str) -> usize {
    "…  tokens truncated…".len() + text.len().to_string().len()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_cut_exceeds_its_budget_by_the_marker_at_most(text in "(\\PC|\n){0,400}", policy in policies()) {
        let cut = truncate_text(&text, policy);
        if text.len() <= policy.byte_budget() {
            prop_assert_eq!(cut, text);
        } else {
            prop_assert!(cut.len() <= policy.byte_budget() + marker_length(&text));
            let mut halves = cut.split('…');
            let (head, tail) = (halves.next().unwrap_or(""), cut.rsplit('…').next().unwrap_or(""));
            prop_assert!(text.starts_with(head) || head.is_empty());
            prop_assert!(text.ends_with(tail) || tail.is_empty());
        }
    }

    #[test]
    fn removed_characters_add_up(text in "[a-zé日😀]{0,400}", budget in 0usize..300) {
        let cut = truncate_text(&text, Bytes(budget));
        if text.len() > budget {
            let parts: Vec<&str> = cut.split('…').collect();
            let removed: usize = parts[1].trim_end_matches(" chars truncated").parse().unwrap();
            prop_assert_eq!(parts[0].chars().count() + removed + parts[2].chars().count(), text.chars().count());
        }
    }
}
