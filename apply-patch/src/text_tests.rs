use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;

fn texts(bytes: &[u8]) -> Vec<&[u8]> {
    lines_from(bytes, first_line(bytes)).map(|line| text_of(bytes, line)).collect()
}

#[test]
fn every_line_end_ends_a_line() {
    assert_eq!(texts(b""), [b""; 0]);
    assert_eq!(texts(b"a"), [b"a"]);
    assert_eq!(texts(b"a\n"), [b"a"]);
    assert_eq!(texts(b"a\r\nb\rc\nd"), [b"a", b"b", b"c", b"d"]);
    assert_eq!(texts(b"\n\r\n\r"), [b"", b"", b""]);
    assert_eq!(texts(b"\n\r"), [b"", b""]);
    assert_eq!(texts(b"a\r\r\n"), [&b"a"[..], b""]);
    assert_eq!(texts(b"a\xff\n\x00b"), [&b"a\xff"[..], b"\x00b"]);
}

#[test]
fn the_byte_order_mark_is_no_text() {
    assert_eq!(texts(b"\xef\xbb\xbfa\nb\n"), [b"a", b"b"]);
    assert_eq!(Lines::of(b"\xef\xbb\xbfa\n").start(0), 3);
    assert_eq!((first_line(b"\xef\xbb\xbfa"), first_line(b"a")), (3, 0));
    assert_eq!(texts(b"\xef\xbb\xbf"), [b""; 0]);
    assert_eq!(Lines::of(b"\xef\xbb\xbf").start(0), 3);
    assert!(!last_is_open(b"\xef\xbb\xbf"));
}

#[test]
fn line_ends_as_found() {
    let preferred = preferred_terminator;
    assert_eq!(preferred(b""), b"\n");
    assert_eq!(preferred(b"a"), b"\n");
    assert_eq!(preferred(b"a\r\nb\n"), b"\r\n");
    assert_eq!(preferred(b"\xef\xbb\xbfa\rb\n"), b"\r");
    assert!(last_is_open(b"a\nb"));
    assert!(!last_is_open(b"a\nb\r"));
    assert!(!last_is_open(b""));
}

#[test]
fn spans_reach_from_line_to_line() {
    let lines = Lines::of(b"a\r\nbc\nd");
    assert_eq!(lines.span(0..1), 0..3);
    assert_eq!(lines.span(1..3), 3..7);
    assert_eq!(lines.span(3..3), 7..7);
    assert_eq!(text_of(lines.bytes(), lines.span(3..4)), b"");
}

#[test]
fn utf16_is_known_by_its_mark() {
    assert!(is_utf16(b"\xff\xfea\0"));
    assert!(is_utf16(b"\xfe\xff\0a"));
    assert!(!is_utf16(b"\xef\xbb\xbfa"));
    assert!(!is_utf16(b"\xff"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// The index remembers few lines; what it says of the others is what a reading from the front says.
    #[test]
    fn the_index_agrees_with_a_reading(
        bytes in prop::collection::vec(prop::sample::select(b"ab\n\n\r".to_vec()), 0..200),
        marked in any::<bool>(),
    ) {
        let bytes = if marked { [BOM, &bytes].concat() } else { bytes };
        let mut starts = Vec::new();
        let mut next = if marked { BOM.len() } else { 0 };
        while next < bytes.len() {
            starts.push(next);
            let rest = &bytes[next..];
            next += match rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
                None => rest.len(),
                Some(at) if rest[at..].starts_with(b"\r\n") => at + 2,
                Some(at) => at + 1,
            };
        }
        let lines = Lines::of(&bytes);
        prop_assert_eq!(lines.len(), starts.len());
        for (index, start) in starts.iter().enumerate() {
            prop_assert_eq!(lines.start(index), *start);
            let end = starts.get(index + 1).copied().unwrap_or(bytes.len());
            prop_assert_eq!(lines.span(index..index + 1), *start..end);
        }
        prop_assert_eq!(lines.start(starts.len()), bytes.len());
        prop_assert_eq!(last_line(&bytes), starts.last().copied().unwrap_or(bytes.len()));
        prop_assert_eq!(last_is_open(&bytes), !starts.is_empty() && !bytes.ends_with(b"\n") && !bytes.ends_with(b"\r"));
        for offset in 0..=bytes.len() {
            let before = starts.iter().filter(|start| **start < offset).count();
            prop_assert_eq!(lines.lines_of(&(0..offset)).len(), before);
        }
    }
}

#[test]
fn the_index_is_a_quarter_of_the_smallest_lines() {
    let bytes = vec![b'\n'; 16_000];
    let lines = Lines::of(&bytes);
    assert_eq!((lines.len(), lines.starts.len()), (16_000, 1000));
    assert_eq!(Lines::of(&bytes[..STRIDE]).starts, [0]);
    assert_eq!(Lines::of(&bytes[..=STRIDE]).starts, [0, 16]);
}
