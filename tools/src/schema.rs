//! The part of JSON Schema that tools are described in (core.md 2.8).

mod compact;
mod mcp;
mod read;
mod walk;

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

pub use compact::MAX_SCHEMA_BYTES;
pub use mcp::{mcp_input_schema, mcp_output_schema};
pub use read::{MAX_SCHEMA_DEPTH, SchemaError};

/// A schema of the subset. Members are written in the order they stand here, properties sorted by name, `required` as
/// it was given; what is absent is not written. The default is `{}`, which allows anything.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct JsonSchema {
    /// The type or types a value may have.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub schema_type: Option<SchemaType>,
    /// What the value means, for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The only values there are.
    #[serde(rename = "enum", skip_serializing_if = "Option::is_none")]
    pub enum_values: Option<Vec<Value>>,
    /// What an array holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<Box<JsonSchema>>,
    /// The members of an object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub properties: Option<BTreeMap<String, JsonSchema>>,
    /// The members that must be there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required: Option<Vec<String>>,
    /// What other members may be.
    #[serde(rename = "additionalProperties", skip_serializing_if = "Option::is_none")]
    pub additional_properties: Option<AdditionalProperties>,
    /// At least one of these holds.
    #[serde(rename = "anyOf", skip_serializing_if = "Option::is_none")]
    pub any_of: Option<Vec<JsonSchema>>,
    /// Exactly one of these holds.
    #[serde(rename = "oneOf", skip_serializing_if = "Option::is_none")]
    pub one_of: Option<Vec<JsonSchema>>,
    /// All of these hold.
    #[serde(rename = "allOf", skip_serializing_if = "Option::is_none")]
    pub all_of: Option<Vec<JsonSchema>>,
    /// Another schema, by JSON pointer.
    #[serde(rename = "$ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Schemas for references.
    #[serde(rename = "$defs", skip_serializing_if = "Option::is_none")]
    pub defs: Option<BTreeMap<String, JsonSchema>>,
    /// The older name of `$defs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub definitions: Option<BTreeMap<String, JsonSchema>>,
}

/// `type`: one name or a list of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum SchemaType {
    /// One type.
    One(PrimitiveType),
    /// Any of these.
    Many(Vec<PrimitiveType>),
}

impl SchemaType {
    /// Whether a value may have this type.
    pub fn includes(&self, wanted: PrimitiveType) -> bool {
        match self {
            Self::One(only) => *only == wanted,
            Self::Many(several) => several.contains(&wanted),
        }
    }
}

/// The types of JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PrimitiveType {
    /// Text.
    String,
    /// Any number.
    Number,
    /// True or false.
    Boolean,
    /// A whole number.
    Integer,
    /// Named members.
    Object,
    /// A list.
    Array,
    /// Null.
    Null,
}

impl PrimitiveType {
    /// The type of this name; none for names that JSON Schema does not know.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "string" => Some(Self::String),
            "number" => Some(Self::Number),
            "boolean" => Some(Self::Boolean),
            "integer" => Some(Self::Integer),
            "object" => Some(Self::Object),
            "array" => Some(Self::Array),
            "null" => Some(Self::Null),
            _ => None,
        }
    }
}

/// `additionalProperties`: whether there may be other members, or what they must be.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum AdditionalProperties {
    /// They may be there or not.
    Allowed(bool),
    /// They must fit.
    Schema(Box<JsonSchema>),
}

/// Builders for the parameters of tools that are written by hand. An empty description writes none.
impl JsonSchema {
    /// An object with exactly these members; `required` in the order given.
    pub fn object<'a>(properties: impl IntoIterator<Item = (&'a str, Self)>, required: &[&str]) -> Self {
        let properties = properties.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
        let required = required.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        Self {
            properties: Some(properties),
            required: (!required.is_empty()).then_some(required),
            additional_properties: Some(AdditionalProperties::Allowed(false)),
            ..Self::of_type(PrimitiveType::Object)
        }
    }

    /// A text.
    pub fn string(description: &str) -> Self {
        Self::of_type(PrimitiveType::String).described(description)
    }

    /// One of these texts.
    pub fn string_enum(values: &[&str], description: &str) -> Self {
        let values = values.iter().map(|&value| Value::from(value)).collect();
        Self { enum_values: Some(values), ..Self::string(description) }
    }

    /// A number.
    pub fn number(description: &str) -> Self {
        Self::of_type(PrimitiveType::Number).described(description)
    }

    /// A whole number.
    pub fn integer(description: &str) -> Self {
        Self::of_type(PrimitiveType::Integer).described(description)
    }

    /// True or false.
    pub fn boolean(description: &str) -> Self {
        Self::of_type(PrimitiveType::Boolean).described(description)
    }

    /// A list.
    pub fn array(items: Self, description: &str) -> Self {
        Self { items: Some(Box::new(items)), ..Self::of_type(PrimitiveType::Array) }.described(description)
    }

    /// Anything of one type.
    pub fn of_type(primitive: PrimitiveType) -> Self {
        Self { schema_type: Some(SchemaType::One(primitive)), ..Self::default() }
    }

    /// The same with a description; an empty one is none.
    #[must_use]
    pub fn described(mut self, description: &str) -> Self {
        self.description = (!description.is_empty()).then(|| description.to_owned());
        self
    }
}

/// Readers of schemas that others wrote.
impl JsonSchema {
    /// Reads a schema as it stands, keeping what the subset knows and passing over the rest. A member that is not of
    /// the kind it should be counts as absent; what lies deeper than [`MAX_SCHEMA_DEPTH`] becomes `{}`.
    pub fn from_value(raw: &Value) -> Self {
        read::as_written(raw)
    }

    /// Reads the schema of a tool's input by the ten rules of core.md 2.8: every node gets a type where one can be
    /// told, objects have properties, arrays have items, unused definitions go.
    ///
    /// # Errors
    /// When it is no object, or its type is exactly null.
    pub fn sanitised(raw: &Value) -> Result<Self, SchemaError> {
        read::sanitised(raw)
    }

    /// The same without root definitions that no reference leads to.
    #[must_use]
    pub fn without_unused_definitions(mut self) -> Self {
        read::prune_definitions(&mut self);
        self
    }

    /// Makes the schema fit [`MAX_SCHEMA_BYTES`], losing first what is missed least: descriptions, then definitions,
    /// then deep objects, then alternatives. A schema that fits stays as it is; one that is still too long after all
    /// of that stays too long.
    #[must_use]
    pub fn compacted(self) -> Self {
        compact::compacted(self)
    }

    /// The parameters of a tool, from a schema that another wrote: [`sanitised`](Self::sanitised), then
    /// [`compacted`](Self::compacted).
    ///
    /// # Errors
    /// Those of [`sanitised`](Self::sanitised).
    pub fn tool_input(raw: &Value) -> Result<Self, SchemaError> {
        Ok(Self::sanitised(raw)?.compacted())
    }

    /// Whether alternatives decide what fits: `anyOf`, `oneOf` or `allOf`.
    pub fn has_composition(&self) -> bool {
        self.any_of.is_some() || self.one_of.is_some() || self.all_of.is_some()
    }
}

/// As [`from_value`](JsonSchema::from_value): any JSON is read.
impl<'de> Deserialize<'de> for JsonSchema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(|raw| Self::from_value(&raw))
    }
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
