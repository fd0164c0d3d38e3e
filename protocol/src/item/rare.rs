//! Items that this runtime only keeps, and those that it does not know.

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::raw_json::RawJson;

/// `additional_tools`: tools that were added on the way. Not written to the rollout.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AdditionalTools {
    /// The item's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Who adds them.
    pub role: String,
    /// Their specs.
    pub tools: Vec<Value>,
}

/// `compaction` (also read as `compaction_summary`): what earlier turns came to, readable by the API only.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Compaction {
    /// The item's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The encrypted summary.
    pub encrypted_content: String,
    /// The API's private metadata.
    #[serde(
        default,
        rename = "internal_chat_message_metadata_passthrough",
        skip_serializing_if = "Option::is_none"
    )]
    pub passthrough: Option<RawJson>,
}

/// `context_compaction`: the mark of a compaction by the API.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ContextCompaction {
    /// The item's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The encrypted summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encrypted_content: Option<String>,
    /// The API's private metadata.
    #[serde(
        default,
        rename = "internal_chat_message_metadata_passthrough",
        skip_serializing_if = "Option::is_none"
    )]
    pub passthrough: Option<RawJson>,
}

/// `compaction_trigger`: asks the API to compact. Not written to the rollout.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CompactionTrigger {
    /// The item's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The API's private metadata.
    #[serde(
        default,
        rename = "internal_chat_message_metadata_passthrough",
        skip_serializing_if = "Option::is_none"
    )]
    pub passthrough: Option<RawJson>,
}

/// `configuration_update`: how the model thinks from here on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ConfigurationUpdate {
    /// The item's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The reasoning settings.
    pub reasoning: Value,
    /// The API's private metadata.
    #[serde(
        default,
        rename = "internal_chat_message_metadata_passthrough",
        skip_serializing_if = "Option::is_none"
    )]
    pub passthrough: Option<RawJson>,
}

/// `ghost_snapshot`: of old rollouts only; dropped when one is loaded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GhostSnapshot {
    /// The item's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The snapshot.
    pub ghost_commit: Value,
    /// The API's private metadata.
    #[serde(
        default,
        rename = "internal_chat_message_metadata_passthrough",
        skip_serializing_if = "Option::is_none"
    )]
    pub passthrough: Option<RawJson>,
}

/// An item of a kind that we don't know, or of a known kind whose members don't fit. Kept, recorded and sent back as
/// it came (core.md 0.2).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UnknownItem {
    /// The item's `type`; empty when it has none.
    pub tag: String,
    /// The item's `call_id`, when it is a string.
    pub call_id: Option<String>,
    /// The item's `id`, when it is a string.
    pub id: Option<String>,
    /// Why an item of a known kind was not read; `None` for an unknown kind.
    pub reason: Option<String>,
    /// The item as it came.
    pub raw: RawJson,
}

impl Serialize for UnknownItem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.raw.serialize(serializer)
    }
}
