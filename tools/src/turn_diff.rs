//! What the turn's patches really changed.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// One file that a patch changed, as it was and as it is. Absent bytes: no file there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileVersions {
    /// The absolute path.
    pub path: PathBuf,
    /// What was there before.
    pub before: Option<Vec<u8>>,
    /// What is there now.
    pub after: Option<Vec<u8>>,
}

/// What became of the turn's files so far.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum TurnChanges {
    /// Known exactly, in the order of the first touch.
    Known(Vec<FileVersions>),
    /// Nothing was changed.
    #[default]
    Nothing,
    /// Something was changed that could not be read exactly: there is no diff to show (runtime.md A6.8).
    Inexact,
}

/// Collects the changes of one turn; shared by its calls.
#[derive(Debug, Clone, Default)]
pub struct SharedTurnDiff(Arc<Mutex<TurnChanges>>);

impl SharedTurnDiff {
    /// Adds what one patch changed. A second change of a file keeps the first one's `before`.
    pub fn record(&self, changes: Vec<FileVersions>) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if changes.is_empty() || *state == TurnChanges::Inexact {
            return;
        }
        let mut known = match std::mem::take(&mut *state) {
            TurnChanges::Known(known) => known,
            TurnChanges::Nothing | TurnChanges::Inexact => Vec::new(),
        };
        for change in changes {
            match known.iter_mut().find(|seen| seen.path == change.path) {
                Some(seen) => seen.after = change.after,
                None => known.push(change),
            }
        }
        *state = TurnChanges::Known(known);
    }

    /// Says that the files are no longer known exactly.
    pub fn invalidate(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = TurnChanges::Inexact;
    }

    /// What is known now.
    pub fn changes(&self) -> TurnChanges {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
#[path = "turn_diff_tests.rs"]
mod tests;
