use pretty_assertions::assert_eq;

use super::*;

fn texts(bytes: &[u8]) -> Vec<&[u8]> {
    let lines = Lines::of(bytes);
    (0..lines.len()).map(|index| lines.text(index)).collect()
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
    assert_eq!(texts(b"\xef\xbb\xbf"), [b""; 0]);
    assert_eq!(Lines::of(b"\xef\xbb\xbf").start(0), 3);
    assert!(!Lines::of(b"\xef\xbb\xbf").last_is_open());
}

#[test]
fn line_ends_as_found() {
    let preferred = |bytes: &'static [u8]| Lines::of(bytes).preferred_terminator();
    assert_eq!(preferred(b""), b"\n");
    assert_eq!(preferred(b"a"), b"\n");
    assert_eq!(preferred(b"a\r\nb\n"), b"\r\n");
    assert_eq!(preferred(b"\xef\xbb\xbfa\rb\n"), b"\r");
    assert!(Lines::of(b"a\nb").last_is_open());
    assert!(!Lines::of(b"a\nb\r").last_is_open());
    assert!(!Lines::of(b"").last_is_open());
}

#[test]
fn spans_reach_from_line_to_line() {
    let lines = Lines::of(b"a\r\nbc\nd");
    assert_eq!(lines.span(0..1), 0..3);
    assert_eq!(lines.span(1..3), 3..7);
    assert_eq!(lines.span(3..3), 7..7);
    assert_eq!(lines.text(3), b"");
}

#[test]
fn utf16_is_known_by_its_mark() {
    assert!(is_utf16(b"\xff\xfea\0"));
    assert!(is_utf16(b"\xfe\xff\0a"));
    assert!(!is_utf16(b"\xef\xbb\xbfa"));
    assert!(!is_utf16(b"\xff"));
}
