//! Reading schemas that others wrote, plainly or by the rules of core.md 2.8.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::{AdditionalProperties, JsonSchema, PrimitiveType, SchemaType};
use crate::arguments::json_kind;

/// How many schemas may lie inside each other; deeper ones are read as `{}`. JSON text that serde_json reads never
/// gets there, a value that was built may.
pub const MAX_SCHEMA_DEPTH: usize = 128;

/// Keywords that only numbers have.
const NUMBER_KEYWORDS: [&str; 5] =
    ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];

/// Why a schema cannot describe a tool's input.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// Its type is exactly null: no arguments would fit.
    #[error("tool input schema must not be a singleton null type")]
    NullRoot,
    /// It is no schema at all.
    #[error("tool input schema must be a JSON object, got {found}")]
    NoObject {
        /// What it is, with its article.
        found: &'static str,
    },
}

/// Keeps what the subset knows.
pub(super) fn as_written(raw: &Value) -> JsonSchema {
    Reader { rules: false }.schema(raw, 0)
}

/// Applies the rules.
pub(super) fn sanitised(raw: &Value) -> Result<JsonSchema, SchemaError> {
    if !raw.is_object() && !raw.is_boolean() {
        return Err(SchemaError::NoObject { found: json_kind(raw) });
    }
    let mut schema = Reader { rules: true }.schema(raw, 0);
    if schema.schema_type == Some(SchemaType::One(PrimitiveType::Null)) {
        return Err(SchemaError::NullRoot);
    }
    prune_definitions(&mut schema);
    Ok(schema)
}

struct Reader {
    /// Whether types are told and gaps are filled, or the schema is taken as it stands.
    rules: bool,
}

impl Reader {
    fn schema(&self, raw: &Value, depth: usize) -> JsonSchema {
        match raw {
            Value::Object(node) if depth < MAX_SCHEMA_DEPTH => {
                let schema = self.members(node, depth + 1);
                if self.rules { typed(schema, node) } else { schema }
            }
            Value::Bool(_) if self.rules => JsonSchema::of_type(PrimitiveType::String),
            Value::Object(_)
            | Value::Bool(_)
            | Value::Null
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => JsonSchema::default(),
        }
    }

    fn members(&self, node: &Map<String, Value>, depth: usize) -> JsonSchema {
        JsonSchema {
            schema_type: node.get("type").and_then(schema_type),
            description: text(node, "description"),
            enum_values: enum_values(node),
            items: node.get("items").and_then(|items| self.items(items, depth)).map(Box::new),
            properties: self.table(node, "properties", depth),
            required: node.get("required").and_then(Value::as_array).map(|names| strings(names)),
            additional_properties: self.additional_properties(node, depth),
            any_of: self.list(node, "anyOf", depth),
            one_of: self.list(node, "oneOf", depth),
            all_of: self.list(node, "allOf", depth),
            reference: text(node, "$ref"),
            defs: self.table(node, "$defs", depth),
            definitions: self.table(node, "definitions", depth),
        }
    }

    /// A list of schemas (the older form of a tuple) becomes "any of these", which is as near as the subset comes.
    fn items(&self, items: &Value, depth: usize) -> Option<JsonSchema> {
        match items {
            Value::Object(_) | Value::Bool(_) => Some(self.schema(items, depth)),
            Value::Array(tuple) => {
                let mut any_of: Vec<_> = tuple.iter().map(|item| self.schema(item, depth)).collect();
                match any_of.len() {
                    0 => None,
                    1 => any_of.pop(),
                    _ => Some(JsonSchema { any_of: Some(any_of), ..JsonSchema::default() }),
                }
            }
            Value::Null | Value::Number(_) | Value::String(_) => None,
        }
    }

    fn additional_properties(&self, node: &Map<String, Value>, depth: usize) -> Option<AdditionalProperties> {
        match node.get("additionalProperties")? {
            Value::Bool(allowed) => Some(AdditionalProperties::Allowed(*allowed)),
            schema @ Value::Object(_) => {
                Some(AdditionalProperties::Schema(Box::new(self.schema(schema, depth))))
            }
            Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => None,
        }
    }

    fn table(
        &self,
        node: &Map<String, Value>,
        key: &str,
        depth: usize,
    ) -> Option<BTreeMap<String, JsonSchema>> {
        let table = node.get(key)?.as_object()?;
        Some(table.iter().map(|(name, raw)| (name.clone(), self.schema(raw, depth))).collect())
    }

