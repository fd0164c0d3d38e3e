//! JSON schemas as TypeScript (runtime.md C3.a), for the declarations that a model reads.
//!
//! A schema may come from anybody. Whatever it is, there is a type: `unknown` where nothing better can be said, and for
//! the whole where it would be longer than [`MAX_TYPE_BYTES`] or cost more work than [`MAX_WORK_BYTES`].
//!
//! ```text
//! typescript.rs   what a schema says, keyword by keyword
//! object.rs       members, their comments, and what other members may be
//! reference.rs    where a `$ref` leads, and how often
//! mcp.rs          results of MCP tools, which share their types
//! ```

mod mcp;
mod object;
mod reference;

use std::collections::HashSet;

use serde_json::{Map, Value};

pub(crate) use mcp::{SHARED_MCP_TYPES, is_mcp_result, mcp_result_type};
use reference::Target;

/// The longest type that is written out.
pub(crate) const MAX_TYPE_BYTES: usize = 16_000;
/// How much text may be made on the way to a type, that of its parts and of theirs counted each time it is joined.
pub(crate) const MAX_WORK_BYTES: usize = 64_000;
/// How deep a type may be nested. What lies deeper is `unknown`.
pub(crate) const MAX_TYPE_DEPTH: usize = 64;

/// What can be said of a value that nobody describes.
pub(crate) const UNKNOWN: &str = "unknown";

/// The type of the values that fit `schema`.
pub(crate) fn typescript(schema: &Value) -> String {
    typescript_below(schema, schema)
}

/// The type of a part of `root`, whose references are looked up there.
fn typescript_below(root: &Value, part: &Value) -> String {
    let mut writer = TypeWriter { root, work: 0, expansions: 0, open: Vec::new() };
    match writer.schema(part, Place::default()) {
        Ok(written) if written.text.len() <= MAX_TYPE_BYTES => written.text,
        Ok(_) | Err(TooMuch) => UNKNOWN.to_owned(),
    }
}

/// The type takes more work than it is worth.
#[derive(Debug)]
struct TooMuch;

/// A written type.
struct Type {
    text: String,
    /// Whether it wants parentheses beside `&`.
    is_union: bool,
}

impl Type {
    fn is_unknown(&self) -> bool {
        self.text == UNKNOWN
    }
}

/// Where a schema stands.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    depth: usize,
    /// How far the lines of an object are moved to the right, in steps.
    indent: usize,
    /// Whether references here are meant for another document, one with an `$id` of its own inside this one.
    is_foreign: bool,
}

impl Place {
    fn inside(self) -> Self {
        Self { depth: self.depth + 1, ..self }
    }
}

struct TypeWriter<'a> {
    root: &'a Value,
    work: usize,
    expansions: usize,
    /// The targets that are being expanded now, outermost first.
    open: Vec<&'a Value>,
}

impl<'a> TypeWriter<'a> {
    fn schema(&mut self, schema: &'a Value, at: Place) -> Result<Type, TooMuch> {
        match schema {
            Value::Object(node) if at.depth < MAX_TYPE_DEPTH => {
                let is_foreign = at.is_foreign || self.begins_another_document(schema);
                self.node(node, Place { is_foreign, ..at })
            }
            Value::Bool(false) => self.written("never"),
            Value::Object(_)
            | Value::Bool(true)
            | Value::Null
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => self.written(UNKNOWN),
        }
    }

    fn node(&mut self, node: &'a Map<String, Value>, at: Place) -> Result<Type, TooMuch> {
        let own = self.keywords(node, at)?;
        let Some(reference) = node.get("$ref").and_then(Value::as_str) else {
            return own.map_or_else(|| self.written(UNKNOWN), Ok);
        };
        let target = self.expand(reference, at)?;
        match own {
            Some(own) if target.is_unknown() => Ok(own),
            Some(own) if !own.is_unknown() => self.written(format!("({}) & ({})", target.text, own.text)),
            Some(_) | None => Ok(target),
        }
    }

    /// The type that a reference leads to.
    fn expand(&mut self, reference: &str, at: Place) -> Result<Type, TooMuch> {
        let Some(Target { schema, is_foreign }) = self.target(reference, at) else {
            return self.written(UNKNOWN);
        };
        self.expansions += 1;
        self.open.push(schema);
        let written = self.schema(schema, Place { is_foreign, ..at.inside() });
        self.open.pop();
        written
    }

