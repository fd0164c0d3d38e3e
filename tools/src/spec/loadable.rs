//! Tools that a search returns (core.md 2.7).

use serde::Serialize;

use super::{FunctionSpec, NamespaceSpec, ToolSpec};

/// What a tool search may return.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum LoadableToolSpec {
    /// A function without a namespace.
    Function(FunctionSpec),
    /// Functions of a namespace.
    Namespace(NamespaceSpec),
}

impl From<LoadableToolSpec> for ToolSpec {
    fn from(loadable: LoadableToolSpec) -> Self {
        match loadable {
            LoadableToolSpec::Function(function) => Self::Function(function),
            LoadableToolSpec::Namespace(namespace) => Self::Namespace(namespace),
        }
    }
}

/// Puts the tools of equal namespaces into the first of them, in order. Functions pass through, and the first
/// description wins.
pub fn coalesce_loadable(specs: Vec<LoadableToolSpec>) -> Vec<LoadableToolSpec> {
    let mut coalesced: Vec<LoadableToolSpec> = Vec::with_capacity(specs.len());
    for spec in specs {
        match spec {
            LoadableToolSpec::Function(_) => coalesced.push(spec),
            LoadableToolSpec::Namespace(namespace) => match find_namespace(&mut coalesced, &namespace.name) {
                Some(first) => first.tools.extend(namespace.tools),
                None => coalesced.push(LoadableToolSpec::Namespace(namespace)),
            },
        }
    }
    coalesced
}

fn find_namespace<'a>(specs: &'a mut [LoadableToolSpec], name: &str) -> Option<&'a mut NamespaceSpec> {
    specs.iter_mut().find_map(|spec| match spec {
        LoadableToolSpec::Namespace(namespace) if namespace.name == name => Some(namespace),
        LoadableToolSpec::Namespace(_) | LoadableToolSpec::Function(_) => None,
    })
}
