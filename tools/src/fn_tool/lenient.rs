//! Repairs of arguments that nobody could misunderstand (cases.md G2, G3).

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::arguments::json_kind;
use crate::{AdditionalProperties, JsonSchema, PrimitiveType};

/// Arguments after their repair.
pub(super) struct Repaired {
    /// As JSON text.
    pub(super) arguments: String,
    /// What was repaired, for the operator.
    pub(super) notes: Vec<String>,
}

/// The arguments with strings unwrapped where the schema asks for something that they hold without loss. None where
/// there is nothing to repair, or where the text is no JSON, or names a member twice.
pub(super) fn repair(raw: &str, schema: &JsonSchema) -> Option<Repaired> {
    let Unambiguous(mut value) = serde_json::from_str(raw).ok()?;
    let mut notes = Vec::new();
    repair_value(&mut value, schema, "", &mut notes);
    (!notes.is_empty()).then(|| Repaired { arguments: value.to_string(), notes })
}

/// `place` is the path of the value, empty for the whole.
fn repair_value(value: &mut Value, schema: &JsonSchema, place: &str, notes: &mut Vec<String>) {
    if let Value::String(text) = value
        && let Some(meant) = unwrapped(text, schema)
    {
        let place = if place.is_empty() { "all arguments".to_owned() } else { format!("`{place}`") };
        notes.push(format!("{place} came as a string, read as {}", json_kind(&meant)));
        *value = meant;
    }
    match value {
        Value::Object(members) => repair_members(members, schema, place, notes),
        Value::Array(items) => {
            let Some(schema) = schema.items.as_deref() else { return };
            for (index, item) in items.iter_mut().enumerate() {
                repair_value(item, schema, &format!("{place}[{index}]"), notes);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn repair_members(
    members: &mut Map<String, Value>,
    schema: &JsonSchema,
    place: &str,
    notes: &mut Vec<String>,
) {
    for (name, member) in members.iter_mut() {
        let declared = schema.properties.as_ref().and_then(|properties| properties.get(name));
        let other = match &schema.additional_properties {
            Some(AdditionalProperties::Schema(schema)) => Some(schema.as_ref()),
            Some(AdditionalProperties::Allowed(_)) | None => None,
        };
        if let Some(schema) = declared.or(other) {
            let place = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
            repair_value(member, schema, &place, notes);
        }
    }
}

/// What a string holds, where the schema asks for that and not for a string.
fn unwrapped(text: &str, schema: &JsonSchema) -> Option<Value> {
    let types = schema.schema_type.as_ref()?;
    if types.includes(PrimitiveType::String) {
        return None;
    }
    let Unambiguous(value) = serde_json::from_str(text).ok()?;
    let wanted = match &value {
        Value::Object(_) => types.includes(PrimitiveType::Object),
        Value::Array(_) => types.includes(PrimitiveType::Array),
        Value::Bool(_) => types.includes(PrimitiveType::Boolean),
        Value::Number(number) => {
            let whole = number.is_i64() || number.is_u64();
            let fits =
                types.includes(PrimitiveType::Number) || (whole && types.includes(PrimitiveType::Integer));
            fits && is_same_number(number, text)
        }
        // The text "null" is no null.
        Value::Null | Value::String(_) => false,
    };
    wanted.then_some(value)
}

/// Whether every digit survives.
fn is_same_number(number: &Number, text: &str) -> bool {
    number.to_string() == text.trim_ascii()
}

/// JSON in which no object names a member twice: which of them is meant could not be told.
struct Unambiguous(Value);

impl<'de> Deserialize<'de> for Unambiguous {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UnambiguousVisitor).map(Self)
    }
}

struct UnambiguousVisitor;

impl<'de> Visitor<'de> for UnambiguousVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(Unambiguous(item)) = seq.next_element()? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some((name, Unambiguous(member))) = map.next_entry::<String, _>()? {
            if members.insert(name, member).is_some() {
                return Err(A::Error::custom("a member is named twice"));
            }
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
#[path = "lenient_tests.rs"]
mod tests;
