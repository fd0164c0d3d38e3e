//! The first line of a rollout file.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::lossy_path::lossy_path;

/// Whose file this is (runtime.md D11.2). Members that we don't use are kept in `extra`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionMeta {
    /// The session's id, a UUID; absent in old files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The thread's id, a UUID.
    pub id: String,
    /// The thread that this one was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from_id: Option<String>,
    /// The thread that started this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_thread_id: Option<String>,
    /// When the thread began: UTC, milliseconds, `Z`.
    pub timestamp: String,
    /// The folder it began in; bytes that are no UTF-8 are written as U+FFFD.
    #[serde(serialize_with = "lossy_path")]
    pub cwd: PathBuf,
    /// The client's name.
    #[serde(default)]
    pub originator: String,
    /// The program's version.
    #[serde(default)]
    pub cli_version: String,
    /// How the thread was started, e.g. `exec`; a string or an object.
    #[serde(default)]
    pub source: Value,
    /// The provider's name in the configuration.
    #[serde(default)]
    pub model_provider: Option<String>,
    /// The instructions before the conversation.
    #[serde(default)]
    pub base_instructions: Option<Value>,
    /// `legacy` or `paginated`; absent means legacy. A reader refuses any other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history_mode: Option<String>,
    /// Where the folder's repository stood.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitInfo>,
    /// All other members as they came.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Where a repository stood.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitInfo {
    /// The commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit_hash: Option<String>,
    /// The branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The remote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository_url: Option<String>,
}
