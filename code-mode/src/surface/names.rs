//! What scripts call a tool by (runtime.md C2.3, C2.4).

use tenon_protocol::ToolName;

/// What stands between a namespace and a name where neither brings an underscore for it.
const SEPARATOR: &str = "__";

/// A tool's name in one word: the bare name in the default namespace, `{namespace}__{name}` elsewhere. A namespace
/// that ends in an underscore, or a name that begins with one, is joined without another.
pub(crate) fn flat_name(name: &ToolName) -> String {
    match name.namespace() {
        Some(namespace) if !name.is_default_namespace() => join(namespace, name.name()),
        Some(_) | None => name.name().to_owned(),
    }
}

fn join(namespace: &str, name: &str) -> String {
    let separator = if namespace.ends_with('_') || name.starts_with('_') { "" } else { SEPARATOR };
    [namespace, separator, name].concat()
}

/// A flat name as an identifier of JavaScript: every character that may not stand where it stands becomes an
/// underscore, one for one. An empty name is one underscore.
pub(crate) fn js_identifier(flat_name: &str) -> String {
    if flat_name.is_empty() {
        return "_".to_owned();
    }
    let fitting = |(at, c): (usize, char)| if is_identifier_char(at == 0, c) { c } else { '_' };
    flat_name.chars().enumerate().map(fitting).collect()
}

/// Whether a name can stand in a script as it is, quotes spared.
pub(crate) fn is_js_identifier(name: &str) -> bool {
    !name.is_empty() && name.chars().enumerate().all(|(at, c)| is_identifier_char(at == 0, c))
}

fn is_identifier_char(is_first: bool, c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || c == '$' || (!is_first && c.is_ascii_digit())
}

#[cfg(test)]
#[path = "names_tests.rs"]
mod tests;
