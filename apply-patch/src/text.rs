//! A file as lines, without copying any of them.
//!
//! Lines end with CRLF, CR or LF, each line with its own (runtime.md A5.a). Bytes that are no UTF-8 are
//! bytes like others (A4.0). The index holds four bytes a line and nothing else.

use std::ops::Range;

/// Largest file that a patch may update: line starts are kept in 32 bits.
pub const MAX_FILE_BYTES: u64 = u32::MAX as u64;

/// The UTF-8 byte-order mark. It is no part of the first line, and stays where it is.
pub(crate) const BOM: &[u8] = b"\xef\xbb\xbf";

/// Whether the bytes start with a UTF-16 (or UTF-32) mark. Such a file has no lines we could match.
pub(crate) fn is_utf16(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff")
}

/// An index of the lines of a file.
#[derive(Debug)]
pub(crate) struct Lines<'a> {
    bytes: &'a [u8],
    /// Where each line starts.
    starts: Vec<u32>,
}

impl<'a> Lines<'a> {
    /// Indexes a file of at most [`MAX_FILE_BYTES`]; what lies beyond is not seen.
    pub(crate) fn of(bytes: &'a [u8]) -> Self {
        // Room for all, so that it is not moved about: a little too much where lines end with two bytes.
        let mut starts = Vec::with_capacity(memchr::memchr2_iter(b'\n', b'\r', bytes).count() + 1);
        let mut start = if bytes.starts_with(BOM) { BOM.len() } else { 0 };
        while start < bytes.len() {
            let Ok(offset) = u32::try_from(start) else { break };
            starts.push(offset);
            start = line_end(bytes, start);
        }
        Self { bytes, starts }
    }

    /// Whether a byte-order mark stands before the first line.
    pub(crate) fn has_mark(&self) -> bool {
        self.bytes.starts_with(BOM)
    }

    /// How many lines there are. A line end at the end of the file opens no further line.
    pub(crate) fn len(&self) -> usize {
        self.starts.len()
    }

    /// Where line `index` starts; the end of the file for the line behind the last.
    pub(crate) fn start(&self, index: usize) -> usize {
        self.starts.get(index).map_or(self.bytes.len(), |start| *start as usize)
    }

    /// The bytes of some lines, line ends included.
    pub(crate) fn span(&self, lines: Range<usize>) -> Range<usize> {
        self.start(lines.start)..self.start(lines.end)
    }

    /// The text of line `index`, without its line end. Empty beyond the last.
    pub(crate) fn text(&self, index: usize) -> &'a [u8] {
        let line = self.bytes.get(self.span(index..index + 1)).unwrap_or_default();
        line.get(..line.len() - terminator(line).len()).unwrap_or_default()
    }

    /// The line end of line `index`; empty when it has none.
    pub(crate) fn terminator(&self, index: usize) -> &'static [u8] {
        terminator(self.bytes.get(self.span(index..index + 1)).unwrap_or_default())
    }

    /// The lines that start inside a byte range. Of an empty range: none, at the place where it lies.
    pub(crate) fn lines_of(&self, bytes: &Range<usize>) -> Range<usize> {
        let before = |offset: usize| self.starts.partition_point(|start| (*start as usize) < offset);
        before(bytes.start)..before(bytes.end)
    }

    /// The first line end of the file; that of Unix when there is none.
    pub(crate) fn preferred_terminator(&self) -> &'static [u8] {
        match self.terminator(0) {
            b"" => b"\n",
            found => found,
        }
    }

    /// Whether there is a last line and it has no line end.
    pub(crate) fn last_is_open(&self) -> bool {
        self.len() > 0 && terminator(self.bytes).is_empty()
    }
}

/// Where the line that starts at `start` ends, its line end included.
fn line_end(bytes: &[u8], start: usize) -> usize {
    let rest = bytes.get(start..).unwrap_or_default();
    match memchr::memchr2(b'\n', b'\r', rest) {
        None => bytes.len(),
        Some(at) if rest.get(at..at + 2) == Some(b"\r\n") => start + at + 2,
        Some(at) => start + at + 1,
    }
}

/// The line end at the end of `line`; empty when there is none.
fn terminator(line: &[u8]) -> &'static [u8] {
    match line {
        [.., b'\r', b'\n'] => b"\r\n",
        [.., b'\n'] => b"\n",
        [.., b'\r'] => b"\r",
        _ => b"",
    }
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
