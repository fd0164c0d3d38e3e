//! What an MCP server answers, and what the model reads of it (core.md 1.5).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::content::ImageDetail;
use crate::output::{FunctionCallOutputContentItem, FunctionCallOutputPayload};

/// What a model without image input reads in place of an image of a result.
pub const IMAGE_OMITTED: &str = "<image content omitted because you do not support image input>";
/// What a model without audio input reads in place of a sound of a result.
pub const AUDIO_OMITTED: &str = "<audio content omitted because you do not support audio input>";
/// `_meta` key of a text entry that only the API can read.
pub const ENCRYPTED_CONTENT_META: &str = "codex/encryptedContent";
/// `_meta` key that says how finely the model should look at an image entry.
pub const IMAGE_DETAIL_META: &str = "codex/imageDetail";

/// The result of a `tools/call`, in camelCase on the wire.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallToolResult {
    /// The content blocks as they came.
    pub content: Vec<Value>,
    /// The typed result; a JSON `null` counts as absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<Value>,
    /// `true` when the tool failed; absent counts as success.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
    /// Data for the client; a script never sees it.
    #[serde(default, rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Value>,
}

/// Which media a model can take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediaAbilities {
    /// It can see images.
    pub image_input: bool,
    /// It can hear sound.
    pub audio_input: bool,
    /// It can see an image at its own size.
    pub original_image_detail: bool,
}

impl MediaAbilities {
    /// A model that can take everything.
    pub const ALL: Self = Self { image_input: true, audio_input: true, original_image_detail: true };
}

impl CallToolResult {
    /// Whether the call succeeded: `isError` is not exactly `true`.
    #[must_use]
    pub fn success(&self) -> bool {
        self.is_error != Some(true)
    }

    /// A failed result with one text block.
    pub fn from_error_text(text: impl Into<String>) -> Self {
        Self {
            content: vec![json!({"type": "text", "text": text.into()})],
            is_error: Some(true),
            ..Self::default()
        }
    }

    /// The result, or a failed one with the error's text.
    #[must_use]
    pub fn from_result(result: Result<Self, String>) -> Self {
        result.unwrap_or_else(Self::from_error_text)
    }

    /// The result as JSON without `_meta`, as a script sees it.
    #[must_use]
    pub fn without_meta_json(&self) -> Value {
        let mut members = Map::new();
        members.insert("content".to_owned(), Value::Array(self.content.clone()));
        if let Some(structured) = &self.structured_content {
            members.insert("structuredContent".to_owned(), structured.clone());
        }
        if let Some(is_error) = self.is_error {
            members.insert("isError".to_owned(), Value::Bool(is_error));
        }
        Value::Object(members)
    }

    /// What the model reads: encrypted content before structured content before content, but image, audio and
    /// resource blocks before structured content. Without header and bounds, which are the tool's.
    #[must_use]
    pub fn to_payload(&self, abilities: MediaAbilities) -> FunctionCallOutputPayload {
        let items: Vec<_> = self.content.iter().map(|block| convert(block, abilities)).collect();
        let encrypted =
            items.iter().any(|i| matches!(i, FunctionCallOutputContentItem::EncryptedContent { .. }));
        if !encrypted
            && !self.content.iter().any(shows_more_than_text)
            && let Some(structured) = self.structured_content.as_ref().filter(|v| !v.is_null())
        {
            return match serde_json::to_string(structured) {
                Ok(text) => FunctionCallOutputPayload::text(text).with_success(self.success()),
                Err(error) => FunctionCallOutputPayload::text(error.to_string()).with_success(false),
            };
        }
        FunctionCallOutputPayload::items(items).with_success(self.success())
    }
}

/// An image, audio or resource block holds what structured content cannot: then content wins.
fn shows_more_than_text(block: &Value) -> bool {
    matches!(text_member(block, "type"), Some("image" | "audio" | "resource"))
}

/// One block for the model; what is unknown or malformed as its compact JSON.
fn convert(block: &Value, abilities: MediaAbilities) -> FunctionCallOutputContentItem {
    let converted = match text_member(block, "type") {
        Some("text") => convert_text(block),
        Some("image") => convert_image(block, abilities),
        Some("audio") => convert_audio(block, abilities),
        _ => None,
    };
    converted.unwrap_or_else(|| {
        let text = serde_json::to_string(block).unwrap_or_else(|_| "<content>".to_owned());
        FunctionCallOutputContentItem::InputText { text }
    })
}

fn convert_text(block: &Value) -> Option<FunctionCallOutputContentItem> {
    let text = text_member(block, "text")?.to_owned();
    let encrypted = meta(block, ENCRYPTED_CONTENT_META).and_then(Value::as_bool) == Some(true);
    Some(if encrypted {
        FunctionCallOutputContentItem::EncryptedContent { encrypted_content: text }
    } else {
        FunctionCallOutputContentItem::InputText { text }
    })
}

fn convert_image(block: &Value, abilities: MediaAbilities) -> Option<FunctionCallOutputContentItem> {
    let image_url = data_url(block)?;
    if !abilities.image_input {
        return Some(FunctionCallOutputContentItem::text(IMAGE_OMITTED));
    }
    let asked = meta(block, IMAGE_DETAIL_META).and_then(Value::as_str).and_then(ImageDetail::from_name);
    let default = if abilities.original_image_detail { ImageDetail::Original } else { ImageDetail::High };
    Some(FunctionCallOutputContentItem::InputImage {
        image_url: Some(image_url),
        file_id: None,
        detail: Some(asked.unwrap_or(default)),
    })
}

fn convert_audio(block: &Value, abilities: MediaAbilities) -> Option<FunctionCallOutputContentItem> {
    let audio_url = data_url(block)?;
    Some(if abilities.audio_input {
        FunctionCallOutputContentItem::InputAudio { audio_url }
    } else {
        FunctionCallOutputContentItem::text(AUDIO_OMITTED)
    })
}

/// The block's data as an URL; data that is one already is kept.
fn data_url(block: &Value) -> Option<String> {
    let data = text_member(block, "data")?;
    if data.starts_with("data:") {
        return Some(data.to_owned());
    }
    let mime = text_member(block, "mimeType")
        .or_else(|| text_member(block, "mime_type"))
        .unwrap_or("application/octet-stream");
    Some(format!("data:{mime};base64,{data}"))
}

fn text_member<'a>(block: &'a Value, name: &str) -> Option<&'a str> {
    block.get(name)?.as_str()
}

fn meta<'a>(block: &'a Value, key: &str) -> Option<&'a Value> {
    block.get("_meta")?.get(key)
}

#[cfg(test)]
#[path = "call_tool_result_tests.rs"]
mod tests;
