//! Images and sound for a model that takes none (core.md 7.5 C).

use tenon_protocol::{
    AUDIO_OMITTED, ContentItem, FunctionCallOutputBody, FunctionCallOutputContentItem, ItemKind, ResponseItem,
};
use tenon_tools::ModelAbilities;

use super::payload::{payload, payload_mut};

/// What stands in the place of an image (core.md 7.5 C).
pub const IMAGE_OMITTED: &str = "image content omitted because you do not support image input";

/// The item with the entries replaced that the model cannot take; none when it can take them all.
pub(super) fn without_unsupported(item: &ResponseItem, abilities: ModelAbilities) -> Option<ResponseItem> {
    if !has_unsupported(item.kind(), abilities) {
        return None;
    }
    let mut kind = item.clone().into_kind();
    if let ItemKind::Message(message) = &mut kind {
        for entry in &mut message.content {
            if let Some(text) = in_message(entry, abilities) {
                *entry = ContentItem::InputText { text: text.to_owned() };
            }
        }
    } else if let Some(FunctionCallOutputBody::ContentItems(entries)) =
        payload_mut(&mut kind).map(|p| &mut p.body)
    {
        for entry in entries {
            if let Some(text) = in_output(entry, abilities) {
                *entry = FunctionCallOutputContentItem::text(text);
            }
        }
    }
    Some(ResponseItem::new(kind))
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
