//! SHA-256 of texts, in small hexadecimal digits.

use sha2::{Digest, Sha256};

/// The SHA-256 of a text.
pub(crate) fn sha256(text: &str) -> String {
    Hasher::default().text(text).end()
}

/// Reads a text piece by piece.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hasher(Sha256);

impl Hasher {
    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        self.0.update(text);
        self
    }

    /// The hash of what was read; then nothing has been.
    pub(crate) fn end(&mut self) -> String {
        let hash = std::mem::take(&mut self.0).finalize();
        hash.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
