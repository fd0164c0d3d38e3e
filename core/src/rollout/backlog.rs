//! Lines that are not in the file yet.

use std::collections::VecDeque;
use std::io;

use super::line_file::{LineFile, Tail};

/// How much may wait while a disk takes nothing, in bytes. The newest lines beyond it are dropped, counted and told.
pub const MAX_BACKLOG_BYTES: usize = 64 * 1024 * 1024;

/// Lines on their way, the first perhaps half written.
#[derive(Debug)]
pub(super) struct Backlog {
    lines: VecDeque<Vec<u8>>,
    /// How much of the first line is in the file.
    written: usize,
    bytes: usize,
    limit: usize,
}

impl Backlog {
    pub(super) fn new(limit: usize) -> Self {
        Self { lines: VecDeque::new(), written: 0, bytes: 0, limit }
    }

    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Adds a line with its line break; says whether there was room. One line always has room.
    pub(super) fn push(&mut self, line: Vec<u8>) -> bool {
        if !self.lines.is_empty() && self.bytes + line.len() > self.limit {
            return false;
        }
        self.bytes += line.len();
        self.lines.push_back(line);
        true
    }

    /// Writes line by line; what could not be written stays, to the byte (runtime.md D11.7).
    pub(super) fn write_to(&mut self, file: &mut dyn LineFile) -> io::Result<()> {
        while let Some(line) = self.lines.front() {
            let rest = line.get(self.written..).unwrap_or_default();
            if !rest.is_empty() {
                match file.write(rest) {
                    Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                    Ok(count) => self.written += count,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
                continue;
            }
            self.bytes -= line.len();
            self.written = 0;
            self.lines.pop_front();
        }
        Ok(())
    }

    /// Goes on in a file that was opened afresh. Where it does not end with what was written last, the first line
    /// begins again, on a line of its own.
    pub(super) fn continue_after(&mut self, tail: Tail) {
        match tail {
            Tail::Intact => {}
            Tail::Changed => {
                self.written = 0;
                self.bytes += 1;
                self.lines.push_front(b"\n".to_vec());
            }
        }
    }
}

#[cfg(test)]
#[path = "backlog_tests.rs"]
mod tests;
