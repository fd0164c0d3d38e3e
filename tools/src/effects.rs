//! What a prepared call would do: the facts that policy, approval and journal are given.

use std::path::{Path, PathBuf};

use serde::Serialize;

/// SHA-256 of a file's bytes as [`prepare`](crate::ToolExecutor::prepare) read them. An approval is bound to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ContentHash(pub [u8; 32]);

impl Serialize for ContentHash {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let hex: String = self.0.iter().map(|byte| format!("{byte:02x}")).collect();
        serializer.serialize_str(&hex)
    }
}

/// A record must not be lost for a name that is no text.
fn lossy<S: serde::Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

/// One file that a call would touch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileEffect {
    /// The absolute path, with links resolved as far as the file exists; in records bytes that are no UTF-8 are U+FFFD.
    #[serde(serialize_with = "lossy")]
    pub path: PathBuf,
    /// The hash of what lies there now; absent where nothing does, or where it was not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<ContentHash>,
}

/// What the model asked of the sandbox for a command (runtime.md B2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxPermissions {
    /// The step's own mode.
    #[default]
    UseDefault,
    /// The step's mode and some more.
    WithAdditionalPermissions,
    /// No sandbox at all.
    RequireEscalated,
}

/// A command that a call would run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct CommandEffect {
    /// The argument vector as it will be executed.
    pub argv: Vec<String>,
    /// Where it will be executed; in records bytes that are no UTF-8 are U+FFFD.
    #[serde(serialize_with = "lossy")]
    pub cwd: PathBuf,
    /// Whether it gets a terminal.
    pub tty: bool,
    /// What the model asked of the sandbox.
    pub sandbox_permissions: SandboxPermissions,
    /// Why, in the model's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub justification: Option<String>,
    /// The prefix the model proposes as a lasting rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix_rule: Option<Vec<String>>,
}

/// What a call would give a running session to read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InputEffect {
    /// The session.
    pub session_id: i32,
    /// How much, in bytes.
    pub bytes: usize,
}

/// What an MCP server says of one of its tools. Absent is not false (core.md 9.5).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct McpEffect {
    /// The server's configured name.
    pub server: String,
    /// The tool's name as the server knows it.
    pub tool: String,
    /// `readOnlyHint`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// `destructiveHint`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
    /// `openWorldHint`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world: Option<bool>,
}

/// Everything a prepared call would do to the world outside. Empty for a call that does nothing to it: then there
/// is nothing to allow and nothing to journal.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Effects {
    /// Files whose content the decision rests on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<FileEffect>,
    /// Files that would be created, changed or removed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<FileEffect>,
    /// The command that would run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<CommandEffect>,
    /// What a running session would be given. It is confined as its command was, and was decided on with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<InputEffect>,
    /// The MCP tool that would be called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcp: Option<McpEffect>,
    /// An effect of another kind, named in the tool's own words (what a host's own tool does, for example).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other: Option<String>,
}

impl Effects {
    /// No effect at all.
    pub fn none() -> Self {
        Self::default()
    }

    /// Whether the call only reads, or does not touch the world at all.
    pub fn is_none(&self) -> bool {
        let Self { reads: _, writes, command, input, mcp, other } = self;
        let nothing_else = command.is_none() && input.is_none() && mcp.is_none() && other.is_none();
        writes.is_empty() && nothing_else
    }
}
