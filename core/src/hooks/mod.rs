//! In-process hooks: whoever may stop or change a call before its first side effect, and look at its result after it.
//!
//! One trait, one action type for each event, so that an answer which makes no sense does not compile. Several hooks
//! run at the same time; their answers are taken together by the rules of core.md 8.9.

mod chain;
mod events;

pub use chain::{HookChain, PostToolUseOutcome, PreToolUseOutcome};
pub use events::{
    HookContext, PermissionRequest, PermissionRequestAction, PostToolUse, PostToolUseAction, PreDecision,
    PreToolUse, PreToolUseAction, PromptSubmit, PromptSubmitAction, SessionStart, SessionStartAction,
    SessionStartSource, Stop, StopAction,
};

use async_trait::async_trait;

/// Hears of what happens, and may have a say. Every method has a default that says nothing.
#[async_trait]
pub trait Hook: Send + Sync {
    /// Whether the hook wants to hear of this tool at all: by its canonical name or one of its aliases.
    fn matches(&self, _tool_name: &str, _aliases: &[&str]) -> bool {
        true
    }

    /// Before a call is prepared.
    async fn pre_tool_use(&self, _event: &PreToolUse) -> PreToolUseAction {
        PreToolUseAction::default()
    }

    /// When a call needs somebody's permission, before a person is asked.
    async fn permission_request(&self, _event: &PermissionRequest) -> PermissionRequestAction {
        PermissionRequestAction::Undecided
    }

    /// After a call that succeeded.
    async fn post_tool_use(&self, _event: &PostToolUse) -> PostToolUseAction {
        PostToolUseAction::default()
    }

    /// Before a user's prompt is recorded.
    async fn prompt_submit(&self, _event: &PromptSubmit) -> PromptSubmitAction {
        PromptSubmitAction::default()
    }

    /// When a session begins, before its first turn.
    async fn session_start(&self, _event: &SessionStart) -> SessionStartAction {
        SessionStartAction::default()
    }

    /// When the model has nothing left to do.
    async fn stop(&self, _event: &Stop) -> StopAction {
        StopAction::Continue
    }
}
