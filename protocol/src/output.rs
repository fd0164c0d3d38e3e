//! What the output of a function or custom call holds (core.md 1.3).

use std::fmt;

use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::content::ImageDetail;
use crate::entry::{Entry, EntryError};

/// The output of a call: its body, and whether the call succeeded as far as is known.
///
/// On the wire it is the body alone, a bare string or an array. `success` is never written, so an item that was
/// written and read again has none: base no behaviour towards the model on it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FunctionCallOutputPayload {
    /// What the model reads.
    pub body: FunctionCallOutputBody,
    /// Whether the call succeeded; `None` when nobody said.
    pub success: Option<bool>,
}

impl FunctionCallOutputPayload {
    /// A text body, success unknown.
    pub fn text(text: impl Into<String>) -> Self {
        Self { body: FunctionCallOutputBody::Text(text.into()), success: None }
    }

    /// A body of items, success unknown. An empty list is legal and is written as `[]`.
    #[must_use]
    pub fn items(items: Vec<FunctionCallOutputContentItem>) -> Self {
        Self { body: FunctionCallOutputBody::ContentItems(items), success: None }
    }

    /// The same body with success set.
    #[must_use]
    pub fn with_success(self, success: bool) -> Self {
        Self { success: Some(success), ..self }
    }
}

/// The text, or the JSON of the items.
impl fmt::Display for FunctionCallOutputPayload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.body.fmt(f)
    }
}

impl Serialize for FunctionCallOutputPayload {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.body.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for FunctionCallOutputPayload {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        FunctionCallOutputBody::deserialize(deserializer).map(|body| Self { body, success: None })
    }
}

/// A bare string or a list of items.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum FunctionCallOutputBody {
    /// Plain text.
    Text(String),
    /// Items of several kinds, in order.
    ContentItems(Vec<FunctionCallOutputContentItem>),
}

impl FunctionCallOutputBody {
    /// The text of the body. Of items: the `input_text` entries that are not blank, joined by a line break; `None`
    /// when there are none.
    #[must_use]
    pub fn to_text(&self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.clone()),
            Self::ContentItems(items) => {
                let texts: Vec<&str> =
                    items.iter().filter_map(|i| i.as_text()).filter(|t| !t.trim().is_empty()).collect();
                (!texts.is_empty()).then(|| texts.join("\n"))
            }
        }
    }
}

/// Empty text.
impl Default for FunctionCallOutputBody {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

/// The text, or the JSON of the items.
impl fmt::Display for FunctionCallOutputBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::ContentItems(items) => f.write_str(&serde_json::to_string(items).map_err(|_| fmt::Error)?),
        }
    }
}

// By hand: serde's untagged form would buffer the body and say nothing of what is wrong inside it.
impl<'de> Deserialize<'de> for FunctionCallOutputBody {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(BodyVisitor)
    }
}

struct BodyVisitor;

impl<'de> Visitor<'de> for BodyVisitor {
    type Value = FunctionCallOutputBody;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or a list of content items")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(FunctionCallOutputBody::Text(text.to_owned()))
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<Self::Value, E> {
        Ok(FunctionCallOutputBody::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
        Vec::deserialize(de::value::SeqAccessDeserializer::new(seq)).map(FunctionCallOutputBody::ContentItems)
    }
}

/// One entry of an output's list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", try_from = "Entry")]
pub enum FunctionCallOutputContentItem {
    /// Text.
    InputText {
        /// The text.
        text: String,
    },
    /// An image, inline or by reference.
    InputImage {
        /// An URL, mostly `data:{mime};base64,{data}`.
        #[serde(skip_serializing_if = "Option::is_none")]
        image_url: Option<String>,
        /// The id of an uploaded file, in place of the URL.
        #[serde(skip_serializing_if = "Option::is_none")]
        file_id: Option<String>,
        /// How finely the model should look; not written when absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        detail: Option<ImageDetail>,
    },
    /// Sound.
    InputAudio {
        /// An URL, mostly `data:{mime};base64,{data}`.
        audio_url: String,
    },
    /// Text that only the API can read.
    EncryptedContent {
        /// The encrypted text.
        encrypted_content: String,
    },
}

impl TryFrom<Entry> for FunctionCallOutputContentItem {
    type Error = EntryError;

    fn try_from(entry: Entry) -> Result<Self, EntryError> {
        Ok(match entry.tag.as_str() {
            "input_text" => Self::InputText { text: entry.needs_text()? },
            "input_image" => {
                let Entry { image_url, file_id, detail, .. } = entry;
                Self::InputImage { image_url, file_id, detail }
            }
            "input_audio" => Self::InputAudio { audio_url: entry.needs_audio_url()? },
            "encrypted_content" => {
                Self::EncryptedContent { encrypted_content: entry.needs_encrypted_content()? }
            }
            _ => {
                return Err(entry.unknown(&[
                    "input_text",
                    "input_image",
                    "input_audio",
                    "encrypted_content",
                ]));
            }
        })
    }
}

impl FunctionCallOutputContentItem {
    /// A text entry.
    pub fn text(text: impl Into<String>) -> Self {
        Self::InputText { text: text.into() }
    }

    /// The text of a text entry.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::InputText { text } => Some(text),
            Self::InputImage { .. } | Self::InputAudio { .. } | Self::EncryptedContent { .. } => None,
        }
    }
}

#[cfg(test)]
#[path = "output_tests.rs"]
mod tests;
