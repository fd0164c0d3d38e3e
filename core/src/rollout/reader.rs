//! Reads a rollout file: what can be read is kept, what cannot is told and skipped (runtime.md D11.11, cases.md K1).

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use tenon_protocol::{RolloutItem, RolloutLine, SessionMeta, parse_line_mended};

use super::error::RolloutError;
use super::layout::parse_name;
use super::lines::JOURNAL_MARK;

/// The longest line that is read, in bytes. A longer one is skipped, without being held in memory.
pub const MAX_LINE_BYTES: usize = 256 * 1024 * 1024;

/// How many skipped lines are told of one by one; the rest are counted.
pub const MAX_SKIPPED_TOLD: usize = 1000;

/// How every line of ours and of the reference begins: where one stands behind a torn line, it is found by this.
const LINE_START: &str = "{\"timestamp\":";

/// What a rollout file says.
#[derive(Debug, Clone)]
pub struct LoadedRollout {
    /// The file.
    pub path: PathBuf,
    /// Whose it is: the first `session_meta` of the file.
    pub meta: SessionMeta,
    /// The lines that could be read, in order.
    pub lines: Vec<LoadedLine>,
    /// The lines that could not, in order; of a file with more than [`MAX_SKIPPED_TOLD`] of them the first.
    pub skipped: Vec<SkippedLine>,
    /// How many could not be read.
    pub skipped_count: usize,
    /// The lines, from 1, in which U+FFFD stands for characters that were no text; the first [`MAX_SKIPPED_TOLD`].
    pub mended: Vec<u64>,
}

/// A line of a rollout file.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedLine {
    /// Where it stands, from 1.
    pub number: u64,
    /// What it says, and when that was written.
    pub line: RolloutLine,
}

/// A line that was skipped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedLine {
    /// Where it stands, from 1.
    pub number: u64,
    /// Why.
    pub reason: SkipReason,
}

/// Why a line was skipped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SkipReason {
    /// It holds nothing but NUL bytes: the machine went down before the disk had it.
    #[error("only NUL bytes")]
    NulFilled,
    /// It stands earlier in the file, byte for byte.
    #[error("the same as line {0}")]
    Doubled(u64),
    /// It is longer than is read.
    #[error("{0} bytes long, more than a line may have")]
    TooLong(u64),
    /// It is torn, or no line of a rollout.
    #[error("{0}")]
    Unreadable(String),
}

impl fmt::Display for SkippedLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.number, self.reason)
    }
}

impl LoadedRollout {
    /// Reads a file.
    ///
    /// # Errors
    /// When the file cannot be read, has no valid line, or keeps its history in a way that we don't know.
    pub fn load(path: &Path) -> Result<Self, RolloutError> {
        let file = File::open(path).map_err(|error| RolloutError::io("open", path, error))?;
        let mut reader = Reader::new(MAX_LINE_BYTES);
        reader.read(&mut BufReader::new(file)).map_err(|error| RolloutError::io("read", path, error))?;
        reader.finish(path)
    }

    /// The same rollout after more lines were written to its end.
    pub(super) fn append(&mut self, items: impl Iterator<Item = RolloutItem>, timestamp: &str) {
        let next = self.lines.last().map_or(1, |line| line.number + 1);
        for (number, item) in (next..).zip(items) {
            self.lines
                .push(LoadedLine { number, line: RolloutLine { timestamp: timestamp.to_owned(), item } });
        }
    }

    /// Whether calls of this file are journalled: it has a journal line, or its first line says that it would. Not so
    /// the files of the reference (runtime.md D11.14).
    #[must_use]
    pub fn is_journalled(&self) -> bool {
        self.meta.extra.contains_key(JOURNAL_MARK)
            || self.lines.iter().any(|line| is_journal_line(&line.line.item))
    }
}

fn is_journal_line(item: &RolloutItem) -> bool {
    match item {
        RolloutItem::CallStarted(_) | RolloutItem::CallProgress(_) | RolloutItem::CallFinished(_) => true,
        RolloutItem::SessionMeta(_)
        | RolloutItem::ResponseItem(_)
        | RolloutItem::TurnContext(_)
        | RolloutItem::WorldState(_)
        | RolloutItem::Compacted(_)
        | RolloutItem::EventMsg(_)
        | RolloutItem::ModelRequest(_)
        | RolloutItem::Unknown { .. } => false,
    }
}

/// Collects lines.
pub(super) struct Reader {
    max_line: usize,
    hashers: [RandomState; 2],
    /// The lines so far, by their hash: where each was first.
    seen: HashMap<[u64; 2], u64>,
    meta: Option<SessionMeta>,
    lines: Vec<LoadedLine>,
    skipped: Vec<SkippedLine>,
    skipped_count: usize,
    mended: Vec<u64>,
}

impl Reader {
    pub(super) fn new(max_line: usize) -> Self {
        Self {
            max_line,
            hashers: [RandomState::new(), RandomState::new()],
            seen: HashMap::new(),
            meta: None,
            lines: Vec::new(),
            skipped: Vec::new(),
            skipped_count: 0,
            mended: Vec::new(),
        }
    }

    pub(super) fn read(&mut self, source: &mut impl BufRead) -> io::Result<()> {
        let mut buffer = Vec::new();
        for number in 1.. {
            buffer.clear();
            match next_line(source, &mut buffer, self.max_line)? {
                Some(0) => self.take(number, &buffer),
                Some(beyond) => self.skip(number, SkipReason::TooLong(buffer.len() as u64 + beyond)),
                None => break,
            }
        }
        Ok(())
    }

