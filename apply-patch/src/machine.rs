//! The state machine that reads a patch line by line (runtime.md A3.a to A3.h).
//!
//! It is the only reader of the format: the whole-text parse and the streaming parse feed the same
//! machine and differ in nothing but when they do.

use crate::error::ParseError;
use crate::grammar::{
    ADD_FILE, BARE_CONTEXT, BEGIN_PATCH, CONTEXT, DELETE_FILE, END_OF_FILE, END_PATCH, ENVIRONMENT_ID,
    MOVE_TO, UPDATE_FILE,
};
use crate::patch::{Chunk, Hunk, Patch};

const FIRST_LINE: &str = "The first line of the patch must be '*** Begin Patch'";
const LAST_LINE: &str = "The last line of the patch must be '*** End Patch'";
const NO_LINES: &str = "Update hunk does not contain any lines";

pub(crate) fn first_line_error() -> ParseError {
    ParseError::Patch(FIRST_LINE.to_owned())
}

pub(crate) fn last_line_error() -> ParseError {
    ParseError::Patch(LAST_LINE.to_owned())
}

/// Where in a patch the machine stands. The hunk that is being read is the last of `patch.hunks`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    NotStarted,
    Started,
    Add,
    Delete,
    /// With the line number of the hunk's header.
    Update(usize),
    Ended,
}

#[derive(Debug, Default)]
pub(crate) struct Machine {
    state: State,
    line: usize,
    patch: Patch,
}

