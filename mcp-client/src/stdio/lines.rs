//! Lines of bounded length from a server's standard output.

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// How long a message may be, in bytes. What is longer is dropped as it comes, so that it never lies in memory.
pub(crate) const MAX_MESSAGE_BYTES: usize = 16 * 1024 * 1024;
/// What is kept of each end of a longer one: the id of the request that it answers is there.
const KEPT_BYTES: usize = 1024;

/// One line, without its end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A whole one.
    Whole(Vec<u8>),
    /// One that was too long.
    TooLong {
        /// Its first bytes.
        head: Vec<u8>,
        /// Its last bytes.
        tail: Vec<u8>,
        /// How long it was.
        bytes: u64,
    },
}

/// Reads lines. A read that is dropped loses nothing: the next one goes on.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    from: R,
    max: usize,
    line: Vec<u8>,
    /// Set while a line is longer than the bound: its head is in `line`.
    too_long: Option<TooLong>,
}

#[derive(Debug, Default)]
struct TooLong {
    tail: Vec<u8>,
    bytes: u64,
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    pub(crate) fn new(from: R, max: usize) -> Self {
        Self { from, max, line: Vec::new(), too_long: None }
    }

    /// The next line; none at the end. What stands there without a line end is no line.
    pub(crate) async fn next(&mut self) -> std::io::Result<Option<Line>> {
        loop {
            let available = self.from.fill_buf().await?;
            if available.is_empty() {
                return Ok(None);
            }
            let newline = memchr::memchr(b'\n', available);
            let (piece, used) = match newline {
                Some(at) => (available.get(..at).unwrap_or_default(), at + 1),
                None => (available, available.len()),
            };
            take(&mut self.line, &mut self.too_long, self.max, piece);
            self.from.consume(used);
            if newline.is_some() {
                return Ok(Some(self.finish()));
            }
        }
    }

    fn finish(&mut self) -> Line {
        let mut line = std::mem::take(&mut self.line);
        match self.too_long.take() {
            Some(TooLong { tail, bytes }) => Line::TooLong { head: line, tail, bytes },
            None => {
                if line.last() == Some(&b'\r') {
                    line.pop();
                }
                Line::Whole(line)
            }
        }
    }
}

fn take(line: &mut Vec<u8>, too_long: &mut Option<TooLong>, max: usize, piece: &[u8]) {
    if too_long.is_none() && line.len() + piece.len() <= max {
        line.extend_from_slice(piece);
        return;
    }
    let over = too_long.get_or_insert_with(|| {
        let mut over = TooLong::default();
        let whole = std::mem::take(line);
        over.push(&whole);
        *line = whole.get(..KEPT_BYTES).unwrap_or(&whole).to_vec();
        over
    });
    if line.len() < KEPT_BYTES {
        let room = KEPT_BYTES - line.len();
        line.extend_from_slice(piece.get(..room).unwrap_or(piece));
    }
    over.push(piece);
}

impl TooLong {
    fn push(&mut self, piece: &[u8]) {
        self.bytes += piece.len() as u64;
        let start = piece.len().saturating_sub(KEPT_BYTES);
        self.tail.extend_from_slice(piece.get(start..).unwrap_or_default());
        let over = self.tail.len().saturating_sub(KEPT_BYTES);
        self.tail.drain(..over);
    }
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
