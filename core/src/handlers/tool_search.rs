//! `tool_search`: the model looks for deferred tools (core.md 9.4).

use std::fmt::Write as _;
use std::sync::Arc;

use async_trait::async_trait;
use tenon_protocol::ToolName;
use tenon_tools::{
    Effects, FunctionCallError, HookIdentity, JsonSchema, PreparedCall, SearchSource, ToolExecutor,
    ToolExposure, ToolInvocation, ToolOutput, ToolPayload, ToolSearchOutput, ToolSearchSpec, ToolSpec,
    Wanted,
};

use crate::registry::{ToolRegistry, Toolbox};
use crate::search::{SearchCatalogue, SearchCatalogues};

/// How many tools a search returns where it does not say how many it wants.
pub const TOOL_SEARCH_DEFAULT_LIMIT: usize = 8;
/// How much of what a source says of itself stands in the description, in characters.
pub const SOURCE_DESCRIPTION_MAX_CHARS: usize = 400;

const NAME: &str = "tool_search";
const DYNAMIC_TOOLS: &str = "Dynamic tools";
const DESCRIPTION: &str = "Finds tools that you are not shown yet, by BM25 over their names, descriptions and \
parameters, and loads those that fit best: you can call them from then on. Where one of the sources below could help, \
search here first, before you list MCP resources or resource templates.\n\nSources:\n";
const STILL_STARTING: &str = "\nSome sources are still starting; a search waits for them.";

/// The tool of one step.
#[derive(Debug, Clone)]
pub struct ToolSearch {
    name: ToolName,
    toolbox: Arc<Toolbox>,
    catalogues: Arc<SearchCatalogues>,
    /// What there was to find when the model was asked.
    catalogue: Arc<SearchCatalogue>,
    /// Whether more was on its way then.
    incomplete: bool,
}

impl ToolSearch {
    /// The plain name it is called by.
    pub(crate) fn plain_name() -> ToolName {
        ToolName::plain(NAME)
    }

    /// The search among the deferred tools of a step; none where there is nothing to find and nothing on its way.
    pub(crate) fn over(
        toolbox: &Arc<Toolbox>,
        catalogues: &Arc<SearchCatalogues>,
        step: &ToolRegistry,
    ) -> Option<Self> {
        // As the registry knows it: what has arrived since its sources were asked is waited for as well.
        let incomplete = step.may_come();
        let catalogue = catalogues.of(step.deferred());
        if catalogue.is_empty() && !incomplete {
            return None;
        }
        let (toolbox, catalogues) = (Arc::clone(toolbox), Arc::clone(catalogues));
        Some(Self { name: Self::plain_name(), toolbox, catalogues, catalogue, incomplete })
    }

    /// What there is to find once nothing is on its way any more.
    async fn settled(&self) -> Arc<SearchCatalogue> {
        if !self.incomplete {
            return Arc::clone(&self.catalogue);
        }
        self.toolbox.started(Wanted::Anything).await;
        self.catalogues.of(self.toolbox.registry().0.deferred())
    }

    fn description(&self) -> String {
        let mut lines: Vec<String> = self.catalogue.sources().into_iter().map(source_line).collect();
        lines.sort();
        if lines.is_empty() {
            lines.push("None currently enabled.".to_owned());
        }
        let starting = if self.incomplete { STILL_STARTING } else { "" };
        format!("{DESCRIPTION}{}{starting}", lines.join("\n"))
    }
}

/// `- name: description` or `- name`, on one line.
fn source_line(source: Option<&SearchSource>) -> String {
    let Some(SearchSource { name, description }) = source else { return format!("- {DYNAMIC_TOOLS}") };
    let mut line = format!("- {name}");
    let words: Vec<&str> = description.iter().flat_map(|text| text.split_whitespace()).collect();
    let text = words.join(" ");
    match text.char_indices().nth(SOURCE_DESCRIPTION_MAX_CHARS) {
        _ if text.is_empty() => {}
        // Writing to a string does not fail.
        None => drop(write!(line, ": {text}")),
        Some((end, _)) => drop(write!(line, ": {}…", text.get(..end).unwrap_or_default())),
    }
    line
}

#[async_trait]
impl ToolExecutor for ToolSearch {
    fn name(&self) -> &ToolName {
        &self.name
    }

    fn spec(&self) -> ToolSpec {
        let parameters = JsonSchema::object(
            [
                ("query", JsonSchema::string("Search query for deferred tools.")),
                ("limit", JsonSchema::number("Maximum number of tools to return (defaults to 8).")),
            ],
            &["query"],
        );
        ToolSpec::ToolSearch(ToolSearchSpec::client(self.description(), parameters))
    }

    fn exposure(&self) -> ToolExposure {
        ToolExposure::DirectModelOnly
    }

    fn parallel(&self) -> bool {
        true
    }

    fn hook_identity(&self) -> Option<HookIdentity> {
        None
    }

    async fn prepare(&self, call: &ToolInvocation) -> Result<Box<dyn PreparedCall>, FunctionCallError> {
        let ToolPayload::ToolSearch { arguments } = &call.payload else {
            let text = "tool_search handler received unsupported payload";
            return Err(FunctionCallError::Fatal(text.to_owned()));
        };
        let query = arguments.query.trim();
        if query.is_empty() {
            return Err(FunctionCallError::respond("query must not be empty"));
        }
        let limit = arguments.limit.unwrap_or(TOOL_SEARCH_DEFAULT_LIMIT);
        if limit == 0 {
            return Err(FunctionCallError::respond("limit must be greater than zero"));
        }
        let (query, search) = (query.to_owned(), self.clone());
        Ok(Box::new(Prepared { query, limit, search, effects: Effects::none() }))
    }
}

struct Prepared {
    query: String,
    limit: usize,
    search: ToolSearch,
    effects: Effects,
}

#[async_trait]
impl PreparedCall for Prepared {
    fn effects(&self) -> &Effects {
        &self.effects
    }

    async fn run(self: Box<Self>, _call: &ToolInvocation) -> Result<Box<dyn ToolOutput>, FunctionCallError> {
        let Self { query, limit, search, effects: _ } = *self;
        let catalogue = search.settled().await;
        // Many tools take a while to index.
        let found = tokio::task::spawn_blocking(move || catalogue.search(&query, limit)).await;
        let tools = found.map_err(|error| FunctionCallError::respond(error.to_string()))?;
        Ok(Box::new(ToolSearchOutput { tools }))
    }
}

#[cfg(test)]
#[path = "tool_search_tests.rs"]
mod tests;
