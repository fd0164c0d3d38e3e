//! What a client is told of one run of a hook (core.md 8.11).

use std::path::PathBuf;

use serde::Serialize;

/// What a hook hears of (core.md 8.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HookEventName {
    /// A call is about to be prepared.
    PreToolUse,
    /// A call needs permission.
    PermissionRequest,
    /// A call has ended.
    PostToolUse,
    /// A session begins.
    SessionStart,
    /// A prompt is about to be recorded.
    UserPromptSubmit,
    /// The model has nothing left to do.
    Stop,
}

impl HookEventName {
    /// All of them, in the order in which a file of hooks is read.
    pub const ALL: [Self; 6] = [
        Self::PreToolUse,
        Self::PermissionRequest,
        Self::PostToolUse,
        Self::SessionStart,
        Self::UserPromptSubmit,
        Self::Stop,
    ];

    /// The name in configuration, input and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::PreToolUse => "PreToolUse",
            Self::PermissionRequest => "PermissionRequest",
            Self::PostToolUse => "PostToolUse",
            Self::SessionStart => "SessionStart",
            Self::UserPromptSubmit => "UserPromptSubmit",
            Self::Stop => "Stop",
        }
    }

    /// The name in ids of runs.
    pub fn label(self) -> &'static str {
        match self {
            Self::PreToolUse => "pre-tool-use",
            Self::PermissionRequest => "permission-request",
            Self::PostToolUse => "post-tool-use",
            Self::SessionStart => "session-start",
            Self::UserPromptSubmit => "user-prompt-submit",
            Self::Stop => "stop",
        }
    }

    /// How long what a hook says of the event is about.
    pub fn scope(self) -> HookScope {
        match self {
            Self::SessionStart => HookScope::Thread,
            Self::PreToolUse
            | Self::PermissionRequest
            | Self::PostToolUse
            | Self::UserPromptSubmit
            | Self::Stop => HookScope::Turn,
        }
    }
}

/// See [`HookEventName::scope`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HookScope {
    /// The session.
    Thread,
    /// The turn.
    Turn,
}

/// How a hook is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HookHandlerType {
    /// As a command.
    Command,
}

/// Whether a hook is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HookExecutionMode {
    /// It is.
    Sync,
}

/// Where a hook was configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HookSource {
    /// By the machine's administrator.
    System,
    /// In the user's own home folder.
    User,
    /// In a project's folder.
    Project,
    /// By device management.
    Mdm,
    /// On the command line.
    SessionFlags,
    /// In a managed file of an old kind.
    LegacyManagedConfigFile,
    /// By device management of an old kind.
    LegacyManagedConfigMdm,
    /// It is not known.
    #[default]
    Unknown,
}

/// How a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HookRunStatus {
    /// It has not ended.
    Running,
    /// It ended and had no objection.
    Completed,
    /// It gave no decision that can be followed.
    Failed,
    /// It objected.
    Blocked,
    /// It asked to stop.
    Stopped,
}

/// What an entry of a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HookEntryKind {
    /// For the operator.
    Warning,
    /// Why it asked to stop.
    Stop,
    /// What it objected, for the model.
    Feedback,
    /// What it told the model beside.
    Context,
    /// Why it failed.
    Error,
}

/// One thing that came of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HookEntry {
    /// What it is.
    pub kind: HookEntryKind,
    /// Its text.
    pub text: String,
}

/// One run of a hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HookRunSummary {
    /// `{label}:{display order}:{file}`, and for tools `:{call}`.
    pub id: String,
    /// What it heard of.
    pub event_name: HookEventName,
    /// How it is run.
    pub handler_type: HookHandlerType,
    /// Whether it is waited for.
    pub execution_mode: HookExecutionMode,
    /// How long what it says is about.
    pub scope: HookScope,
    /// The file it is configured in.
    pub source_path: PathBuf,
    /// Whose file that is.
    pub source: HookSource,
    /// Which one it is among all that are configured.
    pub display_order: usize,
    /// How it stands.
    pub status: HookRunStatus,
    /// What the user wants to read meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_message: Option<String>,
    /// When it started, in seconds of Unix time.
    pub started_at: i64,
    /// When it ended, in seconds of Unix time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<i64>,
    /// How long it took, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<i64>,
    /// What came of it.
    pub entries: Vec<HookEntry>,
}
