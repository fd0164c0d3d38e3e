//! Images and sound that a request cannot hold: for a model that takes none (core.md 7.5 C), or too many.

use std::sync::Arc;

use tenon_protocol::{
    AUDIO_OMITTED, ContentItem, FunctionCallOutputBody, FunctionCallOutputContentItem, ItemKind, ResponseItem,
};
use tenon_tools::ModelAbilities;

use super::payload::{payload, payload_mut};

/// What stands in the place of an image (core.md 7.5 C).
pub const IMAGE_OMITTED: &str = "image content omitted because you do not support image input";

/// How much of images, as URLs in bytes, a request holds. Every request holds the whole history, and a provider refuses
/// one that is too large (OpenAI: 50 MB), and with it every later one of the session.
pub const MAX_PROMPT_IMAGE_BYTES: usize = 48 * 1024 * 1024;

/// What stands in the place of an image that found no room.
pub const IMAGE_LEFT_OUT: &str =
    "image content omitted because a request holds at most 48 MiB of images, the newest first";

/// Replaces the images of all items that are older than the newest ones which together have `most` bytes.
pub(super) fn keep_newest_images(prompt: &mut [Arc<ResponseItem>], most: usize) {
    let mut bytes = 0_usize;
    for item in prompt.iter_mut().rev() {
        let own = image_bytes(item.kind());
        bytes = bytes.saturating_add(own);
        if own > 0 && bytes > most {
            let left_out = |bytes: usize| (bytes > 0).then_some(IMAGE_LEFT_OUT);
            let in_message = |entry: &ContentItem| left_out(bytes_in_message(entry));
            let in_output = |entry: &FunctionCallOutputContentItem| left_out(bytes_in_output(entry));
            *item = Arc::new(replaced(item, &in_message, &in_output));
        }
    }
}

/// How long the URLs of an item's images are that hold them.
fn image_bytes(kind: &ItemKind) -> usize {
    if let ItemKind::Message(message) = kind {
        return message.content.iter().map(bytes_in_message).sum();
    }
    match payload(kind).map(|payload| &payload.body) {
        Some(FunctionCallOutputBody::ContentItems(entries)) => entries.iter().map(bytes_in_output).sum(),
        Some(FunctionCallOutputBody::Text(_)) | None => 0,
    }
}

fn bytes_in_message(entry: &ContentItem) -> usize {
    match entry {
        ContentItem::InputImage { image_url, .. } => inline(image_url.as_deref()),
        ContentItem::InputAudio { .. } | ContentItem::InputText { .. } | ContentItem::OutputText { .. } => 0,
    }
}

fn bytes_in_output(entry: &FunctionCallOutputContentItem) -> usize {
    match entry {
        FunctionCallOutputContentItem::InputImage { image_url, .. } => inline(image_url.as_deref()),
        FunctionCallOutputContentItem::InputText { .. }
        | FunctionCallOutputContentItem::InputAudio { .. }
        | FunctionCallOutputContentItem::EncryptedContent { .. } => 0,
    }
}

/// The length of an URL that holds the image itself.
fn inline(url: Option<&str>) -> usize {
    url.filter(|url| url.starts_with("data:")).map_or(0, str::len)
}

/// The item with the entries replaced that the model cannot take; none when it can take them all.
pub(super) fn without_unsupported(item: &ResponseItem, abilities: ModelAbilities) -> Option<ResponseItem> {
    has_unsupported(item.kind(), abilities)
        .then(|| replaced(item, &|entry| in_message(entry, abilities), &|entry| in_output(entry, abilities)))
}

/// The item with texts in the places of the entries that have one.
fn replaced(
    item: &ResponseItem,
    of_message: &dyn Fn(&ContentItem) -> Option<&'static str>,
    of_output: &dyn Fn(&FunctionCallOutputContentItem) -> Option<&'static str>,
) -> ResponseItem {
    let mut kind = item.clone().into_kind();
    if let ItemKind::Message(message) = &mut kind {
        for entry in &mut message.content {
            if let Some(text) = of_message(entry) {
                *entry = ContentItem::InputText { text: text.to_owned() };
            }
        }
    } else if let Some(FunctionCallOutputBody::ContentItems(entries)) =
        payload_mut(&mut kind).map(|p| &mut p.body)
    {
        for entry in entries {
            if let Some(text) = of_output(entry) {
                *entry = FunctionCallOutputContentItem::text(text);
            }
        }
    }
    ResponseItem::new(kind)
}

fn has_unsupported(kind: &ItemKind, abilities: ModelAbilities) -> bool {
    if let ItemKind::Message(message) = kind {
        return message.content.iter().any(|entry| in_message(entry, abilities).is_some());
    }
    match payload(kind).map(|payload| &payload.body) {
        Some(FunctionCallOutputBody::ContentItems(entries)) => {
            entries.iter().any(|entry| in_output(entry, abilities).is_some())
        }
        Some(FunctionCallOutputBody::Text(_)) | None => false,
    }
}

/// What takes the place of a message's entry; none when it stays.
fn in_message(entry: &ContentItem, abilities: ModelAbilities) -> Option<&'static str> {
    match entry {
        ContentItem::InputImage { .. } => (!abilities.image_input).then_some(IMAGE_OMITTED),
        ContentItem::InputAudio { .. } => (!abilities.audio_input).then_some(AUDIO_OMITTED),
        ContentItem::InputText { .. } | ContentItem::OutputText { .. } => None,
    }
}

/// What takes the place of an output's entry; none when it stays.
fn in_output(entry: &FunctionCallOutputContentItem, abilities: ModelAbilities) -> Option<&'static str> {
    match entry {
        FunctionCallOutputContentItem::InputImage { .. } => (!abilities.image_input).then_some(IMAGE_OMITTED),
        FunctionCallOutputContentItem::InputAudio { .. } => (!abilities.audio_input).then_some(AUDIO_OMITTED),
        FunctionCallOutputContentItem::InputText { .. }
        | FunctionCallOutputContentItem::EncryptedContent { .. } => None,
    }
}

#[cfg(test)]
#[path = "media_tests.rs"]
mod tests;
