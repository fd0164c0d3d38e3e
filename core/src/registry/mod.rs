//! The tools of one step: found by name, listed for the model.

mod toolbox;

use std::collections::HashMap;
use std::sync::Arc;

use tenon_protocol::ToolName;
use tenon_tools::{SpecLayer, ToolExecutor, ToolExposure, ToolSource, ToolSpec, Wanted, merge_namespaces};

pub(crate) use toolbox::Toolbox;

use crate::handlers::ToolSearch;
use crate::search::LoadedTools;

/// Two tools claim one name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("two tools are registered as `{name}`")]
pub struct DuplicateTool {
    /// The name, as the model would see it.
    pub name: String,
}

/// The tools of one step, by normalised name. A call sees the registry that the model's tool list was made from.
#[derive(Clone, Default)]
pub struct ToolRegistry {
    by_name: HashMap<ToolName, Arc<dyn ToolExecutor>>,
    in_order: Vec<Arc<dyn ToolExecutor>>,
    /// Where more may come from while a call waits.
    sources: Arc<[Arc<dyn ToolSource>]>,
    /// Whether more was on its way when the sources were asked.
    incomplete: bool,
}

impl std::fmt::Debug for ToolRegistry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.in_order.iter().map(|tool| tool.name().to_string());
        f.debug_list().entries(names).finish()
    }
}

impl ToolRegistry {
    /// A registry of these tools, in this order.
    ///
    /// # Errors
    /// When two of them claim one name.
    pub fn new(tools: impl IntoIterator<Item = Arc<dyn ToolExecutor>>) -> Result<Self, DuplicateTool> {
        let mut registry = Self::default();
        for tool in tools {
            registry.add(tool)?;
        }
        Ok(registry)
    }

    /// Adds what the sources have now. A tool whose name is taken already is left out and named: sources are not
    /// trusted with names (core.md 4.4).
    pub fn extend_from(&mut self, sources: &Arc<[Arc<dyn ToolSource>]>) -> Vec<DuplicateTool> {
        self.sources = Arc::clone(sources);
        // Asked first: what arrives in between is in the list.
        self.incomplete = sources.iter().any(|source| source.is_starting(Wanted::Anything));
        let tools = sources.iter().flat_map(|source| source.snapshot());
        tools.filter_map(|tool| self.add(tool).err()).collect()
    }

    pub(crate) fn add(&mut self, tool: Arc<dyn ToolExecutor>) -> Result<(), DuplicateTool> {
        let name = tool.name().clone().with_default_namespace();
        if self.by_name.contains_key(&name) {
            return Err(DuplicateTool { name: name.to_string() });
        }
        self.by_name.insert(name, Arc::clone(&tool));
        self.in_order.push(tool);
        Ok(())
    }

    /// The tool of this name, which must be normalised.
    pub fn get(&self, name: &ToolName) -> Option<&Arc<dyn ToolExecutor>> {
        self.by_name.get(name)
    }

    /// Whether a call by this name may run beside others: unknown and hidden tools may not (core.md 4.3).
    pub fn parallel(&self, name: &ToolName) -> bool {
        self.get(name).is_some_and(|tool| Self::is_parallel(tool.as_ref()))
    }

    /// Whether calls of this tool may run beside others.
    pub(crate) fn is_parallel(tool: &dyn ToolExecutor) -> bool {
        tool.exposure() != ToolExposure::Hidden && tool.parallel()
    }

    /// All tools, in the order of registration.
    pub fn tools(&self) -> &[Arc<dyn ToolExecutor>] {
        &self.in_order
    }

    /// Whether a tool that is not here may come, or has come meanwhile: a source was starting.
    pub fn may_come(&self) -> bool {
        self.incomplete
    }

    /// All tools, once no source is starting any more; none where none was, and this is the whole.
    pub async fn complete(&self) -> Option<Self> {
        if !self.incomplete {
            return None;
        }
        for source in self.sources.iter() {
            source.started(Wanted::Anything).await;
        }
        let mut all = self.clone();
        // What is here already is found again, and left out.
        all.extend_from(&self.sources);
        Some(all)
    }

    /// Waits for whatever could still bring a tool of this name, and looks again. The name
    /// must be normalised.
    pub async fn arrival(&self, name: &ToolName) -> Option<Arc<dyn ToolExecutor>> {
        for source in self.sources.iter() {
            source.started(Wanted::Tool(name)).await;
        }
        let mut tools = self.sources.iter().flat_map(|source| source.snapshot());
        tools.find(|tool| tool.name().clone().with_default_namespace() == *name)
    }

    /// The deferred tools, in the order of registration.
    pub fn deferred(&self) -> Vec<Arc<dyn ToolExecutor>> {
        let deferred = self.in_order.iter().filter(|tool| tool.exposure() == ToolExposure::Deferred);
        deferred.cloned().collect()
    }

    /// What the model is shown: the direct tools, then the deferred ones that it has found, as the layers leave them.
    /// Where there is no search, deferred tools are direct ones (core.md 4.4).
    pub fn specs(&self, loaded: &LoadedTools, layers: &[Arc<dyn SpecLayer>]) -> Vec<ToolSpec> {
        let can_search = self.get(&ToolSearch::plain_name().with_default_namespace()).is_some();
        let direct = self.in_order.iter().filter(|tool| match tool.exposure() {
            ToolExposure::Direct | ToolExposure::DirectModelOnly => true,
            ToolExposure::Deferred => !can_search,
            ToolExposure::DeferredModelOnly | ToolExposure::CodeModeOnly | ToolExposure::Hidden => false,
        });
        let found = loaded.names().filter_map(|name| self.get(name));
        let found = found.filter(|tool| can_search && tool.exposure() == ToolExposure::Deferred);
        let specs = merge_namespaces(direct.chain(found).map(|tool| tool.spec()).collect());
        layers.iter().fold(specs, |specs, layer| layer.apply(specs, &self.in_order))
    }
}

#[cfg(test)]
#[path = "registry_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "late_tests.rs"]
mod late_tests;
