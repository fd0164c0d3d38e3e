//! Calls that the model makes.

use std::collections::BTreeMap;

use serde::de::Error as _;
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
#[serde(tag = "type", rename_all = "snake_case", try_from = "ReadAction")]
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

/// An action as it is read: in one pass, so that members nobody reads do no harm.
#[derive(Deserialize)]
struct ReadAction {
    #[serde(rename = "type")]
    tag: String,
    #[serde(default)]
    command: Option<Vec<String>>,
    #[serde(default)]
    timeout_ms: Option<u64>,
    #[serde(default)]
    working_directory: Option<String>,
    #[serde(default)]
    env: Option<BTreeMap<String, String>>,
    #[serde(default)]
    user: Option<String>,
}

impl TryFrom<ReadAction> for LocalShellAction {
    type Error = serde::de::value::Error;

    fn try_from(read: ReadAction) -> Result<Self, Self::Error> {
        let ReadAction { tag, command, timeout_ms, working_directory, env, user } = read;
        if tag != "exec" {
            return Err(Self::Error::unknown_variant(&tag, &["exec"]));
        }
        let command = command.ok_or_else(|| Self::Error::missing_field("command"))?;
        Ok(Self::Exec(LocalShellExec { command, timeout_ms, working_directory, env, user }))
    }
}
