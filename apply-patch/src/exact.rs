//! The first pass of a search, on the bytes as they lie there.
//!
//! In a file whose lines all end with a line feed, lines that match exactly are one run of bytes, and
//! these are found many times faster than lines are read. It is the first pass and no more: what it does
//! not find may still match in another.

use std::cell::Cell;
use std::ops::Range;

use memchr::memmem;

/// What a search for bytes says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Finding {
    /// The bytes of the matching lines, line ends included.
    Match(Range<usize>),
    /// No lines match exactly.
    Nothing,
    /// The lines have to be read.
    Unknown,
}

/// How often a file may be searched through. Chunks that match follow each other, and take once in all.
const READINGS: usize = 3;

/// Largest file, in bytes, whose lines are compared one by one: quadratic, but quicker there.
const SMALL_FILE: usize = 2048;

/// Exact search in one file.
#[derive(Debug)]
pub(crate) struct Exact<'a> {
    file: &'a [u8],
    /// Bytes that may still be searched through; a patch of many chunks that match nowhere must not take
    /// a reading for each. None in a file of other line ends.
    budget: Cell<usize>,
}

impl<'a> Exact<'a> {
    pub(crate) fn new(file: &'a [u8]) -> Self {
        let plain = memchr::memchr(b'\r', file).is_none();
        Self { file, budget: Cell::new(if plain { READINGS * (file.len() + 1) } else { 0 }) }
    }

    /// The first place at or behind the line that starts at `from` where the lines of `pattern` stand.
    /// A pattern has at least one line.
    pub(crate) fn find(&self, pattern: &[String], from: usize) -> Finding {
        if self.budget.get() == 0 {
            return Finding::Unknown;
        }
        let mut needle = Vec::with_capacity(pattern.iter().map(|line| line.len() + 1).sum());
        for line in pattern {
            needle.push(b'\n');
            needle.extend_from_slice(line.as_bytes());
        }
        let text = needle.get(1..).unwrap_or_default();
        let open = pattern.last().is_some_and(|last| !last.is_empty());
        if self.file.get(from..).is_some_and(|rest| rest.starts_with(text))
            && let Some(found) = self.lines_at(from, text.len(), open)
        {
            return Finding::Match(found);
        }
        if self.file.len() <= SMALL_FILE {
            return self.find_by_lines(text, from, open);
        }
        let finder = memmem::Finder::new(&needle);
        let mut searched = from;
        loop {
            let rest = self.file.get(searched..).unwrap_or_default();
            let at = finder.find(rest);
            if !self.spend(at.unwrap_or(rest.len()) + needle.len()) {
                return Finding::Unknown;
            }
            let Some(at) = at else { return Finding::Nothing };
            let start = searched + at + 1;
            if let Some(found) = self.lines_at(start, text.len(), open) {
                return Finding::Match(found);
            }
            searched = start;
        }
    }

    /// The same without the preparations of a search that goes far.
    fn find_by_lines(&self, text: &[u8], from: usize, open: bool) -> Finding {
        let rest = self.file.get(from..).unwrap_or_default();
        let found = memchr::memchr_iter(b'\n', rest).find_map(|at| {
            let matches = rest.get(at + 1..).is_some_and(|rest| rest.starts_with(text));
            if matches { self.lines_at(from + at + 1, text.len(), open) } else { None }
        });
        found.map_or(Finding::Nothing, Finding::Match)
    }

    fn spend(&self, bytes: usize) -> bool {
        let left = self.budget.get().checked_sub(bytes);
        self.budget.set(left.unwrap_or_default());
        left.is_some()
    }

    /// The lines from `start` on, if their text of so many bytes ends where a line does. An empty last
    /// line has to be there: it is only if its line feed is.
    fn lines_at(&self, start: usize, length: usize, open: bool) -> Option<Range<usize>> {
        match self.file.get(start + length) {
            Some(b'\n') => Some(start..start + length + 1),
            Some(_) => None,
            None => open.then_some(start..start + length),
        }
    }
}

#[cfg(test)]
#[path = "exact_tests.rs"]
mod tests;
