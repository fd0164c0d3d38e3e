//! Who may do what, decided on the facts that a prepared call stands for.

use async_trait::async_trait;
use tenon_tools::{Effects, ToolInvocation};

/// What a policy says of a prepared call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PolicyDecision {
    /// It may run.
    Allow,
    /// Somebody is asked first.
    Ask {
        /// Why, for whoever is asked.
        reason: Option<String>,
    },
    /// It may not.
    Deny {
        /// The text the model is shown.
        text: String,
    },
}

/// Decides on prepared calls. It is asked after hooks and before the first side effect, and only for calls that have
/// one.
#[async_trait]
pub trait Policy: Send + Sync {
    /// The decision on one call.
    async fn decide(&self, call: &ToolInvocation, effects: &Effects) -> PolicyDecision;
}

/// Lets every call run.
#[derive(Debug, Clone, Copy, Default)]
pub struct AllowAll;

#[async_trait]
impl Policy for AllowAll {
    async fn decide(&self, _: &ToolInvocation, _: &Effects) -> PolicyDecision {
        PolicyDecision::Allow
    }
}
