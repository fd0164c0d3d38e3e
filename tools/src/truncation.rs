//! How much of an output the model is shown (core.md 3).
//!
//! The cuts of several places are independent of each other: being cut at one says nothing about the next.

mod items;
mod text;

pub use items::{formatted_truncate_items, truncate_payload};
pub(crate) use text::char_prefix;
pub use text::{
    approx_token_count, formatted_truncate_text, omission_marker, truncate_captured, truncate_text,
};

use text::BYTES_PER_TOKEN;

/// What the JSON around a text may add to it: where an output is to fit a policy after it was wrapped, the policy is
/// [scaled](TruncationPolicy::scaled) by this (core.md 3.1).
pub const SERIALISATION_ALLOWANCE: f64 = 1.2;

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

impl TruncationPolicy {
    /// The budget in bytes.
    pub fn byte_budget(self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Tokens(tokens) => tokens.saturating_mul(BYTES_PER_TOKEN),
        }
    }

    /// The budget in approximate tokens, rounded up.
    pub fn token_budget(self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.div_ceil(BYTES_PER_TOKEN),
            Self::Tokens(tokens) => tokens,
        }
    }

    /// The budget times `factor`, rounded up, in the same unit. A factor below zero gives an empty budget.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        self.with_amount(scale(self.amount(), factor))
    }

    /// The budget's number, in its own unit.
    pub fn amount(self) -> usize {
        match self {
            Self::Bytes(amount) | Self::Tokens(amount) => amount,
        }
    }

    /// The same unit with another number.
    #[must_use]
    pub fn with_amount(self, amount: usize) -> Self {
        match self {
            Self::Bytes(_) => Self::Bytes(amount),
            Self::Tokens(_) => Self::Tokens(amount),
        }
    }

    /// What `text` costs, in the policy's own unit.
    pub(crate) fn cost(self, text: &str) -> usize {
        match self {
            Self::Bytes(_) => text.len(),
            Self::Tokens(_) => approx_token_count(text),
        }
    }
}

// A float beyond the range of usize becomes its nearest end, which is what a budget wants.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
fn scale(amount: usize, factor: f64) -> usize {
    (amount as f64 * factor).ceil() as usize
}

#[cfg(test)]
#[path = "truncation_tests.rs"]
mod tests;
