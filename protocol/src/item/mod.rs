//! Items of a conversation: what the model says, what it is told (core.md 1.1).

mod calls;
mod hosted;
mod id;
mod kind;
mod message;
mod outputs;
mod parse;
mod rare;
mod reasoning;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

pub use calls::{
    CustomToolCall, FunctionCall, LocalShellAction, LocalShellCall, LocalShellExec, ToolSearchCall,
};
pub use hosted::{ImageGenerationCall, WebSearchAction, WebSearchCall};
pub use kind::ItemKind;
pub use message::{AgentMessage, AgentMessageContent, Message, MessagePhase};
pub use outputs::{CustomToolCallOutput, FunctionCallOutput, ToolSearchOutputItem};
pub use rare::{
    AdditionalTools, Compaction, CompactionTrigger, ConfigurationUpdate, ContextCompaction, GhostSnapshot,
    UnknownItem,
};
pub use reasoning::{Reasoning, ReasoningContent, ReasoningSummary};

use crate::content::ContentItem;
use crate::raw_json::RawJson;

/// One item of a conversation. Cheap to clone.
///
/// An item that came from the API (or from a file) keeps its text and is written back byte for byte: members absent,
/// null and unknown, order and digits stay. An item that we make is written by the rules of its kind.
#[derive(Clone)]
pub struct ResponseItem {
    kind: Arc<ItemKind>,
    raw: Option<RawJson>,
}

/// Why a text is no item.
#[derive(Debug, thiserror::Error)]
pub enum ItemError {
    /// It is not JSON.
    #[error("an item that is not JSON: {0}")]
    NotJson(#[from] serde_json::Error),
    /// It is no object with a `type` that is a string.
    #[error("an item without a `type`")]
    NoType,
}

impl ResponseItem {
    /// An item that we make.
    #[must_use]
    pub fn new(kind: ItemKind) -> Self {
        let raw = as_unknown(&kind).map(|item| item.raw.clone());
        Self { kind: Arc::new(kind), raw }
    }

    /// An item as it came. Never fails: an unknown kind, and a known one whose members don't fit, is
    /// [`ItemKind::Unknown`] with the whole text.
    ///
    /// A lone surrogate (`"\ud83d"`) is legal JSON but no text: an item of a known kind with one in a member that is
    /// read does not fit either. It goes back as it came, with a [`warning`](Self::warning), and is not acted on.
    #[must_use]
    pub fn from_raw(raw: Box<RawValue>) -> Self {
        Self::from_json(raw.into())
    }

    pub(crate) fn from_json(raw: RawJson) -> Self {
        Self { kind: Arc::new(parse::read_kind(&raw)), raw: Some(raw) }
    }

    /// Reads an item from its JSON text.
    ///
    /// # Errors
    /// [`ItemError`], when the text is not JSON, or no object with a `type`. Anything else is an item.
    pub fn parse(json: &str) -> Result<Self, ItemError> {
        let item = Self::from_json(RawJson::parse(json)?);
        if item.tag().is_empty() { Err(ItemError::NoType) } else { Ok(item) }
    }

    /// A message of one text: `output_text` for role `assistant`, `input_text` for all others.
    #[must_use]
    pub fn message(role: &str, text: &str) -> Self {
        let text = text.to_owned();
        let content = if role == "assistant" {
            ContentItem::OutputText { text }
        } else {
            ContentItem::InputText { text }
        };
        Self::new(ItemKind::Message(Message {
            role: role.to_owned(),
            content: vec![content],
            ..Default::default()
        }))
    }

    /// What the item is.
    #[must_use]
    pub fn kind(&self) -> &ItemKind {
        &self.kind
    }

    /// What the item is, without its text: an item made of it again is one that we make.
    #[must_use]
    pub fn into_kind(self) -> ItemKind {
        Arc::unwrap_or_clone(self.kind)
    }

    /// The item's `type`; of an item that has none, empty.
    #[must_use]
    pub fn tag(&self) -> &str {
        self.kind.tag()
    }

    /// The item's id.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.kind.id()
    }

    /// The id of the call that the item is or answers.
    #[must_use]
    pub fn call_id(&self) -> Option<&str> {
        self.kind.call_id()
    }

    /// Why an item of a known kind could not be read as one: the kind and serde's reason.
    #[must_use]
    pub fn warning(&self) -> Option<&str> {
        as_unknown(&self.kind)?.reason.as_deref()
    }

    /// Whether the item belongs in a rollout file: all but `additional_tools` and `compaction_trigger` (runtime.md
    /// D11.3).
    #[must_use]
    pub fn is_recorded(&self) -> bool {
        !matches!(&*self.kind, ItemKind::AdditionalTools(_) | ItemKind::CompactionTrigger(_))
    }

    /// The item's JSON text: as it came, or as we write it.
    #[must_use]
    pub fn raw_json(&self) -> Cow<'_, str> {
        match &self.raw {
            Some(raw) => Cow::Borrowed(raw.get()),
            // Every member of a kind has a JSON form.
            None => Cow::Owned(serde_json::to_string(&*self.kind).unwrap_or_default()),
        }
    }

    /// The same item with an id, where its kind gets one and it has none (runtime.md D1.4): prefix, `_`, UUID v7.
    ///
    /// In an item that came, `id` becomes the first member (or takes the place of a `null`); all else is untouched.
    #[must_use]
    pub fn with_id_if_absent(self) -> Self {
        id::with_id_if_absent(self)
    }
}

fn as_unknown(kind: &ItemKind) -> Option<&UnknownItem> {
    if let ItemKind::Unknown(item) = kind { Some(item) } else { None }
}

impl fmt::Debug for ResponseItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}

impl From<ItemKind> for ResponseItem {
    fn from(kind: ItemKind) -> Self {
        Self::new(kind)
    }
}

/// The same kind, and JSON that means the same.
impl PartialEq for ResponseItem {
    fn eq(&self, other: &Self) -> bool {
        let value = |item: &Self| serde_json::from_str::<Value>(&item.raw_json());
        self.kind == other.kind
            && (self.raw_json() == other.raw_json()
                || matches!((value(self), value(other)), (Ok(a), Ok(b)) if a == b))
    }
}

impl Serialize for ResponseItem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.raw {
            Some(raw) => raw.serialize(serializer),
            None => self.kind.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for ResponseItem {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        RawJson::deserialize(deserializer).map(Self::from_json)
    }
}

#[cfg(test)]
#[path = "item_tests.rs"]
mod tests;
