//! Calls that the model makes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::raw_json::RawJson;

/// `function_call`: a call with JSON arguments.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FunctionCall {
    /// The item's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The tool's name.
    pub name: String,
    /// The tool's namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The arguments as the model wrote them: mostly JSON, never parsed here.
    pub arguments: String,
    /// Which arguments the API decrypted. Absent and empty differ (core.md 4.2, 13.1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encrypted_function_args: Option<Vec<String>>,
    /// The call's id; a call without one is never answered (core.md 0.2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// The API's private metadata.
    #[serde(
        default,
        rename = "internal_chat_message_metadata_passthrough",
        skip_serializing_if = "Option::is_none"
    )]
    pub passthrough: Option<RawJson>,
}

/// `custom_tool_call`: a call with free text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CustomToolCall {
    /// The item's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The API's own status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// The call's id; a call without one is never answered (core.md 0.2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// The tool's name.
    pub name: String,
    /// The tool's namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The text.
    pub input: String,
    /// The API's private metadata.
    #[serde(
        default,
        rename = "internal_chat_message_metadata_passthrough",
        skip_serializing_if = "Option::is_none"
    )]
    pub passthrough: Option<RawJson>,
}

/// `tool_search_call`: a search among deferred tools; ours only when `execution` is `client` and it has a call id.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolSearchCall {
    /// The item's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The call's id; written as `null` when absent.
    #[serde(default)]
    pub call_id: Option<String>,
    /// The API's own status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Who searches: `client` or `server`.
    pub execution: String,
    /// The arguments, any JSON.
    pub arguments: RawJson,
    /// The API's private metadata.
    #[serde(
        default,
        rename = "internal_chat_message_metadata_passthrough",
        skip_serializing_if = "Option::is_none"
    )]
    pub passthrough: Option<RawJson>,
}

/// `local_shell_call`: a call of the API's own shell tool. Nobody runs it (core.md 4.1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LocalShellCall {
    /// The item's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The call's id; written as `null` when absent.
    #[serde(default)]
    pub call_id: Option<String>,
    /// `completed`, `in_progress` or `incomplete`.
    pub status: String,
    /// What was to be done.
    pub action: LocalShellAction,
    /// The API's private metadata.
    #[serde(
        default,
        rename = "internal_chat_message_metadata_passthrough",
        skip_serializing_if = "Option::is_none"
    )]
    pub passthrough: Option<RawJson>,
}

/// What a [`LocalShellCall`] was to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum LocalShellAction {
    /// Run a command.
    Exec(LocalShellExec),
}

/// The command of a [`LocalShellCall`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocalShellExec {
    /// The command's words.
    pub command: Vec<String>,
    /// How long it may take, in milliseconds.
    #[serde(default)]
    pub timeout_ms: Option<u64>,
    /// Where it runs.
    #[serde(default)]
    pub working_directory: Option<String>,
    /// Variables it gets.
    #[serde(default)]
    pub env: Option<BTreeMap<String, String>>,
    /// Whose rights it gets.
    #[serde(default)]
    pub user: Option<String>,
}
