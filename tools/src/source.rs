//! Where tools come from, and who may rewrite the list the model is shown.

use std::sync::Arc;

use crate::{ToolExecutor, ToolSpec};

/// A source of tools that is asked at each step, so that tools may come late and go.
pub trait ToolSource: Send + Sync {
    /// The tools there are now. It does not wait: what is not there yet joins a later step.
    fn snapshot(&self) -> Vec<Arc<dyn ToolExecutor>>;
}

impl ToolSource for Vec<Arc<dyn ToolExecutor>> {
    fn snapshot(&self) -> Vec<Arc<dyn ToolExecutor>> {
        self.clone()
    }
}

/// Rewrites the list of specs that the model is shown, after all tools are known. Code mode is one.
pub trait SpecLayer: Send + Sync {
    /// The list in place of `specs`.
    fn apply(&self, specs: Vec<ToolSpec>) -> Vec<ToolSpec>;
}
