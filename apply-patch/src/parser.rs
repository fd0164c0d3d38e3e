//! From text to [`Patch`]: the frame around the state machine.
//!
//! The contract describes the whole-text parse as: trim, look at the first and the last line, take a
//! heredoc wrapper off, feed the machine (runtime.md A3.1 to A3.3). All of this can be done while
//! the text still comes in, so there is one parser, and [`parse_patch`] is one push and a finish. What
//! the frame decides at the end goes before what the machine found on its way, as it would if the
//! frame had been looked at first.

use crate::error::ParseError;
use crate::grammar::{BEGIN_PATCH, END_PATCH};
use crate::machine::{Machine, first_line_error, last_line_error};
use crate::patch::{Hunk, Patch};

/// First lines of a heredoc whose wrapper is taken off (A3.3).
const WRAPPERS: [&str; 3] = ["<<EOF", "<<'EOF'", "<<\"EOF\""];
const WRAPPER_END: &str = "EOF";
/// A wrapper is taken off only from a text of at least this many lines (A3.3).
const MIN_WRAPPED_LINES: usize = 4;

/// Parses a whole patch.
///
/// # Errors
/// The texts of runtime.md A3, the first in the order: frame, then lines.
///
/// ```
/// use tenon_apply_patch::{Hunk, parse_patch};
/// let patch = parse_patch("*** Begin Patch\n*** Delete File: a.txt\n*** End Patch\n")?;
/// assert_eq!(patch.hunks, [Hunk::Delete { path: "a.txt".to_owned() }]);
/// # Ok::<(), tenon_apply_patch::ParseError>(())
/// ```
pub fn parse_patch(text: &str) -> Result<Patch, ParseError> {
    let mut parser = StreamingParser::default();
    parser.push(text);
    parser.finish()
}

/// Parses a patch while it comes in. Only whole lines are looked at before [`finish`](Self::finish).
#[derive(Debug, Default)]
pub struct StreamingParser {
    machine: Machine,
    /// The machine's first complaint; it reads no further after one.
    error: Option<ParseError>,
    /// The line that has not ended yet.
    open_line: String,
    frame: Frame,
    /// Lines that mean something else if they turn out to be the last, kept back until that is known.
    held: Vec<String>,
}

/// What is known of the first and last lines.
#[derive(Debug, Default)]
struct Frame {
    /// Lines up to and with the last one that is not blank.
    lines: usize,
    /// Blank lines behind it; they count only when another line follows.
    blank_lines: usize,
    starts: bool,
    wrapped: bool,
    second_starts: bool,
    last: LineKind,
    before_last: LineKind,
    latest: LineKind,
}

#[derive(Debug, Clone, Copy, Default)]
struct LineKind {
    is_end: bool,
    is_wrapper_end: bool,
}

impl LineKind {
    /// Of a line without the white space around it.
    fn of(trimmed: &str) -> Self {
        Self { is_end: trimmed == END_PATCH, is_wrapper_end: trimmed.ends_with(WRAPPER_END) }
    }
}

impl Frame {
    /// Notes a line. True for a wrapper's first line, which the machine never sees.
    fn note(&mut self, line: &str, trimmed: &str) -> bool {
        let kind = LineKind::of(trimmed);
        let before = std::mem::replace(&mut self.latest, kind);
        if trimmed.is_empty() {
            self.blank_lines += 1;
            return false;
        }
        self.lines += std::mem::take(&mut self.blank_lines) + 1;
        self.last = kind;
        self.before_last = before;
        match self.lines {
            1 => {
                self.starts = trimmed == BEGIN_PATCH;
                self.wrapped = WRAPPERS.contains(&line);
                self.wrapped
            }
            2 => {
                self.second_starts = trimmed == BEGIN_PATCH;
                false
            }
            _ => false,
        }
    }

