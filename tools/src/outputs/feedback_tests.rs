use pretty_assertions::assert_eq;
use serde_json::json;

use super::super::JsonToolOutput;
use super::super::tests::{custom_payload, exec_output, function_payload, payload_of};
use super::*;

#[test]
fn post_tool_use_feedback_output_keeps_code_mode_result_typed() {
    let typed = json!({"answer": 42, "nested": {"ok": true}});
    let output =
        PostToolUseFeedbackOutput::new(Box::new(JsonToolOutput::new(typed.clone())), "the hook objects");
    let direct = payload_of(output.to_response_item(&"c".into(), &function_payload()));
    assert_eq!(direct, tenon_protocol::FunctionCallOutputPayload::text("the hook objects"));
    assert_eq!(direct.success, None);
    assert_eq!(output.code_mode_result(&function_payload()), typed);
}

#[test]
fn all_but_the_models_view_is_the_originals() {
    let original = || JsonToolOutput { success: Some(false), ..JsonToolOutput::new(json!({"a": 1})) };
    let output = PostToolUseFeedbackOutput::new(Box::new(original().with_external_context()), "no");
    assert_eq!(output.log_preview(), original().log_preview());
    assert!(!output.success_for_logging());
    assert!(output.contains_external_context());
    let exec = crate::ExecCommandToolOutput { event_call_id: "first".into(), ..exec_output("x\n") };
    let output = PostToolUseFeedbackOutput::new(Box::new(exec.clone()), "no");
    let (id, payload) = ("later".into(), function_payload());
    assert_eq!(output.post_tool_use_id(&id), "first");
    assert_eq!(output.post_tool_use_input(&payload), exec.post_tool_use_input(&payload));
    assert_eq!(output.post_tool_use_response(&id, &payload), Some(json!("x\n")));
}

#[test]
fn the_feedback_follows_the_payload() {
    let output = PostToolUseFeedbackOutput::new(Box::new(crate::PlanToolOutput), "no");
    let item = output.to_response_item(&"c".into(), &custom_payload());
    assert!(matches!(item, ResponseInputItem::CustomToolCallOutput { .. }), "{item:?}");
    assert_eq!(
        format!("{output:?}"),
        "PostToolUseFeedbackOutput { original: \"Plan updated\", model_visible: FunctionToolOutput { body: \
         [InputText { text: \"no\" }], success: None, post_tool_use_response: None } }"
    );
}