    fn list(&self, node: &Map<String, Value>, key: &str, depth: usize) -> Option<Vec<JsonSchema>> {
        Some(node.get(key)?.as_array()?.iter().map(|raw| self.schema(raw, depth)).collect())
    }
}

/// Rules 6 to 8: a type where one can be told, and what that type needs. `node` is the schema as it came, since
/// keywords that are not kept tell its type too.
fn typed(mut schema: JsonSchema, node: &Map<String, Value>) -> JsonSchema {
    if schema.schema_type.is_none() {
        if schema.has_composition() || schema.reference.is_some() {
            return schema;
        }
        let Some(inferred) = inferred_type(node) else { return JsonSchema::default() };
        schema.schema_type = Some(SchemaType::One(inferred));
    }
    let includes = |wanted| schema.schema_type.as_ref().is_some_and(|types| types.includes(wanted));
    let (object, array) = (includes(PrimitiveType::Object), includes(PrimitiveType::Array));
    if object && schema.properties.is_none() {
        schema.properties = Some(BTreeMap::new());
    }
    if array && schema.items.is_none() {
        schema.items = Some(Box::new(JsonSchema::of_type(PrimitiveType::String)));
    }
    schema
}

fn inferred_type(node: &Map<String, Value>) -> Option<PrimitiveType> {
    let has = |keys: &[&str]| keys.iter().any(|key| node.contains_key(*key));
    if has(&["properties", "required", "additionalProperties"]) {
        Some(PrimitiveType::Object)
    } else if has(&["items", "prefixItems"]) {
        Some(PrimitiveType::Array)
    } else if has(&["enum", "const", "format"]) {
        Some(PrimitiveType::String)
    } else if has(&NUMBER_KEYWORDS) {
        Some(PrimitiveType::Number)
    } else {
        None
    }
}

fn schema_type(raw: &Value) -> Option<SchemaType> {
    match raw {
        Value::String(name) => PrimitiveType::from_name(name).map(SchemaType::One),
        Value::Array(names) => {
            let known: Vec<_> =
                names.iter().filter_map(Value::as_str).filter_map(PrimitiveType::from_name).collect();
            match known.as_slice() {
                [] => None,
                [only] => Some(SchemaType::One(*only)),
                [_, _, ..] => Some(SchemaType::Many(known)),
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

/// A constant is an enumeration of one, whatever else stands there.
fn enum_values(node: &Map<String, Value>) -> Option<Vec<Value>> {
    match node.get("const") {
        Some(constant) => Some(vec![constant.clone()]),
        None => node.get("enum")?.as_array().cloned(),
    }
}

fn text(node: &Map<String, Value>, key: &str) -> Option<String> {
    node.get(key)?.as_str().map(str::to_owned)
}

fn strings(values: &[Value]) -> Vec<String> {
    values.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Rule 9: definitions that nothing refers to, directly or through others, go.
pub(super) fn prune_definitions(root: &mut JsonSchema) {
    let mut defs = root.defs.take().unwrap_or_default();
    let mut definitions = root.definitions.take().unwrap_or_default();
    let (mut kept_defs, mut kept_definitions) = (BTreeMap::new(), BTreeMap::new());
    let mut wanted = references(root);
    while let Some(reference) = wanted.pop_first() {
        let found = match reference {
            Target::Defs(name) => defs.remove_entry(&name).map(|entry| (entry, &mut kept_defs)),
            Target::Definitions(name) => {
                definitions.remove_entry(&name).map(|entry| (entry, &mut kept_definitions))
            }
        };
        if let Some(((name, schema), kept)) = found {
            wanted.extend(references(&schema));
            kept.insert(name, schema);
        }
    }
    root.defs = (!kept_defs.is_empty()).then_some(kept_defs);
    root.definitions = (!kept_definitions.is_empty()).then_some(kept_definitions);
}

/// A definition of the root that a `$ref` names.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    Defs(String),
    Definitions(String),
}

fn references(schema: &JsonSchema) -> BTreeSet<Target> {
    let mut found = BTreeSet::new();
    schema.visit(&mut |node| found.extend(node.reference.as_deref().and_then(target)));
    found
}

/// `#/$defs/X`, and anything below it, names X.
fn target(reference: &str) -> Option<Target> {
    let name = |rest: &str| rest.split('/').next().unwrap_or(rest).replace("~1", "/").replace("~0", "~");
    if let Some(rest) = reference.strip_prefix("#/$defs/") {
        return Some(Target::Defs(name(rest)));
    }
    reference.strip_prefix("#/definitions/").map(|rest| Target::Definitions(name(rest)))
}
