//! The numbers that a model knows sessions and chunks by.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hasher, RandomState};

/// The least id of a session (runtime.md B9.1).
const FIRST_ID: i32 = 1000;

/// One more than the greatest random id.
const ID_LIMIT: i32 = 100_000;

/// Where the ids of sessions come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IdSource {
    /// Random, 1000 to 99999.
    #[default]
    Random,
    /// One more than the greatest in use, 1000 to begin with: for tests.
    Sequential,
}

impl IdSource {
    /// An id that is not among `taken`.
    pub(crate) fn next(self, taken: &BTreeSet<i32>) -> i32 {
        match self {
            Self::Sequential => taken.last().map_or(FIRST_ID, |last| last.saturating_add(1).max(FIRST_ID)),
            Self::Random => {
                let range = u64::from((ID_LIMIT - FIRST_ID).unsigned_abs());
                loop {
                    let offset = i32::try_from(random() % range).unwrap_or_default();
                    let id = FIRST_ID + offset;
                    if !taken.contains(&id) {
                        return id;
                    }
                }
            }
        }
    }
}

/// Six random hex digits: the id of a chunk of output (runtime.md B10).
pub(crate) fn chunk_id() -> String {
    format!("{:06x}", random() & 0xff_ffff)
}

/// A random number, not fit for secrets: the standard library's hasher is keyed anew each time.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
#[path = "ids_tests.rs"]
mod tests;
