//! From a file to what a model said, answer by answer. The format is told by the content.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use tenon_protocol::{ResponseEvent, ResponseItem};

use super::looked::Looked;
use super::{events, items, rollout, scenario};
use crate::config::ToolMode;

/// How large a recording may be, in bytes.
pub(crate) const RECORDING_MAX_BYTES: u64 = 512 * 1024 * 1024;

/// How many lines are looked at to tell the format.
const LOOKED_AT: usize = 20;

const EXPECTED: &str = "expected a scenario (a JSON object with `turns`), JSON Lines of response items, a rollout, or \
                        raw API events (JSON Lines or SSE)";

/// A recorded stream.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Recording {
    /// What the model said, in order.
    pub(crate) answers: Vec<Answer>,
    /// What the model says when the recording is over; none lets the turn end without a word.
    pub(crate) last_words: Option<String>,
    /// Files that lie in the working folder before.
    pub(crate) files: Vec<RecordedFile>,
    /// How the tools were offered, where the file says so.
    pub(crate) tool_mode: Option<ToolMode>,
    /// For the operator: what of the file is not played.
    pub(crate) notes: Vec<String>,
}

/// One answer of the model.
#[derive(Debug, PartialEq)]
pub(crate) struct Answer {
    /// What the user said before it, where a new turn begins and the recording knows.
    pub(crate) prompt: Option<String>,
    /// What the model said.
    pub(crate) speech: Speech,
}

/// What an answer is made of.
#[derive(Debug, PartialEq)]
pub(crate) enum Speech {
    /// Whole items.
    Items(Vec<ResponseItem>),
    /// Items as JSON texts in which `$SESSION` and `$CELL` stand for the newest ids that the model was told.
    Template(Vec<String>),
    /// The stream itself.
    Events(Vec<ResponseEvent>),
}

/// One file of a scenario.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RecordedFile {
    /// Relative, without `..`.
    pub(crate) path: PathBuf,
    /// Its content.
    pub(crate) content: Vec<u8>,
}

/// Why a file is no recording.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InputError {
    /// It cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// It is larger than what is read.
    #[error("{} is larger than {limit} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// How large it may be.
        limit: u64,
    },
    /// Something in it is not what was expected.
    #[error("{}:{line}: {message}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What was expected, and what is there.
        message: String,
    },
    /// There is nothing in it to play.
    #[error("{}: {message}", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
        /// What was expected.
        message: String,
    },
}

/// What is wrong with a line of a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Counted from 1.
    pub(crate) line: usize,
    pub(crate) message: String,
}

impl Fault {
    pub(crate) fn new(line: usize, message: impl Into<String>) -> Self {
        Self { line, message: message.into() }
    }
}

/// Reads a recording.
///
/// # Errors
/// When the file cannot be read or is none; the error names the line and what was expected there.
pub(crate) fn read(path: &Path) -> Result<Recording, InputError> {
    let unreadable = |source| InputError::Unreadable { path: path.to_owned(), source };
    let file = File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    file.take(RECORDING_MAX_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > RECORDING_MAX_BYTES {
        return Err(InputError::TooLarge { path: path.to_owned(), limit: RECORDING_MAX_BYTES });
    }
    let recording = parse_bytes(&bytes).map_err(|fault| InputError::Line {
        path: path.to_owned(),
        line: fault.line,
        message: fault.message,
    })?;
    if recording.answers.is_empty() {
        let first = recording.notes.first().map_or_else(String::new, |note| format!(" ({note})"));
        let message = format!("nothing in it was said by a model{first}: {EXPECTED}");
        return Err(InputError::Empty { path: path.to_owned(), message });
    }
    Ok(recording)
}

fn parse_bytes(bytes: &[u8]) -> Result<Recording, Fault> {
    let error = match std::str::from_utf8(bytes) {
        Ok(text) => return parse(text.strip_prefix('\u{feff}').unwrap_or(text)),
        Err(error) => error,
    };
    // A rollout may hold lines that are no text: they are skipped, as on resume.
    if matches!(Format::of(&String::from_utf8_lossy(bytes)), Ok(Some(Format::Rollout))) {
        return rollout_of(bytes);
    }
    let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    Err(Fault::new(line, "this is no UTF-8 text"))
}

/// Reads a recording from its text.
pub(crate) fn parse(text: &str) -> Result<Recording, Fault> {
    match Format::of(text)? {
        Some(Format::Sse) => Ok(events::from_sse(text)),
        Some(Format::Events) => Ok(events::from_json_lines(text)),
        Some(Format::Items) => items::parse(text),
        Some(Format::Rollout) => rollout_of(text.as_bytes()),
        Some(Format::Scenario) => scenario::parse(text),
        None => Ok(Recording::default()),
    }
}

fn rollout_of(bytes: &[u8]) -> Result<Recording, Fault> {
    rollout::parse(bytes).map_err(|error| Fault::new(1, error.to_string()))
}

/// What a recording is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Sse,
    Events,
    Items,
    Rollout,
    Scenario,
}

