use pretty_assertions::assert_eq;
use serde_json::json;
use tenon_protocol::CallId;

use super::*;

fn function(output: FunctionCallOutputPayload) -> ResponseInputItem {
    ResponseInputItem::FunctionCallOutput { call_id: CallId::from(""), output }
}

fn image(url: Option<&str>, file: Option<&str>) -> FunctionCallOutputContentItem {
    FunctionCallOutputContentItem::InputImage {
        image_url: url.map(str::to_owned),
        file_id: file.map(str::to_owned),
        detail: None,
    }
}

#[test]
fn text_is_a_string() {
    let output = FunctionCallOutputPayload::text("a\nb\n");
    assert_eq!(value_of(function(output.clone())), json!("a\nb\n"));
    let custom = ResponseInputItem::CustomToolCallOutput { call_id: "".into(), name: None, output };
    assert_eq!(value_of(custom), json!("a\nb\n"));
}

#[test]
fn items_are_one_string_of_what_can_be_shown() {
    let items = vec![
        FunctionCallOutputContentItem::text("one"),
        FunctionCallOutputContentItem::text(" \n"),
        image(Some("data:image/png;base64,AA"), None),
        image(None, Some("file-1")),
        image(Some(" "), None),
        FunctionCallOutputContentItem::EncryptedContent { encrypted_content: "secret".to_owned() },
        FunctionCallOutputContentItem::InputAudio { audio_url: "data:audio/wav;base64,BB".to_owned() },
        FunctionCallOutputContentItem::text("two"),
    ];
    assert_eq!(
        value_of(function(FunctionCallOutputPayload::items(items))),
        json!("one\ndata:image/png;base64,AA\nfile-1\ndata:audio/wav;base64,BB\ntwo")
    );
    assert_eq!(value_of(function(FunctionCallOutputPayload::items(Vec::new()))), json!(""));
}

#[test]
fn other_items() {
    let tools = vec![json!({"type": "function", "name": "f"})];
    let search = ResponseInputItem::ToolSearchOutput {
        call_id: "".into(),
        status: "completed".to_owned(),
        execution: "client".to_owned(),
        tools: tools.clone(),
    };
    assert_eq!(value_of(search), json!(tools));
    let result = CallToolResult { content: vec![json!({"type": "text", "text": "t"})], ..Default::default() };
    let mcp = ResponseInputItem::McpToolCallOutput { call_id: "".into(), output: result };
    assert_eq!(value_of(mcp), json!({"content": [{"type": "text", "text": "t"}]}));
    let message = ResponseInputItem::Message { role: "user".to_owned(), content: Vec::new(), phase: None };
    assert_eq!(value_of(message), Value::Null);
}
