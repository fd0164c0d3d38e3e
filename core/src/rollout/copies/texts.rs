//! The texts of an output, each with its place.

use std::fmt;

use tenon_protocol::{FunctionCallOutputBody, FunctionCallOutputContentItem, ItemKind, ResponseItem};

use crate::hash::sha256;
use crate::history::{payload, payload_mut};

/// The hash of a text, and the name of its copy.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::rollout) struct TextHash(String);

impl TextHash {
    pub(in crate::rollout) fn of(text: &str) -> Self {
        Self(sha256(text))
    }

    /// A hash as it is written; none for any other text.
    pub(in crate::rollout) fn read(hex: &str) -> Option<Self> {
        const DIGITS: usize = 64;
        let is_hash =
            hex.len() == DIGITS && hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        is_hash.then(|| Self(hex.to_owned()))
    }

    pub(in crate::rollout) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TextHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The texts of a function or custom output, and which entry of its list each is of.
pub(super) fn texts(kind: &ItemKind) -> Vec<(Option<usize>, &str)> {
    match payload(kind).map(|payload| &payload.body) {
        Some(FunctionCallOutputBody::Text(text)) => vec![(None, text)],
        Some(FunctionCallOutputBody::ContentItems(entries)) => {
            let texts = entries.iter().enumerate();
            texts.filter_map(|(at, entry)| Some((Some(at), text_of(entry)?))).collect()
        }
        None => Vec::new(),
    }
}

/// Whether any text of an output is this long, in bytes.
pub(in crate::rollout) fn has_long_text(output: &ResponseItem, bytes: usize) -> bool {
    texts(output.kind()).iter().any(|(_, text)| text.len() >= bytes)
}

/// The text at a place.
pub(super) fn text_mut(kind: &mut ItemKind, entry: Option<usize>) -> Option<&mut String> {
    match (&mut payload_mut(kind)?.body, entry) {
        (FunctionCallOutputBody::Text(text), None) => Some(text),
        (FunctionCallOutputBody::ContentItems(entries), Some(at)) => text_of_mut(entries.get_mut(at)?),
        (FunctionCallOutputBody::Text(_), Some(_)) | (FunctionCallOutputBody::ContentItems(_), None) => None,
    }
}

/// Puts a notice in the place of a text that is lost: of a picture, too, nothing else is left.
pub(super) fn replace(kind: &mut ItemKind, entry: Option<usize>, notice: &str) {
    match (payload_mut(kind).map(|payload| &mut payload.body), entry) {
        (Some(FunctionCallOutputBody::Text(text)), None) => notice.clone_into(text),
        (Some(FunctionCallOutputBody::ContentItems(entries)), Some(at)) => {
            if let Some(entry) = entries.get_mut(at) {
                *entry = FunctionCallOutputContentItem::text(notice);
            }
        }
        (Some(FunctionCallOutputBody::Text(_)), Some(_))
        | (Some(FunctionCallOutputBody::ContentItems(_)), None)
        | (None, _) => {}
    }
}

fn text_of(entry: &FunctionCallOutputContentItem) -> Option<&str> {
    match entry {
        FunctionCallOutputContentItem::InputText { text } => Some(text),
        FunctionCallOutputContentItem::InputImage { image_url, .. } => image_url.as_deref(),
        FunctionCallOutputContentItem::InputAudio { audio_url } => Some(audio_url),
        FunctionCallOutputContentItem::EncryptedContent { encrypted_content } => Some(encrypted_content),
    }
}

fn text_of_mut(entry: &mut FunctionCallOutputContentItem) -> Option<&mut String> {
    match entry {
        FunctionCallOutputContentItem::InputText { text } => Some(text),
        FunctionCallOutputContentItem::InputImage { image_url, .. } => image_url.as_mut(),
        FunctionCallOutputContentItem::InputAudio { audio_url } => Some(audio_url),
        FunctionCallOutputContentItem::EncryptedContent { encrypted_content } => Some(encrypted_content),
    }
}
