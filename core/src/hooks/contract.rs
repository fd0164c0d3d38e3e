//! How much a hook is told and trusted (core.md 8.8, ours).

use serde::Deserialize;

/// What a hook that fails stands for: one that times out, crashes, or gives no valid decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnError {
    /// No objection. The default of a file of hooks, as recorded.
    #[default]
    Allow,
    /// An objection.
    Block,
}

/// How much a hook is told and trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HookContract {
    /// The hook is told more (the paths of a call before it, failures, exit codes and parts of an output after it),
    /// and may put another output in the place of the tool's, before anybody sees that one. What it answers must be
    /// one valid decision: anything else is an objection.
    pub extended: bool,
    /// What its failure stands for. [`OnError::Allow`] has no effect on an extended hook.
    pub on_error: OnError,
}

impl HookContract {
    /// Whether a failure is an objection.
    pub fn is_closed(self) -> bool {
        self.extended || self.on_error == OnError::Block
    }
}
