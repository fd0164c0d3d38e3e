//! What the chain holds: a hook of the program, or a configured one.

use std::borrow::Cow;

use async_trait::async_trait;
use tenon_tools::{HookEventName, HookRunStatus};

use super::{
    ConfiguredHook, HookContract, PermissionRequest, PermissionRequestAction, PostToolUse, PostToolUseAction,
    PreToolUse, PreToolUseAction, PromptSubmit, PromptSubmitAction, SessionStart, SessionStartAction, Stop,
    StopAction,
};

/// What a hook is selected by.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Subject<'a> {
    /// A tool: its canonical name, and its aliases.
    Tool(&'a str, &'a [&'a str]),
    /// How a session began.
    Source(&'a str),
    /// Nothing: all hooks of the event hear of it.
    Nothing,
}

/// How one run of a hook ended.
#[derive(Debug, Default)]
pub(crate) struct Ran<A> {
    /// What it answered. Nothing where it failed.
    pub(crate) action: A,
    /// Why there is no valid decision of it, in words that a model may read.
    pub(crate) failure: Option<String>,
    /// How the run stands, where the answer alone does not say it.
    pub(crate) status: Option<HookRunStatus>,
    /// What the operator should know.
    pub(crate) warnings: Vec<String>,
}

impl<A: Default> Ran<A> {
    /// It answered.
    pub(crate) fn of(action: A) -> Self {
        Self { action, ..Self::default() }
    }

    /// It failed.
    pub(crate) fn failed(why: impl Into<String>) -> Self {
        Self { failure: Some(why.into()), ..Self::default() }
    }

    /// The same with something for the operator.
    #[must_use]
    pub(crate) fn warned(mut self, warning: Option<String>) -> Self {
        self.warnings.extend(warning);
        self
    }

    /// The same with another status than the answer has.
    #[must_use]
    pub(crate) fn standing(mut self, status: HookRunStatus) -> Self {
        self.status = Some(status);
        self
    }
}

/// One hook of a chain.
#[async_trait]
pub(crate) trait Handler: Send + Sync {
    /// What the operator knows it by.
    fn name(&self) -> Cow<'_, str>;

    /// How much it is told and trusted.
    fn contract(&self) -> HookContract;

    /// Whether it hears of this.
    fn wants(&self, event: HookEventName, subject: Subject<'_>) -> bool;

    /// Its configuration; none for a hook of the program, whose runs are its own matter and not shown.
    fn configured(&self) -> Option<&ConfiguredHook>;

    async fn pre_tool_use(&self, event: &PreToolUse) -> Ran<PreToolUseAction>;
    async fn permission_request(&self, event: &PermissionRequest) -> Ran<PermissionRequestAction>;
    async fn post_tool_use(&self, event: &PostToolUse) -> Ran<PostToolUseAction>;
    async fn prompt_submit(&self, event: &PromptSubmit) -> Ran<PromptSubmitAction>;
    async fn session_start(&self, event: &SessionStart) -> Ran<SessionStartAction>;
    async fn stop(&self, event: &Stop) -> Ran<StopAction>;
}
