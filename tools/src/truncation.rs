//! How much of an output the model is shown (core.md 3).

/// A budget for text, in bytes or in approximate tokens of four bytes (core.md 3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TruncationPolicy {
    /// So many bytes.
    Bytes(usize),
    /// So many approximate tokens.
    Tokens(usize),
}

impl Default for TruncationPolicy {
    /// That of a model nothing is known of (core.md 0.2).
    fn default() -> Self {
        Self::Tokens(10_000)
    }
}
