//! Why a patch is refused.

use std::io;
use std::path::PathBuf;

/// The text is no patch (runtime.md A3.4). Its display is the form of the tool; the program words it
/// differently (A6.4).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// The frame around the hunks is wrong.
    #[error("invalid patch: {0}")]
    Patch(String),
    /// A line inside is wrong.
    #[error("invalid hunk at line {line}, {message}")]
    Hunk {
        /// What is wrong.
        message: String,
        /// Where: 1 is the line of `*** Begin Patch`.
        line: usize,
    },
}

/// A parsed patch does not fit the files (A5, A6, A7). Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// Two hunks name one file (A7.2).
    #[error("invalid patch: multiple operations target {}", path.display())]
    Duplicate {
        /// The file.
        path: PathBuf,
    },
    /// The file to update cannot be read.
    #[error("Failed to read file to update {}: {source}", path.display())]
    ReadForUpdate {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file to delete cannot be read.
    #[error("Failed to read {}: {source}", path.display())]
    ReadForDelete {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// No line matches the text of an `@@` header (A5.2).
    #[error("Failed to find context '{context}' in {}", path.display())]
    Context {
        /// The file.
        path: PathBuf,
        /// The header's text.
        context: String,
    },
    /// No place matches the old lines of a chunk (A5.4).
    #[error("Failed to find expected lines in {}:\n{lines}", path.display())]
    Lines {
        /// The file.
        path: PathBuf,
        /// The old lines, joined by line feeds.
        lines: String,
    },
}
