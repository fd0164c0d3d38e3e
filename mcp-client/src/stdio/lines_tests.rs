use pretty_assertions::assert_eq;
use tokio::io::BufReader;

use super::*;

async fn lines(input: &[u8], max: usize) -> Vec<Line> {
    let mut lines = Lines::new(BufReader::with_capacity(3, input), max);
    let mut found = Vec::new();
    while let Some(line) = lines.next().await.expect("no error") {
        found.push(line);
    }
    found
}

fn whole(text: &str) -> Line {
    Line::Whole(text.as_bytes().to_vec())
}

#[tokio::test]
async fn lines_end_with_either_end() {
    assert_eq!(lines(b"ab\r\n\nlonger one\nrest", 100).await, [whole("ab"), whole(""), whole("longer one")]);
}

#[tokio::test]
async fn a_line_at_the_bound_is_whole_and_one_more_is_not() {
    assert_eq!(lines(b"12345\n", 5).await, [whole("12345")]);
    let over = Line::TooLong { head: b"123456".to_vec(), tail: b"123456".to_vec(), bytes: 6 };
    assert_eq!(lines(b"123456\nok\n", 5).await, [over, whole("ok")]);
}

#[tokio::test]
async fn both_ends_of_a_long_line_are_kept_and_no_more() {
    let mut input = b"HEAD".to_vec();
    input.extend(vec![b'x'; 100_000]);
    input.extend(b"TAIL\n");
    let Line::TooLong { head, tail, bytes } = lines(&input, 50).await.remove(0) else {
        panic!("it is too long");
    };
    assert_eq!(bytes, 100_008);
    assert!(head.starts_with(b"HEADx") && head.len() <= KEPT_BYTES);
    assert!(tail.ends_with(b"xTAIL"));
    assert_eq!(tail.len(), KEPT_BYTES);
}
