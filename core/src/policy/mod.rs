//! Who may do what, decided on the facts that a prepared call stands for.
//!
//! # Layout
//! [`Policy`]: what a session asks about every call that would do something. [`AllowAll`]: lets everything run.
//! [`StandardPolicy`]: approval policy and sandbox mode, rules on commands, MCP annotations, and what was approved for
//! the session (runtime.md D9, D10, A9; core.md 9.5). [`ExecRules`]: the rule files. [`Limits`]: how often something
//! may be called at all.

mod commands;
mod exec_rules;
mod limits;
mod standard;

use async_trait::async_trait;
use tenon_tools::{ApprovalScope, Effects, SandboxPermissions, ToolInvocation};

pub(crate) use commands::named_scripts;
pub use exec_rules::{
    AmendError, DEFAULT_RULES, Decision, ExecRules, HostExecutable, Matched, NetworkRule, PatternWord,
    Position, PrefixRule, RULES_FOLDER, RuleError,
};
pub(crate) use limits::WatchedCall;
pub use limits::{LimitOptions, Limits, LoopGuard, Rate, ToolLimit};
pub use standard::{McpApprovalMode, McpApprovalModes, McpApprovalStore, StandardPolicy};

/// What a policy says of a prepared call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PolicyDecision {
    /// It may run, held to the step's sandbox mode.
    Allow,
    /// It may run, without a sandbox.
    AllowUnsandboxed,
    /// Somebody is asked first.
    Ask(Question),
    /// It may not.
    Deny {
        /// The text the model is shown.
        text: String,
    },
}

impl PolicyDecision {
    /// Somebody is asked, about this call alone, for this reason.
    pub fn ask(reason: impl Into<String>) -> Self {
        Self::Ask(Question { reason: Some(reason.into()), ..Question::default() })
    }
}

/// What somebody is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Why, for whoever is asked.
    pub reason: Option<String>,
    /// How far a yes may reach; the call alone is always among it.
    pub scopes: Vec<ApprovalScope>,
    /// Whether a yes lets the call run without a sandbox.
    pub unsandboxed: bool,
}

impl Default for Question {
    fn default() -> Self {
        Self { reason: None, scopes: vec![ApprovalScope::Once], unsandboxed: false }
    }
}

/// Decides on prepared calls. It is asked after hooks and before the first side effect, and only for calls that have
/// one.
#[async_trait]
pub trait Policy: Send + Sync {
    /// The decision on one call.
    async fn decide(&self, call: &ToolInvocation, effects: &Effects) -> PolicyDecision;

    /// What somebody is asked where the sandbox has stopped a command of this call: whether it is run again without.
    /// None: nobody is asked, and it is not. Asked before the command is started.
    async fn retry(&self, _call: &ToolInvocation, _effects: &Effects) -> Option<Question> {
        None
    }

    /// Somebody has said yes to more than this call: what is like it is to be allowed from now on, as far as `scope`
    /// reaches.
    ///
    /// # Errors
    /// When it could not be remembered so far. The call itself runs all the same.
    async fn remember(
        &self,
        _call: &ToolInvocation,
        _effects: &Effects,
        _scope: &ApprovalScope,
    ) -> Result<(), NotRemembered> {
        Ok(())
    }
}

/// A yes reaches less far than it was given, for the operator: how far, and why no further.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotRemembered {
    /// To this call.
    #[error("the approval counts for this call alone: {0}")]
    CallAlone(String),
    /// To the end of this session.
    #[error("the approval counts for this session alone: {0}")]
    SessionAlone(String),
}

/// Lets every call run, and commands without a sandbox where that is asked for.
#[derive(Debug, Clone, Copy, Default)]
pub struct AllowAll;

#[async_trait]
impl Policy for AllowAll {
    async fn decide(&self, _: &ToolInvocation, effects: &Effects) -> PolicyDecision {
        match effects.command.as_ref().map(|command| command.sandbox_permissions) {
            Some(SandboxPermissions::RequireEscalated) => PolicyDecision::AllowUnsandboxed,
            Some(SandboxPermissions::UseDefault | SandboxPermissions::WithAdditionalPermissions) | None => {
                PolicyDecision::Allow
            }
        }
    }
}
