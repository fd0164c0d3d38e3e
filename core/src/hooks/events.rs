//! What a hook is told (core.md 8.5).

use std::borrow::Cow;
use std::path::PathBuf;

use serde_json::Value;
use tenon_protocol::CallId;
use tenon_tools::{ApprovalPolicy, StepContext, ToolCallSource};

/// What every event tells.
#[derive(Debug, Clone)]
pub struct HookContext {
    /// The session, a UUID v7.
    pub session_id: String,
    /// The turn, a UUID v7.
    pub turn_id: String,
    /// The rollout file, where there is one. It exists before the first hook runs.
    pub transcript_path: Option<PathBuf>,
    /// The turn's working folder.
    pub cwd: PathBuf,
    /// The model's name.
    pub model: String,
    /// `bypassPermissions` when nobody is ever asked, else `default`.
    pub permission_mode: &'static str,
}

impl From<&StepContext> for HookContext {
    fn from(step: &StepContext) -> Self {
        let permission_mode = match step.approval {
            ApprovalPolicy::Never => "bypassPermissions",
            ApprovalPolicy::UnlessTrusted | ApprovalPolicy::OnRequest | ApprovalPolicy::Granular(_) => {
                "default"
            }
        };
        Self {
            session_id: step.session_id.clone(),
            turn_id: step.turn_id.clone(),
            transcript_path: step.rollout_path.clone(),
            cwd: step.cwd.clone(),
            model: step.model.clone(),
            permission_mode,
        }
    }
}

/// A call is about to be prepared.
#[derive(Debug, Clone)]
pub struct PreToolUse {
    /// Where.
    pub context: HookContext,
    /// The tool's canonical name for hooks.
    pub tool_name: Cow<'static, str>,
    /// What it is to do.
    pub tool_input: Value,
    /// The call.
    pub tool_use_id: CallId,
    /// Whether the model or a script made it.
    pub source: ToolCallSource,
    /// Every file that the call as it stands would read or write, absolute, links resolved. Looked up only when an
    /// [extended](super::HookContract) hook asks; none as well where the call does not even parse.
    pub paths: Option<Vec<PathBuf>>,
}

/// A call needs permission.
#[derive(Debug, Clone)]
pub struct PermissionRequest {
    /// Where.
    pub context: HookContext,
    /// The tool's canonical name for hooks.
    pub tool_name: Cow<'static, str>,
    /// What it is to do; for a command with the model's reason as `description`.
    pub tool_input: Value,
    /// Every file that it would read or write, absolute, links resolved.
    pub paths: Vec<PathBuf>,
}

/// A call has ended.
#[derive(Debug, Clone)]
pub struct PostToolUse {
    /// Where.
    pub context: HookContext,
    /// The tool's canonical name for hooks.
    pub tool_name: Cow<'static, str>,
    /// What it did, after any rewrite.
    pub tool_input: Value,
    /// What it was asked to do, where a hook has rewritten that.
    pub original_input: Option<Value>,
    /// What came of it; the error's text of a failure. An extended hook is given the whole of it here.
    pub tool_response: Value,
    /// The whole of it, where `tool_response` is a bounded view.
    pub whole_response: Option<Value>,
    /// The call, or the call it is a part of.
    pub tool_use_id: CallId,
    /// Whether the model or a script made it.
    pub source: ToolCallSource,
    /// Whether it did what it was asked to: false for a tool that failed and for a command with an exit code but 0.
    pub success: bool,
    /// The exit code of a command that has ended.
    pub exit_code: Option<i32>,
    /// False for a part of an output: the command goes on, and its end will be told.
    pub finished: bool,
    /// Whether hooks of the plain contract hear of it: of a success that is whole, that is. Extended hooks hear of
    /// everything that is about to be shown.
    pub is_plain: bool,
}

/// A user's prompt is about to be recorded.
#[derive(Debug, Clone)]
pub struct PromptSubmit {
    /// Where.
    pub context: HookContext,
    /// The prompt.
    pub prompt: String,
}

/// How a session began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionStartSource {
    /// Anew.
    Startup,
    /// From a rollout.
    Resume,
    /// After its history was cleared.
    Clear,
}

impl SessionStartSource {
    /// The word that matchers test and hooks are told.
    pub fn name(self) -> &'static str {
        match self {
            Self::Startup => "startup",
            Self::Resume => "resume",
            Self::Clear => "clear",
        }
    }
}

/// A session begins.
#[derive(Debug, Clone)]
pub struct SessionStart {
    /// Where; there is no turn yet.
    pub context: HookContext,
    /// How.
    pub source: SessionStartSource,
}

/// The model has nothing left to do.
#[derive(Debug, Clone)]
pub struct Stop {
    /// Where.
    pub context: HookContext,
    /// Whether a stop hook has already made the turn go on.
    pub stop_hook_active: bool,
    /// The model's last message.
    pub last_assistant_message: Option<String>,
}
