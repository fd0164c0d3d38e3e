//! What is wrong with a rule file, and where.

use std::fmt;
use std::path::{Path, PathBuf};

/// A place in a file, both counted from 1; columns are characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The character in it.
    pub column: u32,
}

/// What is wrong with a rule file. Shown as `{file}:{line}:{column}: {what}`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct RuleError {
    file: PathBuf,
    at: Option<Position>,
    what: String,
}

impl RuleError {
    /// At a place of a file that is not named yet.
    pub(super) fn at(at: Position, what: impl Into<String>) -> Self {
        Self { file: PathBuf::new(), at: Some(at), what: what.into() }
    }

    /// On the file as a whole.
    pub(super) fn of_file(file: &Path, what: impl Into<String>) -> Self {
        Self { file: file.to_owned(), at: None, what: what.into() }
    }

    pub(super) fn in_file(self, file: &Path) -> Self {
        Self { file: file.to_owned(), ..self }
    }

    /// The file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The place, where the file could be read at all.
    pub fn position(&self) -> Option<Position> {
        self.at
    }

    /// What is wrong, without the place.
    pub fn what(&self) -> &str {
        &self.what
    }
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.file.display())?;
        if let Some(Position { line, column }) = self.at {
            write!(f, "{line}:{column}:")?;
        }
        write!(f, " {}", self.what)
    }
}
