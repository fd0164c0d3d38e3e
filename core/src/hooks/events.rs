//! What a hook is told, and what it may answer (core.md 8.5, 8.6).

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
}

/// What a [`PreToolUse`] hook decides.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum PreDecision {
    /// Nothing: the call goes on.
    #[default]
    Continue,
    /// The call does not happen.
    Block {
        /// Why, for the model.
        reason: String,
    },
    /// The call goes on with another input.
    Rewrite {
        /// The input in place of `tool_input`.
        input: Value,
    },
}

/// The answer to [`PreToolUse`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PreToolUseAction {
    /// What becomes of the call.
    pub decision: PreDecision,
    /// What the model is told beside it, whatever becomes of the call.
    pub additional_context: Option<String>,
}

impl PreToolUseAction {
    /// The call does not happen, for this reason.
    pub fn block(reason: impl Into<String>) -> Self {
        Self { decision: PreDecision::Block { reason: reason.into() }, additional_context: None }
    }

    /// The call goes on with this input.
    pub fn rewrite(input: Value) -> Self {
        Self { decision: PreDecision::Rewrite { input }, additional_context: None }
    }
}

/// A call needs permission.
#[derive(Debug, Clone)]
pub struct PermissionRequest {
    /// Where.
    pub context: HookContext,
    /// The tool's canonical name for hooks.
    pub tool_name: Cow<'static, str>,
    /// What it is to do.
    pub tool_input: Value,
}

/// The answer to [`PermissionRequest`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PermissionRequestAction {
    /// Somebody else decides.
    Undecided,
    /// It may run.
    Allow,
    /// It may not.
    Deny {
        /// Why, for the model.
        message: String,
    },
}

/// A call succeeded.
#[derive(Debug, Clone)]
pub struct PostToolUse {
    /// Where.
    pub context: HookContext,
    /// The tool's canonical name for hooks.
    pub tool_name: Cow<'static, str>,
    /// What it did, after any rewrite.
    pub tool_input: Value,
    /// What came of it.
    pub tool_response: Value,
    /// The call, or the call it is a part of.
    pub tool_use_id: CallId,
    /// Whether the model or a script made it.
    pub source: ToolCallSource,
}

/// The answer to [`PostToolUse`]. It changes the model's view of a direct call and nothing else: what was done is done.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PostToolUseAction {
    /// What the model reads in place of the output.
    pub feedback: Option<String>,
    /// Whether the hook asks to stop: without feedback, the model reads this reason.
    pub stop: Option<String>,
    /// What the model is told beside it.
    pub additional_context: Option<String>,
}

/// A user's prompt is about to be recorded.
#[derive(Debug, Clone)]
pub struct PromptSubmit {
    /// Where.
    pub context: HookContext,
    /// The prompt.
    pub prompt: String,
}

/// The answer to [`PromptSubmit`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PromptSubmitAction {
    /// Why the prompt is not taken.
    pub block: Option<String>,
    /// What the model is told beside it.
    pub additional_context: Option<String>,
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

/// A session begins.
#[derive(Debug, Clone)]
pub struct SessionStart {
    /// Where; there is no turn yet.
    pub context: HookContext,
    /// How.
    pub source: SessionStartSource,
}

/// The answer to [`SessionStart`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionStartAction {
    /// Why the session is not to begin.
    pub stop: Option<String>,
    /// What the model is told first.
    pub additional_context: Option<String>,
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

/// The answer to [`Stop`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopAction {
    /// The turn ends.
    Continue,
    /// The turn goes on with this prompt.
    Block {
        /// What the model is told.
        reason: String,
    },
    /// The turn ends, whatever other hooks say.
    Stop,
}
