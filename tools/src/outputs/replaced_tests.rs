use pretty_assertions::assert_eq;
use serde_json::json;
use tenon_protocol::CallToolResult;

use super::*;
use crate::{
    AbortedToolOutput, ExecCommandToolOutput, FunctionToolOutput, JsonToolOutput, McpToolOutput,
    TruncationPolicy,
};

const SECRET: &str = "TOKEN=EXAMPLE-0123456789abcdef";

fn function() -> ToolPayload {
    ToolPayload::Function { arguments: "{}".to_owned() }
}

/// What model, script and log see of a result, in this order.
fn seen(output: &dyn ToolOutput) -> (Value, Value, String) {
    let item = serde_json::to_value(output.to_response_item(&CallId::from("c"), &function())).expect("JSON");
    (item["output"].clone(), output.code_mode_result(&function()), output.log_preview())
}

#[test]
fn every_reader_sees_what_was_put_in_place() {
    let original = FunctionToolOutput::from_text(SECRET, None);
    let items = json!([{"type": "input_text", "text": "one"}, {"type": "input_text", "text": "two"}]);
    let rows = [
        (json!("hidden"), json!("hidden"), json!("hidden"), "hidden"),
        (items.clone(), items, json!("one\ntwo"), "one\ntwo"),
        (json!({"a": 1}), json!("{\"a\":1}"), json!({"a": 1}), "{\"a\":1}"),
        (json!([]), json!("[]"), json!([]), "[]"),
    ];
    for (updated, model, script, log) in rows {
        let replaced = ReplacedToolOutput::new(&original, updated);
        assert_eq!(seen(&replaced), (model, script, log.to_owned()));
        assert!(replaced.success_for_logging());
    }
}

#[test]
fn what_is_known_of_the_original_but_its_text_stays() {
    let aborted = AbortedToolOutput { message: SECRET.to_owned() };
    let replaced = ReplacedToolOutput::new(&aborted, json!("x"));
    assert!(!replaced.success_for_logging());
    let external = JsonToolOutput::new(json!(SECRET)).with_external_context();
    assert!(ReplacedToolOutput::new(&external, json!("x")).contains_external_context());
    assert!(!ReplacedToolOutput::new(&aborted, json!("x")).contains_external_context());
}

#[test]
fn a_command_keeps_its_header_and_loses_its_text() {
    let original = ExecCommandToolOutput {
        chunk_id: "abc123".to_owned(),
        raw_output: format!("{SECRET}\n").into_bytes(),
        exit_code: Some(3),
        original_token_count: Some(8),
        hook_command: Some("env".to_owned()),
        output_omitted_bytes: std::num::NonZeroU64::new(5),
        ..ExecCommandToolOutput::default()
    };
    let facts = original.response_facts();
    assert_eq!(facts.whole, Some(json!(format!("{SECRET}\n"))));
    assert_eq!((facts.exit_code, facts.unfinished), (Some(3), false));
    let running = ExecCommandToolOutput { process_id: Some(1), exit_code: None, ..original.clone() };
    assert!(running.response_facts().unfinished);
    let replaced = original.with_response(&json!("TOKEN=***\n")).expect("a form of its own");
    let (model, script, log) = seen(replaced.as_ref());
    let text = "Chunk ID: abc123\nWall time: 0.0000 seconds\nProcess exited with code 3\n\
                Original token count: 3\nOutput:\nTOKEN=***\n";
    assert_eq!(model, json!(text));
    assert_eq!(
        script,
        json!({"chunk_id": "abc123", "wall_time_seconds": 0.0, "exit_code": 3, "original_token_count": 3,
               "output": "TOKEN=***\n"})
    );
    assert!(!log.contains(SECRET));
}

#[test]
fn a_result_of_a_server_stays_one_and_an_error_an_error() {
    let original = McpToolOutput {
        result: CallToolResult {
            content: vec![json!({"type": "text", "text": SECRET})],
            structured_content: Some(json!({"token": SECRET})),
            is_error: Some(true),
            ..CallToolResult::default()
        },
        tool_input: json!({}),
        wall_time: std::time::Duration::ZERO,
        abilities: tenon_protocol::MediaAbilities::ALL,
        truncation_policy: TruncationPolicy::default(),
    };
    let rows = [
        (json!("plain"), json!({"content": [{"type": "text", "text": "plain"}], "isError": true})),
        (json!({"content": [], "isError": false}), json!({"content": [], "isError": true})),
        (json!({"a": 1}), json!({"content": [{"type": "text", "text": "{\"a\":1}"}], "isError": true})),
    ];
    for (updated, script) in rows {
        let replaced = original.with_response(&updated).expect("a form of its own");
        assert_eq!(replaced.code_mode_result(&function()), script);
        assert!(!replaced.success_for_logging());
        assert!(!seen(replaced.as_ref()).0.to_string().contains(SECRET));
    }
}