impl Format {
    /// The format of a text; none of one that is blank.
    ///
    /// # Errors
    /// When it is in none of them.
    fn of(text: &str) -> Result<Option<Self>, Fault> {
        let lines = || numbered(text).map(|(at, line)| (at, bare(line))).filter(|(_, line)| !line.is_empty());
        let Some((first, line)) = lines().next() else { return Ok(None) };
        if is_sse(line) {
            return Ok(Some(Self::Sse));
        }
        // A scenario is one object, over one line or many; so only its first line need not be whole.
        if line == "{" || holds_turns(text, line) {
            return Ok(Some(Self::Scenario));
        }
        let looked: Vec<Looked> = lines().take(LOOKED_AT).map(|(_, line)| Looked::at(line)).collect();
        // A file may begin with what another API said; what comes after that tells what it is.
        let sample = looked.iter().find(|looked| !looked.is_unknowable());
        let sample = sample.cloned().or_else(|| {
            let mut more = lines().skip(LOOKED_AT).map(|(_, line)| Looked::at(line));
            more.find(|looked| !looked.is_unknowable())
        });
        let holds_events = looked.iter().chain(&sample).any(Looked::is_event);
        let wrong = |found: &str| Err(Fault::new(first, format!("{EXPECTED}, found {found}")));
        match sample.or_else(|| looked.into_iter().next()) {
            Some(Looked::Object(object)) if object.has_payload => Ok(Some(Self::Rollout)),
            Some(_) if holds_events => Ok(Some(Self::Events)),
            Some(Looked::Object(object)) if object.tag.is_some() || object.foreign.is_some() => {
                Ok(Some(Self::Items))
            }
            Some(Looked::Object(_)) => wrong("a JSON object without `type`"),
            Some(Looked::Other(kind)) => wrong(kind),
            Some(Looked::NoJson(_)) if !line.starts_with('{') => wrong("no JSON"),
            Some(Looked::NoJson(error)) => wrong(&format!("broken JSON: {error}")),
            None => Ok(None),
        }
    }
}

/// The lines that are not blank, numbered from 1, without white space around them.
pub(crate) fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(at, line)| (at + 1, line.trim())).filter(|(_, line)| !line.is_empty())
}

/// A line without the NUL bytes and byte order marks that disks and editors put around it.
fn bare(line: &str) -> &str {
    line.trim_matches(|c: char| matches!(c, '\0' | '\u{feff}') || c.is_whitespace())
}

fn is_sse(line: &str) -> bool {
    ["data:", "event:", "id:", "retry:", ":"].iter().any(|field| line.starts_with(field)) || line == "data"
}

/// Whether the first line, or else the whole text, is an object with `turns`.
fn holds_turns(text: &str, line: &str) -> bool {
    #[derive(serde::Deserialize)]
    struct Peek {
        #[serde(rename = "turns")]
        _turns: serde::de::IgnoredAny,
    }
    line.starts_with('{')
        && (serde_json::from_str::<Peek>(line).is_ok()
            // A line that is no JSON by itself may be the beginning of an object over many lines.
            || (serde_json::from_str::<serde::de::IgnoredAny>(line).is_err()
                && serde_json::from_str::<Peek>(text).is_ok()))
}

#[cfg(test)]
#[path = "input_tests.rs"]
mod tests;
