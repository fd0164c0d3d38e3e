//! Outputs of calls.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::output::FunctionCallOutputPayload;
use crate::raw_json::RawJson;

/// `function_call_output`: what a function call gave back.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FunctionCallOutput {
    /// The item's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The call's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// The tool's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The tool's namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// What the model reads.
    pub output: FunctionCallOutputPayload,
    /// The API's private metadata.
    #[serde(
        default,
        rename = "internal_chat_message_metadata_passthrough",
        skip_serializing_if = "Option::is_none"
    )]
    pub passthrough: Option<RawJson>,
}

/// `custom_tool_call_output`: what a custom call gave back.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CustomToolCallOutput {
    /// The item's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The call's id.
    pub call_id: String,
    /// The tool's name, where the output names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What the model reads.
    pub output: FunctionCallOutputPayload,
    /// The API's private metadata.
    #[serde(
        default,
        rename = "internal_chat_message_metadata_passthrough",
        skip_serializing_if = "Option::is_none"
    )]
    pub passthrough: Option<RawJson>,
}

/// `tool_search_output`: the tools a search found, ours or the server's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolSearchOutputItem {
    /// The item's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The call's id; written as `null` when absent.
    #[serde(default)]
    pub call_id: Option<String>,
    /// `completed`.
    pub status: String,
    /// Who searched: `client` or `server`.
    pub execution: String,
    /// The specs found.
    pub tools: Vec<Value>,
    /// The API's private metadata.
    #[serde(
        default,
        rename = "internal_chat_message_metadata_passthrough",
        skip_serializing_if = "Option::is_none"
    )]
    pub passthrough: Option<RawJson>,
}
