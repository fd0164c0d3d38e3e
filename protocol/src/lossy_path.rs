//! Paths in JSON. serde refuses those that are no UTF-8, and a line lost is worse than a letter.

use std::path::Path;

use serde::Serializer;

/// Writes a path as text, U+FFFD for what is none.
pub(crate) fn lossy_path<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}
