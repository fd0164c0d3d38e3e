//! Hooks: whoever may stop or change a call before its first side effect, and look at what came of it.
//!
//! A hook is a [`Hook`] of the program itself, or a command of a file of hooks ([`HookConfig`]). Both stand in one
//! [`HookChain`], hear the same events and have the same powers. Contract: core.md 8.
//!
//! ```text
//! events, actions   what is told, what may be answered: one pair of types for each event
//! chain             several hooks as one: who is asked, and what counts of their answers
//! asking            one round of questions: run, warned of, shown to clients (summary)
//! spill             long words for the model, into a file
//! in_process        a `Hook` in the chain; its panics are failures
//! config, matcher   hooks.json
//! command           one configured hook: a command in a shell
//! input             what it reads;  output  the shapes it may write
//! decision          what its exit and its output mean, one file for each event
//! ```

mod actions;
mod asking;
mod chain;
mod command;
mod config;
mod contract;
mod decision;
mod events;
mod handler;
mod in_process;
mod input;
mod matcher;
mod output;
mod spill;
mod summary;
#[cfg(test)]
mod testing;

pub use actions::{
    PermissionRequestAction, PostToolUseAction, PreDecision, PreToolUseAction, PromptSubmitAction,
    SessionStartAction, StopAction,
};
pub use chain::{HookChain, PostToolUseOutcome, PreToolUseOutcome};
pub use command::HOOK_OUTPUT_MAX_BYTES;
pub use config::{ConfiguredHook, DEFAULT_HOOK_TIMEOUT, HookConfig};
pub use contract::{HookContract, OnError};
pub use events::{
    HookContext, PermissionRequest, PostToolUse, PreToolUse, PromptSubmit, SessionStart, SessionStartSource,
    Stop,
};
pub use spill::HOOK_TEXT_MAX_TOKENS;

pub(crate) use asking::HookServices;
pub(crate) use chain::command_hooks;
pub(crate) use handler::Handler;
pub(crate) use in_process::InProcess;
pub(crate) use spill::Spill;

use async_trait::async_trait;

/// Hears of what happens, and may have a say. Every method has a default that says nothing.
#[async_trait]
pub trait Hook: Send + Sync {
    /// What the operator knows the hook by.
    fn name(&self) -> &str {
        "of the program"
    }

    /// What the hook is told and may do, and what it means when it panics: by default that it objects.
    fn contract(&self) -> HookContract {
        HookContract { extended: false, on_error: OnError::Block }
    }

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

    /// After a call that succeeded. An extended hook hears of failures and of parts as well.
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
