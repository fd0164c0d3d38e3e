//! From a file's bytes and an update's chunks to the new bytes (runtime.md A5, A5.a).
//!
//! Only the spans between context lines are replaced; all other bytes are copied as they are. The one
//! exception is recorded: a last line without a line end gets one. New lines end like the first line of
//! the file, but where that would glue two lines together.

use std::ops::Range;

use crate::patch::Chunk;
use crate::seek::Seeker;
use crate::text::{BOM, first_line, last_is_open, last_line, lines_from, preferred_terminator};

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

/// The bytes of some old lines that give way to new ones.
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
    let mut replacements = locate(file, chunks)?;
    // Insertions at the end of the file come in the order of their chunks, which is not that of the
    // file (A5.3); the sort is stable.
    replacements.sort_by_key(|replacement| replacement.old.start);
    let added: usize = replacements.iter().flat_map(|found| found.new).map(|line| line.len() + 2).sum();
    let mut writer = Writer::new(file, added);
    for replacement in &replacements {
        writer.copy_until(replacement.old.start);
        writer.replace(replacement);
    }
    writer.copy_until(file.len());
    Ok(Replaced { bytes: writer.out, edits: writer.edits })
}

/// Finds every chunk, in order, each behind the one before (A5.1 to A5.4).
fn locate<'c>(file: &[u8], chunks: &'c [Chunk]) -> Result<Vec<Replacement<'c>>, Mismatch> {
    let seeker = Seeker::new(file, chunks);
    let mut found = Vec::new();
    let mut cursor = first_line(file);
    for chunk in chunks {
        for context in &chunk.change_contexts {
            let at = seeker.seek(std::slice::from_ref(context), cursor, false);
            cursor = at.ok_or_else(|| Mismatch::Context(context.clone()))?.end;
        }
        if chunk.old_lines.is_empty() {
            found.push(Replacement { old: file.len()..file.len(), new: &chunk.new_lines });
            continue;
        }
        let place = Place::find(&seeker, chunk, cursor)
            .or_else(|| Place::behind_mark(file, &seeker, chunk, cursor))
            .ok_or_else(|| Mismatch::Lines(chunk.old_lines.join("\n")))?;
        cursor = place.at.end;
        place.push_replacements(file, chunk, &mut found);
    }
    Ok(found)
}

/// Where a chunk matches, and with which of its lines.
struct Place<'c> {
    at: Range<usize>,
    old: &'c [String],
    new: &'c [String],
}

impl<'c> Place<'c> {
    /// The chunk as it is, else without an empty last line (A5.4): models end chunks with one where the
    /// file has none.
    fn find(seeker: &Seeker<'_>, chunk: &'c Chunk, cursor: usize) -> Option<Self> {
        let (old, new) = (&chunk.old_lines[..], &chunk.new_lines[..]);
        if let Some(at) = seeker.seek(old, cursor, chunk.is_end_of_file) {
            return Some(Self { at, old, new });
        }
        let old = without_empty_last(old)?;
        let new = without_empty_last(new).unwrap_or(new);
        let at = seeker.seek(old, cursor, chunk.is_end_of_file)?;
        Some(Self { at, old, new })
    }

    /// The start of the file, when the file has a byte-order mark and the chunk says so too: whoever
    /// made the patch took the mark for text.
    fn behind_mark(file: &[u8], seeker: &Seeker<'_>, chunk: &'c Chunk, cursor: usize) -> Option<Self> {
        let marked = file.starts_with(BOM) && cursor == BOM.len();
        let (first, rest) = chunk.old_lines.split_first().filter(|_| marked)?;
        let mut pattern = vec![first.strip_prefix(MARK)?.to_owned()];
        pattern.extend_from_slice(rest);
        let at = seeker.matches_at(&pattern, cursor)?;
        Some(Self { at, old: &chunk.old_lines, new: &chunk.new_lines })
    }

    /// The spans between the context lines.
    fn push_replacements(&self, file: &[u8], chunk: &Chunk, found: &mut Vec<Replacement<'c>>) {
        let lines = lines_from(file, self.at.start).take(self.old.len());
        let starts: Vec<usize> = lines.map(|line| line.start).collect();
        let start = |line: usize| starts.get(line).copied().unwrap_or(self.at.end);
        let (mut old_from, mut new_from) = (0, 0);
        let ends = (self.old.len(), self.new.len());
        let kept = chunk.context_line_indices.iter().copied();
        // A context line that was dropped on one side only is no anchor any more.
        let kept = kept.filter(|(old, new)| *old < ends.0 && *new < ends.1);
        for (old_to, new_to) in kept.chain([ends]) {
            let new = self.new.get(new_from..new_to).unwrap_or_default();
            if old_to > old_from || !new.is_empty() {
                found.push(Replacement { old: start(old_from)..start(old_to), new });
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
    terminator: &'static [u8],
    /// Where the next old line starts that is to be copied or replaced.
    next: usize,
    out: Vec<u8>,
    edits: Vec<Edit>,
}

impl<'a> Writer<'a> {
    fn new(file: &'a [u8], added: usize) -> Self {
        let mut writer = Self {
            file,
            terminator: preferred_terminator(file),
            next: 0,
            out: Vec::with_capacity(file.len() + added + 2),
            edits: Vec::new(),
        };
        writer.copy(first_line(file));
        writer
    }

    /// Copies the old lines before the one that starts at `line`. A last line that is open is closed.
    fn copy_until(&mut self, line: usize) {
        let end = self.file.len();
        if line == end && self.next < end && last_is_open(self.file) {
            let last = last_line(self.file);
            self.copy(last);
            let start = self.out.len();
            self.copy(end);
            self.out.extend_from_slice(self.terminator);
            self.note(last..end, start);
        } else {
            self.copy(line);
        }
    }

    fn copy(&mut self, end: usize) {
        self.out.extend_from_slice(self.file.get(self.next..end).unwrap_or_default());
        self.next = end.max(self.next);
    }

    fn replace(&mut self, replacement: &Replacement<'_>) {
        let start = self.out.len();
        let last = replacement.new.len().saturating_sub(1);
        let before_feed = self.file.get(replacement.old.end) == Some(&b'\n');
        for (index, line) in replacement.new.iter().enumerate() {
            // A mark at the start of the file is there already.
            let line =
                if self.out.as_slice() == BOM { line.strip_prefix(MARK).unwrap_or(line) } else { line };
            // In a file of mixed line ends a carriage return and a line feed of two lines would make one.
            let behind_return = self.out.ends_with(b"\r") && line.is_empty();
            let terminator: &[u8] = match self.terminator {
                b"\n" if behind_return => b"\r\n",
                b"\r" if before_feed && index == last => b"\r\n",
                other => other,
            };
            self.out.extend_from_slice(line.as_bytes());
            self.out.extend_from_slice(terminator);
        }
        self.note(replacement.old.clone(), start);
        self.next = replacement.old.end.max(self.next);
    }

    /// Notes an edit whose new lines start at `new_start` and end here; joined to one it touches.
    fn note(&mut self, old: Range<usize>, new_start: usize) {
        let new = new_start..self.out.len();
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
