//! Finding the lines of a patch in a file (runtime.md A4).
//!
//! Most patches are exact, so their lines are first sought as they are, as bytes (see `exact`). Where that
//! cannot tell or finds nothing, the passes are gone through one by one (see `noted`). Either way a search
//! reads the file a fixed number of times, however many chunks there are and however alike its lines.

use std::cell::OnceCell;
use std::ops::Range;

use crate::exact::{Exact, Finding};
use crate::normal::{PASSES, Pass};
use crate::noted::Noted;
use crate::patch::Chunk;
use crate::text::{Lines, lines_from, text_of};

/// Searches one file for the lines of one patch. Places are byte offsets at which lines start.
#[derive(Debug)]
pub(crate) struct Seeker<'a> {
    file: &'a [u8],
    chunks: &'a [Chunk],
    exact: Exact<'a>,
    lines: OnceCell<Lines<'a>>,
    passes: [OnceCell<Noted>; PASSES.len()],
}

impl<'a> Seeker<'a> {
    /// A search for lines of `chunks`; only these can be sought.
    pub(crate) fn new(file: &'a [u8], chunks: &'a [Chunk]) -> Self {
        Self { file, chunks, exact: Exact::new(file), lines: OnceCell::new(), passes: Default::default() }
    }

    /// The bytes of the first lines at or behind `from` that match `pattern`. With `at_end` the pattern
    /// may match in one place only: at the end of the file, or at `from` if that is later (A4.2).
    pub(crate) fn seek(&self, pattern: &[String], from: usize, at_end: bool) -> Option<Range<usize>> {
        if pattern.is_empty() {
            return Some(from..from);
        }
        if at_end {
            let lines = self.lines();
            let last_start = lines.start(lines.len().checked_sub(pattern.len())?);
            return self.matches_at(pattern, last_start.max(from));
        }
        let mut passes = PASSES.iter().zip(&self.passes);
        match self.exact.find(pattern, from) {
            Finding::Match(found) => return Some(found),
            Finding::Unknown => {}
            Finding::Nothing => {
                passes.next();
            }
        }
        let lines = self.lines();
        let first = lines.started_before(from);
        let noted = |(pass, noted): (&Pass, &OnceCell<Noted>)| {
            noted.get_or_init(|| Noted::take(*pass, lines, self.chunks)).find(lines, pattern, first)
        };
        let start = passes.find_map(noted)?;
        Some(lines.span(start..start + pattern.len()))
    }

    /// The bytes of the lines at `start`, if they match `pattern` in any pass.
    pub(crate) fn matches_at(&self, pattern: &[String], start: usize) -> Option<Range<usize>> {
        PASSES.iter().find_map(|pass| self.equals_at(*pass, pattern, start))
    }

    fn equals_at(&self, pass: Pass, pattern: &[String], start: usize) -> Option<Range<usize>> {
        let (mut left, mut right) = (Vec::new(), Vec::new());
        let mut lines = lines_from(self.file, start);
        let mut end = start;
        for wanted in pattern {
            let line = lines.next()?;
            end = line.end;
            let text = pass.normal(text_of(self.file, line), &mut left);
            if text != pass.normal(wanted.as_bytes(), &mut right) {
                return None;
            }
        }
        Some(start..end)
    }

    fn lines(&self) -> &Lines<'a> {
        self.lines.get_or_init(|| Lines::of(self.file))
    }
}

#[cfg(test)]
#[path = "seek_tests.rs"]
mod tests;
