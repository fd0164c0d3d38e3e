//! The passes of a search, by notes on the file's lines.
//!
//! A pass over a file is made once for all chunks of its patch, and only when some chunk needs it. It
//! notes which lines of the file are equal, in that pass's sense, to which line of the patch; all else
//! is forgotten. A search then walks these notes (Knuth, Morris and Pratt's way, so that repeated lines
//! cost nothing extra) and never looks at the file again. So a miss costs one reading of the file for
//! each pass, however many chunks there are, however much alike the lines.
//!
//! Notes are bounded by the file's size. Where almost every line of a file of very short lines is one of
//! the patch they are dropped, and a search reads the file itself from the cursor on.

use std::collections::HashMap;

use crate::line_hash::LineHash;
use crate::normal::Pass;
use crate::patch::Chunk;
use crate::text::{Lines, lines_from, text_of};

/// Notes that a pass may always take.
const MIN_HITS: usize = 4096;
/// Bytes of a file for each further note: all passes together take as much as the file at most.
const BYTES_PER_HIT: usize = 4 * size_of::<Hit>();

/// What one pass found: the lines of the file that equal a line of the patch.
#[derive(Debug)]
pub(crate) struct Noted {
    pass: Pass,
    forms: Forms,
    /// By line, ascending; absent where they would have been too many.
    hits: Option<Vec<Hit>>,
    /// For each id the last line that has it, if any.
    last: Vec<Option<u32>>,
}

#[derive(Debug, Clone, Copy)]
struct Hit {
    line: u32,
    id: u32,
}

/// A number for each line of the patch in a pass's form.
#[derive(Debug, Default)]
struct Forms {
    ids: HashMap<Vec<u8>, u32, LineHash>,
    lengths: Lengths,
}

impl Forms {
    fn of(pass: Pass, chunks: &[Chunk]) -> Self {
        let mut scratch = Vec::new();
        let mut forms = Self::default();
        for wanted in chunks.iter().flat_map(|chunk| chunk.change_contexts.iter().chain(&chunk.old_lines)) {
            let form = pass.normal(wanted.as_bytes(), &mut scratch);
            forms.lengths.add(form.len());
            if !forms.ids.contains_key(form) {
                // More lines than that do not fit in a patch that fits in memory.
                let id = u32::try_from(forms.ids.len()).unwrap_or(u32::MAX);
                forms.ids.insert(form.to_vec(), id);
            }
        }
        forms
    }

    fn id(&self, form: &[u8]) -> Option<u32> {
        if self.lengths.has(form.len()) { self.ids.get(form).copied() } else { None }
    }

    /// The lines of the file from `from` on that equal a line of the patch.
    fn hits<'l>(&'l self, pass: Pass, lines: &'l Lines<'_>, from: u32) -> impl Iterator<Item = Hit> + 'l {
        let mut scratch = Vec::new();
        let file = lines.bytes();
        let numbered = lines_from(file, lines.start(from as usize)).zip(from..);
        numbered.filter_map(move |(bytes, line)| {
            self.id(pass.normal(text_of(file, bytes), &mut scratch)).map(|id| Hit { line, id })
        })
    }
}

impl Noted {
    /// Reads the file for a pass.
    pub(crate) fn take(pass: Pass, lines: &Lines<'_>, chunks: &[Chunk]) -> Self {
        let forms = Forms::of(pass, chunks);
        let bound = MIN_HITS.max(lines.bytes().len() / BYTES_PER_HIT);
        let mut last = vec![None; forms.ids.len()];
        let mut hits = Some(Vec::new());
        for hit in forms.hits(pass, lines, 0) {
            if let Some(last) = last.get_mut(hit.id as usize) {
                *last = Some(hit.line);
            }
            match &mut hits {
                Some(noted) if noted.len() < bound => noted.push(hit),
                Some(_) => hits = None,
                None => {}
            }
        }
        Self { pass, forms, hits, last }
    }

    /// The first line at or behind line `from` where the lines of `pattern`, which are of the patch, stand.
    pub(crate) fn find(&self, lines: &Lines<'_>, pattern: &[String], from: usize) -> Option<usize> {
        let wanted = self.ids_of(pattern)?;
        let from = u32::try_from(from).ok()?;
        let last = |id: &u32| self.last.get(*id as usize).copied().flatten();
        // A line of the pattern that the rest of the file has not spares the walk.
        if !wanted.iter().all(|id| last(id) >= Some(from)) {
            return None;
        }
        let end = wanted.last().and_then(last)?;
        match &self.hits {
            Some(hits) => {
                let first = hits.partition_point(|hit| hit.line < from);
                walk(hits.get(first..)?.iter().copied(), end, &wanted)
            }
            None => walk(self.forms.hits(self.pass, lines, from), end, &wanted),
        }
    }

    fn ids_of(&self, pattern: &[String]) -> Option<Vec<u32>> {
        let mut scratch = Vec::new();
        let id = |line: &String| self.forms.id(self.pass.normal(line.as_bytes(), &mut scratch));
        pattern.iter().map(id).collect()
    }
}

/// The line where `wanted` starts among hits up to line `end`.
fn walk(hits: impl Iterator<Item = Hit>, end: u32, wanted: &[u32]) -> Option<usize> {
    let fallback = fallback(wanted);
    let mut matched = 0;
    let mut before = None;
    for hit in hits.take_while(|hit| hit.line <= end) {
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
#[path = "noted_tests.rs"]
mod tests;
