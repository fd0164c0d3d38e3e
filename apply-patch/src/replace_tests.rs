use pretty_assertions::assert_eq;

use super::*;
use crate::patch::Hunk;

fn chunks(body: &str) -> Vec<Chunk> {
    let text = format!("*** Begin Patch\n*** Update File: a\n{body}\n*** End Patch");
    match crate::parse_patch(&text).expect("parses").hunks.remove(0) {
        Hunk::Update { chunks, .. } => chunks,
        other => panic!("an update expected: {other:?}"),
    }
}

fn apply(file: &[u8], body: &str) -> Result<Vec<u8>, Mismatch> {
    let replaced = replace(file, &chunks(body))?;
    check_edits(file, &replaced);
    Ok(replaced.bytes)
}

/// What lies between the edits is the same on both sides.
fn check_edits(file: &[u8], replaced: &Replaced) {
    let (mut old, mut new) = (0, 0);
    for edit in &replaced.edits {
        assert_eq!(&file[old..edit.old.start], &replaced.bytes[new..edit.new.start]);
        (old, new) = (edit.old.end, edit.new.end);
    }
    assert_eq!(&file[old..], &replaced.bytes[new..]);
}

fn text(file: &str, body: &str) -> String {
    String::from_utf8(apply(file.as_bytes(), body).expect(body)).expect("UTF-8")
}

fn lines_missing(file: &str, body: &str, lines: &str) {
    assert_eq!(apply(file.as_bytes(), body), Err(Mismatch::Lines(lines.to_owned())), "{body}");
}

/// The recorded scenarios' files and patches.
#[test]
fn as_recorded() {
    for (file, body, expected) in [
        ("one\ntwo\nthree\n", "@@\n one\n-two\n+TWO\n three", "one\nTWO\nthree\n"),
        ("1\n2\n3\n4\n5\n", "@@\n-1\n+one\n@@\n-5\n+five", "one\n2\n3\n4\nfive\n"),
        ("one\n\ntwo\n", "@@\n one\n\n-two\n+TWO", "one\n\nTWO\n"),
        ("    one\n    two\n", "@@\n one\n-two\n+TWO", "    one\nTWO\n"),
        ("one  \ntwo\t\n", "@@\n one\n-two\n+TWO", "one  \nTWO\n"),
        ("a\r\nb\nc\r\n", "@@\n-b\n+B\n+B2", "a\r\nB\r\nB2\r\nc\r\n"),
        ("x", "@@\n-x\n+y", "y\n"),
        ("\u{feff}x\n", "@@\n-x\n+y", "\u{feff}y\n"),
        ("one\ntwo\n", "@@ one\n+mid", "one\ntwo\nmid\n"),
        ("one\ntwo\n", "@@\n+tail", "one\ntwo\ntail\n"),
        ("x\ny\nx\ny\n", "@@\n x\n-y\n+Y", "x\nY\nx\ny\n"),
        ("你好\n", "@@\n-你好\n+世界 😀", "世界 😀\n"),
        (
            "class A\ndef f():\n    return 1\nclass B\ndef f():\n    return 1\n",
            "@@ class B\n@@ def f():\n-    return 1\n+    return 2",
            "class A\ndef f():\n    return 1\nclass B\ndef f():\n    return 2\n",
        ),
    ] {
        assert_eq!(text(file, body), expected, "{body}");
    }
    assert_eq!(apply(b"x\n\xff\n", "-x\n+y").expect("matches"), b"y\n\xff\n");
    lines_missing("1\n2\n3\n4\n5\n", "@@\n-5\n+five\n@@\n-1\n+one", "1");
    lines_missing("x\n", "@@\n x\n-nope\n+y\n z", "x\nnope\nz");
}

#[test]
fn headers_narrow_and_must_exist() {
    let file = "a\nx\nb\nx\n";
    assert_eq!(text(file, "@@ b\n-x\n+y"), "a\nx\nb\ny\n");
    assert_eq!(text(file, "@@ a\n@@ b\n-x\n+y"), "a\nx\nb\ny\n");
    let missing = |context: &str| Err(Mismatch::Context(context.to_owned()));
    assert_eq!(apply(file.as_bytes(), "@@ c\n-x"), missing("c"));
    assert_eq!(apply(file.as_bytes(), "@@ b\n@@ a\n-x"), missing("a"));
    // The header itself is behind the cursor afterwards.
    lines_missing(file, "@@ b\n-b", "b");
    // It must exist even where it decides nothing (A5.3).
    assert_eq!(apply(file.as_bytes(), "@@ c\n+x"), missing("c"));
}

#[test]
fn chunks_come_in_file_order() {
    assert_eq!(text("a\na\n", "-a\n+b\n@@\n-a\n+c"), "b\nc\n");
    lines_missing("a\nb\n", " a\n-b\n+B\n@@\n-a", "a");
    // A pure addition does not move the cursor.
    assert_eq!(text("a\nb\n", "+1\n@@\n-a\n@@\n+2"), "b\n1\n2\n");
}

#[test]
fn chunks_at_the_end_of_the_file() {
    assert_eq!(text("a\nb\na\n", "-a\n+z\n*** End of File"), "a\nb\nz\n");
    lines_missing("a\nb\n", "-a\n*** End of File", "a");
    assert_eq!(text("a\nb\n", " b\n+c\n*** End of File"), "a\nb\nc\n");
    // It cannot reach back over an earlier chunk.
    lines_missing("a\nb\n", "-b\n+c\n@@\n a\n-b\n*** End of File", "a\nb");
}

