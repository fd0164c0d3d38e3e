//! A struct's schema as the parameters of a tool.
//!
//! What schemars writes is right but roundabout for a model: references, formats, nulls for what may be absent, a list
//! of constants for an enum with documented variants. What comes out here is of the form that built-in tools have.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::JsonSchema;

/// How many references are replaced by what they stand for. Types that refer to each other many times over could grow
/// without end otherwise; what is left of them stays a reference.
const MAX_INLINED: usize = 1000;

/// The parameters of a tool that takes an `A`.
pub(super) fn parameters_of<A: schemars::JsonSchema>() -> JsonSchema {
    let root = schemars::SchemaGenerator::default().into_root_schema_for::<A>();
    parameters(root.to_value())
}

/// The parameters from what schemars wrote: an object without other members, each type in its place, recursive types
/// by reference.
fn parameters(root: Value) -> JsonSchema {
    let mut root = match root {
        Value::Object(root) => root,
        // The schema of a type that takes anything.
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
    };
    let mut definitions = match root.remove("$defs") {
        Some(Value::Object(table)) => table,
        Some(_) | None => Map::new(),
    };
    let recursive = recursive_names(&definitions);
    let kept: BTreeMap<_, _> =
        recursive.iter().filter_map(|name| Some((name.clone(), definitions.get(name)?.clone()))).collect();
    definitions.retain(|name, _| !recursive.contains(name));

    let mut inliner = Inliner { definitions: &definitions, left: MAX_INLINED };
    let mut simple = inliner.node(root, Members::Closed);
    let mut remaining: Map<_, _> = kept.into_iter().map(|(name, raw)| (name, inliner.schema(raw))).collect();
    if inliner.left == 0 {
        remaining.extend(definitions.clone());
    }
    simple.insert("type".to_owned(), json!("object"));
    simple.entry("properties").or_insert_with(|| json!({}));
    simple.insert("$defs".to_owned(), Value::Object(remaining));
    simple.remove("description");
    JsonSchema::from_value(&Value::Object(simple)).without_unused_definitions()
}

/// Whether an object schema may be closed against members that it does not name.
#[derive(Clone, Copy, PartialEq)]
enum Members {
    Closed,
    /// It is one part of a whole whose other parts name members too.
    Open,
}

struct Inliner<'a> {
    definitions: &'a Map<String, Value>,
    left: usize,
}

impl Inliner<'_> {
    fn schema(&mut self, raw: Value) -> Value {
        match raw {
            Value::Object(node) => Value::Object(self.node(node, Members::Closed)),
            // Anything goes.
            Value::Bool(_) => json!({}),
            other @ (Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_)) => other,
        }
    }

    fn node(&mut self, node: Map<String, Value>, members: Members) -> Map<String, Value> {
        let mut node = flattened_enum(self.resolved(node));
        self.properties(&mut node);
        for key in ["items", "additionalProperties"] {
            match node.get_mut(key) {
                // `additionalProperties: true` says what is so anyway.
                Some(Value::Bool(_)) if key == "additionalProperties" => {}
                Some(raw) => *raw = self.schema(raw.take()),
                None => {}
            }
        }
        // A tuple: the subset knows only lists of one kind.
        if let Some(Value::Array(tuple)) = node.remove("prefixItems") {
            let items = tuple.into_iter().map(|item| self.schema(item)).collect();
            node.insert("items".to_owned(), Value::Array(items));
        }
        let alone = !node.contains_key("properties") && members == Members::Closed;
        let has_alternatives =
            self.alternatives(&mut node, if alone { Members::Closed } else { Members::Open });
        if node.get("type").is_some_and(|name| name == "object") {
            node.entry("properties").or_insert_with(|| json!({}));
            if members == Members::Closed && !has_alternatives && !node.contains_key("additionalProperties") {
                node.insert("additionalProperties".to_owned(), json!(false));
            }
        }
        node
    }

    /// The node with what its reference stands for; what stands beside the reference wins.
    fn resolved(&mut self, mut node: Map<String, Value>) -> Map<String, Value> {
        while let Some(target) = self.target(&node) {
            self.left -= 1;
            node.remove("$ref");
            let mut whole = target;
            whole.extend(node);
            node = whole;
        }
        node
    }

    fn target(&self, node: &Map<String, Value>) -> Option<Map<String, Value>> {
        let name = definition_name(node.get("$ref")?.as_str()?)?;
        if self.left == 0 {
            return None;
        }
        self.definitions.get(name)?.as_object().cloned()
    }

    /// A member that may be absent needs no null.
    fn properties(&mut self, node: &mut Map<String, Value>) {
        let required: Vec<String> = node
            .get("required")
            .and_then(Value::as_array)
            .map(|names| names.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect())
            .unwrap_or_default();
        let Some(Value::Object(properties)) = node.get_mut("properties") else { return };
        for (name, raw) in properties.iter_mut() {
            let optional = !required.contains(name);
            let taken = raw.take();
            *raw = self.schema(if optional { without_null(taken) } else { taken });
        }
    }

    /// Tells whether there are any.
    fn alternatives(&mut self, node: &mut Map<String, Value>, members: Members) -> bool {
        let mut found = false;
        for key in ["anyOf", "oneOf", "allOf"] {
            let members = if key == "allOf" { Members::Open } else { members };
            let Some(Value::Array(list)) = node.get_mut(key) else { continue };
            found = true;
            for raw in list {
                *raw = match raw.take() {
                    Value::Object(branch) => Value::Object(self.node(branch, members)),
                    other @ (Value::Null
                    | Value::Bool(_)
                    | Value::Number(_)
                    | Value::String(_)
                    | Value::Array(_)) => self.schema(other),
                };
            }
        }
        found
    }
}

