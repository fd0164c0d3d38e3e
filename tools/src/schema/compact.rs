//! Making a schema shorter (core.md 2.8).

use super::{JsonSchema, PrimitiveType};

/// How long a tool's parameters may be, as compact JSON, before parts of them are dropped.
pub const MAX_SCHEMA_BYTES: usize = 4000;

/// From this depth on (the root is 0, a member of it 1) objects are no longer described when space is short.
const SHALLOW_DEPTH: usize = 3;

type Pass = fn(&mut JsonSchema);

/// In order of what is missed least.
const PASSES: [Pass; 4] = [strip_descriptions, drop_definitions, collapse_deep_objects, drop_composition];

pub(super) fn compacted(mut schema: JsonSchema) -> JsonSchema {
    for pass in PASSES {
        if fits(&schema) {
            break;
        }
        pass(&mut schema);
    }
    schema
}

fn fits(schema: &JsonSchema) -> bool {
    // A schema always has a JSON form: its maps have text for keys.
    serde_json::to_vec(schema).is_ok_and(|json| json.len() <= MAX_SCHEMA_BYTES)
}

fn strip_descriptions(schema: &mut JsonSchema) {
    schema.description = None;
    schema.for_each_child_mut(&mut |child| strip_descriptions(child));
}

/// With its definitions gone, a reference into this document says nothing.
fn drop_definitions(root: &mut JsonSchema) {
    root.defs = None;
    root.definitions = None;
    if is_local_reference(root) {
        root.reference = None;
    }
    root.for_each_child_mut(&mut |child| {
        if is_local_reference(child) {
            *child = JsonSchema::default();
        }
        drop_definitions(child);
    });
}

fn is_local_reference(schema: &JsonSchema) -> bool {
    schema.reference.as_deref().is_some_and(|reference| reference.starts_with('#'))
}

fn collapse_deep_objects(root: &mut JsonSchema) {
    collapse_below(root, 0);
}

fn collapse_below(schema: &mut JsonSchema, depth: usize) {
    schema.for_each_child_mut(&mut |child| {
        if depth + 1 >= SHALLOW_DEPTH && is_complex_object(child) {
            *child = JsonSchema::default();
        }
        collapse_below(child, depth + 1);
    });
}

/// An object whose members are described.
fn is_complex_object(schema: &JsonSchema) -> bool {
    let object = schema.schema_type.as_ref().is_some_and(|types| types.includes(PrimitiveType::Object));
    object || schema.properties.is_some() || schema.additional_properties.is_some()
}

/// The root only loses its alternatives: a tool whose parameters are `{}` could not be offered at all.
fn drop_composition(root: &mut JsonSchema) {
    root.any_of = None;
    root.one_of = None;
    root.all_of = None;
    root.for_each_child_mut(&mut |child| {
        if child.has_composition() {
            *child = JsonSchema::default();
        }
        drop_composition(child);
    });
}
