//! What a model's answer says, event by event (runtime.md D1).

use std::fmt;
use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

use crate::item::ResponseItem;
use crate::raw_json::RawJson;

/// One event of a Responses API stream.
///
/// Only [`OutputItemDone`](Self::OutputItemDone) changes history; [`Completed`](Self::Completed) ends a stream well.
#[derive(Clone, Debug, PartialEq)]
pub enum ResponseEvent {
    /// The answer has begun.
    Created {
        /// The answer's id.
        response_id: Option<String>,
    },
    /// An item has begun; its members are not all there yet.
    OutputItemAdded {
        /// The item so far.
        item: Box<ResponseItem>,
    },
    /// An item is whole.
    OutputItemDone {
        /// The item.
        item: Box<ResponseItem>,
    },
    /// More of a message's text.
    OutputTextDelta {
        /// The message's id.
        item_id: Option<String>,
        /// What comes next.
        delta: String,
    },
    /// More of a summary of what the model thought.
    ReasoningSummaryTextDelta {
        /// The reasoning item's id.
        item_id: Option<String>,
        /// What comes next.
        delta: String,
        /// Which part of the summary, from 0.
        summary_index: Option<u64>,
    },
    /// A part of the summary is whole.
    ReasoningSummaryTextDone {
        /// The reasoning item's id.
        item_id: Option<String>,
        /// The part's text.
        text: String,
        /// Which part of the summary, from 0.
        summary_index: Option<u64>,
    },
    /// A new part of the summary has begun.
    ReasoningSummaryPartAdded {
        /// The reasoning item's id.
        item_id: Option<String>,
        /// Which part of the summary, from 0.
        summary_index: Option<u64>,
    },
    /// More of what the model thought, unabridged.
    ReasoningTextDelta {
        /// The reasoning item's id.
        item_id: Option<String>,
        /// What comes next.
        delta: String,
        /// Which content entry, from 0.
        content_index: Option<u64>,
    },
    /// More of a custom call's input.
    CustomToolCallInputDelta {
        /// The call item's id.
        item_id: Option<String>,
        /// The call's id, when the API says it.
        call_id: Option<String>,
        /// What comes next.
        delta: String,
    },
    /// More of a function call's arguments.
    FunctionCallArgumentsDelta {
        /// The call item's id.
        item_id: Option<String>,
        /// The call's id, when the API says it.
        call_id: Option<String>,
        /// What comes next.
        delta: String,
    },
    /// The answer is complete.
    Completed {
        /// The answer's id.
        response_id: Option<String>,
        /// What it cost; `None` when the API does not say, or not in a form we read.
        usage: Option<TokenUsage>,
        /// `false` when the model wants another round although it called nothing.
        end_turn: Option<bool>,
    },
    /// The answer failed: `response.failed`, or a top-level `error` event.
    Failed(ResponseFailure),
    /// The answer ended early.
    Incomplete {
        /// Why; `unknown` when the API does not say.
        reason: String,
    },
    /// Something that could not be read and was skipped, for the operator. A decoder tells it as
    /// [`Decoded::Broken`](crate::Decoded::Broken); this is how a client passes it on.
    Skipped {
        /// What is wrong with it.
        reason: String,
    },
    /// An event that changes nothing here, or that we don't know; for observers.
    Other {
        /// The event's `type`.
        kind: String,
        /// The event as it came.
        raw: RawJson,
    },
}

/// Why an answer failed. Codes and what follows from them: runtime.md D1.a.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResponseFailure {
    /// The API's code, e.g. `rate_limit_exceeded`.
    pub code: Option<String>,
    /// The API's words.
    pub message: String,
}

impl fmt::Display for ResponseFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.code {
            Some(code) => write!(f, "{code}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

/// Tokens that answers cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TokenUsage {
    /// Tokens read, cached ones included.
    pub input_tokens: u64,
    /// Tokens read from the cache.
    pub cached_input_tokens: u64,
    /// Tokens written to the cache.
    #[serde(skip_serializing_if = "is_zero")]
    pub cache_write_input_tokens: u64,
    /// Tokens written, thoughts included.
    pub output_tokens: u64,
    /// Tokens thought.
    pub reasoning_output_tokens: u64,
    /// Tokens read and written.
    pub total_tokens: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde's signature
fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl Add for TokenUsage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            cached_input_tokens: self.cached_input_tokens.saturating_add(other.cached_input_tokens),
            cache_write_input_tokens: self
                .cache_write_input_tokens
                .saturating_add(other.cache_write_input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            reasoning_output_tokens: self
                .reasoning_output_tokens
                .saturating_add(other.reasoning_output_tokens),
            total_tokens: self.total_tokens.saturating_add(other.total_tokens),
        }
    }
}

impl AddAssign for TokenUsage {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

#[cfg(test)]
#[path = "event_tests.rs"]
mod tests;
