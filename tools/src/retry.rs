//! Running a command again that the sandbox has stopped (runtime.md D9.b, rows 5 to 8).

use async_trait::async_trait;

use crate::{Effects, ToolInvocation};

/// How a run ended that the sandbox has stopped, as it seems. What it did until then stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstRun {
    /// What it ended with.
    pub exit_code: i32,
    /// What the sandbox refused, in a line for people and models.
    pub denial: String,
}

/// Whether a call is run again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Retry {
    /// It is, without the sandbox.
    Unsandboxed,
    /// It is not: the first run is the call's result. With what was said, where somebody was asked.
    No(Option<String>),
}

/// Asks whether a call may be run a second time, without the sandbox that has stopped the first run. Nobody else starts
/// a call again, and a yes that was given to the first run is none to a second one.
#[async_trait]
pub trait Retries: Send + Sync {
    /// Asks. Dropping the future withdraws the question.
    async fn ask(&self, call: &ToolInvocation, effects: &Effects, first: FirstRun) -> Retry;
}

/// Nothing is run again, and nobody asked.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoRetries;

#[async_trait]
impl Retries for NoRetries {
    async fn ask(&self, _: &ToolInvocation, _: &Effects, _: FirstRun) -> Retry {
        Retry::No(None)
    }
}
