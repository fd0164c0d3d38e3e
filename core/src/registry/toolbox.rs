//! What each step's registry is made from.

use std::sync::Arc;

use tenon_tools::{ToolSource, Wanted};

use super::{DuplicateTool, ToolRegistry};

/// The tools a session was built with, and the sources it asks for more.
pub(crate) struct Toolbox {
    own: ToolRegistry,
    sources: Arc<[Arc<dyn ToolSource>]>,
}

impl std::fmt::Debug for Toolbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Toolbox").field("own", &self.own).finish_non_exhaustive()
    }
}

impl Toolbox {
    pub(crate) fn new(own: ToolRegistry, sources: Vec<Arc<dyn ToolSource>>) -> Self {
        Self { own, sources: sources.into() }
    }

    /// The tools of now, and those whose name was taken.
    pub(crate) fn registry(&self) -> (ToolRegistry, Vec<DuplicateTool>) {
        let mut registry = self.own.clone();
        let left_out = registry.extend_from(&self.sources);
        (registry, left_out)
    }

    /// Waits until no source that could bring what is wanted is starting any more.
    pub(crate) async fn started(&self, wanted: Wanted<'_>) {
        for source in self.sources.iter() {
            source.started(wanted).await;
        }
    }
}
