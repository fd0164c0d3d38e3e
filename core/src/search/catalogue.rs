//! The deferred tools of now, indexed once.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tenon_protocol::ToolName;
use tenon_tools::{LoadableToolSpec, SearchInfo, SearchSource, ToolExecutor, coalesce_loadable};

use super::SearchIndex;

/// Deferred tools that a search can find. Their texts are indexed at the first search.
#[derive(Default)]
pub struct SearchCatalogue {
    /// The tools it was made from, in the order in which they were registered.
    tools: Vec<Arc<dyn ToolExecutor>>,
    /// By name: hits that are equally good do not depend on which server was up first.
    entries: Vec<(ToolName, SearchInfo)>,
    index: OnceLock<SearchIndex>,
}

impl std::fmt::Debug for SearchCatalogue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.entries.iter().map(|(name, _)| name.to_string());
        f.debug_list().entries(names).finish()
    }
}

impl SearchCatalogue {
    /// A catalogue of these tools. Tools that no search finds are left out.
    pub fn new(tools: Vec<Arc<dyn ToolExecutor>>) -> Self {
        let entry = |tool: &Arc<dyn ToolExecutor>| Some((tool.name().clone(), tool.search_info()?));
        let mut entries: Vec<_> = tools.iter().filter_map(entry).collect();
        entries.sort_by(|(a, _), (b, _)| a.cmp(b));
        Self { tools, entries, index: OnceLock::new() }
    }

    /// How many tools a search can find.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is nothing to find.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Where the tools come from, each source once, sorted. None stands for tools of the host's own.
    pub fn sources(&self) -> BTreeSet<Option<&SearchSource>> {
        self.entries.iter().map(|(_, info)| info.source.as_ref()).collect()
    }

    /// The tools that fit best, at most `limit` of them, the best first; tools of one namespace stand together where
    /// the best of them stands.
    pub fn search(&self, query: &str, limit: usize) -> Vec<LoadableToolSpec> {
        let texts = || self.entries.iter().map(|(_, info)| info.text.as_str());
        let index = self.index.get_or_init(|| SearchIndex::new(texts()));
        let hits = index.search(query, limit).into_iter();
        coalesce_loadable(hits.filter_map(|hit| Some(self.entries.get(hit.text)?.1.spec.clone())).collect())
    }

    fn is_of(&self, tools: &[Arc<dyn ToolExecutor>]) -> bool {
        self.tools.len() == tools.len() && self.tools.iter().zip(tools).all(|(a, b)| Arc::ptr_eq(a, b))
    }
}

/// The newest catalogue of a session, which is made anew only where the tools are other ones.
#[derive(Debug, Default)]
pub struct SearchCatalogues(Mutex<Arc<SearchCatalogue>>);

impl SearchCatalogues {
    /// The catalogue of these tools.
    pub fn of(&self, tools: Vec<Arc<dyn ToolExecutor>>) -> Arc<SearchCatalogue> {
        let mut newest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !newest.is_of(&tools) {
            *newest = Arc::new(SearchCatalogue::new(tools));
        }
        Arc::clone(&newest)
    }
}

#[cfg(test)]
#[path = "catalogue_tests.rs"]
mod tests;
