use pretty_assertions::assert_eq;

use super::*;

async fn tail(input: &[u8]) -> Vec<String> {
    let tail = Tail::default();
    tail.clone().drain("s".to_owned(), input).await;
    tail.lines()
}

#[tokio::test]
async fn the_last_lines_are_kept() {
    let input: String = (0..KEPT_LINES + 2).map(|n| format!("line {n}\n")).collect();
    let lines = tail(input.as_bytes()).await;
    assert_eq!(lines.len(), KEPT_LINES);
    assert_eq!(lines.first().map(String::as_str), Some("line 2"));
}

#[tokio::test]
async fn a_line_without_an_end_counts_and_a_long_one_is_cut() {
    let mut input = vec![b'x'; KEPT_LINE_BYTES + 1];
    input.extend_from_slice(b"\r\nlast \xff");
    assert_eq!(tail(&input).await, ["x".repeat(KEPT_LINE_BYTES), "last \u{fffd}".to_owned()]);
}
