use pretty_assertions::assert_eq;
use serde_json::json;

use super::super::tests::{custom_payload, function_payload, payload_of, search_payload};
use super::*;

fn image() -> FunctionCallOutputContentItem {
    FunctionCallOutputContentItem::InputImage {
        image_url: Some("data:x".to_owned()),
        file_id: None,
        detail: None,
    }
}

#[test]
fn custom_tool_calls_should_roundtrip_as_custom_outputs() {
    let output = FunctionToolOutput::from_text("patched", Some(true));
    assert_eq!(
        output.to_response_item(&"call-42".into(), &custom_payload()),
        ResponseInputItem::CustomToolCallOutput {
            call_id: "call-42".into(),
            name: None,
            output: FunctionCallOutputPayload::text("patched").with_success(true),
        }
    );
}

#[test]
fn function_payloads_remain_function_outputs() {
    let output = FunctionToolOutput::from_text("ok", Some(true));
    for payload in [function_payload(), search_payload()] {
        assert_eq!(
            output.to_response_item(&"fn-1".into(), &payload),
            ResponseInputItem::FunctionCallOutput {
                call_id: "fn-1".into(),
                output: FunctionCallOutputPayload::text("ok").with_success(true),
            }
        );
    }
}

#[test]
fn only_a_single_text_is_a_bare_string() {
    let text = FunctionCallOutputContentItem::text;
    let table = [
        (vec![text("one")], json!("one")),
        (vec![text("")], json!("")),
        (vec![], json!([])),
        (
            vec![text("a"), text("b")],
            json!([{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}]),
        ),
        (vec![image()], json!([{"type": "input_image", "image_url": "data:x"}])),
    ];
    for (items, expected) in table {
        let output = FunctionToolOutput::from_items(items, None);
        let item = output.to_response_item(&"c".into(), &function_payload());
        assert_eq!(serde_json::to_value(payload_of(item)).unwrap(), expected);
    }
}

#[test]
fn hooks_see_another_response_only_where_there_is_one() {
    let output = FunctionToolOutput::from_text("t", None);
    assert_eq!(output.post_tool_use_response(&"c".into(), &function_payload()), None);
    let output = output.with_post_tool_use_response(json!({"x": 1}));
    assert_eq!(output.post_tool_use_response(&"c".into(), &function_payload()), Some(json!({"x": 1})));
    assert_eq!(output.post_tool_use_input(&function_payload()), None);
}
