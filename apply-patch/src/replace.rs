//! From a file's bytes and an update's chunks to the new bytes (runtime.md A5, A5.a).
//!
//! Only the spans between context lines are replaced; all other bytes are copied as they are. The one
//! exception is recorded: a last line without a line end gets one.

use std::ops::Range;

use crate::patch::Chunk;
use crate::seek::Seeker;
use crate::text::{BOM, Lines};

/// The byte-order mark as a character of a patch's text.
const MARK: char = '\u{feff}';

/// The outcome of an update in memory.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Replaced {
    pub(crate) bytes: Vec<u8>,
    /// What differs, ascending; everything between is the same.
    pub(crate) edits: Vec<Edit>,
}

/// Some whole lines that were replaced by others. Byte ranges in the old and the new file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) old: Range<usize>,
    pub(crate) new: Range<usize>,
}

/// Why an update has no outcome.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Mismatch {
    /// No line matches this `@@` text.
    Context(String),
    /// No place matches these lines.
    Lines(String),
}

/// Old lines, by number, that give way to new ones.
#[derive(Debug)]
struct Replacement<'c> {
    old: Range<usize>,
    new: &'c [String],
}

/// Applies `chunks` to a file.
///
/// # Errors
/// The first chunk that does not match.
pub(crate) fn replace(file: &[u8], chunks: &[Chunk]) -> Result<Replaced, Mismatch> {
    let lines = Lines::of(file);
    let mut replacements = locate(&lines, chunks)?;
    // Insertions at the end of the file come in the order of their chunks, which is not that of the
    // file (A5.3); the sort is stable.
    replacements.sort_by_key(|replacement| replacement.old.start);
    let added: usize = replacements.iter().flat_map(|found| found.new).map(|line| line.len() + 2).sum();
    let mut writer = Writer::new(file, &lines, added);
    for replacement in &replacements {
        writer.copy_until(replacement.old.start);
        writer.replace(replacement);
    }
    writer.copy_until(lines.len());
    Ok(Replaced { bytes: writer.out, edits: writer.edits })
}

/// Finds every chunk, in order, each behind the one before (A5.1 to A5.4).
fn locate<'c>(lines: &Lines<'_>, chunks: &'c [Chunk]) -> Result<Vec<Replacement<'c>>, Mismatch> {
    let seeker = Seeker::new(lines, chunks);
    let mut found = Vec::new();
    let mut cursor = 0;
    for chunk in chunks {
        for context in &chunk.change_contexts {
            let at = seeker.seek(std::slice::from_ref(context), cursor, false);
            cursor = at.ok_or_else(|| Mismatch::Context(context.clone()))? + 1;
        }
        if chunk.old_lines.is_empty() {
            found.push(Replacement { old: lines.len()..lines.len(), new: &chunk.new_lines });
            continue;
        }
        let place = Place::find(&seeker, chunk, cursor)
            .or_else(|| Place::behind_mark(lines, &seeker, chunk).filter(|_| cursor == 0))
            .ok_or_else(|| Mismatch::Lines(chunk.old_lines.join("\n")))?;
        cursor = place.start + place.old.len();
        place.push_replacements(chunk, &mut found);
    }
    Ok(found)
}

/// Where a chunk matches, and with which of its lines.
struct Place<'c> {
    start: usize,
    old: &'c [String],
    new: &'c [String],
}

impl<'c> Place<'c> {
    /// The chunk as it is, else without an empty last line (A5.4): models end chunks with one where the
    /// file has none.
    fn find(seeker: &Seeker<'_>, chunk: &'c Chunk, cursor: usize) -> Option<Self> {
        let (old, new) = (&chunk.old_lines[..], &chunk.new_lines[..]);
        if let Some(start) = seeker.seek(old, cursor, chunk.is_end_of_file) {
            return Some(Self { start, old, new });
        }
        let old = without_empty_last(old)?;
        let new = without_empty_last(new).unwrap_or(new);
        let start = seeker.seek(old, cursor, chunk.is_end_of_file)?;
        Some(Self { start, old, new })
    }