fn definition_name(reference: &str) -> Option<&str> {
    reference.strip_prefix("#/$defs/")
}

/// The definitions that come back to themselves.
fn recursive_names(definitions: &Map<String, Value>) -> BTreeSet<String> {
    let edges: BTreeMap<&str, BTreeSet<&str>> =
        definitions.iter().map(|(name, raw)| (name.as_str(), referenced(raw))).collect();
    let comes_back = |start: &str| {
        let mut seen = BTreeSet::new();
        let mut open: Vec<&str> = edges.get(start).into_iter().flatten().copied().collect();
        while let Some(name) = open.pop() {
            if name == start {
                return true;
            }
            if seen.insert(name) {
                open.extend(edges.get(name).into_iter().flatten());
            }
        }
        false
    };
    definitions.keys().filter(|name| comes_back(name)).cloned().collect()
}

fn referenced(raw: &Value) -> BTreeSet<&str> {
    match raw {
        Value::Object(node) => {
            let own = node.get("$ref").and_then(Value::as_str).and_then(definition_name);
            own.into_iter().chain(node.values().flat_map(referenced)).collect()
        }
        Value::Array(list) => list.iter().flat_map(referenced).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => BTreeSet::new(),
    }
}

/// The schema of what is there, where null would say that it is not.
fn without_null(raw: Value) -> Value {
    let Value::Object(mut node) = raw else { return raw };
    if let Some(Value::Array(types)) = node.get_mut("type") {
        types.retain(|name| name != "null");
    }
    if let Some(Value::Array(values)) = node.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    let Some(Value::Array(branches)) = node.get_mut("anyOf") else { return Value::Object(node) };
    branches.retain(|branch| branch.get("type").is_none_or(|name| name != "null"));
    if let [Value::Object(only)] = branches.as_slice() {
        let mut whole = only.clone();
        node.remove("anyOf");
        whole.extend(node);
        return Value::Object(whole);
    }
    Value::Object(node)
}

/// Alternatives that are all texts become one list of them; what is said of each is said of the whole.
fn flattened_enum(mut node: Map<String, Value>) -> Map<String, Value> {
    let Some(Value::Array(branches)) = node.get("oneOf") else { return node };
    let mut values = Vec::new();
    let mut lines: Vec<String> =
        node.get("description").and_then(Value::as_str).map(str::to_owned).into_iter().collect();
    for branch in branches {
        let Some(texts) = text_constants(branch) else { return node };
        if let Some(description) = branch.get("description").and_then(Value::as_str) {
            lines.extend(texts.iter().map(|text| format!("{text}: {description}")));
        }
        values.extend(texts);
    }
    node.remove("oneOf");
    node.insert("type".to_owned(), json!("string"));
    node.insert("enum".to_owned(), json!(values));
    if !lines.is_empty() {
        node.insert("description".to_owned(), json!(lines.join("\n")));
    }
    node
}

/// The texts that a branch allows, if it allows a few texts and nothing else.
fn text_constants(branch: &Value) -> Option<Vec<String>> {
    if let Some(constant) = branch.get("const") {
        return Some(vec![constant.as_str()?.to_owned()]);
    }
    branch.get("enum")?.as_array()?.iter().map(|value| value.as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
#[path = "parameters_tests.rs"]
mod tests;
