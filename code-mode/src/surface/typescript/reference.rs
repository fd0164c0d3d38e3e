//! `$ref`: a place in the same document, expanded where it stands.

use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::{Place, TypeWriter};

/// How often one target may be open at a time: a tree is shown two levels deep.
pub(crate) const MAX_NESTED_EXPANSIONS: usize = 2;
/// How many references of one schema are expanded.
pub(crate) const MAX_EXPANSIONS: usize = 32;

/// Where a reference leads.
pub(super) struct Target<'a> {
    pub(super) schema: &'a Value,
    /// Whether it stands in a document of its own inside this one.
    pub(super) is_foreign: bool,
}

impl<'a> TypeWriter<'a> {
    /// Where a reference at a place leads; none where it leads out of the document or nowhere, or may not be followed
    /// any more.
    pub(super) fn target(&self, reference: &str, at: Place) -> Option<Target<'a>> {
        if at.is_foreign || self.expansions >= MAX_EXPANSIONS {
            return None;
        }
        let target = self.locate(reference)?;
        let open = self.open.iter().filter(|open| std::ptr::eq(**open, target.schema)).count();
        (open < MAX_NESTED_EXPANSIONS).then_some(target)
    }

    fn locate(&self, reference: &str) -> Option<Target<'a>> {
        let pointer = percent_decode_str(reference.strip_prefix('#')?).decode_utf8().ok()?;
        let mut steps = pointer.split('/');
        // What stands before the first slash is a name, and not a pointer.
        if !steps.next().unwrap_or_default().is_empty() {
            return None;
        }
        let mut found = Target { schema: self.root, is_foreign: false };
        for step in steps {
            let step = step.replace("~1", "/").replace("~0", "~");
            found.schema = child(found.schema, &step)?;
            found.is_foreign |= self.begins_another_document(found.schema);
        }
        Some(found)
    }

    /// Whether references from here on are meant for this schema and not for the root.
    pub(super) fn begins_another_document(&self, schema: &Value) -> bool {
        !std::ptr::eq(schema, self.root) && schema.get("$id").is_some_and(Value::is_string)
    }
}

fn child<'a>(schema: &'a Value, step: &str) -> Option<&'a Value> {
    match schema {
        Value::Object(members) => members.get(step),
        Value::Array(entries) => entries.get(step.parse::<usize>().ok()?),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}
