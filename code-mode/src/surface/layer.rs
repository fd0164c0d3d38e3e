//! The list of tools that a model is shown in code mode (runtime.md C1, C2, C3.5).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use tenon_protocol::ToolName;
use tenon_tools::{FunctionSpec, NamespaceSpec, NamespaceTool, SpecLayer, ToolExecutor, ToolSpec};

use super::catalogue::is_code_mode;
use super::description::{exec_spec, wait_spec};
use crate::cell::DEFAULT_YIELD_TIME_MS;
use crate::{CodeMode, ExecTool, NestedTool, NestedTools, WaitTool};

/// What becomes of the tools that scripts can call, in the model's own list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DirectTools {
    /// They stay, each with its declaration for scripts (`code_mode`).
    Shown,
    /// They go: they are described in `exec` alone (`code_mode_only`). A model that calls one all the same is answered.
    Hidden,
}

/// The tools of a session that has scripts: `exec` and `wait`, then the others, without any that is called so too
/// (runtime.md C2.2).
pub fn with_code_mode(
    code_mode: &CodeMode,
    others: Vec<Arc<dyn ToolExecutor>>,
) -> Vec<Arc<dyn ToolExecutor>> {
    let mut tools: Vec<Arc<dyn ToolExecutor>> =
        vec![Arc::new(ExecTool::new(code_mode.clone())), Arc::new(WaitTool::new(code_mode.clone()))];
    tools.extend(others.into_iter().filter(|tool| {
        let is_taken = is_code_mode(tool.name());
        if is_taken {
            tracing::warn!(tool = %tool.name(), "the tool is left out: code mode has one of this name");
        }
        !is_taken
    }));
    tools
}

/// Puts `exec` and `wait` before all other tools, and tells the scripts to come which tools there are.
#[derive(Debug)]
pub struct CodeModeLayer {
    direct: DirectTools,
    nested: NestedTools,
}

impl CodeModeLayer {
    /// A layer that offers scripts, in `nested`, what they can call.
    pub fn new(direct: DirectTools, nested: NestedTools) -> Self {
        Self { direct, nested }
    }
}

impl SpecLayer for CodeModeLayer {
    fn apply(&self, specs: Vec<ToolSpec>, tools: &[Arc<dyn ToolExecutor>]) -> Vec<ToolSpec> {
        let nested = self.nested.offer(tools);
        let mut shown =
            vec![exec_spec(DEFAULT_YIELD_TIME_MS, &nested, self.direct), wait_spec(DEFAULT_YIELD_TIME_MS)];
        let others = specs.into_iter().filter(|spec| !is_code_mode(&ToolName::plain(spec.name())));
        match self.direct {
            DirectTools::Shown => {
                let words = words_by_name(&nested);
                shown.extend(others.map(|spec| described(spec, &words)));
            }
            DirectTools::Hidden => {
                let names: HashSet<&ToolName> = nested.iter().map(|tool| &tool.name).collect();
                shown.extend(others.filter_map(|spec| without(spec, &names)));
            }
        }
        shown
    }
}

fn words_by_name(nested: &[NestedTool]) -> HashMap<&ToolName, &str> {
    nested.iter().map(|tool| (&tool.name, tool.augmented.as_str())).collect()
}

/// The spec with the words that have a declaration, where scripts can call it.
fn described(mut spec: ToolSpec, words: &HashMap<&ToolName, &str>) -> ToolSpec {
    let augment = |namespace: Option<&str>, name: &str, description: &mut String| {
        let name = ToolName::new(namespace, name).with_default_namespace();
        if let Some(words) = words.get(&name) {
            description.clear();
            description.push_str(words);
        }
    };
    match &mut spec {
        ToolSpec::Function(FunctionSpec { name, description, .. }) => augment(None, name, description),
        ToolSpec::Custom(custom) => augment(None, &custom.name, &mut custom.description),
        ToolSpec::Namespace(NamespaceSpec { name: namespace, tools, .. }) => {
            for tool in tools {
                match tool {
                    NamespaceTool::Function(FunctionSpec { name, description, .. }) => {
                        augment(Some(namespace), name, description);
                    }
                    NamespaceTool::Custom(custom) => {
                        augment(Some(namespace), &custom.name, &mut custom.description);
                    }
                }
            }
        }
        ToolSpec::ToolSearch(_) | ToolSpec::WebSearch(_) => {}
    }
    spec
}

/// The spec without the tools of these names; none where nothing is left of it.
fn without(spec: ToolSpec, names: &HashSet<&ToolName>) -> Option<ToolSpec> {
    let stays = |namespace: Option<&str>, name: &str| {
        !names.contains(&ToolName::new(namespace, name).with_default_namespace())
    };
    match spec {
        ToolSpec::Function(_) | ToolSpec::Custom(_) => stays(None, spec.name()).then_some(spec),
        ToolSpec::Namespace(mut namespace) => {
            let NamespaceSpec { name, tools, .. } = &mut namespace;
            tools.retain(|tool| stays(Some(name), tool.name()));
            (!tools.is_empty()).then_some(ToolSpec::Namespace(namespace))
        }
        ToolSpec::ToolSearch(_) | ToolSpec::WebSearch(_) => Some(spec),
    }
}

#[cfg(test)]
#[path = "layer_tests.rs"]
mod tests;
