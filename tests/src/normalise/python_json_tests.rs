use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

#[test]
fn separators_have_a_space() {
    assert_eq!(
        dumps(&json!({"b": [1, 2.5, null], "a": {}, "c": [], "d": true})),
        r#"{"b": [1, 2.5, null], "a": {}, "c": [], "d": true}"#
    );
}

#[test]
fn what_is_not_printable_ascii_is_escaped() {
    assert_eq!(
        dumps(&json!("a\"\\\n\r\t\u{8}\u{c}\u{1}\u{7f}/é\u{2028}😀")),
        r#""a\"\\\n\r\t\b\f\u0001\u007f/\u00e9\u2028\ud83d\ude00""#
    );
}

#[test]
fn sorting_reaches_every_depth() {
    assert_eq!(
        dumps_sorted(&json!([{"b": {"z": 1, "é": 0, "a": 2}, "a": 1}])),
        r#"[{"a": 1, "b": {"a": 2, "z": 1, "\u00e9": 0}}]"#
    );
}

#[test]
fn what_is_written_reads_back() {
    let value = json!({"x": ["\u{1f600}\u{7f}", -3, 1e300]});
    assert_eq!(serde_json::from_str::<Value>(&dumps(&value)).unwrap(), value);
}