    /// The boundary checks of A3.2 and A3.3. Gives whether a wrapper is to be taken off.
    fn check(&self) -> Result<bool, ParseError> {
        if self.starts && self.last.is_end {
            return Ok(false);
        }
        if self.wrapped && self.last.is_wrapper_end && self.lines >= MIN_WRAPPED_LINES {
            return match (self.second_starts, self.before_last.is_end) {
                (true, true) => Ok(true),
                (false, _) => Err(first_line_error()),
                (true, false) => Err(last_line_error()),
            };
        }
        Err(if self.lines > 0 && !self.starts { first_line_error() } else { last_line_error() })
    }
}

impl StreamingParser {
    /// Takes the next piece of the text. Where it is cut does not matter.
    pub fn push(&mut self, mut text: &str) {
        if self.frame.lines == 0 && self.open_line.is_empty() {
            text = text.trim_start();
        }
        while let Some((line, rest)) = split_line(text) {
            if self.open_line.is_empty() {
                self.closed_line(line);
            } else {
                let mut whole = std::mem::take(&mut self.open_line);
                whole.push_str(line);
                self.closed_line(&whole);
            }
            text = rest;
        }
        self.open_line.push_str(text);
    }

    /// The hunks so far; the last may still grow. What follows a mistake is not among them.
    #[must_use]
    pub fn hunks(&self) -> &[Hunk] {
        self.machine.hunks()
    }

    /// Says that the text is whole.
    ///
    /// # Errors
    /// As [`parse_patch`].
    pub fn finish(mut self) -> Result<Patch, ParseError> {
        let last = std::mem::take(&mut self.open_line);
        if !last.trim().is_empty() {
            self.note_line(last.trim_end());
        }
        let wrapped = self.frame.check()?;
        self.feed_rest(wrapped);
        match self.error {
            Some(error) => Err(error),
            None if self.machine.has_ended() => Ok(self.machine.into_patch()),
            None => Err(last_line_error()),
        }
    }

    fn closed_line(&mut self, line: &str) {
        self.note_line(line.strip_suffix('\r').unwrap_or(line));
    }

    fn note_line(&mut self, line: &str) {
        // The one look at white space for most lines: a patch has many, and it is not cheap.
        let trimmed = line.trim();
        if self.frame.note(line, trimmed) {
            return;
        }
        if trimmed.is_empty() {
            if self.held.is_empty() {
                self.feed(line);
            } else {
                self.held.push(line.to_owned());
            }
            return;
        }
        let kind = LineKind::of(trimmed);
        let closes_wrapper = self.frame.wrapped && kind.is_wrapper_end;
        // An end marker just before the wrapper's end may still be in the last place inside it.
        let kept =
            if closes_wrapper { self.held.pop_if(|last| LineKind::of(last.trim()).is_end) } else { None };
        for held in std::mem::take(&mut self.held) {
            self.feed(&held);
        }
        self.held.extend(kept);
        if closes_wrapper || kind.is_end && self.machine.misses_end(line) {
            self.held.push(line.to_owned());
        } else {
            self.feed(line);
        }
    }

    fn feed(&mut self, line: &str) {
        if self.error.is_none() {
            self.error = self.machine.line(line).err();
        }
    }

    /// Feeds what was held back, now that the last line is known: blank lines at the end and the
    /// wrapper's end go, and the end marker in the last place ends the patch.
    fn feed_rest(&mut self, wrapped: bool) {
        let mut held = std::mem::take(&mut self.held);
        while held.last().is_some_and(|line| line.trim().is_empty()) {
            held.pop();
        }
        if wrapped {
            held.pop();
        }
        let Some(last) = held.pop() else { return };
        for line in held {
            self.feed(&line);
        }
        if self.error.is_none() {
            self.error = self.machine.end(&last).err();
        }
    }
}

/// The first line of a text and what follows its line feed, if it has one.
fn split_line(text: &str) -> Option<(&str, &str)> {
    let at = memchr::memchr(b'\n', text.as_bytes())?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}

#[cfg(test)]
#[path = "parser_tests.rs"]
mod tests;
