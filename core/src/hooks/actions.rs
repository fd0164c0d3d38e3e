//! What a hook may answer (core.md 8.6): one type for each event, so that an answer which makes no sense does not
//! compile.

use serde_json::Value;
use tenon_tools::{HookEntry, HookEntryKind, HookRunStatus};

/// What a [`PreToolUse`](super::PreToolUse) hook decides.
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
    /// Somebody is asked first, as if the policy had wanted it. Of a hook in a file, an
    /// [extended](super::HookContract) one alone may say so.
    Ask {
        /// Why, for whoever is asked.
        reason: String,
    },
    /// The call goes on with another input.
    Rewrite {
        /// The input in place of `tool_input`.
        input: Value,
    },
}

/// The answer to [`PreToolUse`](super::PreToolUse).
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

    /// Somebody is asked first, for this reason.
    pub fn ask(reason: impl Into<String>) -> Self {
        Self { decision: PreDecision::Ask { reason: reason.into() }, additional_context: None }
    }

    /// The call goes on with this input.
    pub fn rewrite(input: Value) -> Self {
        Self { decision: PreDecision::Rewrite { input }, additional_context: None }
    }
}

/// The answer to [`PermissionRequest`](super::PermissionRequest).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum PermissionRequestAction {
    /// Somebody else decides.
    #[default]
    Undecided,
    /// It may run.
    Allow,
    /// It may not.
    Deny {
        /// Why, for the model.
        message: String,
    },
}

/// The answer to [`PostToolUse`](super::PostToolUse). What was done is done: it changes what is read of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PostToolUseAction {
    /// What the model reads in place of a direct call's output. Scripts and logs see the output all the same.
    pub feedback: Option<String>,
    /// Whether the hook asks to stop: without feedback, the model reads this reason.
    pub stop: Option<String>,
    /// What the model is told beside it.
    pub additional_context: Option<String>,
    /// What takes the place of `tool_response` for everybody: model, script, client, log and file. For an
    /// [extended](super::HookContract) hook only.
    pub updated_output: Option<Value>,
}

/// The answer to [`PromptSubmit`](super::PromptSubmit).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PromptSubmitAction {
    /// Why the prompt is not taken.
    pub block: Option<String>,
    /// What the model is told beside it.
    pub additional_context: Option<String>,
}

/// The answer to [`SessionStart`](super::SessionStart).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionStartAction {
    /// Why the session is not to begin.
    pub stop: Option<String>,
    /// What the model is told first.
    pub additional_context: Option<String>,
}

/// The answer to [`Stop`](super::Stop).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum StopAction {
    /// The turn ends.
    #[default]
    Continue,
    /// The turn goes on with this prompt.
    Block {
        /// What the model is told.
        reason: String,
    },
    /// The turn ends, whatever other hooks say.
    Stop,
}

/// What an answer means for the run that gave it.
pub(super) trait Action: Default + Send {
    /// How the run stands.
    fn status(&self) -> HookRunStatus;
    /// What came of it.
    fn entries(&self) -> Vec<HookEntry>;
}

impl Action for PreToolUseAction {
    fn status(&self) -> HookRunStatus {
        match self.decision {
            PreDecision::Continue | PreDecision::Ask { .. } | PreDecision::Rewrite { .. } => {
                HookRunStatus::Completed
            }
            PreDecision::Block { .. } => HookRunStatus::Blocked,
        }
    }

    fn entries(&self) -> Vec<HookEntry> {
        let objection = match &self.decision {
            PreDecision::Continue | PreDecision::Rewrite { .. } => None,
            PreDecision::Ask { reason } | PreDecision::Block { reason } => Some(reason),
        };
        listed([
            (HookEntryKind::Feedback, objection),
            (HookEntryKind::Context, self.additional_context.as_ref()),
        ])
    }
}

impl Action for PermissionRequestAction {
    fn status(&self) -> HookRunStatus {
        match self {
            Self::Undecided | Self::Allow => HookRunStatus::Completed,
            Self::Deny { .. } => HookRunStatus::Blocked,
        }
    }

    fn entries(&self) -> Vec<HookEntry> {
        match self {
            Self::Undecided | Self::Allow => Vec::new(),
            Self::Deny { message } => listed([(HookEntryKind::Feedback, Some(message))]),
        }
    }
}

impl Action for PostToolUseAction {
    fn status(&self) -> HookRunStatus {
        match (&self.stop, &self.feedback) {
            (Some(_), _) => HookRunStatus::Stopped,
            (None, Some(_)) => HookRunStatus::Blocked,
            (None, None) => HookRunStatus::Completed,
        }
    }

    fn entries(&self) -> Vec<HookEntry> {
        listed([
            (HookEntryKind::Stop, self.stop.as_ref()),
            (HookEntryKind::Feedback, self.feedback.as_ref()),
            (HookEntryKind::Context, self.additional_context.as_ref()),
        ])
    }
}

impl Action for PromptSubmitAction {
    fn status(&self) -> HookRunStatus {
        if self.block.is_some() { HookRunStatus::Blocked } else { HookRunStatus::Completed }
    }

    fn entries(&self) -> Vec<HookEntry> {
        listed([
            (HookEntryKind::Feedback, self.block.as_ref()),
            (HookEntryKind::Context, self.additional_context.as_ref()),
        ])
    }
}

impl Action for SessionStartAction {
    fn status(&self) -> HookRunStatus {
        if self.stop.is_some() { HookRunStatus::Stopped } else { HookRunStatus::Completed }
    }

    fn entries(&self) -> Vec<HookEntry> {
        listed([
            (HookEntryKind::Stop, self.stop.as_ref()),
            (HookEntryKind::Context, self.additional_context.as_ref()),
        ])
    }
}

impl Action for StopAction {
    fn status(&self) -> HookRunStatus {
        match self {
            Self::Continue => HookRunStatus::Completed,
            Self::Block { .. } => HookRunStatus::Blocked,
            Self::Stop => HookRunStatus::Stopped,
        }
    }

    fn entries(&self) -> Vec<HookEntry> {
        match self {
            Self::Continue | Self::Stop => Vec::new(),
            Self::Block { reason } => listed([(HookEntryKind::Feedback, Some(reason))]),
        }
    }
}

fn listed<const N: usize>(entries: [(HookEntryKind, Option<&String>); N]) -> Vec<HookEntry> {
    let there = entries.into_iter().filter_map(|(kind, text)| Some((kind, text?.clone())));
    there.map(|(kind, text)| HookEntry { kind, text }).collect()
}
