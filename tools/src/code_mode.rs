//! The value a script gets for a response item (core.md 2.6).

use serde_json::Value;
use tenon_protocol::{
    CallToolResult, FunctionCallOutputBody, FunctionCallOutputContentItem, FunctionCallOutputPayload,
    ResponseInputItem,
};

/// Converts a response item to a script's value.
pub(crate) fn value_of(item: ResponseInputItem) -> Value {
    match item {
        ResponseInputItem::FunctionCallOutput { output, .. }
        | ResponseInputItem::CustomToolCallOutput { output, .. } => Value::String(text_of(output)),
        ResponseInputItem::ToolSearchOutput { tools, .. } => Value::Array(tools),
        ResponseInputItem::McpToolCallOutput { output, .. } => mcp_value(&output),
        ResponseInputItem::Message { .. } => Value::Null,
    }
}

fn mcp_value(result: &CallToolResult) -> Value {
    serde_json::to_value(result)
        .unwrap_or_else(|error| Value::String(format!("failed to serialize mcp result: {error}")))
}

fn text_of(output: FunctionCallOutputPayload) -> String {
    match output.body {
        FunctionCallOutputBody::Text(text) => text,
        FunctionCallOutputBody::ContentItems(items) => {
            items.iter().flat_map(shown).filter(|part| !part.trim().is_empty()).collect::<Vec<_>>().join("\n")
        }
    }
}

/// The texts that stand for an item: what is encrypted has none.
fn shown(item: &FunctionCallOutputContentItem) -> Vec<&str> {
    match item {
        FunctionCallOutputContentItem::InputText { text } => vec![text],
        FunctionCallOutputContentItem::InputImage { image_url, file_id, detail: _ } => {
            image_url.iter().chain(file_id).map(String::as_str).collect()
        }
        FunctionCallOutputContentItem::InputAudio { audio_url } => vec![audio_url],
        FunctionCallOutputContentItem::EncryptedContent { .. } => Vec::new(),
    }
}

#[cfg(test)]
#[path = "code_mode_tests.rs"]
mod tests;
