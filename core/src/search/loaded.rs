//! What searches have found so far.

use std::collections::BTreeSet;

use serde::Deserialize;
use tenon_protocol::{ItemKind, ResponseItem, ToolName};

/// The names of the tools that searches of a thread have returned, sorted. From the next request on they are listed
/// as loaded, and stay so when their search is compacted away (core.md 4.4).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LoadedTools(BTreeSet<ToolName>);

/// As much of a returned tool as is needed to know it again.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Returned {
    Function { name: String },
    Namespace { name: String, tools: Vec<InNamespace> },
}

#[derive(Deserialize)]
struct InNamespace {
    name: String,
}

impl LoadedTools {
    /// Takes note of what an item says, where it is the output of a search.
    pub fn note(&mut self, item: &ResponseItem) {
        let ItemKind::ToolSearchOutput(output) = item.kind() else { return };
        for tool in &output.tools {
            // What is no tool of ours is nothing that could be listed.
            match Returned::deserialize(tool) {
                Ok(Returned::Function { name }) => self.add(None, &name),
                Ok(Returned::Namespace { name, tools }) => {
                    tools.iter().for_each(|tool| self.add(Some(&name), &tool.name));
                }
                Err(_) => {}
            }
        }
    }

    /// The names, sorted and normalised.
    pub fn names(&self) -> impl Iterator<Item = &ToolName> {
        self.0.iter()
    }

    fn add(&mut self, namespace: Option<&str>, name: &str) {
        self.0.insert(ToolName::new(namespace, name).with_default_namespace());
    }
}

impl<'a> FromIterator<&'a ResponseItem> for LoadedTools {
    fn from_iter<T: IntoIterator<Item = &'a ResponseItem>>(items: T) -> Self {
        let mut loaded = Self::default();
        items.into_iter().for_each(|item| loaded.note(item));
        loaded
    }
}

#[cfg(test)]
#[path = "loaded_tests.rs"]
mod tests;