    /// The start of the file, when the file has a byte-order mark and the chunk says so too: whoever
    /// made the patch took the mark for text.
    fn behind_mark(lines: &Lines<'_>, seeker: &Seeker<'_>, chunk: &'c Chunk) -> Option<Self> {
        let (first, rest) = chunk.old_lines.split_first().filter(|_| lines.has_mark())?;
        let mut pattern = vec![first.strip_prefix(MARK)?.to_owned()];
        pattern.extend_from_slice(rest);
        let (old, new) = (&chunk.old_lines[..], &chunk.new_lines[..]);
        seeker.matches_at(&pattern, 0).then_some(Self { start: 0, old, new })
    }

    /// The spans between the context lines.
    fn push_replacements(&self, chunk: &Chunk, found: &mut Vec<Replacement<'c>>) {
        let (mut old_from, mut new_from) = (0, 0);
        let ends = (self.old.len(), self.new.len());
        let kept = chunk.context_line_indices.iter().copied();
        // A context line that was dropped on one side only is no anchor any more.
        let kept = kept.filter(|(old, new)| *old < ends.0 && *new < ends.1);
        for (old_to, new_to) in kept.chain([ends]) {
            let new = self.new.get(new_from..new_to).unwrap_or_default();
            if old_to > old_from || !new.is_empty() {
                found.push(Replacement { old: self.start + old_from..self.start + old_to, new });
            }
            (old_from, new_from) = (old_to + 1, new_to + 1);
        }
    }
}

fn without_empty_last(lines: &[String]) -> Option<&[String]> {
    lines.split_last().and_then(|(last, rest)| last.is_empty().then_some(rest))
}

/// Writes the new file from front to back.
struct Writer<'a> {
    file: &'a [u8],
    lines: &'a Lines<'a>,
    terminator: &'static [u8],
    /// The next old line to be copied or replaced.
    next: usize,
    out: Vec<u8>,
    edits: Vec<Edit>,
}

impl<'a> Writer<'a> {
    fn new(file: &'a [u8], lines: &'a Lines<'a>, added: usize) -> Self {
        let mut out = Vec::with_capacity(file.len() + added + 2);
        out.extend_from_slice(file.get(..lines.start(0)).unwrap_or_default());
        Self { file, lines, terminator: lines.preferred_terminator(), next: 0, out, edits: Vec::new() }
    }

    /// Copies the old lines before `line`. A last line that is open is closed.
    fn copy_until(&mut self, line: usize) {
        let end = self.lines.len();
        if line == end && self.next < end && self.lines.last_is_open() {
            self.copy(self.next..end - 1);
            let start = self.out.len();
            self.copy(end - 1..end);
            self.out.extend_from_slice(self.terminator);
            self.note(end - 1..end, start);
        } else {
            self.copy(self.next..line);
        }
        self.next = line.max(self.next);
    }

    fn copy(&mut self, lines: Range<usize>) {
        let span = self.lines.span(lines);
        self.out.extend_from_slice(self.file.get(span).unwrap_or_default());
    }

    fn replace(&mut self, replacement: &Replacement<'_>) {
        let start = self.out.len();
        for line in replacement.new {
            // A mark at the start of the file is there already.
            let line =
                if self.out.as_slice() == BOM { line.strip_prefix(MARK).unwrap_or(line) } else { line };
            self.out.extend_from_slice(line.as_bytes());
            self.out.extend_from_slice(self.terminator);
        }
        self.note(replacement.old.clone(), start);
        self.next = replacement.old.end.max(self.next);
    }

    /// Notes an edit whose new lines start at `new_start` and end here; joined to one it touches.
    fn note(&mut self, old: Range<usize>, new_start: usize) {
        let (old, new) = (self.lines.span(old), new_start..self.out.len());
        if old.is_empty() && new.is_empty() {
            return;
        }
        match self.edits.last_mut() {
            Some(last) if last.old.end == old.start && last.new.end == new.start => {
                last.old.end = old.end;
                last.new.end = new.end;
            }
            Some(_) | None => self.edits.push(Edit { old, new }),
        }
    }
}

#[cfg(test)]
#[path = "replace_tests.rs"]
mod tests;
