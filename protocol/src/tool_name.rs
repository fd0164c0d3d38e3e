//! Names of tools, with and without a namespace (core.md 1.6).

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

/// The namespace of a name that has none of its own.
pub const DEFAULT_NAMESPACE: &str = "functions";

/// A tool's name and, if it has one, its namespace. Cheap to clone.
///
/// Absent, empty and [`DEFAULT_NAMESPACE`] mean the same namespace but are different values: compare names only after
/// [`with_default_namespace`](Self::with_default_namespace). [`Display`](fmt::Display) is what the model sees: the
/// bare name in the default namespace, otherwise `{namespace}.{name}`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ToolName {
    namespace: Option<Namespace>,
    name: Arc<str>,
}

/// A namespace. The default one is in nearly every name and shares no count with them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Namespace {
    Default,
    /// Never [`DEFAULT_NAMESPACE`].
    Named(Arc<str>),
}

impl Namespace {
    fn as_str(&self) -> &str {
        match self {
            Self::Default => DEFAULT_NAMESPACE,
            Self::Named(name) => name,
        }
    }
}

impl From<&str> for Namespace {
    fn from(namespace: &str) -> Self {
        if namespace == DEFAULT_NAMESPACE { Self::Default } else { Self::Named(namespace.into()) }
    }
}

impl ToolName {
    /// A name without a namespace.
    pub fn plain(name: impl Into<Arc<str>>) -> Self {
        Self { namespace: None, name: name.into() }
    }

    /// A name as it came, the namespace unchanged (even when empty).
    #[must_use]
    pub fn new(namespace: Option<&str>, name: &str) -> Self {
        Self { namespace: namespace.map(Namespace::from), name: name.into() }
    }

    /// The name inside its namespace.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The namespace as it was given.
    #[must_use]
    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_ref().map(Namespace::as_str)
    }

    /// The form registries are keyed by: an absent or empty namespace becomes [`DEFAULT_NAMESPACE`], any other stays.
    #[must_use]
    pub fn with_default_namespace(self) -> Self {
        match self.namespace() {
            None | Some("") => Self { namespace: Some(Namespace::Default), name: self.name },
            Some(_) => self,
        }
    }

    /// Whether the namespace is absent, empty or [`DEFAULT_NAMESPACE`].
    #[must_use]
    pub fn is_default_namespace(&self) -> bool {
        matches!(self.namespace(), None | Some("" | DEFAULT_NAMESPACE))
    }

    /// Namespace and name with nothing between, the default namespace dropped: for hook names of default function
    /// tools and search text, never shown to the model.
    #[must_use]
    pub fn flat_tool_name(&self) -> String {
        match self.shown_namespace() {
            Some(namespace) => format!("{namespace}{}", self.name),
            None => self.name.to_string(),
        }
    }

    fn sort_key(&self) -> &str {
        self.namespace().unwrap_or(&self.name)
    }

    fn shown_namespace(&self) -> Option<&str> {
        self.namespace().filter(|_| !self.is_default_namespace())
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.shown_namespace() {
            Some(namespace) => write!(f, "{namespace}.{}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// By namespace, or by name where there is none; then by name (core.md 1.6).
impl Ord for ToolName {
    fn cmp(&self, other: &Self) -> Ordering {
        self.sort_key()
            .cmp(other.sort_key())
            .then_with(|| self.name.cmp(&other.name))
            // `a` alone and `a` inside namespace `a` are two names: keep them apart, as Eq does.
            .then_with(|| self.namespace().cmp(&other.namespace()))
    }
}

impl PartialOrd for ToolName {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
#[path = "tool_name_tests.rs"]
mod tests;
