//! Rules that somebody adds while a session runs, written back for the next one.

use std::fs;
use std::path::{Path, PathBuf};

use super::load::{DEFAULT_RULES, MAX_FILE_BYTES};
use super::rule::PrefixRule;
use super::{ExecRules, RuleError};
use crate::user_file::{UserFileError, change_user_file};

/// Why a rule was not written.
#[derive(Debug, thiserror::Error)]
pub enum AmendError {
    /// The file could not be read or written.
    #[error(transparent)]
    Io(#[from] UserFileError),
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
        Self::write_prefix(prefix, folder)?;
        self.add_prefix(prefix);
        Ok(())
    }

    /// The half of it that writes, and waits for others who do.
    pub(in crate::policy) fn write_prefix(prefix: &[String], folder: &Path) -> Result<(), AmendError> {
        if prefix.is_empty() {
            return Err(AmendError::Empty);
        }
        if prefix.iter().any(String::is_empty) {
            return Err(AmendError::EmptyWord);
        }
        append(prefix, folder)
    }

    /// The half of it that counts at once.
    pub(in crate::policy) fn add_prefix(&mut self, prefix: &[String]) {
        let rule = PrefixRule::allowing(prefix);
        if !self.prefixes.contains(&rule) {
            self.prefixes.push(rule);
        }
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
    fs::create_dir_all(folder).map_err(|source| UserFileError { file: folder.to_owned(), source })?;
    change_user_file(&folder.join(DEFAULT_RULES), MAX_FILE_BYTES, |file, text| {
        if ExecRules::read(text, file)?.prefixes.contains(&PrefixRule::allowing(prefix)) {
            return Ok(None);
        }
        let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        let text = format!("{text}{end}{}", line(prefix));
        if u64::try_from(text.len()).is_ok_and(|length| length > MAX_FILE_BYTES) {
            return Err(AmendError::TooLong { file: file.to_owned() });
        }
        ExecRules::read(&text, file)?;
        Ok(Some(text))
    })
}

#[cfg(test)]
#[path = "amend_tests.rs"]
mod tests;
