//! What holds for all outputs: the kind of the item, and that the projections keep apart. What one output does is
//! tested beside it.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use tenon_protocol::{CallToolResult, ImageDetail, MediaAbilities, SearchToolCallParams};

use super::*;
use crate::{FunctionSpec, JsonSchema, LoadableToolSpec, ToolOutput, TruncationPolicy};

pub(super) fn function_payload() -> ToolPayload {
    ToolPayload::Function { arguments: "{}".to_owned() }
}

pub(super) fn custom_payload() -> ToolPayload {
    ToolPayload::Custom { input: "text".to_owned() }
}

pub(super) fn search_payload() -> ToolPayload {
    ToolPayload::ToolSearch { arguments: SearchToolCallParams { query: "q".to_owned(), limit: None } }
}

/// The output of an item that is a function's or a custom call's.
pub(super) fn payload_of(item: ResponseInputItem) -> FunctionCallOutputPayload {
    match item {
        ResponseInputItem::FunctionCallOutput { output, .. }
        | ResponseInputItem::CustomToolCallOutput { output, .. } => output,
        other @ (ResponseInputItem::Message { .. }
        | ResponseInputItem::McpToolCallOutput { .. }
        | ResponseInputItem::ToolSearchOutput { .. }) => panic!("{other:?}"),
    }
}

pub(super) fn mcp_result() -> CallToolResult {
    CallToolResult {
        content: vec![json!({"type": "text", "text": "plain"})],
        structured_content: Some(json!({"a": 1})),
        is_error: None,
        meta: Some(json!({"private": true})),
    }
}

pub(super) fn mcp_output(result: CallToolResult) -> McpToolOutput {
    McpToolOutput {
        result,
        tool_input: json!({"kb": 1}),
        wall_time: std::time::Duration::from_millis(1250),
        abilities: MediaAbilities::ALL,
        truncation_policy: TruncationPolicy::default(),
    }
}

pub(super) fn exec_output(raw: &str) -> ExecCommandToolOutput {
    ExecCommandToolOutput {
        chunk_id: "abc123".to_owned(),
        wall_time: std::time::Duration::from_millis(1250),
        raw_output: raw.as_bytes().to_vec(),
        exit_code: Some(0),
        original_token_count: Some(raw.len().div_ceil(4)),
        hook_command: Some("echo x".to_owned()),
        ..ExecCommandToolOutput::default()
    }
}

fn searched() -> ToolSearchOutput {
    let function = FunctionSpec::new("f", "does f", JsonSchema::object([], &[])).deferred();
    ToolSearchOutput { tools: vec![LoadableToolSpec::Function(function)] }
}

/// The kinds of items.
#[derive(Debug, PartialEq)]
enum Kind {
    Function,
    Custom,
    Search,
    Mcp,
}

fn kind(item: &ResponseInputItem) -> Kind {
    match item {
        ResponseInputItem::FunctionCallOutput { .. } => Kind::Function,
        ResponseInputItem::CustomToolCallOutput { name, .. } => {
            assert_eq!(*name, None);
            Kind::Custom
        }
        ResponseInputItem::ToolSearchOutput { status, execution, .. } => {
            assert_eq!((status.as_str(), execution.as_str()), ("completed", "client"));
            Kind::Search
        }
        ResponseInputItem::McpToolCallOutput { .. } => Kind::Mcp,
        ResponseInputItem::Message { .. } => panic!("{item:?}"),
    }
}

fn call_id(item: &ResponseInputItem) -> &str {
    match item {
        ResponseInputItem::FunctionCallOutput { call_id, .. }
        | ResponseInputItem::CustomToolCallOutput { call_id, .. }
        | ResponseInputItem::ToolSearchOutput { call_id, .. }
        | ResponseInputItem::McpToolCallOutput { call_id, .. } => call_id.as_str(),
        ResponseInputItem::Message { .. } => panic!("{item:?}"),
    }
}

/// An output, with the kind it gives for a function, a custom and a search call, its success for the log, and whether
/// it carries text from outside.
type Row = (Box<dyn ToolOutput>, [Kind; 3], bool, bool);

