//! One entry of a list of contents, as it is read.
//!
//! serde's own way to read a tagged enum keeps every member until it knows the tag: a number or a surrogate in a
//! member that nobody reads would then refuse the entry, and with it the whole item.

use serde::Deserialize;
use serde::de::Error;

use crate::content::ImageDetail;

/// The members that any kind of entry has.
#[derive(Deserialize)]
pub(crate) struct Entry {
    #[serde(rename = "type")]
    pub(crate) tag: String,
    #[serde(default)]
    pub(crate) text: Option<String>,
    #[serde(default)]
    pub(crate) image_url: Option<String>,
    #[serde(default)]
    pub(crate) file_id: Option<String>,
    #[serde(default)]
    pub(crate) detail: Option<ImageDetail>,
    #[serde(default)]
    pub(crate) audio_url: Option<String>,
    #[serde(default)]
    pub(crate) encrypted_content: Option<String>,
}

/// Why an entry is none of a kind.
pub(crate) type EntryError = serde::de::value::Error;

impl Entry {
    /// The member `text`, which the entry must have.
    pub(crate) fn needs_text(self) -> Result<String, EntryError> {
        self.text.ok_or_else(|| EntryError::missing_field("text"))
    }

    /// The member `audio_url`, which the entry must have.
    pub(crate) fn needs_audio_url(self) -> Result<String, EntryError> {
        self.audio_url.ok_or_else(|| EntryError::missing_field("audio_url"))
    }

    /// The member `encrypted_content`, which the entry must have.
    pub(crate) fn needs_encrypted_content(self) -> Result<String, EntryError> {
        self.encrypted_content.ok_or_else(|| EntryError::missing_field("encrypted_content"))
    }

    /// The error for a tag that is none of `known`.
    pub(crate) fn unknown(&self, known: &'static [&'static str]) -> EntryError {
        EntryError::unknown_variant(&self.tag, known)
    }
}
