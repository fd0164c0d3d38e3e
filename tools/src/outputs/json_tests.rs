use pretty_assertions::assert_eq;
use serde_json::json;

use super::super::tests::{function_payload, payload_of};
use super::*;

#[test]
fn the_model_reads_compact_json_and_the_others_the_value() {
    let value = json!({"b": [1, 2.5, null], "a": "x"});
    let output = JsonToolOutput::new(value.clone());
    let item = output.to_response_item(&"c".into(), &function_payload());
    let expected = FunctionCallOutputPayload::text(r#"{"b":[1,2.5,null],"a":"x"}"#).with_success(true);
    assert_eq!(payload_of(item), expected);
    assert_eq!(output.post_tool_use_response(&"c".into(), &function_payload()), Some(value.clone()));
    assert_eq!(output.code_mode_result(&function_payload()), value);
    assert_eq!(output.log_preview(), r#"{"b":[1,2.5,null],"a":"x"}"#);
}

#[test]
fn the_builder_only_flips_the_flag() {
    let plain = JsonToolOutput::new(json!(1));
    let external = plain.clone().with_external_context();
    assert_eq!(external, JsonToolOutput { contains_external_context: true, ..plain });
}

#[test]
fn an_absent_success_counts_as_one() {
    let output = JsonToolOutput { success: None, ..JsonToolOutput::new(json!(1)) };
    assert!(output.success_for_logging());
    assert_eq!(payload_of(output.to_response_item(&"c".into(), &function_payload())).success, None);
}