fn every_output() -> Vec<Row> {
    use Kind::{Custom, Function, Mcp, Search};
    let follows = || [Function, Custom, Function];
    let always = || [Function, Function, Function];
    let failed = CallToolResult::from_error_text("no");
    let image =
        ViewImageOutput { image_url: "data:image/png;base64,AA".to_owned(), detail: ImageDetail::Original };
    let patch = ApplyPatchToolOutput { text: "done".to_owned() };
    let aborted = AbortedToolOutput { message: "aborted by user after 0.1s".to_owned() };
    let json = JsonToolOutput::new(json!({"a": 1}));
    let failed_json = JsonToolOutput { success: Some(false), ..json.clone() };
    let feedback =
        PostToolUseFeedbackOutput::new(Box::new(json.clone().with_external_context()), "hook says");
    let failing_exec = ExecCommandToolOutput { exit_code: Some(1), ..exec_output("x") };
    vec![
        (Box::new(FunctionToolOutput::from_text("t", None)), follows(), true, false),
        (Box::new(FunctionToolOutput::from_text("t", Some(false))), follows(), false, false),
        (Box::new(FunctionToolOutput::default()), follows(), true, false),
        (Box::new(json.clone()), follows(), true, false),
        (Box::new(failed_json), follows(), false, false),
        (Box::new(json.with_external_context()), follows(), true, true),
        (Box::new(mcp_output(mcp_result())), always(), true, false),
        (Box::new(mcp_output(failed.clone())), always(), false, false),
        (Box::new(searched()), [Search, Search, Search], true, false),
        (Box::new(ToolSearchOutput::default()), [Search, Search, Search], true, false),
        (Box::new(failing_exec), follows(), true, false),
        (Box::new(aborted), [Function, Custom, Search], false, false),
        (Box::new(patch), follows(), true, false),
        (Box::new(PlanToolOutput), always(), true, false),
        (Box::new(image), always(), true, false),
        (Box::new(failed), [Mcp, Mcp, Mcp], false, false),
        (Box::new(mcp_result()), [Mcp, Mcp, Mcp], true, false),
        (Box::new(feedback), follows(), true, true),
    ]
}

#[test]
fn every_output_answers_every_payload_in_its_kind() {
    for (index, (output, kinds, success, external)) in every_output().into_iter().enumerate() {
        for (payload, expected) in [function_payload(), custom_payload(), search_payload()].iter().zip(kinds)
        {
            let item = output.to_response_item(&"call-7".into(), payload);
            assert_eq!(kind(&item), expected, "output {index}, {payload:?}");
            assert_eq!(call_id(&item), "call-7");
        }
        assert_eq!(output.success_for_logging(), success, "output {index}");
        assert_eq!(output.contains_external_context(), external, "output {index}");
        assert_eq!(output.post_tool_use_id(&"call-7".into()), "call-7");
    }
}

#[test]
fn failures_answer_in_the_kind_of_the_payload() {
    let id = CallId::from("c");
    let failed = FunctionCallOutputPayload::text("why").with_success(false);
    assert_eq!(
        failure_response(&function_payload(), &id, "why"),
        ResponseInputItem::FunctionCallOutput { call_id: id.clone(), output: failed.clone() }
    );
    assert_eq!(
        failure_response(&custom_payload(), &id, "why"),
        ResponseInputItem::CustomToolCallOutput { call_id: id.clone(), name: None, output: failed }
    );
    let empty = failure_response(&search_payload(), &id, "why");
    assert_eq!(empty, search_item(&id, Vec::new()));
    assert_eq!(
        serde_json::to_value(&empty).unwrap(),
        json!({"type": "tool_search_output", "call_id": "c", "status": "completed", "execution": "client", "tools": []})
    );
}

