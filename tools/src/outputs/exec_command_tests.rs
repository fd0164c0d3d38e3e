use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::super::tests::{exec_output, function_payload, payload_of};
use super::*;
use crate::truncate_payload;

fn model_text(output: &ExecCommandToolOutput) -> String {
    let payload = payload_of(output.to_response_item(&"c".into(), &function_payload()));
    assert_eq!(payload.success, Some(true));
    match payload.body {
        tenon_protocol::FunctionCallOutputBody::Text(text) => text,
        other @ tenon_protocol::FunctionCallOutputBody::ContentItems(_) => panic!("{other:?}"),
    }
}

#[test]
fn the_layout_of_a_finished_command() {
    let output = ExecCommandToolOutput { original_token_count: Some(10), ..exec_output("body\n") };
    assert_eq!(
        model_text(&output),
        "Chunk ID: abc123\nWall time: 1.2500 seconds\nProcess exited with code 0\nOriginal token count: 10\nOutput:\nbody\n"
    );
}

#[test]
fn the_layout_of_a_running_command() {
    let output = ExecCommandToolOutput {
        chunk_id: String::new(),
        exit_code: None,
        process_id: Some(1000),
        ..exec_output("")
    };
    assert_eq!(
        model_text(&output),
        "Wall time: 1.2500 seconds\nProcess running with session ID 1000\nOriginal token count: 0\nOutput:\n"
    );
}

#[test]
fn exec_command_tool_output_formats_truncated_response() {
    let body = "this is an example of a long output that should be truncated\nalso some other line";
    let output =
        ExecCommandToolOutput { exit_code: Some(3), max_output_tokens: Some(10), ..exec_output(body) };
    assert_eq!(
        model_text(&output),
        "Chunk ID: abc123\nWall time: 1.2500 seconds\nProcess exited with code 3\nOriginal token count: 21\nOutput:\n\
         Warning: truncated output (original token count: 21)\nTotal output lines: 2\n\n\
         this is an example o…11 tokens truncated…also some other line"
    );
}

#[test]
fn a_bound_of_nothing_leaves_the_marker() {
    let output = ExecCommandToolOutput { max_output_tokens: Some(0), ..exec_output("zero\n") };
    let text = model_text(&output);
    assert!(
        text.ends_with(
            "Output:\nWarning: truncated output (original token count: 2)\nTotal output lines: 1\n\n…2 tokens truncated…"
        ),
        "{text}"
    );
}

#[test]
fn the_smaller_of_both_bounds_holds_and_the_default_is_ten_thousand_tokens() {
    let body = "x".repeat(50_000);
    let shown = |asked, policy| {
        let output = ExecCommandToolOutput {
            max_output_tokens: asked,
            truncation_policy: policy,
            ..exec_output(&body)
        };
        model_text(&output).matches('x').count() - 1 // the one of "exited"
    };
    let wide = TruncationPolicy::Tokens(100_000);
    assert_eq!(shown(None, wide), DEFAULT_MAX_OUTPUT_TOKENS * 4);
    assert_eq!(shown(Some(100), wide), 400);
    assert_eq!(shown(Some(100_000), wide), 50_000);
    assert_eq!(shown(Some(20_000), TruncationPolicy::Tokens(500)), 2000);
    assert_eq!(shown(None, TruncationPolicy::default()), 40_000);
    let bytes =
        ExecCommandToolOutput { truncation_policy: TruncationPolicy::Bytes(5000), ..exec_output(&body) };
    assert!(model_text(&bytes).contains("…45000 chars truncated…"));
}

#[test]
fn a_loss_in_the_buffer_is_told() {
    let omitted_bytes = NonZeroU64::new(7);
    let captured = exec_output("head\n... 7 bytes omitted ...\ntail");
    let output = ExecCommandToolOutput {
        output_omitted_bytes: omitted_bytes,
        original_token_count: Some(11),
        ..captured
    };
    assert!(model_text(&output).ends_with("Output:\nhead\n... 7 bytes omitted ...\ntail"));
    let cut = ExecCommandToolOutput { max_output_tokens: Some(2), ..output };
    assert!(
        model_text(&cut).ends_with(
            "Output:\nWarning: truncated output (original token count: 11)\n... 7 bytes omitted ...\n\n\
             head…7 tokens truncated…tail"
        ),
        "{}",
        model_text(&cut)
    );
}

