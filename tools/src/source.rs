//! Where tools come from, and who may rewrite the list the model is shown.

use std::sync::Arc;

use async_trait::async_trait;
use tenon_protocol::ToolName;

use crate::{ToolExecutor, ToolSpec};

/// What somebody who cannot go on without it wants of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted<'a> {
    /// All there is: a search concerns every tool that may still come.
    Anything,
    /// The tool of this name, normalised: a call concerns only what could bring it.
    Tool(&'a ToolName),
}

/// A source of tools that is asked at each step, so that tools may come late and go.
///
/// A request to the model never waits for a source. A search, and a call of a tool that is not there, do where the
/// source [`is_starting`](Self::is_starting): they wait for [`started`](Self::started), then look again.
#[async_trait]
pub trait ToolSource: Send + Sync {
    /// The tools there are now. It does not wait: what is not there yet joins a later step.
    fn snapshot(&self) -> Vec<Arc<dyn ToolExecutor>>;

    /// Whether a part of the source that could bring what is wanted is still starting. The search is offered to the
    /// model while anything is, even where no deferred tool has come yet. By default nothing ever is.
    fn is_starting(&self, _wanted: Wanted<'_>) -> bool {
        false
    }

    /// Returns when [`is_starting`](Self::is_starting) is false for what is wanted: each part concerned has brought its
    /// tools, has failed, or has used up its own start-up limit, after which it counts as failed. The limit is kept
    /// here and nowhere else; a caller that is cancelled drops the future, which must not harm the start.
    async fn started(&self, _wanted: Wanted<'_>) {}
}

#[async_trait]
impl ToolSource for Vec<Arc<dyn ToolExecutor>> {
    fn snapshot(&self) -> Vec<Arc<dyn ToolExecutor>> {
        self.clone()
    }
}

/// Rewrites the list of specs that the model is shown, after all tools are known. Code mode is one.
pub trait SpecLayer: Send + Sync {
    /// The list in place of `specs`. `tools` are all tools of the step in the order of registration, those too that the
    /// model is not shown.
    fn apply(&self, specs: Vec<ToolSpec>, tools: &[Arc<dyn ToolExecutor>]) -> Vec<ToolSpec>;
}
