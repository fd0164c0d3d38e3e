use pretty_assertions::assert_eq;

use super::*;
use crate::patch::Hunk;
use crate::replace::replace;

fn diff(file: &[u8], body: &str) -> String {
    let text = format!("*** Begin Patch\n*** Update File: a\n{body}\n*** End Patch");
    let patch = crate::parse_patch(&text).expect("parses");
    let Hunk::Update { chunks, .. } = &patch.hunks[0] else { panic!("an update") };
    let replaced = replace(file, chunks).expect("matches");
    unified(file, &replaced.bytes, &replaced.edits)
}

#[test]
fn one_line_of_context() {
    assert_eq!(diff(b"1\n2\n3\n4\n5\n", "-3\n+three"), "@@ -2,3 +2,3 @@\n 2\n-3\n+three\n 4\n");
    assert_eq!(diff(b"1\n2\n", "-1"), "@@ -1,2 +1 @@\n-1\n 2\n");
    assert_eq!(diff(b"1\n2\n", "+3"), "@@ -2 +2,2 @@\n 2\n+3\n");
    assert_eq!(diff(b"1\n", "-1"), "@@ -1 +0,0 @@\n-1\n");
    assert_eq!(diff(b"", "+1"), "@@ -0,0 +1 @@\n+1\n");
    assert_eq!(diff(b"1\n", " 1"), "");
}

#[test]
fn changes_close_together_share_a_hunk() {
    let far = diff(b"1\n2\n3\n4\n5\n6\n", "-1\n@@\n-5\n+five");
    assert_eq!(far, "@@ -1,2 +1 @@\n-1\n 2\n@@ -4,3 +3,3 @@\n 4\n-5\n+five\n 6\n");
    let near = diff(b"1\n2\n3\n4\n5\n", "-1\n@@\n-4\n+four");
    assert_eq!(near, "@@ -1,5 +1,4 @@\n-1\n 2\n 3\n-4\n+four\n 5\n");
}

#[test]
fn line_ends_show() {
    assert_eq!(diff(b"x", "-x\n+y"), "@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+y\n");
    assert_eq!(diff(b"a\r\nb\rc\r\n", "-c"), "@@ -2,2 +2 @@\n b\r\n-c\r\n");
    assert_eq!(diff(b"a\nx", "-a"), "@@ -1,2 +1 @@\n-a\n-x\n\\ No newline at end of file\n+x\n");
}

#[test]
fn bytes_that_are_no_text_are_replaced() {
    assert_eq!(diff(b"x\n\xff\n", "-x\n+y"), "@@ -1,2 +1,2 @@\n-x\n+y\n \u{fffd}\n");
}

#[test]
fn whole_files() {
    let (old, new) = (b"a\n", b"b\nc\n");
    assert_eq!(unified(old, new, &whole(old, new)), "@@ -1 +1,2 @@\n-a\n+b\n+c\n");
    assert_eq!(unified(old, old, &whole(old, old)), "");
    assert_eq!(unified(b"\xef\xbb\xbfa\n", b"", &whole(b"\xef\xbb\xbfa\n", b"")), "@@ -1 +0,0 @@\n-a\n");
}
