//! Finding the lines of a patch in a file (runtime.md A4).
//!
//! A pass over a file is made once for all chunks of its patch, and only when some chunk needs it. It
//! notes which lines of the file are equal, in that pass's sense, to which line of the patch; all else
//! is forgotten. A search then walks these notes (Knuth, Morris and Pratt's way, so that repeated lines
//! cost nothing extra) and never looks at the file again. So a miss costs one reading of the file for
//! each pass, however many chunks there are, however much alike the lines.

use std::cell::OnceCell;
use std::collections::HashMap;

use crate::line_hash::LineHash;
use crate::normal::{PASSES, Pass};
use crate::patch::Chunk;
use crate::text::Lines;

/// Searches one file for the lines of one patch.
#[derive(Debug)]
pub(crate) struct Seeker<'a> {
    lines: &'a Lines<'a>,
    chunks: &'a [Chunk],
    passes: [OnceCell<PassIndex>; PASSES.len()],
}

impl<'a> Seeker<'a> {
    /// A search for lines of `chunks`; only these can be sought.
    pub(crate) fn new(lines: &'a Lines<'a>, chunks: &'a [Chunk]) -> Self {
        Self { lines, chunks, passes: Default::default() }
    }

    /// The first line at or behind `from` where `pattern` matches. With `at_end` the pattern may match
    /// in one place only: at the end of the file, or at `from` if that is later (A4.2).
    pub(crate) fn seek(&self, pattern: &[String], from: usize, at_end: bool) -> Option<usize> {
        if pattern.is_empty() {
            return Some(from);
        }
        let last_start = self.lines.len().checked_sub(pattern.len())?;
        if at_end {
            let start = last_start.max(from);
            return self.matches_at(pattern, start).then_some(start);
        }
        PASSES.iter().zip(&self.passes).find_map(|(pass, index)| {
            let index = index.get_or_init(|| PassIndex::build(*pass, self.lines, self.chunks));
            index.find(pattern, from)
        })
    }

    /// Whether `pattern` matches in one place, in any pass.
    pub(crate) fn matches_at(&self, pattern: &[String], start: usize) -> bool {
        PASSES.iter().any(|pass| self.equals_at(*pass, pattern, start))
    }

    fn equals_at(&self, pass: Pass, pattern: &[String], start: usize) -> bool {
        let (mut left, mut right) = (Vec::new(), Vec::new());
        start + pattern.len() <= self.lines.len()
            && pattern.iter().enumerate().all(|(offset, wanted)| {
                pass.normal(self.lines.text(start + offset), &mut left)
                    == pass.normal(wanted.as_bytes(), &mut right)
            })
    }
}

/// What one pass found: the lines of the file that equal a line of the patch.
#[derive(Debug)]
struct PassIndex {
    pass: Pass,
    /// A number for each line of the patch in this pass's form.
    ids: HashMap<Vec<u8>, u32, LineHash>,
    /// By line, ascending.
    hits: Vec<Hit>,
    /// For each id the last line that has it, if any.
    last: Vec<Option<u32>>,
}

#[derive(Debug, Clone, Copy)]
struct Hit {
    line: u32,
    id: u32,
}

impl PassIndex {
    fn build(pass: Pass, lines: &Lines<'_>, chunks: &[Chunk]) -> Self {
        let mut scratch = Vec::new();
        let mut ids: HashMap<Vec<u8>, u32, LineHash> = HashMap::default();
        let mut lengths = Lengths::default();
        for wanted in chunks.iter().flat_map(|chunk| chunk.change_contexts.iter().chain(&chunk.old_lines)) {
            let form = pass.normal(wanted.as_bytes(), &mut scratch);
            lengths.add(form.len());
            if !ids.contains_key(form) {
                // More lines than that do not fit in a patch that fits in memory.
                let id = u32::try_from(ids.len()).unwrap_or(u32::MAX);
                ids.insert(form.to_vec(), id);
            }
        }
        let mut last = vec![None; ids.len()];
        let mut hits = Vec::new();
        for (line, index) in (0..lines.len()).zip(0u32..) {
            let form = pass.normal(lines.text(line), &mut scratch);
            if !lengths.has(form.len()) {
                continue;
            }
            if let Some(&id) = ids.get(form) {
                hits.push(Hit { line: index, id });
                if let Some(last) = last.get_mut(id as usize) {
                    *last = Some(index);
                }
            }
        }
        Self { pass, ids, hits, last }
    }

    fn find(&self, pattern: &[String], from: usize) -> Option<usize> {
        let wanted = self.ids_of(pattern)?;
        let from = u32::try_from(from).ok()?;
        // A line of the pattern that the rest of the file has not spares the walk.
        let present = |id: &u32| self.last.get(*id as usize).copied().flatten() >= Some(from);
        if !wanted.iter().all(present) {
            return None;
        }
        let fallback = fallback(&wanted);
        let first = self.hits.partition_point(|hit| hit.line < from);
        let mut matched = 0;
        let mut before = None;
        for hit in self.hits.get(first..)? {
            if before != hit.line.checked_sub(1) {
                matched = 0;
            }
            before = Some(hit.line);
            while matched > 0 && wanted.get(matched) != Some(&hit.id) {
                matched = fallback.get(matched - 1).copied().unwrap_or_default();
            }
            if wanted.get(matched) == Some(&hit.id) {
                matched += 1;
            }
            if matched == wanted.len() {
                return (hit.line as usize + 1).checked_sub(matched);
            }
        }
        None
    }

    fn ids_of(&self, pattern: &[String]) -> Option<Vec<u32>> {
        let mut scratch = Vec::new();
        let id = |line: &String| self.ids.get(self.pass.normal(line.as_bytes(), &mut scratch)).copied();
        pattern.iter().map(id).collect()
    }
}

/// For each prefix of `pattern` the length of its longest proper prefix that is also its suffix.
fn fallback(pattern: &[u32]) -> Vec<usize> {
    let mut table: Vec<usize> = Vec::with_capacity(pattern.len());
    let mut matched = 0;
    for (index, id) in pattern.iter().enumerate() {
        if index > 0 {
            while matched > 0 && pattern.get(matched) != Some(id) {
                matched = table.get(matched - 1).copied().unwrap_or_default();
            }
            if pattern.get(matched) == Some(id) {
                matched += 1;
            }
        }
        table.push(matched);
    }
    table
}

/// Which lengths (modulo 256) lines of the patch have: most lines of a file are passed over by theirs.
#[derive(Debug, Default)]
struct Lengths([u64; 4]);

impl Lengths {
    fn add(&mut self, length: usize) {
        if let Some(word) = self.0.get_mut(length / 64 % 4) {
            *word |= 1 << (length % 64);
        }
    }

    fn has(&self, length: usize) -> bool {
        self.0.get(length / 64 % 4).is_some_and(|word| word & (1 << (length % 64)) != 0)
    }
}

#[cfg(test)]
#[path = "seek_tests.rs"]
mod tests;
