//! From an item's text to its kind: the tag first, then the one struct that it names.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::kind::ItemKind;
use super::rare::UnknownItem;
use crate::peek::peek_text;
use crate::raw_json::RawJson;

/// Reads what `raw` is. Never fails: what cannot be read is [`ItemKind::Unknown`], with the reason if it has the tag
/// of a kind that we know.
pub(super) fn read_kind(raw: &RawJson) -> ItemKind {
    let Some(tag) = peek_text(raw.get(), "type") else {
        return ItemKind::Unknown(unknown(raw, String::new(), Some("an item without a `type`".to_owned())));
    };
    match read_known(&tag, raw.get()) {
        Some(Ok(kind)) => kind,
        Some(Err(error)) => {
            let reason = format!("a `{tag}` item whose members don't fit: {error}");
            ItemKind::Unknown(unknown(raw, tag.into_owned(), Some(reason)))
        }
        None => ItemKind::Unknown(unknown(raw, tag.into_owned(), None)),
    }
}

/// The struct that `tag` names, read from `json`; `None` when it names none.
fn read_known(tag: &str, json: &str) -> Option<serde_json::Result<ItemKind>> {
    fn read<'a, T: Deserialize<'a>>(
        json: &'a str,
        kind: fn(T) -> ItemKind,
    ) -> Option<serde_json::Result<ItemKind>> {
        Some(serde_json::from_str(json).map(kind))
    }
    match tag {
        "message" => read(json, ItemKind::Message),
        "agent_message" => read(json, ItemKind::AgentMessage),
        "additional_tools" => read(json, ItemKind::AdditionalTools),
        "reasoning" => read(json, ItemKind::Reasoning),
        "local_shell_call" => read(json, ItemKind::LocalShellCall),
        "function_call" => read(json, ItemKind::FunctionCall),
        "tool_search_call" => read(json, ItemKind::ToolSearchCall),
        "function_call_output" => read(json, ItemKind::FunctionCallOutput),
        "custom_tool_call" => read(json, ItemKind::CustomToolCall),
        "custom_tool_call_output" => read(json, ItemKind::CustomToolCallOutput),
        "tool_search_output" => read(json, ItemKind::ToolSearchOutput),
        "web_search_call" => read(json, ItemKind::WebSearchCall),
        "image_generation_call" => read(json, ItemKind::ImageGenerationCall),
        "compaction" | "compaction_summary" => read(json, ItemKind::Compaction),
        "context_compaction" => read(json, ItemKind::ContextCompaction),
        "compaction_trigger" => read(json, ItemKind::CompactionTrigger),
        "configuration_update" => read(json, ItemKind::ConfigurationUpdate),
        "ghost_snapshot" => read(json, ItemKind::GhostSnapshot),
        _ => None,
    }
}

fn unknown(raw: &RawJson, tag: String, reason: Option<String>) -> UnknownItem {
    let ids = raw.to::<Ids<'_>>().unwrap_or_default();
    UnknownItem { tag, call_id: text(ids.call_id), id: text(ids.id), reason, raw: raw.clone() }
}

/// The ids of an item of any kind, whatever they are.
#[derive(Default, Deserialize)]
struct Ids<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    call_id: Option<&'a RawValue>,
}

fn text(raw: Option<&RawValue>) -> Option<String> {
    serde_json::from_str(raw?.get()).ok()
}
