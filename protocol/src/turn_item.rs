//! What a client is shown of a turn (core.md 1.7, cli.md).

use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use crate::call_tool_result::CallToolResult;
use crate::lossy_path::lossy_path;

/// How an item of a turn stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemStatus {
    /// Started, not ended.
    InProgress,
    /// Ended well.
    Completed,
    /// Ended badly.
    Failed,
    /// Refused: by policy, a hook or a person.
    Declined,
}

/// One thing that happens in a turn, as a client sees it. Ids are call ids or item ids.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant)] // few at a time, and moved, not stored
pub enum TurnItem {
    /// What the user said.
    UserMessage {
        /// Item id.
        id: String,
        /// The text.
        text: String,
    },
    /// What the model said.
    AgentMessage {
        /// Item id.
        id: String,
        /// The text.
        text: String,
    },
    /// What the model thought, as far as it is told.
    Reasoning {
        /// Item id.
        id: String,
        /// The summary, else the text.
        text: String,
    },
    /// A search that the API ran.
    WebSearch {
        /// Item id.
        id: String,
        /// What was searched for; empty for other actions.
        query: String,
        /// The action as it came, `null` when there was none.
        action: Value,
    },
    /// An image that the API made.
    ImageGeneration {
        /// Item id.
        id: String,
        /// The API's own status.
        status: String,
        /// The prompt as the API changed it.
        revised_prompt: Option<String>,
        /// The image, base64.
        result: Option<String>,
    },
    /// A command that a tool ran.
    CommandExecution {
        /// Call id.
        id: String,
        /// The command's words.
        command: Vec<String>,
        /// Its output, bounded; both streams as they came.
        aggregated_output: String,
        /// Its exit status once it ended.
        exit_code: Option<i32>,
        /// How it stands.
        status: ItemStatus,
    },
    /// Files that a tool changed.
    FileChange {
        /// Call id.
        id: String,
        /// The files, sorted by path.
        changes: Vec<FileChangeEntry>,
        /// How it stands.
        status: ItemStatus,
    },
    /// A call of a tool on an MCP server.
    McpToolCall {
        /// Call id.
        id: String,
        /// The server's name in the configuration.
        server: String,
        /// The tool's own name there.
        tool: String,
        /// The arguments, `null` when there are none.
        arguments: Value,
        /// What the server answered, capped for clients.
        result: Option<CallToolResult>,
        /// Why there is no answer.
        error: Option<String>,
        /// How it stands.
        status: ItemStatus,
        /// How long it took, from the handler's entry.
        duration: Option<Duration>,
    },
    /// The plan; one item a turn, updated.
    TodoList {
        /// Item id.
        id: String,
        /// The steps in order.
        items: Vec<TodoItem>,
    },
    /// A call of any other tool, or one that ended before its own item could start.
    ToolCall {
        /// Call id.
        id: String,
        /// The tool's name as the model sees it.
        name: String,
        /// The raw arguments, masked when they are private.
        arguments: String,
        /// A preview of what it gave back.
        output: Option<String>,
        /// How it stands.
        status: ItemStatus,
    },
    /// Something the operator should know; it does not end the turn.
    Error {
        /// Item id.
        id: String,
        /// The text.
        message: String,
    },
}

impl TurnItem {
    /// The call's or item's id.
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::UserMessage { id, .. }
            | Self::AgentMessage { id, .. }
            | Self::Reasoning { id, .. }
            | Self::WebSearch { id, .. }
            | Self::ImageGeneration { id, .. }
            | Self::CommandExecution { id, .. }
            | Self::FileChange { id, .. }
            | Self::McpToolCall { id, .. }
            | Self::TodoList { id, .. }
            | Self::ToolCall { id, .. }
            | Self::Error { id, .. } => id,
        }
    }

    /// The same item under another id.
    #[must_use]
    pub fn with_id(mut self, new: String) -> Self {
        match &mut self {
            Self::UserMessage { id, .. }
            | Self::AgentMessage { id, .. }
            | Self::Reasoning { id, .. }
            | Self::WebSearch { id, .. }
            | Self::ImageGeneration { id, .. }
            | Self::CommandExecution { id, .. }
            | Self::FileChange { id, .. }
            | Self::McpToolCall { id, .. }
            | Self::TodoList { id, .. }
            | Self::ToolCall { id, .. }
            | Self::Error { id, .. } => *id = new,
        }
        self
    }

    /// How the item stands; `None` for those that have no status of ours.
    #[must_use]
    pub fn status(&self) -> Option<ItemStatus> {
        match self {
            Self::CommandExecution { status, .. }
            | Self::FileChange { status, .. }
            | Self::McpToolCall { status, .. }
            | Self::ToolCall { status, .. } => Some(*status),
            Self::UserMessage { .. }
            | Self::AgentMessage { .. }
            | Self::Reasoning { .. }
            | Self::WebSearch { .. }
            | Self::ImageGeneration { .. }
            | Self::TodoList { .. }
            | Self::Error { .. } => None,
        }
    }

    /// The same item with another status; unchanged where [`status`](Self::status) is `None`.
    #[must_use]
    pub fn with_status(mut self, new: ItemStatus) -> Self {
        match &mut self {
            Self::CommandExecution { status, .. }
            | Self::FileChange { status, .. }
            | Self::McpToolCall { status, .. }
            | Self::ToolCall { status, .. } => *status = new,
            Self::UserMessage { .. }
            | Self::AgentMessage { .. }
            | Self::Reasoning { .. }
            | Self::WebSearch { .. }
            | Self::ImageGeneration { .. }
            | Self::TodoList { .. }
            | Self::Error { .. } => {}
        }
        self
    }
}

/// One changed file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct FileChangeEntry {
    /// The file's absolute path; bytes that are no UTF-8 are written as U+FFFD.
    #[serde(serialize_with = "lossy_path")]
    pub path: PathBuf,
    /// What happened to it.
    pub kind: FileChangeKind,
}

/// What happened to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileChangeKind {
    /// It is new.
    Add,
    /// It is gone.
    Delete,
    /// Its content or place changed.
    Update,
}

/// One line of the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TodoItem {
    /// The step.
    pub text: String,
    /// Whether it is done.
    pub completed: bool,
}

#[cfg(test)]
#[path = "turn_item_tests.rs"]
mod tests;