/// A line that closes the hunk before it.
enum Marker<'l> {
    End,
    Add(&'l str),
    Delete(&'l str),
    Update(&'l str),
}

impl<'l> Marker<'l> {
    fn of(line: &'l str) -> Option<Self> {
        if line == END_PATCH {
            return Some(Self::End);
        }
        let add = line.strip_prefix(ADD_FILE).map(Self::Add);
        add.or_else(|| line.strip_prefix(DELETE_FILE).map(Self::Delete))
            .or_else(|| line.strip_prefix(UPDATE_FILE).map(Self::Update))
    }
}

impl Machine {
    /// Takes one closed line, its line end already off.
    pub(crate) fn line(&mut self, line: &str) -> Result<(), ParseError> {
        self.line += 1;
        match self.state {
            State::NotStarted if line.trim() == BEGIN_PATCH => {
                self.state = State::Started;
                Ok(())
            }
            State::NotStarted => Err(first_line_error()),
            State::Started => match line.trim().strip_prefix(ENVIRONMENT_ID) {
                Some(id) => self.environment_id(id.trim()),
                None => self.marker_or_error(line.trim()),
            },
            State::Add => match line.strip_prefix('+') {
                Some(text) => {
                    self.append_added(text);
                    Ok(())
                }
                None => self.marker_or_error(line.trim()),
            },
            State::Delete => self.marker_or_error(line.trim()),
            State::Update(_) => self.update_line(line),
            State::Ended if line.trim().is_empty() => Ok(()),
            State::Ended => Err(last_line_error()),
        }
    }

    /// Takes the end marker in the last place of the text, where it ends the patch whatever the state
    /// and however it is indented (A3.6).
    pub(crate) fn end(&mut self, line: &str) -> Result<(), ParseError> {
        self.line += 1;
        self.close_update(line, true)?;
        self.state = State::Ended;
        Ok(())
    }

    /// Whether an end marker written as `line` would be taken for something else here.
    pub(crate) fn misses_end(&self, line: &str) -> bool {
        match self.state {
            State::Ended => true,
            State::Update(_) => line.trim_end() != END_PATCH,
            State::NotStarted | State::Started | State::Add | State::Delete => false,
        }
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.state == State::Ended
    }

    /// What was read so far, the hunk that is still open included.
    pub(crate) fn hunks(&self) -> &[Hunk] {
        &self.patch.hunks
    }

    pub(crate) fn into_patch(self) -> Patch {
        self.patch
    }

    fn error(&self, message: impl Into<String>) -> ParseError {
        ParseError::Hunk { message: message.into(), line: self.line }
    }

    fn unexpected(&self, line: &str) -> ParseError {
        self.error(format!(
            "Unexpected line found in update hunk: '{line}'. Every line should start with ' ' (context line), \
             '+' (added line), or '-' (removed line)"
        ))
    }

    fn wants_context(&self, line: &str) -> ParseError {
        self.error(format!("Expected update hunk to start with a @@ context marker, got: '{line}'"))
    }

    fn environment_id(&mut self, id: &str) -> Result<(), ParseError> {
        let message = if id.is_empty() {
            "apply_patch environment_id cannot be empty"
        } else if self.patch.environment_id.is_some() {
            "apply_patch environment_id cannot be specified more than once"
        } else {
            self.patch.environment_id = Some(id.to_owned());
            return Ok(());
        };
        Err(ParseError::Patch(message.to_owned()))
    }

    fn append_added(&mut self, text: &str) {
        if let Some(Hunk::Add { contents, .. }) = self.patch.hunks.last_mut() {
            contents.push_str(text);
            contents.push('\n');
        }
    }

    fn marker_or_error(&mut self, trimmed: &str) -> Result<(), ParseError> {
        match Marker::of(trimmed) {
            Some(marker) => {
                self.open(&marker);
                Ok(())
            }
            None => Err(self.error(format!(
                "'{trimmed}' is not a valid hunk header. Valid hunk headers: '*** Add File: {{path}}', \
                 '*** Delete File: {{path}}', '*** Update File: {{path}}'"
            ))),
        }
    }

    fn open(&mut self, marker: &Marker<'_>) {
        let (state, hunk) = match *marker {
            Marker::End => {
                self.state = State::Ended;
                return;
            }
            Marker::Add(path) => (State::Add, Hunk::Add { path: path.to_owned(), contents: String::new() }),
            Marker::Delete(path) => (State::Delete, Hunk::Delete { path: path.to_owned() }),
            Marker::Update(path) => (
                State::Update(self.line),
                Hunk::Update { path: path.to_owned(), move_to: None, chunks: Vec::new() },
            ),
        };
        self.state = state;
        self.patch.hunks.push(hunk);
    }

    /// The checks of A3.c, made when `line` closes an update. Nothing to check in other states.
    fn close_update(&self, line: &str, is_end: bool) -> Result<(), ParseError> {
        let (State::Update(header), Some(Hunk::Update { path, move_to, chunks })) =
            (self.state, self.patch.hunks.last())
        else {
            return Ok(());
        };
        match chunks.last() {
            None if move_to.is_some() => Ok(()),
            None => Err(ParseError::Hunk {
                message: format!("Update file hunk for path '{path}' is empty"),
                line: header,
            }),
            Some(chunk) if !chunk.is_empty() => Ok(()),
            Some(_) if is_end => Err(self.error(NO_LINES)),
            Some(_) => Err(self.unexpected(line)),
        }
    }

    /// One line inside an update, by the rules of A3.b in their order.
    fn update_line(&mut self, line: &str) -> Result<(), ParseError> {
        let trimmed = line.trim_end();
        if let Some(marker) = Marker::of(trimmed) {
            self.close_update(line, matches!(marker, Marker::End))?;
            self.open(&marker);
            return Ok(());
        }
        let is_context = trimmed == BARE_CONTEXT || trimmed.starts_with(CONTEXT);
        let Some(Hunk::Update { move_to, chunks, .. }) = self.patch.hunks.last_mut() else {
            return Ok(());
        };
        if chunks.last().is_some_and(|chunk| chunk.is_end_of_file) && !is_context {
            return if trimmed.is_empty() { Ok(()) } else { Err(self.wants_context(line)) };
        }
        if let (true, true, Some(path)) =
            (chunks.is_empty(), move_to.is_none(), trimmed.strip_prefix(MOVE_TO))
        {
            *move_to = Some(path.to_owned());
            return Ok(());
        }
        if is_context {
            let text = trimmed.strip_prefix(CONTEXT);
            return if open_context(chunks, text) { Ok(()) } else { Err(self.unexpected(line)) };
        }
        if trimmed == END_OF_FILE {
            return match chunks.last_mut() {
                Some(chunk) if chunk.is_empty() => Err(self.error(NO_LINES)),
                Some(chunk) => {
                    chunk.is_end_of_file = true;
                    Ok(())
                }
                None => Ok(()),
            };
        }
        if push_change(chunks, line) {
            return Ok(());
        }
        let after_lines = chunks.last().is_some_and(|chunk| !chunk.is_empty());
        Err(if after_lines { self.wants_context(line) } else { self.unexpected(line) })
    }
}

/// Rules 4 to 6: a header opens a chunk, or narrows one that has only headers so far. `text` is absent
/// for a bare `@@`. False where rule 4 forbids it.
fn open_context(chunks: &mut Vec<Chunk>, text: Option<&str>) -> bool {
    if let Some(last) = chunks.last_mut().filter(|chunk| chunk.is_empty()) {
        let Some(text) = text.filter(|_| !last.change_contexts.is_empty()) else { return false };
        last.change_contexts.push(text.to_owned());
        return true;
    }
    let change_contexts = text.map(str::to_owned).into_iter().collect();
    chunks.push(Chunk { change_contexts, ..Chunk::default() });
    true
}

/// Rules 8 and 9: a context, added or removed line. False for any other line.
fn push_change(chunks: &mut Vec<Chunk>, line: &str) -> bool {
    let change = match line.chars().next() {
        None => Some((' ', line)),
        Some(sign @ (' ' | '+' | '-')) => line.strip_prefix(sign).map(|text| (sign, text)),
        Some(_) => None,
    };
    let Some((sign, text)) = change else { return false };
    if chunks.is_empty() {
        chunks.push(Chunk::default());
    }
    if let Some(chunk) = chunks.last_mut() {
        match sign {
            '+' => chunk.new_lines.push(text.to_owned()),
            '-' => chunk.old_lines.push(text.to_owned()),
            _ => chunk.push_context(text),
        }
    }
    true
}

#[cfg(test)]
#[path = "machine_tests.rs"]
mod tests;