#[test]
fn bytes_are_decoded_leniently_and_line_ends_kept() {
    let output = ExecCommandToolOutput { raw_output: b"a\xff\xfeb\r\n\0".to_vec(), ..exec_output("") };
    assert!(model_text(&output).ends_with("Output:\na\u{fffd}\u{fffd}b\r\n\0"));
}

#[test]
fn hooks_hear_of_the_original_call_and_only_of_its_end() {
    let (id, payload) = ("poll".into(), function_payload());
    let output = exec_output("x\n");
    assert_eq!(output.post_tool_use_id(&id), "poll");
    assert_eq!(output.post_tool_use_input(&payload), Some(json!({"command": "echo x"})));
    assert_eq!(output.post_tool_use_response(&id, &payload), Some(json!("x\n")));

    let polled = ExecCommandToolOutput { event_call_id: "start".into(), ..output.clone() };
    assert_eq!(polled.post_tool_use_id(&id), "start");
    let running = ExecCommandToolOutput { process_id: Some(1), exit_code: None, ..output.clone() };
    assert_eq!(running.post_tool_use_response(&id, &payload), None);
    let silent = ExecCommandToolOutput { hook_command: None, ..output.clone() };
    assert_eq!(silent.post_tool_use_response(&id, &payload), None);
    assert_eq!(silent.post_tool_use_input(&payload), None);
    let failed = ExecCommandToolOutput { exit_code: Some(1), ..output };
    assert_eq!(failed.post_tool_use_response(&id, &payload), Some(json!("x\n")));
}

#[test]
fn hooks_get_the_bounded_output_without_the_header() {
    let output = ExecCommandToolOutput { max_output_tokens: Some(1), ..exec_output("example output") };
    let response = output.post_tool_use_response(&"c".into(), &function_payload());
    let expected = "Warning: truncated output (original token count: 4)\nTotal output lines: 1\n\nex…3 tokens truncated…ut";
    assert_eq!(response, Some(json!(expected)));
}

#[test]
fn scripts_get_an_object_with_all_of_it() {
    let body = "y".repeat(100_000);
    let output =
        ExecCommandToolOutput { truncation_policy: TruncationPolicy::Bytes(10), ..exec_output(&body) };
    let value = output.code_mode_result(&function_payload());
    assert_eq!(
        value.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["chunk_id", "wall_time_seconds", "exit_code", "original_token_count", "output"]
    );
    assert_eq!((&value["wall_time_seconds"], &value["output"]), (&json!(1.25), &json!(body)));

    let running = ExecCommandToolOutput {
        chunk_id: String::new(),
        exit_code: None,
        process_id: Some(4711),
        original_token_count: None,
        max_output_tokens: Some(1),
        ..exec_output("example output")
    };
    assert_eq!(
        running.code_mode_result(&function_payload()),
        json!({
            "wall_time_seconds": 1.25,
            "session_id": 4711,
            "output": "Warning: truncated output (original token count: 4)\nTotal output lines: 1\n\n\
                       ex…3 tokens truncated…ut",
        })
    );
}

#[test]
fn a_tiny_policy_ends_at_the_empty_budget() {
    let output = ExecCommandToolOutput {
        truncation_policy: TruncationPolicy::Bytes(50),
        ..exec_output("some output")
    };
    assert!(model_text(&output).ends_with("\n\n…11 chars truncated…"), "{}", model_text(&output));
}

/// Large enough for header, warning and marker: what is left at an empty budget.
fn policies() -> impl Strategy<Value = TruncationPolicy> {
    prop_oneof![
        (300usize..4000).prop_map(TruncationPolicy::Bytes),
        (75usize..1000).prop_map(TruncationPolicy::Tokens)
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// What is bounded here is not cut again when it is recorded.
    #[test]
    fn the_history_cut_finds_nothing_to_cut(
        body in "([a-zé😀 ]{0,40}\n){0,150}",
        policy in policies(),
        asked in prop::option::of(0usize..2000),
        omitted in prop::option::of(1u64..1_000_000),
    ) {
        let output = ExecCommandToolOutput {
            truncation_policy: policy,
            max_output_tokens: asked,
            output_omitted_bytes: omitted.and_then(NonZeroU64::new),
            ..exec_output(&body)
        };
        let text = model_text(&output);
        let recorded = truncate_payload(FunctionCallOutputPayload::text(&text), policy.scaled(SERIALISATION_ALLOWANCE));
        prop_assert_eq!(recorded, FunctionCallOutputPayload::text(&text));
    }
}