#[test]
fn an_empty_last_line_may_be_missing_in_the_file() {
    assert_eq!(text("a\nb\n", " a\n-b\n+c\n "), "a\nc\n");
    assert_eq!(text("a\nb\n", "-b\n-"), "a\n");
    assert_eq!(text("a\nb\n", "-b\n+c\n \n+d"), "a\nc\n\nd\n");
    // Where the file has it, it counts.
    assert_eq!(text("a\n\nb\n", " a\n-"), "a\nb\n");
    // Nothing but the empty line: the rest matches at the cursor.
    assert_eq!(text("a\nb\n", "-a\n+A\n@@\n-\n+x"), "A\nx\nb\n");
    lines_missing("a\n", " nope\n ", "nope\n");
}

#[test]
fn line_ends() {
    // Inserted lines take the file's first line end, untouched ones keep their own.
    assert_eq!(text("foo\r\nbar\r\n", "-bar\n+baz\n+qux"), "foo\r\nbaz\r\nqux\r\n");
    assert_eq!(text("a\rb\r", " a\n+x"), "a\rx\rb\r");
    assert_eq!(text("a\nb\r\nc\n", " b\n+x"), "a\nb\r\nx\nc\n");
    assert_eq!(text("a\nb\r\n", "-b\n+c"), "a\nc\n");
    // Context lines keep text and line end, whatever the patch thinks of them.
    assert_eq!(text("\ta \r\nb\n", " a\n-b"), "\ta \r\n");
}

#[test]
fn the_end_of_the_file() {
    // A last line without a line end gets the file's.
    assert_eq!(text("a\r\nb", "-a\n+c"), "c\r\nb\r\n");
    assert_eq!(text("world", "+tail"), "world\ntail\n");
    assert_eq!(text("a\nb", " b\n+c"), "a\nb\nc\n");
    assert_eq!(text("a\nb", " a"), "a\nb\n");
    // A blank last line stays.
    assert_eq!(text("a\n\n", "-a\n+b"), "b\n\n");
    assert_eq!(text("a\n\n", "+b"), "a\n\nb\n");
    // Nothing left is no byte, but for a mark.
    assert_eq!(text("a\n", "-a"), "");
    assert_eq!(text("\u{feff}a\n", "-a"), "\u{feff}");
    assert_eq!(text("", "+a\n+b"), "a\nb\n");
    assert_eq!(text("\u{feff}", "+a"), "\u{feff}a\n");
}

#[test]
fn a_byte_order_mark_in_the_patch() {
    // Whether the patch shows the mark or not, the file has it once.
    let file = "\u{feff}a\nb\n";
    for body in ["-a\n+c", "-\u{feff}a\n+\u{feff}c", "-\u{feff}a\n+c", "-a\n+\u{feff}c"] {
        assert_eq!(text(file, body), "\u{feff}c\nb\n", "{body:?}");
    }
    assert_eq!(text(file, " \u{feff}a\n-b"), "\u{feff}a\n");
    assert_eq!(text(file, "+\u{feff}c\n a"), "\u{feff}c\na\nb\n");
    lines_missing("a\n", "-\u{feff}a", "\u{feff}a");
    lines_missing("\u{feff}a\nb\n", "-a\n@@\n-\u{feff}b", "\u{feff}b");
    // Elsewhere it is text.
    assert_eq!(text("a\n\u{feff}b\n", "-\u{feff}b\n+\u{feff}c"), "a\n\u{feff}c\n");
}

#[test]
fn context_that_matched_loosely_is_not_rewritten() {
    let file = "\u{201c}q\u{201d}  \nold\n";
    assert_eq!(text(file, " \"q\"\n-old\n+new"), "\u{201c}q\u{201d}  \nnew\n");
}

#[test]
fn interleaved_changes() {
    let file = "1\n2\n3\n4\n5\n";
    assert_eq!(text(file, "+0\n 1\n-2\n+two\n+deux\n 3\n-4\n 5\n+6"), "0\n1\ntwo\ndeux\n3\n5\n6\n");
    assert_eq!(replace(file.as_bytes(), &chunks(" 1\n-2\n-3\n+x\n 4")).expect("matches").edits.len(), 1);
}

#[test]
fn new_lines_are_not_glued_to_others() {
    // The first line end is a carriage return, and a bare line feed follows.
    assert_eq!(text("a\rb\n\nc\n", " b\n+x\n \n-c"), "a\rb\nx\r\n\n");
    assert_eq!(text("a\rb\n\nc\n", " b\n+x\n+y\n \n c"), "a\rb\nx\ry\r\n\nc\n");
    // The first line end is a line feed, and the new line is empty behind a carriage return.
    assert_eq!(text("x\na\rb\n", " a\n+\n b"), "x\na\r\r\nb\n");
    assert_eq!(text("x\na\rb\n", " a\n+y\n+\n b"), "x\na\ry\n\nb\n");
    // Nothing to be careful about.
    assert_eq!(text("a\rb\rc\n", " b\n+x\n c"), "a\rb\rx\rc\n");
    assert_eq!(text("a\rb\r", "+\n+x"), "a\rb\r\rx\r");
}
