//! Several hooks as one (core.md 8.9).

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use serde_json::Value;

use super::{
    Hook, PermissionRequest, PermissionRequestAction, PostToolUse, PreDecision, PreToolUse, PromptSubmit,
    PromptSubmitAction, SessionStart, SessionStartAction, Stop, StopAction,
};

/// What the model reads when a hook asks to stop and gives no words of its own (core.md 5.5).
const POST_STOPPED: &str = "PostToolUse hook stopped execution";

/// All hooks of a session, in configured order.
#[derive(Clone, Default)]
pub struct HookChain(Arc<[Arc<dyn Hook>]>);

impl fmt::Debug for HookChain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HookChain({})", self.0.len())
    }
}

/// What came of [`PreToolUse`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PreToolUseOutcome {
    /// The reason of the first hook that blocked.
    pub blocked: Option<String>,
    /// The input of the hook that finished last among those that rewrote; none when any blocked.
    pub rewrite: Option<Value>,
    /// What the model is told, in configured order.
    pub contexts: Vec<String>,
}

/// What came of [`PostToolUse`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PostToolUseOutcome {
    /// What the model reads in place of a direct call's output.
    pub feedback: Option<String>,
    /// What the model is told, in configured order.
    pub contexts: Vec<String>,
}

impl HookChain {
    /// These hooks, in this order.
    pub fn new(hooks: Vec<Arc<dyn Hook>>) -> Self {
        Self(hooks.into())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Runs one event on the hooks that `wanted` picks, all at the same time. The answers come in configured order,
    /// each with the place it finished in.
    async fn ask<'a, T, F>(
        &'a self,
        wanted: impl Fn(&dyn Hook) -> bool,
        ask: impl Fn(&'a dyn Hook) -> F,
    ) -> Vec<(usize, T)>
    where
        F: Future<Output = T> + 'a,
    {
        let asked = self.0.iter().filter(|hook| wanted(hook.as_ref())).enumerate();
        let mut running: FuturesUnordered<_> = asked
            .map(|(place, hook)| {
                let answer = ask(hook.as_ref());
                async move { (place, answer.await) }
            })
            .collect();
        let mut answers = Vec::with_capacity(running.len());
        while let Some((place, answer)) = running.next().await {
            answers.push((place, answers.len(), answer));
        }
        answers.sort_by_key(|(place, ..)| *place);
        answers.into_iter().map(|(_, finished, answer)| (finished, answer)).collect()
    }

    /// Asks about a call before it is prepared. `aliases` select hooks beside the canonical name.
    pub async fn pre_tool_use(&self, event: &PreToolUse, aliases: &[&str]) -> PreToolUseOutcome {
        let answers =
            self.ask(|hook| hook.matches(&event.tool_name, aliases), |hook| hook.pre_tool_use(event)).await;
        let mut outcome = PreToolUseOutcome::default();
        let mut last_rewrite = None;
        for (finished, action) in answers {
            outcome.contexts.extend(action.additional_context);
            match action.decision {
                PreDecision::Continue => {}
                PreDecision::Block { reason } => outcome.blocked = outcome.blocked.or(Some(reason)),
                PreDecision::Rewrite { input } => {
                    if last_rewrite.is_none_or(|last| finished > last) {
                        last_rewrite = Some(finished);
                        outcome.rewrite = Some(input);
                    }
                }
            }
        }
        if outcome.blocked.is_some() {
            outcome.rewrite = None;
        }
        outcome
    }

    /// Tells of a call that succeeded.
    pub async fn post_tool_use(&self, event: &PostToolUse, aliases: &[&str]) -> PostToolUseOutcome {
        let answers =
            self.ask(|hook| hook.matches(&event.tool_name, aliases), |hook| hook.post_tool_use(event)).await;
        let (mut feedback, mut stop, mut contexts) = (Vec::new(), None, Vec::new());
        for (_, action) in answers {
            feedback.extend(action.feedback);
            stop = stop.or(action.stop);
            contexts.extend(action.additional_context);
        }
        let feedback = if feedback.is_empty() {
            stop.map(|reason| if reason.trim().is_empty() { POST_STOPPED.to_owned() } else { reason })
        } else {
            Some(feedback.join("\n\n"))
        };
        PostToolUseOutcome { feedback, contexts }
    }

    /// Asks for permission: the first refusal wins, otherwise anybody's leave.
    pub async fn permission_request(
        &self,
        event: &PermissionRequest,
        aliases: &[&str],
    ) -> PermissionRequestAction {
        let answers = self
            .ask(|hook| hook.matches(&event.tool_name, aliases), |hook| hook.permission_request(event))
            .await;
        let mut decision = PermissionRequestAction::Undecided;
        for (_, action) in answers {
            match action {
                PermissionRequestAction::Undecided => {}
                PermissionRequestAction::Allow => decision = PermissionRequestAction::Allow,
                PermissionRequestAction::Deny { .. } => return action,
            }
        }
        decision
    }

    /// Asks about a prompt. The first reason to block stands; the contexts are handed on all the same.
    pub async fn prompt_submit(&self, event: &PromptSubmit) -> (Option<String>, Vec<String>) {
        let answers = self.ask(|_| true, |hook| hook.prompt_submit(event)).await;
        let (mut block, mut contexts) = (None, Vec::new());
        for (_, PromptSubmitAction { block: reason, additional_context }) in answers {
            block = block.or(reason);
            contexts.extend(additional_context);
        }
        (block, contexts)
    }

    /// Tells of a session's beginning.
    pub async fn session_start(&self, event: &SessionStart) -> (Option<String>, Vec<String>) {
        let answers = self.ask(|_| true, |hook| hook.session_start(event)).await;
        let (mut stop, mut contexts) = (None, Vec::new());
        for (_, SessionStartAction { stop: reason, additional_context }) in answers {
            stop = stop.or(reason);
            contexts.extend(additional_context);
        }
        (stop, contexts)
    }

    /// Asks whether the turn may end. The prompts of those that say no, none when one says stop.
    pub async fn stop(&self, event: &Stop) -> Vec<String> {
        let answers = self.ask(|_| true, |hook| hook.stop(event)).await;
        let mut prompts = Vec::new();
        for (_, action) in answers {
            match action {
                StopAction::Continue => {}
                StopAction::Block { reason } => prompts.push(reason),
                StopAction::Stop => return Vec::new(),
            }
        }
        prompts
    }
}
