//! The namespaces of the list the model is shown (core.md 2.7, 4.4).

use tenon_protocol::DEFAULT_NAMESPACE;

use super::{NamespaceSpec, NamespaceTool, ToolSpec};

/// What is said of a namespace that says nothing of itself.
pub fn default_namespace_description(namespace: &str) -> String {
    format!("Tools in the {namespace} namespace.")
}

/// Merges namespaces of one name into the first of them, as the model is to see them: the first description that is
/// not blank is kept, else the default one stands there; tools are sorted by name. The rest of the list stays in order.
pub fn merge_namespaces(specs: Vec<ToolSpec>) -> Vec<ToolSpec> {
    let mut merged: Vec<ToolSpec> = Vec::with_capacity(specs.len());
    for spec in specs {
        match spec {
            ToolSpec::Namespace(namespace) => match find_namespace(&mut merged, &namespace.name) {
                Some(first) => absorb(first, namespace),
                None => merged.push(ToolSpec::Namespace(namespace)),
            },
            ToolSpec::Function(_)
            | ToolSpec::ToolSearch(_)
            | ToolSpec::Custom(_)
            | ToolSpec::WebSearch(_) => {
                merged.push(spec);
            }
        }
    }
    for spec in &mut merged {
        if let ToolSpec::Namespace(namespace) = spec {
            finish(namespace);
        }
    }
    merged
}

fn absorb(first: &mut NamespaceSpec, next: NamespaceSpec) {
    if first.description.trim().is_empty() {
        first.description = next.description;
    }
    first.tools.extend(next.tools);
}

fn finish(namespace: &mut NamespaceSpec) {
    if namespace.description.trim().is_empty() {
        namespace.description = default_namespace_description(&namespace.name);
    }
    namespace.tools.sort_by(|a, b| a.name().cmp(b.name()));
}

fn find_namespace<'a>(specs: &'a mut [ToolSpec], name: &str) -> Option<&'a mut NamespaceSpec> {
    specs.iter_mut().find_map(|spec| match spec {
        ToolSpec::Namespace(namespace) if namespace.name == name => Some(namespace),
        ToolSpec::Namespace(_)
        | ToolSpec::Function(_)
        | ToolSpec::ToolSearch(_)
        | ToolSpec::Custom(_)
        | ToolSpec::WebSearch(_) => None,
    })
}

/// The list for APIs that know tools by namespaces alone: all functions and custom tools move, in order, into one
/// namespace `functions`, which stands first; without any there is no such namespace.
pub fn responses_lite(specs: Vec<ToolSpec>) -> Vec<ToolSpec> {
    let mut tools = Vec::new();
    let mut rest = Vec::new();
    for spec in specs {
        match spec {
            ToolSpec::Function(function) => tools.push(NamespaceTool::Function(function)),
            ToolSpec::Custom(custom) => tools.push(NamespaceTool::Custom(custom)),
            ToolSpec::Namespace(_) | ToolSpec::ToolSearch(_) | ToolSpec::WebSearch(_) => rest.push(spec),
        }
    }
    if !tools.is_empty() {
        let functions = NamespaceSpec {
            name: DEFAULT_NAMESPACE.to_owned(),
            description: default_namespace_description(DEFAULT_NAMESPACE),
            tools,
        };
        rest.insert(0, ToolSpec::Namespace(functions));
    }
    rest
}
