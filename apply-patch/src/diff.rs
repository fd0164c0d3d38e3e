//! A unified diff from what is known to have changed.
//!
//! No search for differences is needed: an update knows its edits. Text that is no UTF-8 is shown with
//! replacement characters; the diff is for reading (runtime.md A7.3), never for applying.

use std::ops::Range;

use crate::replace::Edit;
use crate::text::{Lines, lines_from, terminator, text_of};

/// Unchanged lines shown around each change (A7.3).
const CONTEXT_LINES: usize = 1;

/// Some old lines and the new lines in their place, by number.
#[derive(Debug, Clone)]
struct LineEdit {
    old: Range<usize>,
    new: Range<usize>,
}

/// The hunks of a unified diff, without file headers. Empty when nothing differs.
pub(crate) fn unified(old: &[u8], new: &[u8], edits: &[Edit]) -> String {
    let (old, new) = (Lines::of(old), Lines::of(new));
    let edits: Vec<LineEdit> = edits
        .iter()
        .map(|edit| LineEdit { old: old.lines_of(&edit.old), new: new.lines_of(&edit.new) })
        .collect();
    let near = |left: &LineEdit, right: &LineEdit| right.old.start - left.old.end <= 2 * CONTEXT_LINES;
    let mut out = String::new();
    for hunk in edits.chunk_by(near) {
        push_hunk(&mut out, &old, &new, hunk);
    }
    out
}

/// The edit that replaces the whole of a file.
pub(crate) fn whole(old: &[u8], new: &[u8]) -> Vec<Edit> {
    if old == new { Vec::new() } else { vec![Edit { old: 0..old.len(), new: 0..new.len() }] }
}

fn push_hunk(out: &mut String, old: &Lines<'_>, new: &Lines<'_>, hunk: &[LineEdit]) {
    let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { return };
    let lead = CONTEXT_LINES.min(first.old.start);
    let trail = CONTEXT_LINES.min(old.len() - last.old.end);
    let shown = (first.old.start - lead..last.old.end + trail, first.new.start - lead..last.new.end + trail);
    out.push_str(&format!("@@ -{} +{} @@\n", range(&shown.0), range(&shown.1)));
    let mut next = shown.0.start;
    for edit in hunk {
        push_lines(out, ' ', old, next..edit.old.start);
        push_lines(out, '-', old, edit.old.clone());
        push_lines(out, '+', new, edit.new.clone());
        next = edit.old.end;
    }
    push_lines(out, ' ', old, next..shown.0.end);
}

/// A range in the header's form: one-based, the count left out when it is one, and the line before
/// when there are none.
fn range(lines: &Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => (lines.start + 1).to_string(),
        count => format!("{},{count}", lines.start + 1),
    }
}

fn push_lines(out: &mut String, sign: char, lines: &Lines<'_>, range: Range<usize>) {
    let file = lines.bytes();
    for line in lines_from(file, lines.start(range.start)).take(range.len()) {
        out.push(sign);
        out.push_str(&String::from_utf8_lossy(text_of(file, line.clone())));
        match terminator(file.get(line).unwrap_or_default()) {
            b"" => out.push_str("\n\\ No newline at end of file\n"),
            b"\n" => out.push('\n'),
            // A carriage return alone ends the line too, but a row of the diff ends with a line feed.
            _ => out.push_str("\r\n"),
        }
    }
}

#[cfg(test)]
#[path = "diff_tests.rs"]
mod tests;
