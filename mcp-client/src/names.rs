//! Names for the model: namespaces of servers, names of tools in them (core.md 9.5).
//!
//! Different servers and tools get different names, whatever order they start in: a namespace depends on the servers
//! that are configured, a tool's name on the tools of its server, neither on what has started yet.

use std::collections::{HashMap, HashSet};

use sha1_smol::Sha1;

/// How long namespace and name may be together, in bytes.
pub(crate) const MAX_NAME_BYTES: usize = 64;
/// What stands between namespace and name where both are written as one.
const DELIMITER: &str = "__";
const PREFIX: &str = "mcp__";
/// Hexadecimal digits of a hash.
const HASH_DIGITS: usize = 12;
/// A hash and the `_` before it.
const SUFFIX_BYTES: usize = HASH_DIGITS + 1;

/// The namespaces of all configured servers, in their order.
pub(crate) fn namespaces(servers: &[&str]) -> Vec<String> {
    let plain: Vec<String> = servers.iter().map(|server| format!("{PREFIX}{}", sanitised(server))).collect();
    let clashes = |at: usize, namespace: &String| {
        plain.iter().enumerate().any(|(other, theirs)| {
            // One that goes on where another ends: written as one, their tools could have the same name.
            other != at && (theirs == namespace || is_continued(theirs, namespace))
        })
    };
    let finish = |(at, namespace): (usize, &String)| {
        if clashes(at, namespace) {
            format!("{namespace}{}", suffix(servers.get(at).copied().unwrap_or_default()))
        } else {
            namespace.clone()
        }
    };
    plain.iter().enumerate().map(finish).collect()
}

fn is_continued(namespace: &str, longer: &str) -> bool {
    longer.strip_prefix(namespace).is_some_and(|rest| rest == "_" || rest.starts_with(DELIMITER))
}

/// What a tool is called.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct CallableName {
    pub(crate) namespace: String,
    pub(crate) name: String,
}

/// What the tools of one server are called, in their order. The names given must be different.
pub(crate) fn callable_names(server: &str, namespace: &str, tools: &[&str]) -> Vec<CallableName> {
    let plain: Vec<String> = tools.iter().map(|tool| sanitised(tool)).collect();
    let mut count = HashMap::<&str, usize>::new();
    for name in &plain {
        *count.entry(name).or_default() += 1;
    }
    let mut used = HashSet::new();
    let mut names = vec![None; tools.len()];
    // Tools whose name stays as it is come first: none is to lose it to a hash that looks the same.
    for hashed in [false, true] {
        for (at, (tool, name)) in tools.iter().zip(&plain).enumerate() {
            let clashes = count.get(name.as_str()).is_some_and(|count| *count > 1);
            let fits = namespace.len() + name.len() <= MAX_NAME_BYTES;
            if (clashes || !fits) != hashed {
                continue;
            }
            let plain = CallableName { namespace: namespace.to_owned(), name: name.clone() };
            let name = if hashed { with_hash(server, &plain, tool, &used) } else { plain };
            used.insert(name.clone());
            if let Some(place) = names.get_mut(at) {
                *place = Some(name);
            }
        }
    }
    names.into_iter().flatten().collect()
}

fn with_hash(server: &str, plain: &CallableName, tool: &str, used: &HashSet<CallableName>) -> CallableName {
    let identity = format!("{server}\0{}\0\0{tool}", plain.namespace);
    let mut attempt = 0_u64;
    loop {
        let input = if attempt == 0 { identity.clone() } else { format!("{identity}\0{attempt}") };
        let name = fitted(plain, &suffix(&input));
        if !used.contains(&name) {
            return name;
        }
        attempt += 1;
    }
}

/// The name cut so that it fits with its hash; where there is no room, the namespace is cut and the hash is the name.
fn fitted(plain: &CallableName, suffix: &str) -> CallableName {
    let CallableName { namespace, name } = plain;
    match MAX_NAME_BYTES.saturating_sub(namespace.len()).checked_sub(SUFFIX_BYTES) {
        Some(room) => {
            CallableName { namespace: namespace.clone(), name: format!("{}{suffix}", cut(name, room)) }
        }
        None => CallableName {
            namespace: cut(namespace, MAX_NAME_BYTES - SUFFIX_BYTES).to_owned(),
            name: suffix.to_owned(),
        },
    }
}

/// Whether a name of this namespace may be a tool of a server with that one.
pub(crate) fn belongs_to(name_namespace: &str, namespace: &str) -> bool {
    name_namespace == namespace
        || (namespace.len() > MAX_NAME_BYTES - SUFFIX_BYTES
            && name_namespace == cut(namespace, MAX_NAME_BYTES - SUFFIX_BYTES))
}

/// The start of an ASCII text.
fn cut(text: &str, bytes: usize) -> &str {
    text.get(..bytes).unwrap_or(text)
}

/// Letters, digits and `_` alone, byte for character; empty becomes `_`.
pub(crate) fn sanitised(name: &str) -> String {
    if name.is_empty() {
        return "_".to_owned();
    }
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect()
}

fn suffix(identity: &str) -> String {
    format!("_{}", cut(&Sha1::from(identity).hexdigest(), HASH_DIGITS))
}

/// The one name that hooks know a tool by (core.md 5.3).
pub(crate) fn hook_name(name: &CallableName) -> String {
    let namespace = name.namespace.trim_end_matches('_');
    let tool = name.name.trim_start_matches('_');
    if namespace.starts_with(PREFIX) {
        format!("{namespace}{DELIMITER}{tool}")
    } else {
        format!("{PREFIX}{namespace}{DELIMITER}{tool}")
    }
}

#[cfg(test)]
#[path = "names_tests.rs"]
mod tests;