    pub(super) fn finish(self, path: &Path) -> Result<LoadedRollout, RolloutError> {
        let Self { meta, lines, skipped, skipped_count, mended, .. } = self;
        let Some(first) = lines.first() else { return Err(RolloutError::Empty(path.to_owned())) };
        let meta = match meta {
            Some(meta) => meta,
            None => meta_of_name(path, &first.line.timestamp)
                .ok_or_else(|| RolloutError::NoMeta(path.to_owned()))?,
        };
        match meta.history_mode.as_deref() {
            None | Some("legacy" | "paginated") => {}
            Some(mode) => {
                return Err(RolloutError::UnknownHistoryMode {
                    path: path.to_owned(),
                    mode: mode.to_owned(),
                });
            }
        }
        Ok(LoadedRollout { path: path.to_owned(), meta, lines, skipped, skipped_count, mended })
    }

    fn take(&mut self, number: u64, bytes: &[u8]) {
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => return self.unreadable(number, &format!("not UTF-8: {error}")),
        };
        let line = bare(text);
        if line.is_empty() {
            if text.contains('\0') {
                self.skip(number, SkipReason::NulFilled);
            }
            return;
        }
        let hash = self.hashers.each_ref().map(|hasher| hasher.hash_one(line));
        let first = *self.seen.entry(hash).or_insert(number);
        if first != number {
            return self.skip(number, SkipReason::Doubled(first));
        }
        match read_line(line) {
            Ok(line) => self.keep(number, line),
            Err(reason) => {
                self.unreadable(number, &reason);
                if let Some(line) = behind_torn(line) {
                    self.keep(number, line);
                }
            }
        }
    }

    fn keep(&mut self, number: u64, (line, was_mended): (RolloutLine, bool)) {
        if was_mended && self.mended.len() < MAX_SKIPPED_TOLD {
            self.mended.push(number);
        }
        if let RolloutItem::SessionMeta(meta) = &line.item
            && self.meta.is_none()
        {
            self.meta = Some((**meta).clone());
        }
        self.lines.push(LoadedLine { number, line });
    }

    fn unreadable(&mut self, number: u64, reason: &str) {
        self.skip(number, SkipReason::Unreadable(reason.to_owned()));
    }

    fn skip(&mut self, number: u64, reason: SkipReason) {
        tracing::warn!(line = number, %reason, "a line of a rollout was skipped");
        self.skipped_count += 1;
        if self.skipped.len() < MAX_SKIPPED_TOLD {
            self.skipped.push(SkippedLine { number, reason });
        }
    }
}

/// A line without what disks and editors put around it: NUL bytes, white space, a byte order mark.
fn bare(text: &str) -> &str {
    text.trim_matches(|c: char| matches!(c, '\0' | '\u{feff}') || c.is_ascii_whitespace())
}

/// What the bytes of a line say, as far as they can be read: the line, or the one that stands behind a torn one.
pub(super) fn glance(bytes: &[u8]) -> Option<RolloutLine> {
    let line = bare(std::str::from_utf8(bytes).ok()?);
    read_line(line).ok().or_else(|| behind_torn(line)).map(|(line, _)| line)
}

/// What a writer that did not end a torn line has put behind it.
fn behind_torn(line: &str) -> Option<(RolloutLine, bool)> {
    let (at, _) = line.rmatch_indices(LINE_START).find(|&(at, _)| at > 0)?;
    read_line(line.get(at..)?).ok()
}

/// Reads one line as what it says, or says why it is none; and whether it had to be mended.
fn read_line(text: &str) -> Result<(RolloutLine, bool), String> {
    let (line, was_mended) = parse_line_mended(text).map_err(|error| in_plain_words(&error.to_string()))?;
    if let RolloutItem::ResponseItem(item) = &line.item
        && item.tag().is_empty()
    {
        return Err("a response item without a `type`".to_owned());
    }
    Ok((line, was_mended))
}

/// What serde says, without names of types.
fn in_plain_words(error: &str) -> String {
    let Some((before, named)) = error.split_once("expected struct ") else { return error.to_owned() };
    let after = named.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
    let after = after.split_once(" elements").map_or(after, |(_, after)| after);
    format!("{before}expected an object{after}")
}

/// Reads up to the next line break, which is not kept, or the end. Of a line that is longer than `limit` only so much
/// is kept; gives how many bytes more it had. None at the end.
fn next_line(source: &mut impl BufRead, line: &mut Vec<u8>, limit: usize) -> io::Result<Option<u64>> {
    let mut beyond = 0_u64;
    let mut any = false;
    loop {
        let available = match source.fill_buf() {
            Ok(available) => available,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if available.is_empty() {
            return Ok(any.then_some(beyond));
        }
        any = true;
        let end = available.iter().position(|&byte| byte == b'\n');
        let piece = available.get(..end.unwrap_or(available.len())).unwrap_or_default();
        let kept = piece.len().min(limit.saturating_sub(line.len()));
        line.extend_from_slice(piece.get(..kept).unwrap_or_default());
        beyond += (piece.len() - kept) as u64;
        let used = piece.len() + usize::from(end.is_some());
        source.consume(used);
        if end.is_some() {
            return Ok(Some(beyond));
        }
    }
}

/// What the name of a file tells whose first line is lost.
pub(super) fn meta_of_name(path: &Path, timestamp: &str) -> Option<SessionMeta> {
    let name = parse_name(path.file_name()?.to_str()?)?;
    let (id, timestamp) = (name.thread.to_owned(), timestamp.to_owned());
    Some(SessionMeta { session_id: Some(id.clone()), id, timestamp, ..SessionMeta::default() })
}

#[cfg(test)]
#[path = "reader_tests.rs"]
mod tests;
