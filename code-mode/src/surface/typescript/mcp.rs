//! Results of MCP tools. They all have one shape, which is declared once (runtime.md C3.6).

use serde_json::Value;

use super::{UNKNOWN, typescript_below};

/// The declarations that [`mcp_result_type`] speaks of, after the schema of the protocol.
pub(crate) const SHARED_MCP_TYPES: &str = include_str!("mcp_types.ts");

/// Whether this is the result of an MCP tool: a list of content, and the marks around it.
pub(crate) fn is_mcp_result(schema: &Value) -> bool {
    let content = member(schema, "content");
    has_type(content, "array")
        && has_type(content.and_then(|content| content.get("items")), "object")
        && has_type(member(schema, "isError"), "boolean")
        && has_type(member(schema, "_meta"), "object")
}

/// The result's type, with that of its structured content where something is known of it.
pub(crate) fn mcp_result_type(schema: &Value) -> String {
    let structured = member(schema, "structuredContent").map(|content| typescript_below(schema, content));
    match structured.as_deref() {
        None | Some(UNKNOWN) => "CallToolResult".to_owned(),
        Some(structured) => format!("CallToolResult<{structured}>"),
    }
}

fn member<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    schema.get("properties")?.get(name)
}

fn has_type(schema: Option<&Value>, name: &str) -> bool {
    schema.and_then(|schema| schema.get("type")).and_then(Value::as_str) == Some(name)
}
