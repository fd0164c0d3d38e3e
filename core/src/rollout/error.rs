//! Why a rollout cannot be opened, read or written.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why a rollout file cannot be opened or read.
#[derive(Debug, thiserror::Error)]
pub enum RolloutError {
    /// The operating system says no.
    #[error("cannot {what} {}: {source}", .path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// With what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Another recorder writes the file (runtime.md D11, cases.md K6).
    #[error("{} is being written by another session: end it first, or start a new one", .0.display())]
    Locked(PathBuf),
    /// There is no valid line in the file (runtime.md D11.11).
    #[error("empty session file: {}", .0.display())]
    Empty(PathBuf),
    /// The first line of the file's own kind is missing.
    #[error("{} has no session_meta line: it is no rollout, or its beginning is lost", .0.display())]
    NoMeta(PathBuf),
    /// The file keeps its history in a way that we don't know (runtime.md D11.11).
    #[error("{} has the history mode `{mode}`; this version reads `legacy` and `paginated`", .path.display())]
    UnknownHistoryMode {
        /// The file.
        path: PathBuf,
        /// What it says.
        mode: String,
    },
    /// What was to be written could not be.
    #[error(transparent)]
    Save(#[from] SaveError),
}

impl RolloutError {
    pub(crate) fn io(what: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { what, path: path.to_owned(), source }
    }
}

/// Why lines are not in the file, or not durable there. They are kept, and tried again at the next barrier.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SaveError(Arc<str>);

impl SaveError {
    pub(super) fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    pub(super) fn closed() -> Self {
        Self::new("the transcript has been closed")
    }
}

impl From<&io::Error> for SaveError {
    fn from(error: &io::Error) -> Self {
        Self::new(error.to_string())
    }
}
