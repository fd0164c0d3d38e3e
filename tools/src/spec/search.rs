//! What a tool search knows of a tool (core.md 2.10).

use tenon_protocol::ToolName;

use super::{
    FunctionSpec, LoadableToolSpec, NamespaceSpec, NamespaceTool, ToolSpec, default_namespace_description,
};
use crate::JsonSchema;

/// A deferred tool, as a search finds and returns it.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchInfo {
    /// The words to find it by.
    pub text: String,
    /// What a search returns of it.
    pub spec: LoadableToolSpec,
    /// Where it comes from, as the description of the search names it to the model. None: one of the host's own tools.
    pub source: Option<SearchSource>,
}

/// A source of deferred tools, such as an MCP server.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SearchSource {
    /// Its name.
    pub name: String,
    /// What it says of itself.
    pub description: Option<String>,
}

impl SearchInfo {
    /// Of a function or a namespace; other kinds of tools are not found. The words are those of the spec: names (whole
    /// and in parts), descriptions, and what the parameters' schema says.
    pub fn from_spec(name: &ToolName, spec: &ToolSpec) -> Option<Self> {
        match spec {
            ToolSpec::Function(function) => {
                let mut text = Text::of_tool(name);
                text.function(function);
                Some(Self {
                    text: text.joined(),
                    spec: LoadableToolSpec::Function(function.clone().deferred()),
                    source: None,
                })
            }
            ToolSpec::Namespace(namespace) => {
                let namespace = deferred_namespace(namespace);
                let mut text = Text::of_tool(name);
                text.namespace(&namespace);
                let spec = LoadableToolSpec::Namespace(namespace);
                Some(Self { text: text.joined(), spec, source: None })
            }
            ToolSpec::ToolSearch(_) | ToolSpec::Custom(_) | ToolSpec::WebSearch(_) => None,
        }
    }

    /// The same with other words, for a tool that knows more of itself than its spec says.
    #[must_use]
    pub fn with_text(mut self, text: impl Into<String>) -> Self {
        self.text = text.into();
        self
    }

    /// The same, from this source.
    #[must_use]
    pub fn from_source(mut self, source: SearchSource) -> Self {
        self.source = Some(source);
        self
    }
}

fn deferred_namespace(namespace: &NamespaceSpec) -> NamespaceSpec {
    let described = !namespace.description.trim().is_empty();
    let tools = namespace.tools.iter().map(|tool| match tool {
        NamespaceTool::Function(function) => NamespaceTool::Function(function.clone().deferred()),
        NamespaceTool::Custom(custom) => NamespaceTool::Custom(custom.clone()),
    });
    NamespaceSpec {
        name: namespace.name.clone(),
        description: if described {
            namespace.description.clone()
        } else {
            default_namespace_description(&namespace.name)
        },
        tools: tools.collect(),
    }
}

/// The words of one tool, in order.
struct Text(Vec<String>);

impl Text {
    fn of_tool(name: &ToolName) -> Self {
        let mut text = Self(Vec::new());
        text.name(&name.flat_tool_name());
        text
    }

    fn joined(self) -> String {
        self.0.join(" ")
    }

    fn add(&mut self, part: &str) {
        if !part.is_empty() {
            self.0.push(part.to_owned());
        }
    }

    /// A name whole, and in words.
    fn name(&mut self, name: &str) {
        self.add(name);
        self.add(&name.replace('_', " "));
    }

    fn function(&mut self, function: &FunctionSpec) {
        self.name(&function.name);
        self.add(&function.description);
        self.schema(&function.parameters);
    }

    fn namespace(&mut self, namespace: &NamespaceSpec) {
        self.add(&namespace.name);
        self.add(&namespace.description);
        for tool in &namespace.tools {
            match tool {
                NamespaceTool::Function(function) => self.function(function),
                NamespaceTool::Custom(custom) => {
                    self.name(&custom.name);
                    self.add(&custom.description);
                }
            }
        }
    }

    fn schema(&mut self, schema: &JsonSchema) {
        self.add(schema.description.as_deref().unwrap_or_default());
        for (name, property) in schema.properties.iter().flatten() {
            self.add(name);
            self.schema(property);
        }
        if let Some(items) = &schema.items {
            self.schema(items);
        }
        for branch in schema.any_of.iter().flatten() {
            self.schema(branch);
        }
    }
}
