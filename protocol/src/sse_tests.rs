use pretty_assertions::assert_eq;

use super::*;

/// The frames of `stream` in chunks of `size`, too large ones as `!excerpt`.
fn frames_in(stream: &[u8], size: usize, max: usize) -> Vec<String> {
    let mut frames = Vec::new();
    let mut out = |frame: Frame<'_>| {
        frames.push(match frame {
            Frame::Data(data) => String::from_utf8_lossy(data).into_owned(),
            Frame::TooLarge(excerpt) => format!("!{}", String::from_utf8_lossy(excerpt)),
        });
    };
    let mut framer = SseFramer::new(max);
    for chunk in stream.chunks(size) {
        framer.feed(chunk, &mut out);
    }
    framer.finish(&mut out);
    frames
}

/// The frames, which must be the same for every size of chunk.
fn frames(stream: &str, max: usize) -> Vec<String> {
    let whole = frames_in(stream.as_bytes(), usize::MAX, max);
    for size in 1..=stream.len() {
        assert_eq!(frames_in(stream.as_bytes(), size, max), whole, "in chunks of {size}");
    }
    whole
}

#[test]
fn all_line_ends() {
    for end in ["\n", "\r\n", "\r"] {
        let stream = "data: a\n\ndata: b\ndata: c\n\n".replace('\n', end);
        assert_eq!(frames(&stream, 100), ["a", "b\nc"], "{end:?}");
    }
    assert_eq!(frames("data: a\r\n\rdata: b\n\r\n", 100), ["a", "b"]);
}

#[test]
fn a_byte_order_mark_at_the_start_only() {
    assert_eq!(frames("\u{feff}data: a\n\n", 100), ["a"]);
    assert_eq!(frames("\u{feff}\ndata: a\n\n", 100), ["a"]);
    assert_eq!(frames("data: a\n\n\u{feff}data: b\n\n", 100), ["a"]);
}

#[test]
fn fields_as_the_standard_reads_them() {
    for (line, data) in [
        ("data:a", "a"),
        ("data: a", "a"),
        ("data:  a", " a"),
        ("data:a ", "a "),
        ("data", ""),
        ("data:", ""),
        ("data: ", ""),
        ("data: a: b", "a: b"),
    ] {
        assert_eq!(frames(&format!("{line}\n\n"), 100), [data], "{line:?}");
    }
    for line in
        [":", ": comment", "event: x", "id: 1", "retry: 5", "nothing", "database: x", "Data: x", " data: x"]
    {
        assert_eq!(frames(&format!("{line}\n\n"), 100), [""; 0], "{line:?}");
        assert_eq!(frames(&format!("data: a\n{line}\ndata: b\n\n"), 100), ["a\nb"], "{line:?}");
    }
}

#[test]
fn blank_lines_alone_are_nothing() {
    assert_eq!(frames("\n\n\r\n\r\rdata: a\n\n\n\n", 100), ["a"]);
    assert_eq!(frames("", 100), [""; 0]);
}

#[test]
fn the_end_of_the_stream_ends_the_event() {
    for tail in ["", "\n", "\r", "\r\n", "\n\n"] {
        assert_eq!(frames(&format!("data: a\n\ndata: b{tail}"), 100), ["a", "b"], "{tail:?}");
    }
}

#[test]
fn as_new_after_the_end() {
    let mut framer = SseFramer::new(100);
    let mut seen = Vec::new();
    for _ in 0..2 {
        let mut out = |frame: Frame<'_>| {
            let Frame::Data(data) = frame else { panic!("too large") };
            seen.push(data.to_vec());
        };
        framer.feed(b"\xef\xbb\xbfdata: a\r", &mut out);
        framer.finish(&mut out);
    }
    assert_eq!(seen, [b"a", b"a"]);
}

#[test]
fn the_limit_holds_to_the_byte() {
    assert_eq!(frames("data: 12345\n\ndata: b\n\n", 5), ["12345", "b"]);
    assert_eq!(frames("data: 123456\n\ndata: b\n\n", 5), ["!12345", "b"]);
    assert_eq!(frames("data: 12\ndata: 34\n\n", 5), ["12\n34"]);
    assert_eq!(frames("data: 12\ndata: 345\n\ndata: b\n\n", 5), ["!12\n34", "b"]);
    assert_eq!(frames("data: 12345\ndata\n\ndata: b\n\n", 5), ["!12345", "b"]);
    assert_eq!(frames("data: 123456", 5), ["!12345"]);
    assert_eq!(frames("\u{feff}data: 123456789012345678901234567890\n\n", 5), ["!12345"]);
}

#[test]
fn a_large_event_is_skipped_to_its_end() {
    let stream = "data: 123456\ndata: 1\n: c\ndata: 1234567890123456789012345\n\ndata: b\n\n";
    assert_eq!(frames(stream, 5), ["!12345", "b"]);
    assert_eq!(frames(&stream.replace('\n', "\r\n"), 5), ["!12345", "b"]);
}

#[test]
fn other_lines_may_be_of_any_length() {
    let long = "x".repeat(100);
    assert_eq!(frames(&format!(": {long}\ndata: a\nevent: {long}\n\n{long}\n\ndata: b\n\n"), 5), ["a", "b"]);
}

#[test]
fn an_excerpt_is_bounded() {
    let stream = format!("data: {}\n\n", "x".repeat(1000));
    assert_eq!(frames_in(stream.as_bytes(), 7, 500), [format!("!{}", "x".repeat(MAX_EXCERPT_BYTES))]);
}

#[test]
fn memory_is_bounded_whatever_comes() {
    let mut framer = SseFramer::new(1000);
    let mut count = 0;
    let mut out = |_: Frame<'_>| count += 1;
    framer.feed(b"data: ", &mut out);
    for _ in 0..1000 {
        framer.feed(&[b'x'; 100], &mut out);
        assert!(framer.line.len() <= 1000 + LINE_OVERHEAD && framer.data.len() <= 1000);
    }
    assert_eq!(count, 1);
}

#[test]
fn a_large_buffer_is_not_kept() {
    let mut framer = SseFramer::new(usize::MAX);
    let mut out = |_: Frame<'_>| {};
    framer.feed(b"data: ", &mut out);
    framer.feed(&vec![b'x'; 4 * KEPT_CAPACITY], &mut out);
    framer.feed(b"\n", &mut out);
    assert!(framer.line.capacity() <= KEPT_CAPACITY);
    assert!(framer.data.len() == 4 * KEPT_CAPACITY);
    framer.feed(b"\n", &mut out);
    assert!(framer.data.capacity() <= KEPT_CAPACITY);
}
