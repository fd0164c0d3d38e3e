use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;
use crate::output::FunctionCallOutputContentItem;

fn id() -> CallId {
    "c1".into()
}

/// Each kind: the item, its own JSON, the JSON of the item it becomes.
fn cases() -> Vec<(ResponseInputItem, Value, Value)> {
    let message = json!({
        "type": "message", "role": "developer", "content": [{"type": "input_text", "text": "t"}],
    });
    let phased = json!({"type": "message", "role": "assistant", "content": [], "phase": "commentary"});
    let function = json!({"type": "function_call_output", "call_id": "c1", "output": "t"});
    let mcp = json!({
        "type": "mcp_tool_call_output", "call_id": "c1",
        "output": {"content": [{"type": "text", "text": "t"}], "_meta": {"k": 1}},
    });
    let mcp_item = json!({
        "type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "t"}],
    });
    let custom = json!({"type": "custom_tool_call_output", "call_id": "c1", "output": "t"});
    let named = json!({"type": "custom_tool_call_output", "call_id": "c1", "name": "n", "output": []});
    let search = json!({
        "type": "tool_search_output", "call_id": "c1", "status": "completed", "execution": "client",
        "tools": [{"type": "function", "name": "f"}],
    });
    let text = || FunctionCallOutputPayload::text("t").with_success(true);
    vec![
        (
            ResponseInputItem::Message {
                role: "developer".into(),
                content: vec![ContentItem::InputText { text: "t".into() }],
                phase: None,
            },
            message.clone(),
            message,
        ),
        (
            ResponseInputItem::Message {
                role: "assistant".into(),
                content: Vec::new(),
                phase: Some(MessagePhase::Commentary),
            },
            phased.clone(),
            phased,
        ),
        (ResponseInputItem::FunctionCallOutput { call_id: id(), output: text() }, function.clone(), function),
        (
            ResponseInputItem::McpToolCallOutput {
                call_id: id(),
                output: CallToolResult {
                    content: vec![json!({"type": "text", "text": "t"})],
                    meta: Some(json!({"k": 1})),
                    ..Default::default()
                },
            },
            mcp,
            mcp_item,
        ),
        (
            ResponseInputItem::CustomToolCallOutput { call_id: id(), name: None, output: text() },
            custom.clone(),
            custom,
        ),
        (
            ResponseInputItem::CustomToolCallOutput {
                call_id: id(),
                name: Some("n".into()),
                output: FunctionCallOutputPayload::items(Vec::new()),
            },
            named.clone(),
            named,
        ),
        (
            ResponseInputItem::ToolSearchOutput {
                call_id: id(),
                status: "completed".into(),
                execution: "client".into(),
                tools: vec![json!({"type": "function", "name": "f"})],
            },
            search.clone(),
            search,
        ),
    ]
}

#[test]
fn is_written_and_becomes_an_item() {
    for (input, json, item_json) in cases() {
        assert_eq!(serde_json::to_value(&input).unwrap(), json);
        let item = ResponseItem::from(input);
        assert_eq!(serde_json::to_value(&item).unwrap(), item_json);
        assert_eq!(item.id(), None);
    }
}

#[test]
fn is_read_again_without_success() {
    for (_, json, _) in cases() {
        let read: ResponseInputItem = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(serde_json::to_value(&read).unwrap(), json);
    }
}

#[test]
fn only_outputs_are_output_items() {
    for (input, _, _) in cases() {
        let is_message = matches!(input, ResponseInputItem::Message { .. });
        let expected = (!is_message).then(|| ResponseItem::from(input.clone()));
        assert_eq!(input.output_item(), expected);
    }
}

#[test]
fn success_is_kept_in_memory() {
    let output = FunctionCallOutputPayload::text("t").with_success(false);
    let item = ResponseItem::from(ResponseInputItem::FunctionCallOutput { call_id: id(), output });
    assert!(matches!(item.kind(), ItemKind::FunctionCallOutput(o) if o.output.success == Some(false)));
}

#[test]
fn an_mcp_result_without_projection_keeps_all_media() {
    let output = CallToolResult {
        content: vec![json!({"type": "audio", "data": "QQ==", "mimeType": "audio/wav"})],
        ..Default::default()
    };
    let item = ResponseItem::from(ResponseInputItem::McpToolCallOutput { call_id: id(), output });
    let audio = FunctionCallOutputContentItem::InputAudio { audio_url: "data:audio/wav;base64,QQ==".into() };
    let expected = FunctionCallOutputPayload::items(vec![audio]).with_success(true);
    assert!(matches!(item.kind(), ItemKind::FunctionCallOutput(o) if o.output == expected));
}
