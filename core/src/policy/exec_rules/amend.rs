//! Rules that somebody adds while a session runs, written back for the next one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use super::load::{DEFAULT_RULES, MAX_FILE_BYTES};
use super::rule::PrefixRule;
use super::{ExecRules, RuleError};

/// Why a rule was not written.
#[derive(Debug, thiserror::Error)]
pub enum AmendError {
    /// The file could not be read or written.
    #[error("{}: {source}", file.display())]
    Io {
        /// Which.
        file: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// What is in the file is no rule file any more.
    #[error(transparent)]
    Rules(#[from] RuleError),
    /// A rule on no words would allow everything.
    #[error("a rule on an empty prefix would allow every command")]
    Empty,
    /// An empty word is no part of a pattern.
    #[error("a rule cannot have an empty word in its prefix")]
    EmptyWord,
    /// The file could not be read any more the next time.
    #[error("{}: with one more rule it would be longer than {MAX_FILE_BYTES} bytes", file.display())]
    TooLong {
        /// Which.
        file: PathBuf,
    },
}

impl ExecRules {
    /// Adds a rule that allows what begins with `prefix`, here and at the end of `default.rules` in `folder`. The rest
    /// of the file stays byte for byte; the new one takes its place in one step, under a lock. A rule that is there
    /// already is not written again.
    ///
    /// # Errors
    /// When the file cannot be written, holds anything else than rules or would become too long, or the prefix is none;
    /// then nothing is added.
    pub fn allow_prefix(&mut self, prefix: &[String], folder: &Path) -> Result<(), AmendError> {
        if prefix.is_empty() {
            return Err(AmendError::Empty);
        }
        if prefix.iter().any(String::is_empty) {
            return Err(AmendError::EmptyWord);
        }
        append(prefix, folder)?;
        let rule = PrefixRule::allowing(prefix);
        if !self.prefixes.contains(&rule) {
            self.prefixes.push(rule);
        }
        Ok(())
    }
}

/// The line that stands for the rule in a file.
fn line(prefix: &[String]) -> String {
    let words: Vec<String> = prefix.iter().map(|word| quoted(word)).collect();
    format!("prefix_rule(pattern=[{}], decision=\"allow\")\n", words.join(", "))
}

fn quoted(word: &str) -> String {
    let mut text = String::from('"');
    for c in word.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            c => text.push(c),
        }
    }
    text.push('"');
    text
}

fn append(prefix: &[String], folder: &Path) -> Result<(), AmendError> {
    fs::create_dir_all(folder).map_err(|source| AmendError::Io { file: folder.to_owned(), source })?;
    let file = folder.join(DEFAULT_RULES);
    // Somebody may keep the file elsewhere: then that one is written, and the link stays.
    let file = file.canonicalize().unwrap_or(file);
    let fault = |source| AmendError::Io { file: file.clone(), source };
    // The lock is a file of its own, since the rule file is replaced.
    let _lock = lock(&folder.join(format!("{DEFAULT_RULES}.lock"))).map_err(fault)?;
    let mut text = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        Err(error) => return Err(fault(error)),
    };
    if ExecRules::read(&text, &file)?.prefixes.contains(&PrefixRule::allowing(prefix)) {
        return Ok(());
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&line(prefix));
    if u64::try_from(text.len()).is_ok_and(|length| length > MAX_FILE_BYTES) {
        return Err(AmendError::TooLong { file });
    }
    ExecRules::read(&text, &file)?;
    replace(&file, &text).map_err(fault)
}

/// An exclusive lock, held until the file is dropped. It is waited for.
fn lock(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
    flock(&file, FlockOperation::LockExclusive)?;
    Ok(file)
}

/// Puts a text in the place of a file, in one step and durably. Its permissions stay.
fn replace(file: &Path, text: &str) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    let mut name = std::ffi::OsString::from(".");
    name.push(file.file_name().unwrap_or_default());
    name.push(format!(".{}", uuid::Uuid::new_v4().simple()));
    let new = folder.join(name);
    let written = write_new(&new, file, text).and_then(|()| fs::rename(&new, file));
    if written.is_err() {
        // It may not have come into being at all.
        let _ = fs::remove_file(&new);
    }
    written?;
    File::open(folder)?.sync_all()
}

fn write_new(new: &Path, like: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().create_new(true).write(true).open(new)?;
    if let Ok(old) = fs::metadata(like) {
        file.set_permissions(old.permissions())?;
    }
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
#[path = "amend_tests.rs"]
mod tests;
