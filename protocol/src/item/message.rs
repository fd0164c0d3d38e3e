//! Messages.

use serde::{Deserialize, Serialize};

use crate::content::ContentItem;
use crate::entry::{Entry, EntryError};
use crate::raw_json::RawJson;

/// `message`: what the user, the developer or the model says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// The item's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Who speaks: `user`, `developer`, `assistant`, `system`.
    pub role: String,
    /// What is said.
    pub content: Vec<ContentItem>,
    /// Which part of an answer it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<MessagePhase>,
    /// The API's private metadata.
    #[serde(
        default,
        rename = "internal_chat_message_metadata_passthrough",
        skip_serializing_if = "Option::is_none"
    )]
    pub passthrough: Option<RawJson>,
}

impl Message {
    /// All text of the message, in order, with nothing between.
    #[must_use]
    pub fn text(&self) -> String {
        self.content.iter().filter_map(ContentItem::as_text).collect()
    }
}

/// Which part of an answer a message of the model is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessagePhase {
    /// Said on the way.
    Commentary,
    /// The answer itself.
    FinalAnswer,
    /// A phase that we don't know.
    #[serde(untagged)]
    Other(String),
}

/// `agent_message`: what one agent says to another.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentMessage {
    /// The item's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Who speaks.
    pub author: String,
    /// Who is spoken to.
    pub recipient: String,
    /// What is said.
    pub content: Vec<AgentMessageContent>,
    /// The API's private metadata.
    #[serde(
        default,
        rename = "internal_chat_message_metadata_passthrough",
        skip_serializing_if = "Option::is_none"
    )]
    pub passthrough: Option<RawJson>,
}

/// One entry of an [`AgentMessage`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", try_from = "Entry")]
pub enum AgentMessageContent {
    /// Text.
    InputText {
        /// The text.
        text: String,
    },
    /// Text that only the API can read.
    EncryptedContent {
        /// The encrypted text.
        encrypted_content: String,
    },
}

impl TryFrom<Entry> for AgentMessageContent {
    type Error = EntryError;

    fn try_from(entry: Entry) -> Result<Self, EntryError> {
        match entry.tag.as_str() {
            "input_text" => Ok(Self::InputText { text: entry.needs_text()? }),
            "encrypted_content" => {
                Ok(Self::EncryptedContent { encrypted_content: entry.needs_encrypted_content()? })
            }
            _ => Err(entry.unknown(&["input_text", "encrypted_content"])),
        }
    }
}
