//! What a message holds (core.md 1.2).

use serde::{Deserialize, Serialize};

use crate::entry::{Entry, EntryError};

/// One entry of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", try_from = "Entry")]
pub enum ContentItem {
    /// Text for the model.
    InputText {
        /// The text.
        text: String,
    },
    /// An image for the model, inline or by reference.
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
    /// Sound for the model.
    InputAudio {
        /// An URL, mostly `data:{mime};base64,{data}`.
        audio_url: String,
    },
    /// Text of the model.
    OutputText {
        /// The text.
        text: String,
    },
}

impl TryFrom<Entry> for ContentItem {
    type Error = EntryError;

    fn try_from(entry: Entry) -> Result<Self, EntryError> {
        Ok(match entry.tag.as_str() {
            "input_text" => Self::InputText { text: entry.needs_text()? },
            "output_text" => Self::OutputText { text: entry.needs_text()? },
            "input_image" => {
                let Entry { image_url, file_id, detail, .. } = entry;
                Self::InputImage { image_url, file_id, detail }
            }
            "input_audio" => Self::InputAudio { audio_url: entry.needs_audio_url()? },
            _ => return Err(entry.unknown(&["input_text", "input_image", "input_audio", "output_text"])),
        })
    }
}

impl ContentItem {
    /// The text of an entry that is text, the user's or the model's.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::InputText { text } | Self::OutputText { text } => Some(text),
            Self::InputImage { .. } | Self::InputAudio { .. } => None,
        }
    }
}

/// How finely the model should look at an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImageDetail {
    /// As the API thinks best.
    Auto,
    /// Coarsely.
    Low,
    /// Finely; the default where no rule says otherwise.
    #[default]
    High,
    /// At its own size; not every model can.
    Original,
}

impl ImageDetail {
    /// The detail of this name on the wire: `auto`, `low`, `high` or `original`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "auto" => Some(Self::Auto),
            "low" => Some(Self::Low),
            "high" => Some(Self::High),
            "original" => Some(Self::Original),
            _ => None,
        }
    }
}

#[cfg(test)]
#[path = "content_tests.rs"]
mod tests;
