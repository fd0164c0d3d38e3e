use pretty_assertions::assert_eq;
use serde_json::json;

use super::super::tests::{custom_payload, payload_of};
use super::*;

#[test]
fn each_reader_gets_its_own_view() {
    let output = ApplyPatchToolOutput { text: "Exit code: 0\n".to_owned() };
    let item = output.to_response_item(&"c".into(), &custom_payload());
    assert!(matches!(item, ResponseInputItem::CustomToolCallOutput { name: None, .. }), "{item:?}");
    assert_eq!(payload_of(item), FunctionCallOutputPayload::text("Exit code: 0\n").with_success(true));
    assert_eq!(output.post_tool_use_response(&"c".into(), &custom_payload()), Some(json!("Exit code: 0\n")));
    assert_eq!(output.code_mode_result(&custom_payload()), json!({}));
}

#[test]
fn the_layout_rounds_seconds_and_counts_lines_only_when_some_are_gone() {
    let layout = |millis, output, policy| freeform_layout(0, Duration::from_millis(millis), output, policy);
    let roomy = TruncationPolicy::default();
    assert_eq!(
        layout(20, "Success.\nM a.txt\n", roomy),
        "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.\nM a.txt\n"
    );
    assert_eq!(layout(50, "", roomy), "Exit code: 0\nWall time: 0.1 seconds\nOutput:\n");
    assert_eq!(layout(2340, "x", roomy), "Exit code: 0\nWall time: 2.3 seconds\nOutput:\nx");
    assert_eq!(layout(1000, "x", roomy), "Exit code: 0\nWall time: 1 seconds\nOutput:\nx");
    assert_eq!(
        freeform_layout(1, Duration::ZERO, "a\nb\nc\nd\n", TruncationPolicy::Bytes(4)),
        "Exit code: 1\nWall time: 0 seconds\nTotal output lines: 4\nOutput:\na\n…4 chars truncated…d\n"
    );
    assert_eq!(
        freeform_layout(1, Duration::ZERO, "abcdefgh", TruncationPolicy::Bytes(4)),
        "Exit code: 1\nWall time: 0 seconds\nOutput:\nab…4 chars truncated…gh"
    );
}
