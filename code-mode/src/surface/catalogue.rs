//! The tools of one step that scripts can call (runtime.md C2).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use tenon_protocol::ToolName;
use tenon_tools::{
    CustomSpec, FunctionSpec, JsonSchema, NamespaceTool, ToolExecutor, ToolExposure, ToolSpec,
};

use super::declaration::{declaration, with_declaration};
use super::names::{flat_name, js_identifier};
use super::{EXEC, WAIT};
use crate::{NestedKind, NestedTool};

/// Makes the list, step after step. What a tool is to scripts is worked out once for as long as the tool stays the
/// same, since most tools do.
#[derive(Debug, Default)]
pub(crate) struct Catalogue {
    known: HashMap<ToolName, (ToolSpec, NestedTool)>,
    /// JavaScript names that two tools have claimed, so that each collision is told once.
    told: HashSet<ToolName>,
}

impl Catalogue {
    /// The tools that scripts can call, by flat name. Where two have one JavaScript name, the first registered has it.
    pub(crate) fn nested(&mut self, tools: &[Arc<dyn ToolExecutor>]) -> Vec<NestedTool> {
        let specs: Vec<ToolSpec> = tools.iter().map(|tool| tool.spec()).collect();
        let can_search = specs.iter().any(|spec| matches!(spec, ToolSpec::ToolSearch(_)));
        let mut known = HashMap::with_capacity(self.known.len());
        let mut taken = HashSet::new();
        let mut nested = Vec::new();
        for (tool, spec) in tools.iter().zip(specs) {
            let name = tool.name().clone().with_default_namespace();
            if !is_for_scripts(tool.exposure()) || is_code_mode(&name) {
                continue;
            }
            // Without a search a deferred tool is as any other (core.md 4.4).
            let deferred = can_search && tool.exposure() == ToolExposure::Deferred;
            let Some(described) = self.describe(&name, spec, deferred) else { continue };
            if taken.insert(described.1.js_name.clone()) {
                nested.push(described.1.clone());
            } else if self.told.insert(name.clone()) {
                let js_name = &described.1.js_name;
                tracing::warn!(tool = %name, "scripts cannot call the tool: another is called `{js_name}` already");
            }
            known.insert(name, described);
        }
        self.known = known;
        nested.sort_by_cached_key(|tool| flat_name(&tool.name));
        nested
    }

    /// A tool's spec and what it is to scripts; none for what scripts cannot call.
    fn describe(
        &mut self,
        name: &ToolName,
        spec: ToolSpec,
        deferred: bool,
    ) -> Option<(ToolSpec, NestedTool)> {
        match self.known.remove(name) {
            Some(known) if known.0 == spec && known.1.deferred == deferred => Some(known),
            Some(_) | None => {
                let nested = nested_tool(name, &spec, deferred)?;
                Some((spec, nested))
            }
        }
    }
}

/// Whether a tool is one of code mode's own, or claims to be.
pub(crate) fn is_code_mode(name: &ToolName) -> bool {
    name.is_default_namespace() && matches!(name.name(), EXEC | WAIT)
}

fn is_for_scripts(exposure: ToolExposure) -> bool {
    match exposure {
        ToolExposure::Direct | ToolExposure::Deferred | ToolExposure::CodeModeOnly => true,
        ToolExposure::DirectModelOnly | ToolExposure::DeferredModelOnly | ToolExposure::Hidden => false,
    }
}

/// What the spec of one tool says.
struct Described<'a> {
    kind: NestedKind,
    description: &'a str,
    input: Option<&'a JsonSchema>,
    output: Option<&'a JsonSchema>,
    namespace_description: Option<&'a str>,
}

impl<'a> Described<'a> {
    /// None for what the API runs, for the search, and for a namespace without the tool.
    fn of(name: &ToolName, spec: &'a ToolSpec) -> Option<Self> {
        match spec {
            ToolSpec::Function(function) => Some(Self::from(function)),
            ToolSpec::Custom(custom) => Some(Self::from(custom)),
            ToolSpec::Namespace(namespace) => {
                let described = match namespace.tools.iter().find(|tool| tool.name() == name.name())? {
                    NamespaceTool::Function(function) => Self::from(function),
                    NamespaceTool::Custom(custom) => Self::from(custom),
                };
                let words = Some(namespace.description.as_str()).filter(|words| !words.trim().is_empty());
                Some(Self { namespace_description: words, ..described })
            }
            ToolSpec::ToolSearch(_) | ToolSpec::WebSearch(_) => None,
        }
    }
}

impl<'a> From<&'a FunctionSpec> for Described<'a> {
    fn from(function: &'a FunctionSpec) -> Self {
        Self {
            kind: NestedKind::Function,
            description: &function.description,
            input: Some(&function.parameters),
            output: function.output_schema.as_deref(),
            namespace_description: None,
        }
    }
}

impl<'a> From<&'a CustomSpec> for Described<'a> {
    fn from(custom: &'a CustomSpec) -> Self {
        Self {
            kind: NestedKind::Freeform,
            description: &custom.description,
            input: None,
            output: None,
            namespace_description: None,
        }
    }
}

fn nested_tool(name: &ToolName, spec: &ToolSpec, deferred: bool) -> Option<NestedTool> {
    let described = Described::of(name, spec)?;
    let js_name = js_identifier(&flat_name(name));
    // A schema always has a JSON form: its maps have text for keys.
    let value = |schema: Option<&JsonSchema>| schema.and_then(|schema| serde_json::to_value(schema).ok());
    let (input_schema, output_schema) = (value(described.input), value(described.output));
    let declaration = declaration(&js_name, described.kind, input_schema.as_ref(), output_schema.as_ref());
    Some(NestedTool {
        name: name.clone(),
        js_name,
        kind: described.kind,
        description: described.description.to_owned(),
        augmented: with_declaration(described.description, &declaration),
        input_schema,
        output_schema,
        namespace_description: described.namespace_description.map(str::to_owned),
        deferred,
    })
}

#[cfg(test)]
#[path = "catalogue_tests.rs"]
mod tests;
