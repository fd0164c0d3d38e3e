use pretty_assertions::assert_eq;

use super::super::tests::{function_payload, mcp_output, mcp_result};
use super::*;

/// A result whose JSON has exactly this many bytes.
fn result_of(bytes: usize) -> CallToolResult {
    let mut result = CallToolResult { content: vec![json!({"type": "text", "text": ""})], ..mcp_result() };
    let frame = serde_json::to_string(&result).unwrap().len();
    result.content = vec![json!({"type": "text", "text": "x".repeat(bytes - frame)})];
    result
}

#[test]
fn what_fits_is_shown_as_it_is() {
    let result = result_of(MCP_RESULT_CAP_BYTES);
    assert!(matches!(capped_mcp_result(&result), Cow::Borrowed(shown) if *shown == result));
}

#[test]
fn one_byte_too_many_becomes_a_preview() {
    let result = CallToolResult { is_error: Some(true), ..result_of(MCP_RESULT_CAP_BYTES - 14) };
    assert_eq!(serde_json::to_string(&result).unwrap().len(), MCP_RESULT_CAP_BYTES + 1);
    let shown = capped_mcp_result(&result);
    assert_eq!((&shown.structured_content, &shown.meta, shown.is_error), (&None, &None, Some(true)));
    let [block] = shown.content.as_slice() else { panic!("{} blocks", shown.content.len()) };
    let text = block["text"].as_str().unwrap();
    assert!(text.starts_with(r#"{"content":[{"type":"text","text":"xxx"#));
    assert!(text.contains(" chars truncated…"));
}

#[test]
fn a_preview_fits_even_when_every_character_is_escaped() {
    let quotes = CallToolResult {
        content: vec![json!({"type": "text", "text": "\"".repeat(2_000_000)})],
        ..mcp_result()
    };
    let shown = capped_mcp_result(&quotes);
    assert!(serde_json::to_string(shown.as_ref()).unwrap().len() <= MCP_RESULT_CAP_BYTES);
}

#[test]
fn hooks_get_the_capped_result() {
    let output = mcp_output(result_of(MCP_RESULT_CAP_BYTES + 1));
    let response = output.post_tool_use_response(&"c".into(), &function_payload()).unwrap();
    assert_eq!(response.get("structuredContent"), None);
    assert!(response.to_string().len() <= MCP_RESULT_CAP_BYTES);
}

#[test]
fn as_an_output_of_its_own_it_goes_whole() {
    let result = mcp_result();
    assert_eq!(
        result.to_response_item(&"c".into(), &function_payload()),
        ResponseInputItem::McpToolCallOutput { call_id: "c".into(), output: result.clone() }
    );
    assert_eq!(result.code_mode_result(&function_payload()).get("_meta"), None);
    assert_eq!(result.log_preview(), serde_json::to_string(&result).unwrap());
}
