use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;

#[test]
fn what_fits_is_unchanged() {
    for text in ["", "one line", "two\nlines\n", "\n\n\n"] {
        assert_eq!(telemetry_preview(text), text);
    }
    let full = "x".repeat(TELEMETRY_PREVIEW_MAX_BYTES);
    assert_eq!(telemetry_preview(&full), full);
    let lines = "l\n".repeat(TELEMETRY_PREVIEW_MAX_LINES);
    assert_eq!(telemetry_preview(&lines), lines);
}

#[test]
fn one_byte_too_many_is_cut_with_the_notice_glued_on() {
    let text = "x".repeat(TELEMETRY_PREVIEW_MAX_BYTES + 1);
    let expected =
        format!("{}[... telemetry preview truncated ...]", "x".repeat(TELEMETRY_PREVIEW_MAX_BYTES));
    assert_eq!(telemetry_preview(&text), expected);
}

#[test]
fn one_line_too_many_is_cut() {
    let text = "l\n".repeat(TELEMETRY_PREVIEW_MAX_LINES + 1);
    let kept = vec!["l"; TELEMETRY_PREVIEW_MAX_LINES].join("\n");
    assert_eq!(telemetry_preview(&text), format!("{kept}{TELEMETRY_PREVIEW_NOTICE}"));
}

#[test]
fn the_byte_limit_never_splits_a_character() {
    for lead in 0..4 {
        let text = format!("{}{}", "a".repeat(TELEMETRY_PREVIEW_MAX_BYTES - lead), "😀".repeat(3));
        let kept = telemetry_preview(&text);
        let expected = "a".repeat(TELEMETRY_PREVIEW_MAX_BYTES - lead);
        assert_eq!(kept, format!("{expected}{TELEMETRY_PREVIEW_NOTICE}"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_preview_is_bounded(text in "([a-zé😀]{0,60}(\n|\r\n)?){0,120}") {
        let preview = telemetry_preview(&text);
        prop_assert!(preview.len() <= TELEMETRY_PREVIEW_MAX_BYTES + TELEMETRY_PREVIEW_NOTICE.len());
        prop_assert!(preview.lines().count() <= TELEMETRY_PREVIEW_MAX_LINES);
        prop_assert!(preview == text || preview.ends_with(TELEMETRY_PREVIEW_NOTICE));
    }
}
