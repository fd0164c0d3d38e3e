//! Tools that have a spec and are never called.

use std::sync::Arc;

use async_trait::async_trait;
use tenon_protocol::ToolName;
use tenon_tools::{
    FunctionCallError, FunctionSpec, JsonSchema, NamespaceTool, PreparedCall, ToolExecutor, ToolExposure,
    ToolInvocation, ToolSearchSpec, ToolSpec,
};

use crate::NestedTool;

#[derive(Debug, Clone)]
pub(crate) struct Tool {
    name: ToolName,
    spec: ToolSpec,
    exposure: ToolExposure,
}

impl Tool {
    pub(crate) fn of(name: &str, spec: ToolSpec) -> Self {
        Self { name: ToolName::plain(name), spec, exposure: ToolExposure::Direct }
    }

    pub(crate) fn function(name: &str) -> Self {
        Self::of(name, ToolSpec::function(name, "", JsonSchema::object([], &[])))
    }

    pub(crate) fn in_namespace(namespace: &str, name: &str) -> Self {
        let function = FunctionSpec::new(name, "", JsonSchema::object([], &[]));
        let spec = ToolSpec::in_namespace(namespace, "", function);
        Self { name: ToolName::new(Some(namespace), name), spec, exposure: ToolExposure::Direct }
    }

    /// The search among deferred tools.
    pub(crate) fn search() -> Self {
        let spec = ToolSpec::ToolSearch(ToolSearchSpec::client("Finds tools.", JsonSchema::default()));
        Self::of("tool_search", spec).exposed(ToolExposure::DirectModelOnly)
    }

    pub(crate) fn exposed(self, exposure: ToolExposure) -> Self {
        Self { exposure, ..self }
    }

    pub(crate) fn with_spec(self, spec: ToolSpec) -> Self {
        Self { spec, ..self }
    }

    pub(crate) fn described(mut self, words: &str) -> Self {
        match &mut self.spec {
            ToolSpec::Function(function) => words.clone_into(&mut function.description),
            ToolSpec::Namespace(namespace) => {
                for tool in &mut namespace.tools {
                    match tool {
                        NamespaceTool::Function(function) => words.clone_into(&mut function.description),
                        NamespaceTool::Custom(custom) => words.clone_into(&mut custom.description),
                    }
                }
            }
            ToolSpec::Custom(custom) => words.clone_into(&mut custom.description),
            ToolSpec::ToolSearch(_) | ToolSpec::WebSearch(_) => {}
        }
        self
    }

    pub(crate) fn arc(self) -> Arc<dyn ToolExecutor> {
        Arc::new(self)
    }
}

#[async_trait]
impl ToolExecutor for Tool {
    fn name(&self) -> &ToolName {
        &self.name
    }

    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    fn exposure(&self) -> ToolExposure {
        self.exposure
    }

    async fn prepare(&self, _: &ToolInvocation) -> Result<Box<dyn PreparedCall>, FunctionCallError> {
        Err(FunctionCallError::respond("nobody calls it"))
    }
}

/// The names that scripts call them by.
pub(crate) fn names(nested: &[NestedTool]) -> Vec<&str> {
    nested.iter().map(|tool| tool.js_name.as_str()).collect()
}
