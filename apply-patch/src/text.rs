//! A file as lines, without copying any of them.
//!
//! Lines end with CRLF, CR or LF, each line with its own (runtime.md A5.a). Bytes that are no UTF-8 are
//! bytes like others (A4.0). A line is known by where it starts; who needs numbers makes an index, which
//! remembers where every sixteenth line starts and nothing else: a quarter of the file where all lines
//! are empty, next to nothing in a file of text.

use std::ops::Range;

/// Largest file that a patch may update: line starts are kept in 32 bits.
pub const MAX_FILE_BYTES: u64 = u32::MAX as u64;

/// The UTF-8 byte-order mark. It is no part of the first line, and stays where it is.
pub(crate) const BOM: &[u8] = b"\xef\xbb\xbf";

/// Whether the bytes start with a UTF-16 (or UTF-32) mark. Such a file has no lines we could match.
pub(crate) fn is_utf16(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff")
}

/// Where the first line starts: behind a byte-order mark.
pub(crate) fn first_line(bytes: &[u8]) -> usize {
    if bytes.starts_with(BOM) { BOM.len() } else { 0 }
}

/// Where the last line starts; the end of a file without lines.
pub(crate) fn last_line(bytes: &[u8]) -> usize {
    let closed = bytes.len() - terminator(bytes).len();
    let before = memchr::memrchr2(b'\n', b'\r', bytes.get(..closed).unwrap_or_default());
    before.map_or(0, |at| at + 1).max(first_line(bytes))
}

/// Whether there is a last line and it has no line end.
pub(crate) fn last_is_open(bytes: &[u8]) -> bool {
    bytes.len() > first_line(bytes) && terminator(bytes).is_empty()
}

/// The first line end of the file; that of Unix when there is none.
pub(crate) fn preferred_terminator(bytes: &[u8]) -> &'static [u8] {
    let first = lines_from(bytes, first_line(bytes)).next().unwrap_or_default();
    match terminator(bytes.get(first).unwrap_or_default()) {
        b"" => b"\n",
        found => found,
    }
}

/// The lines from the one on that starts at `start`, line ends included. A line end at the end of the
/// file opens no further line.
pub(crate) fn lines_from(bytes: &[u8], mut start: usize) -> impl Iterator<Item = Range<usize>> {
    Ends::behind(bytes, start).map(move |end| {
        let line = start..end;
        start = end;
        line
    })
}

/// The text of a line, without its line end.
pub(crate) fn text_of(bytes: &[u8], line: Range<usize>) -> &[u8] {
    let line = bytes.get(line).unwrap_or_default();
    line.get(..line.len() - terminator(line).len()).unwrap_or_default()
}

/// Lines from one remembered start to the next.
const STRIDE: usize = 16;

/// An index of the lines of a file.
#[derive(Debug)]
pub(crate) struct Lines<'a> {
    bytes: &'a [u8],
    /// Where every [`STRIDE`]-th line starts.
    starts: Vec<u32>,
    count: usize,
}

impl<'a> Lines<'a> {
    /// Indexes a file of at most [`MAX_FILE_BYTES`]; what lies beyond is not seen.
    pub(crate) fn of(bytes: &'a [u8]) -> Self {
        let (mut starts, mut count) = (Vec::new(), 0);
        for line in lines_from(bytes, first_line(bytes)) {
            if count % STRIDE == 0 {
                let Ok(offset) = u32::try_from(line.start) else { break };
                starts.push(offset);
            }
            count += 1;
        }
        Self { bytes, starts, count }
    }

    /// The file.
    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// How many lines there are.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Where line `index` starts; the end of the file for the line behind the last.
    pub(crate) fn start(&self, index: usize) -> usize {
        let Some(near) = self.starts.get(index / STRIDE).filter(|_| index < self.count) else {
            return self.bytes.len();
        };
        let near = *near as usize;
        match index % STRIDE {
            0 => near,
            further => Ends::behind(self.bytes, near).nth(further - 1).unwrap_or(self.bytes.len()),
        }
    }

    /// The bytes of some lines, line ends included.
    pub(crate) fn span(&self, lines: Range<usize>) -> Range<usize> {
        self.start(lines.start)..self.start(lines.end)
    }

    /// The lines that start inside a byte range. Of an empty range: none, at the place where it lies.
    pub(crate) fn lines_of(&self, bytes: &Range<usize>) -> Range<usize> {
        self.started_before(bytes.start)..self.started_before(bytes.end)
    }

    /// How many lines start before `offset`.
    pub(crate) fn started_before(&self, offset: usize) -> usize {
        let Some(block) = self.starts.partition_point(|start| (*start as usize) < offset).checked_sub(1)
        else {
            return 0;
        };
        let near = self.starts.get(block).map_or(0, |start| *start as usize);
        let further = Ends::behind(self.bytes, near).take_while(|end| *end < offset).count();
        (block * STRIDE + 1 + further).min(self.count)
    }
}

/// Where lines end, their line ends included: an end for each line, the last of an open file too.
struct Ends<'a> {
    bytes: &'a [u8],
    base: usize,
    breaks: memchr::Memchr2<'a>,
    last: usize,
}

impl<'a> Ends<'a> {
    /// Those of the lines from the one on that starts at `start`.
    fn behind(bytes: &'a [u8], start: usize) -> Self {
        let rest = bytes.get(start..).unwrap_or_default();
        Self { bytes, base: start, breaks: memchr::memchr2_iter(b'\n', b'\r', rest), last: start }
    }
}

impl Iterator for Ends<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        for at in self.breaks.by_ref() {
            let end = self.base + at + 1;
            // The line feed of a CRLF ends the line, its carriage return does not.
            if self.bytes.get(end - 1..=end) != Some(b"\r\n") {
                self.last = end;
                return Some(end);
            }
        }
        let open = self.last < self.bytes.len();
        self.last = self.bytes.len();
        open.then_some(self.last)
    }
}

/// The line end at the end of `line`; empty when there is none.
pub(crate) fn terminator(line: &[u8]) -> &'static [u8] {
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
