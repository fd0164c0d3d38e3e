//! What the model thought.

use serde::{Deserialize, Serialize};

use crate::entry::{Entry, EntryError};
use crate::raw_json::RawJson;

/// `reasoning`: what the model thought, as far as it is told.
///
/// When we write one, `encrypted_content` is always there (maybe `null`) and `content` is left out only when it is
/// present and holds a `reasoning_text`; absent content is `null` (core.md 1.1, the quirk).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reasoning {
    /// The item's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The summary's parts.
    pub summary: Vec<ReasoningSummary>,
    /// The thoughts themselves, where the API gives them.
    #[serde(default, skip_serializing_if = "holds_reasoning_text")]
    pub content: Option<Vec<ReasoningContent>>,
    /// The thoughts, readable by the API only.
    #[serde(default)]
    pub encrypted_content: Option<String>,
    /// The API's private metadata.
    #[serde(
        default,
        rename = "internal_chat_message_metadata_passthrough",
        skip_serializing_if = "Option::is_none"
    )]
    pub passthrough: Option<RawJson>,
}

#[allow(clippy::ref_option)] // serde's signature
fn holds_reasoning_text(content: &Option<Vec<ReasoningContent>>) -> bool {
    content.as_ref().is_some_and(|entries| {
        entries.iter().any(|entry| matches!(entry, ReasoningContent::ReasoningText { .. }))
    })
}

/// One part of a summary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", try_from = "Entry")]
pub enum ReasoningSummary {
    /// Text.
    SummaryText {
        /// The text.
        text: String,
    },
}

/// One entry of the thoughts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", try_from = "Entry")]
pub enum ReasoningContent {
    /// A thought.
    ReasoningText {
        /// The text.
        text: String,
    },
    /// Other text.
    Text {
        /// The text.
        text: String,
    },
}

impl TryFrom<Entry> for ReasoningSummary {
    type Error = EntryError;

    fn try_from(entry: Entry) -> Result<Self, EntryError> {
        match entry.tag.as_str() {
            "summary_text" => Ok(Self::SummaryText { text: entry.needs_text()? }),
            _ => Err(entry.unknown(&["summary_text"])),
        }
    }
}

impl TryFrom<Entry> for ReasoningContent {
    type Error = EntryError;

    fn try_from(entry: Entry) -> Result<Self, EntryError> {
        match entry.tag.as_str() {
            "reasoning_text" => Ok(Self::ReasoningText { text: entry.needs_text()? }),
            "text" => Ok(Self::Text { text: entry.needs_text()? }),
            _ => Err(entry.unknown(&["reasoning_text", "text"])),
        }
    }
}
