//! The schemas of MCP tools (core.md 2.8).

use serde_json::{Map, Value};

use super::{JsonSchema, PrimitiveType, SchemaError};

/// The parameters of an MCP tool from its `inputSchema`. Some servers leave `properties` out, or null, for a tool
/// without arguments.
///
/// # Errors
/// Those of [`JsonSchema::sanitised`].
pub fn mcp_input_schema(input_schema: &Value) -> Result<JsonSchema, SchemaError> {
    match input_schema.as_object() {
        Some(node) if node.get("properties").is_none_or(Value::is_null) => {
            let mut node = node.clone();
            node.insert("properties".to_owned(), Value::Object(Map::new()));
            JsonSchema::tool_input(&Value::Object(node))
        }
        Some(_) | None => JsonSchema::tool_input(input_schema),
    }
}

/// What a script gets of an MCP tool: the result object around the server's own `outputSchema`, whose definitions move
/// to the root, where its references look for them.
pub fn mcp_output_schema(output_schema: Option<&Value>) -> JsonSchema {
    let any_object = || JsonSchema::of_type(PrimitiveType::Object);
    let mut structured = output_schema.map(JsonSchema::from_value).unwrap_or_default();
    let (defs, definitions) = (structured.defs.take(), structured.definitions.take());
    let properties = [
        ("content", JsonSchema::array(any_object(), "")),
        ("structuredContent", structured),
        ("isError", JsonSchema::boolean("")),
        ("_meta", any_object()),
    ];
    JsonSchema { defs, definitions, ..JsonSchema::object(properties, &["content"]) }
}
