//! Reads a rollout file: what can be read is kept, what cannot is told and skipped (runtime.md D11.11, cases.md K1).

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use tenon_protocol::{RolloutItem, RolloutLine, SessionMeta};

use super::error::RolloutError;
use super::layout::parse_name;
use super::line_kind::LineKind;
use super::lines::JOURNAL_MARK;
use super::one_line::{bare, behind_torn, next_line, read_line};

/// The longest line that is read, in bytes. A longer one is skipped, without being held in memory.
pub const MAX_LINE_BYTES: usize = 256 * 1024 * 1024;

/// How many skipped lines are told of one by one; the rest are counted.
pub const MAX_SKIPPED_TOLD: usize = 1000;

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

/// The lines of a file, as far as they can be read, whosever it is: a file that is no whole rollout has some, too.
#[derive(Debug, Clone, Default)]
pub struct RolloutLines {
    /// The first `session_meta` of the file.
    pub meta: Option<SessionMeta>,
    /// The lines that could be read, in order.
    pub lines: Vec<LoadedLine>,
    /// The lines that could not, in order; of a file with more than [`MAX_SKIPPED_TOLD`] of them the first.
    pub skipped: Vec<SkippedLine>,
    /// How many lines were skipped.
    pub skipped_count: usize,
    /// How many of these say what a line before them says.
    pub doubled_count: usize,
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

impl RolloutLines {
    /// Reads lines of at most [`MAX_LINE_BYTES`] up to the end. This is the one way in which rollouts are read: what it
    /// skips here is skipped on resume, on replay and where a session is verified.
    ///
    /// # Errors
    /// Those of `source`. No line is one.
    pub fn read(source: &mut impl BufRead) -> io::Result<Self> {
        let mut reader = Reader::new(MAX_LINE_BYTES);
        reader.read(source)?;
        Ok(reader.lines)
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
    matches!(LineKind::of(item), LineKind::Started(_) | LineKind::Progress(_) | LineKind::Finished(_))
}

/// Which lines a file holds already, by their hashes: where each was first.
#[derive(Debug, Default)]
pub(super) struct Seen {
    hashers: [RandomState; 2],
    lines: HashMap<[u64; 2], u64>,
}

impl Seen {
    /// Whether the file holds this line.
    pub(super) fn holds(&self, line: &str) -> bool {
        !self.lines.is_empty() && self.lines.contains_key(&self.hash(line))
    }

    fn hash(&self, line: &str) -> [u64; 2] {
        self.hashers.each_ref().map(|hasher| hasher.hash_one(line))
    }
}

/// Collects lines.
pub(super) struct Reader {
    max_line: usize,
    seen: Seen,
    lines: RolloutLines,
}

impl Reader {
    pub(super) fn new(max_line: usize) -> Self {
        Self { max_line, seen: Seen::default(), lines: RolloutLines::default() }
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
        Ok(self.finish_seen(path)?.0)
    }

    /// As [`finish`](Self::finish), for whoever writes on: with what the file holds already.
    pub(super) fn finish_seen(self, path: &Path) -> Result<(LoadedRollout, Seen), RolloutError> {
        let RolloutLines { meta, lines, skipped, skipped_count, doubled_count: _, mended } = self.lines;
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
        let path = path.to_owned();
        Ok((LoadedRollout { path, meta, lines, skipped, skipped_count, mended }, self.seen))
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
        if let Err(reason) = self.take_text(number, line) {
            self.unreadable(number, &reason);
            if let Some(rest) = behind_torn(line) {
                // Where that is none either, no more is lost than was just told.
                let _ = self.take_text(number, rest);
            }
        }
    }

    /// Keeps a line that can be read and does not stand in the file before, or says why it is none.
    fn take_text(&mut self, number: u64, line: &str) -> Result<(), String> {
        let hash = self.seen.hash(line);
        if let Some(first) = self.seen.lines.get(&hash) {
            self.skip(number, SkipReason::Doubled(*first));
            return Ok(());
        }
        let read = read_line(line)?;
        self.seen.lines.insert(hash, number);
        self.keep(number, read);
        Ok(())
    }

    fn keep(&mut self, number: u64, (line, was_mended): (RolloutLine, bool)) {
        let read = &mut self.lines;
        if was_mended && read.mended.len() < MAX_SKIPPED_TOLD {
            read.mended.push(number);
        }
        if let RolloutItem::SessionMeta(meta) = &line.item
            && read.meta.is_none()
        {
            read.meta = Some((**meta).clone());
        }
        read.lines.push(LoadedLine { number, line });
    }

    fn unreadable(&mut self, number: u64, reason: &str) {
        self.skip(number, SkipReason::Unreadable(reason.to_owned()));
    }

    fn skip(&mut self, number: u64, reason: SkipReason) {
        tracing::warn!(line = number, %reason, "a line of a rollout was skipped");
        let read = &mut self.lines;
        read.skipped_count += 1;
        read.doubled_count += usize::from(matches!(reason, SkipReason::Doubled(_)));
        if read.skipped.len() < MAX_SKIPPED_TOLD {
            read.skipped.push(SkippedLine { number, reason });
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