#[test]
fn scripts_get_what_the_item_says_unless_the_output_knows_better() {
    let table: [(Box<dyn ToolOutput>, Value); 9] = [
        (Box::new(FunctionToolOutput::from_text("t\n", None)), json!("t\n")),
        (Box::new(JsonToolOutput::new(json!([1, "a"]))), json!([1, "a"])),
        (
            Box::new(mcp_output(mcp_result())),
            json!({"content": mcp_result().content, "structuredContent": {"a": 1}}),
        ),
        (Box::new(mcp_result()), json!({"content": mcp_result().content, "structuredContent": {"a": 1}})),
        (Box::new(ToolSearchOutput::default()), json!([])),
        (Box::new(AbortedToolOutput { message: "aborted".to_owned() }), json!("aborted")),
        (Box::new(ApplyPatchToolOutput { text: "done".to_owned() }), json!({})),
        (Box::new(PlanToolOutput), json!({})),
        (
            Box::new(ViewImageOutput { image_url: "data:x".to_owned(), detail: ImageDetail::High }),
            json!({"image_url": "data:x", "detail": "high"}),
        ),
    ];
    for (output, expected) in table {
        assert_eq!(output.code_mode_result(&function_payload()), expected);
    }
}

#[test]
fn success_in_the_item_is_a_matter_of_its_own() {
    let table: [(Box<dyn ToolOutput>, Option<bool>); 8] = [
        (Box::new(FunctionToolOutput::from_text("t", None)), None),
        (Box::new(FunctionToolOutput::from_text("t", Some(false))), Some(false)),
        (Box::new(JsonToolOutput::new(json!(1))), Some(true)),
        (Box::new(AbortedToolOutput { message: "aborted".to_owned() }), None),
        (Box::new(ExecCommandToolOutput { exit_code: Some(1), ..exec_output("x") }), Some(true)),
        (Box::new(mcp_output(CallToolResult::from_error_text("no"))), Some(false)),
        (Box::new(PlanToolOutput), Some(true)),
        (Box::new(ApplyPatchToolOutput { text: String::new() }), Some(true)),
    ];
    for (output, expected) in table {
        let item = output.to_response_item(&"c".into(), &function_payload());
        assert_eq!(payload_of(item).success, expected, "{}", output.log_preview());
    }
}

#[test]
fn previews_are_bounded() {
    let long = "x".repeat(5000);
    let mut outputs = every_output();
    outputs.push((
        Box::new(FunctionToolOutput::from_text(&long, None)),
        [Kind::Function, Kind::Custom, Kind::Function],
        true,
        false,
    ));
    outputs.push((Box::new(exec_output(&long)), [Kind::Function, Kind::Custom, Kind::Function], true, false));
    for (output, ..) in outputs {
        assert!(output.log_preview().len() <= 2048 + crate::TELEMETRY_PREVIEW_NOTICE.len());
    }
    assert_eq!(AbortedToolOutput { message: "aborted".to_owned() }.log_preview(), "aborted");
    assert_eq!(PlanToolOutput.log_preview(), "Plan updated");
    assert_eq!(FunctionToolOutput::default().log_preview(), "");
    assert_eq!(mcp_output(mcp_result()).log_preview(), r#"{"a":1}"#);
    assert_eq!(ToolSearchOutput::default().log_preview(), "[]");
    let image =
        ViewImageOutput { image_url: "data:image/png;base64,AA".to_owned(), detail: ImageDetail::High };
    assert_eq!(image.log_preview(), image.image_url);
}

#[test]
fn an_image_is_an_item() {
    let image =
        ViewImageOutput { image_url: "data:image/png;base64,AA".to_owned(), detail: ImageDetail::Original };
    let item = image.to_response_item(&"c".into(), &function_payload());
    assert_eq!(
        serde_json::to_value(payload_of(item)).unwrap(),
        json!([{"type": "input_image", "image_url": "data:image/png;base64,AA", "detail": "original"}])
    );
}

#[test]
fn a_search_returns_specs_as_they_are_written() {
    let item = searched().to_response_item(&"c".into(), &search_payload());
    let ResponseInputItem::ToolSearchOutput { tools, .. } = item else { panic!("{item:?}") };
    assert_eq!(tools.len(), 1);
    assert_eq!(
        tools[0].to_string(),
        r#"{"type":"function","name":"f","description":"does f","strict":false,"defer_loading":true,"parameters":{"type":"object","properties":{},"additionalProperties":false}}"#
    );
}