    /// What the keywords of a schema say, the first that says something; `$ref` apart. None where none does.
    fn keywords(&mut self, node: &'a Map<String, Value>, at: Place) -> Result<Option<Type>, TooMuch> {
        if let Some(value) = node.get("const") {
            return self.written(value.to_string()).map(Some);
        }
        if let Some(values) = list(node, "enum") {
            let literals = values.iter().map(|value| self.written(value.to_string()));
            let literals = literals.collect::<Result<Vec<_>, _>>()?;
            return self.union(&literals).map(Some);
        }
        if let Some(variants) = list(node, "anyOf").or_else(|| list(node, "oneOf")) {
            let variants = self.each(variants, at)?;
            return self.union(&variants).map(Some);
        }
        if let Some(parts) = list(node, "allOf") {
            let parts = self.each(parts, at)?;
            return self.intersection(parts).map(Some);
        }
        if let Some(names) = list(node, "type") {
            let names = names.iter().filter_map(Value::as_str);
            let types = names.map(|name| self.of_type(name, node, at)).collect::<Result<Vec<_>, _>>()?;
            return if types.is_empty() { Ok(None) } else { self.union(&types).map(Some) };
        }
        if let Some(name) = node.get("type").and_then(Value::as_str) {
            return self.of_type(name, node, at).map(Some);
        }
        match implied_type(node) {
            Some(name) => self.of_type(name, node, at).map(Some),
            None => Ok(None),
        }
    }

    fn each(&mut self, schemas: &'a [Value], at: Place) -> Result<Vec<Type>, TooMuch> {
        schemas.iter().map(|schema| self.schema(schema, at.inside())).collect()
    }

    fn of_type(&mut self, name: &str, node: &'a Map<String, Value>, at: Place) -> Result<Type, TooMuch> {
        match name {
            "string" => self.written("string"),
            "number" | "integer" => self.written("number"),
            "boolean" => self.written("boolean"),
            "null" => self.written("null"),
            "array" => self.array(node, at),
            "object" => self.object(node, at),
            // A name that JSON Schema does not know says nothing.
            _ => self.written(UNKNOWN),
        }
    }

    fn array(&mut self, node: &'a Map<String, Value>, at: Place) -> Result<Type, TooMuch> {
        if let Some(items) = node.get("items") {
            let items = self.schema(items, at.inside())?;
            return self.written(format!("Array<{}>", items.text));
        }
        let Some(items) = list(node, "prefixItems") else {
            return self.written("unknown[]");
        };
        let items: Vec<String> = self.each(items, at)?.into_iter().map(|item| item.text).collect();
        self.written(format!("[{}]", items.join(", ")))
    }

    /// Any of these. What is said twice stands once.
    fn union(&mut self, types: &[Type]) -> Result<Type, TooMuch> {
        let mut seen = HashSet::new();
        let kept: Vec<&Type> = types.iter().filter(|one| seen.insert(one.text.as_str())).collect();
        let is_union = kept.len() > 1 || kept.iter().any(|one| one.is_union);
        let text = kept.iter().map(|one| one.text.as_str()).collect::<Vec<_>>().join(" | ");
        Ok(Type { is_union, ..self.written(text)? })
    }

    /// All of these at once.
    fn intersection(&mut self, types: Vec<Type>) -> Result<Type, TooMuch> {
        if types.len() < 2 {
            return types.into_iter().next().map_or_else(|| self.written(UNKNOWN), Ok);
        }
        let part = |one: Type| if one.is_union { format!("({})", one.text) } else { one.text };
        self.written(types.into_iter().map(part).collect::<Vec<_>>().join(" & "))
    }

    /// Accounts for a text that was made.
    fn written(&mut self, text: impl Into<String>) -> Result<Type, TooMuch> {
        let text = text.into();
        self.spend(text.len())?;
        Ok(Type { text, is_union: false })
    }

    fn spend(&mut self, bytes: usize) -> Result<(), TooMuch> {
        self.work = self.work.saturating_add(bytes);
        if self.work <= MAX_WORK_BYTES { Ok(()) } else { Err(TooMuch) }
    }
}

/// A list of at least one.
fn list<'a>(node: &'a Map<String, Value>, keyword: &str) -> Option<&'a [Value]> {
    node.get(keyword).and_then(Value::as_array).map(Vec::as_slice).filter(|list| !list.is_empty())
}

/// The type that keywords speak of where none is named.
fn implied_type(node: &Map<String, Value>) -> Option<&'static str> {
    let has_any = |keywords: &[&str]| keywords.iter().any(|keyword| node.contains_key(*keyword));
    if has_any(&["properties", "additionalProperties", "required"]) {
        Some("object")
    } else if has_any(&["items", "prefixItems"]) {
        Some("array")
    } else {
        None
    }
}

#[cfg(test)]
#[path = "typescript_tests.rs"]
mod tests;
