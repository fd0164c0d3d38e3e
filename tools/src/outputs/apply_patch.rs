//! A patch that was applied.

use std::time::Duration;

use serde_json::{Map, Value};
use tenon_protocol::{CallId, FunctionCallOutputPayload, ResponseInputItem};

use super::item_for;
use crate::{ToolOutput, ToolPayload, TruncationPolicy, telemetry_preview, truncate_text};

/// The answer of apply_patch: a text of the [freeform layout](freeform_layout) for the model and for hooks, an empty
/// object for scripts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApplyPatchToolOutput {
    /// What was done.
    pub text: String,
}

impl ToolOutput for ApplyPatchToolOutput {
    fn log_preview(&self) -> String {
        telemetry_preview(&self.text)
    }

    fn success_for_logging(&self) -> bool {
        true
    }

    fn to_response_item(&self, call_id: &CallId, payload: &ToolPayload) -> ResponseInputItem {
        item_for(payload, call_id, FunctionCallOutputPayload::text(&self.text).with_success(true))
    }

    fn post_tool_use_response(&self, _call_id: &CallId, _payload: &ToolPayload) -> Option<Value> {
        Some(Value::String(self.text.clone()))
    }

    fn code_mode_result(&self, _payload: &ToolPayload) -> Value {
        Value::Object(Map::new())
    }
}

/// The layout of apply_patch's answers, good or bad (runtime.md A10.1, B14.3): exit code, seconds to one decimal in
/// their shortest form, the number of lines where the cut changed it, and the output cut in its middle by `policy`.
pub fn freeform_layout(
    exit_code: i32,
    wall_time: Duration,
    output: &str,
    policy: TruncationPolicy,
) -> String {
    let seconds = (wall_time.as_secs_f64() * 10.0).round() / 10.0;
    let cut = truncate_text(output, policy);
    let lines = output.lines().count();
    let total =
        if cut.lines().count() == lines { String::new() } else { format!("Total output lines: {lines}\n") };
    format!("Exit code: {exit_code}\nWall time: {seconds} seconds\n{total}Output:\n{cut}")
}

#[cfg(test)]
#[path = "apply_patch_tests.rs"]
mod tests;
