use pretty_assertions::assert_eq;
use serde_json::json;

use super::super::tests::{function_payload, mcp_output, mcp_result, payload_of};
use super::*;

fn model_view(output: &McpToolOutput) -> Value {
    let payload = payload_of(output.to_response_item(&"c".into(), &function_payload()));
    assert_eq!(payload.success, Some(output.success_for_logging()));
    serde_json::to_value(payload).unwrap()
}

fn result(content: Vec<Value>) -> CallToolResult {
    CallToolResult { content, ..CallToolResult::default() }
}

const HEADER: &str = "Wall time: 1.2500 seconds\nOutput:";

#[test]
fn mcp_tool_output_response_item_includes_wall_time() {
    let output = mcp_output(mcp_result());
    assert_eq!(model_view(&output), json!("Wall time: 1.2500 seconds\nOutput:\n{\"a\":1}"));
}

#[test]
fn mcp_tool_output_response_item_truncates_large_structured_content() {
    let large = CallToolResult {
        content: vec![json!({"type": "text", "text": "plain text that structured content replaces"})],
        structured_content: Some(json!({"rows": "x".repeat(1000)})),
        ..CallToolResult::default()
    };
    let output = McpToolOutput { truncation_policy: TruncationPolicy::Bytes(128), ..mcp_output(large) };
    let view = model_view(&output);
    let text = view.as_str().expect("a text");
    assert!(text.starts_with("Wall time: 1.2500 seconds\nOutput:\n{\"rows\":\""), "{text}");
    assert!(text.contains(" chars truncated…"), "{text}");
    assert!(!text.contains("plain text"), "{text}");
    // 1.2 times the policy, and the marker.
    assert_eq!(text.len(), 154 + "…893 chars truncated…".len());
}

#[test]
fn texts_stay_a_list_under_the_header() {
    let header = json!({"type": "input_text", "text": HEADER});
    assert_eq!(model_view(&mcp_output(result(Vec::new()))), json!([header]));
    let failed = mcp_output(CallToolResult::from_error_text("the disk is full"));
    assert_eq!(model_view(&failed), json!([header, {"type": "input_text", "text": "the disk is full"}]));
}

#[test]
fn an_empty_text_leaves_the_header_alone() {
    let empty = CallToolResult { structured_content: Some(json!("")), ..result(Vec::new()) };
    // The JSON of an empty text is two quotes: it is not empty.
    assert_eq!(model_view(&mcp_output(empty)), json!(format!("{HEADER}\n\"\"")));
    let mut body = FunctionCallOutputBody::Text(String::new());
    add_header(&mut body, HEADER.to_owned());
    assert_eq!(body, FunctionCallOutputBody::Text(HEADER.to_owned()));
}

#[test]
fn a_detail_that_the_model_does_not_know_is_lowered() {
    let image = |detail: &str| json!({"type": "image", "data": "AA", "mimeType": "image/png", "_meta": {"codex/imageDetail": detail}});
    let output = mcp_output(result(vec![image("original"), image("low")]));
    let details = |view: &Value| [view[1]["detail"].clone(), view[2]["detail"].clone()];
    assert_eq!(details(&model_view(&output)), [json!("original"), json!("low")]);
    let abilities = MediaAbilities { original_image_detail: false, ..MediaAbilities::ALL };
    assert_eq!(details(&model_view(&McpToolOutput { abilities, ..output })), [json!("high"), json!("low")]);
}

#[test]
fn a_big_image_is_never_cut() {
    let data = "A".repeat(2_000_000);
    let output = McpToolOutput {
        truncation_policy: TruncationPolicy::Bytes(10_000),
        ..mcp_output(result(vec![json!({"type": "image", "data": data, "mimeType": "image/png"})]))
    };
    let view = model_view(&output);
    assert_eq!(view[1]["image_url"], json!(format!("data:image/png;base64,{data}")));
}

#[test]
fn a_text_that_was_cut_here_is_cut_again_in_history() {
    let policy = TruncationPolicy::default();
    let output = mcp_output(result(vec![json!({"type": "text", "text": "x".repeat(200_000)})]));
    let first = payload_of(output.to_response_item(&"c".into(), &function_payload()));
    let second = truncate_payload(first, policy.scaled(SERIALISATION_ALLOWANCE));
    let text = second.to_string();
    assert!(text.contains("…7 tokens truncated…"), "{}", text.len());
}

#[test]
fn hooks_and_scripts_get_it_raw() {
    let output = McpToolOutput { truncation_policy: TruncationPolicy::Bytes(1), ..mcp_output(mcp_result()) };
    let (id, payload) = ("c".into(), function_payload());
    assert_eq!(output.post_tool_use_input(&payload), Some(json!({"kb": 1})));
    assert_eq!(
        output.post_tool_use_response(&id, &payload),
        Some(json!({
            "content": [{"type": "text", "text": "plain"}],
            "structuredContent": {"a": 1},
            "_meta": {"private": true},
        }))
    );
    assert_eq!(
        output.code_mode_result(&payload),
        json!({"content": [{"type": "text", "text": "plain"}], "structuredContent": {"a": 1}})
    );
}
