//! What the model is shown of a tool (core.md 2.7).

mod loadable;
mod namespace;
mod search;
mod web_search;

use std::sync::Arc;

use serde::Serialize;

use crate::JsonSchema;

pub use loadable::{LoadableToolSpec, coalesce_loadable};
pub use namespace::{default_namespace_description, merge_namespaces, responses_lite};
pub use search::{SearchInfo, SearchSource};
pub use web_search::{WebSearchContent, WebSearchFilters, WebSearchLocation, WebSearchMode, WebSearchSpec};

/// One entry of the request's list of tools, written with its members in the order of the contract.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ToolSpec {
    /// A tool with JSON arguments.
    Function(FunctionSpec),
    /// Tools under a name of their own.
    Namespace(NamespaceSpec),
    /// The search among deferred tools.
    ToolSearch(ToolSearchSpec),
    /// A tool with free text in a grammar.
    Custom(CustomSpec),
    /// The search in the web that the API runs.
    WebSearch(WebSearchSpec),
}

impl ToolSpec {
    /// A function without a namespace, neither strict nor deferred.
    pub fn function(name: impl Into<String>, description: impl Into<String>, parameters: JsonSchema) -> Self {
        Self::Function(FunctionSpec::new(name, description, parameters))
    }

    /// A custom tool whose text follows a Lark grammar.
    pub fn lark(
        name: impl Into<String>,
        description: impl Into<String>,
        definition: impl Into<String>,
    ) -> Self {
        Self::Custom(CustomSpec {
            name: name.into(),
            description: description.into(),
            format: CustomFormat::lark(definition),
        })
    }

    /// A namespace of one function, to be merged with its like by [`merge_namespaces`]. A blank description becomes
    /// [`default_namespace_description`] there.
    pub fn in_namespace(
        namespace: impl Into<String>,
        description: impl Into<String>,
        function: FunctionSpec,
    ) -> Self {
        Self::Namespace(NamespaceSpec {
            name: namespace.into(),
            description: description.into(),
            tools: vec![NamespaceTool::Function(function)],
        })
    }

    /// The same with what a function gives to scripts; nothing changes for other kinds.
    #[must_use]
    pub fn with_output_schema(mut self, schema: JsonSchema) -> Self {
        match &mut self {
            Self::Function(function) => function.output_schema = Some(Arc::new(schema)),
            Self::Namespace(_) | Self::ToolSearch(_) | Self::Custom(_) | Self::WebSearch(_) => {}
        }
        self
    }

    /// The name that the model, or the API, knows the entry by.
    pub fn name(&self) -> &str {
        match self {
            Self::Function(function) => &function.name,
            Self::Namespace(namespace) => &namespace.name,
            Self::Custom(custom) => &custom.name,
            Self::ToolSearch(_) => "tool_search",
            Self::WebSearch(_) => "web_search",
        }
    }
}

/// A tool with JSON arguments.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FunctionSpec {
    /// Its name, inside its namespace.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// Whether the API holds the model to the schema. Always written, and false for every tool of ours.
    pub strict: bool,
    /// Whether the tool is only loaded by a search. Written only when it is.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub defer_loading: bool,
    /// The schema of its arguments.
    pub parameters: Arc<JsonSchema>,
    /// The schema of what it gives to scripts. Never written.
    #[serde(skip)]
    pub output_schema: Option<Arc<JsonSchema>>,
}

impl FunctionSpec {
    /// A function that is neither strict nor deferred.
    pub fn new(name: impl Into<String>, description: impl Into<String>, parameters: JsonSchema) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            strict: false,
            defer_loading: false,
            parameters: Arc::new(parameters),
            output_schema: None,
        }
    }

    /// The same with what it gives to scripts.
    #[must_use]
    pub fn with_output_schema(mut self, schema: JsonSchema) -> Self {
        self.output_schema = Some(Arc::new(schema));
        self
    }

    /// The same as a search returns it: loaded on demand, without what only scripts need.
    #[must_use]
    pub fn deferred(mut self) -> Self {
        self.defer_loading = true;
        self.output_schema = None;
        self
    }
}

/// Tools under a name of their own.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NamespaceSpec {
    /// The namespace.
    pub name: String,
    /// What its tools have in common, for the model.
    pub description: String,
    /// The tools.
    pub tools: Vec<NamespaceTool>,
}

/// A tool of a namespace.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum NamespaceTool {
    /// With JSON arguments.
    Function(FunctionSpec),
    /// With free text.
    Custom(CustomSpec),
}

impl NamespaceTool {
    /// The tool's name inside its namespace.
    pub fn name(&self) -> &str {
        match self {
            Self::Function(function) => &function.name,
            Self::Custom(custom) => &custom.name,
        }
    }
}

/// The search among deferred tools.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolSearchSpec {
    /// Who runs it: `client`.
    pub execution: String,
    /// What there is to find, for the model.
    pub description: String,
    /// The schema of its arguments.
    pub parameters: Arc<JsonSchema>,
}

impl ToolSearchSpec {
    /// A search that we run.
    pub fn client(description: impl Into<String>, parameters: JsonSchema) -> Self {
        Self {
            execution: "client".to_owned(),
            description: description.into(),
            parameters: Arc::new(parameters),
        }
    }
}

/// A tool with free text in a grammar.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CustomSpec {
    /// Its name, inside its namespace.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// The grammar of its text.
    pub format: CustomFormat,
}

/// The grammar of a custom tool's text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CustomFormat {
    /// `grammar`.
    #[serde(rename = "type")]
    pub format_type: String,
    /// The grammar's own language, `lark`.
    pub syntax: String,
    /// The grammar.
    pub definition: String,
}

impl CustomFormat {
    /// A Lark grammar.
    pub fn lark(definition: impl Into<String>) -> Self {
        Self { format_type: "grammar".to_owned(), syntax: "lark".to_owned(), definition: definition.into() }
    }
}

#[cfg(test)]
#[path = "spec_tests.rs"]
mod tests;
