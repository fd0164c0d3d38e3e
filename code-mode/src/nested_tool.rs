//! A tool as scripts see it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tenon_protocol::ToolName;
use tenon_tools::ToolExecutor;

use crate::surface::Catalogue;

/// What a nested tool takes as its one argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NestedKind {
    /// A JSON object.
    Function,
    /// A string.
    Freeform,
}

/// A tool that a script may call (runtime.md C2).
#[derive(Debug, Clone, PartialEq)]
pub struct NestedTool {
    /// The name it is registered under, normalised.
    pub name: ToolName,
    /// The member of `tools` that calls it: a JavaScript identifier (C2.3, C2.4).
    pub js_name: String,
    /// What it takes.
    pub kind: NestedKind,
    /// The tool's own words.
    pub description: String,
    /// The words that `ALL_TOOLS` shows: [`description`](Self::description) with the declaration (C5).
    pub augmented: String,
    /// The schema of its argument; none for a freeform tool.
    pub input_schema: Option<Value>,
    /// The schema of its result, where the tool says.
    pub output_schema: Option<Value>,
    /// What the tool's namespace is for, where it is in one.
    pub namespace_description: Option<String>,
    /// Whether a model has to search for it first.
    pub deferred: bool,
}

/// The tools that a script may call, as of the newest step: offered by the layer that makes the model's list, read by
/// `exec` when a cell begins. A cell keeps the list it began with. Cheap to clone; the clones share one list.
#[derive(Debug, Clone, Default)]
pub struct NestedTools(Arc<Mutex<Offered>>);

#[derive(Debug, Default)]
struct Offered {
    catalogue: Catalogue,
    list: Arc<[NestedTool]>,
}

impl NestedTools {
    /// Offers scripts those of these tools that they may call, in place of the ones before: sorted by flat name, each
    /// JavaScript name once (C2.5, C2.6). Gives the list.
    pub fn offer(&self, tools: &[Arc<dyn ToolExecutor>]) -> Arc<[NestedTool]> {
        let mut offered = self.lock();
        offered.list = offered.catalogue.nested(tools).into();
        Arc::clone(&offered.list)
    }

    /// The list now.
    pub fn snapshot(&self) -> Arc<[NestedTool]> {
        Arc::clone(&self.lock().list)
    }

    /// Puts a list in place that no tools stand behind.
    #[cfg(test)]
    pub(crate) fn replace(&self, list: Arc<[NestedTool]>) {
        self.lock().list = list;
    }

    fn lock(&self) -> MutexGuard<'_, Offered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
