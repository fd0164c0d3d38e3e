//! A raw MCP result, as an output of its own and within the bound for clients and hooks.

use std::borrow::Cow;

use serde_json::{Value, json};
use tenon_protocol::{CallId, CallToolResult, ResponseInputItem};

use crate::{ToolOutput, ToolPayload, TruncationPolicy, telemetry_preview, truncate_text};

/// How much of a result clients and hooks are shown, as compact JSON (core.md 9.5).
pub const MCP_RESULT_CAP_BYTES: usize = 1024 * 1024;

/// What is kept of a larger one. Inside another JSON text it can double, since every quote is escaped there.
const PREVIEW_BYTES: usize = MCP_RESULT_CAP_BYTES / 2 - 1024;

/// The result within the bound for clients and hooks: a larger one becomes a single text with the start and the end of
/// its JSON, structured content and `_meta` dropped, `isError` kept.
pub fn capped_mcp_result(result: &CallToolResult) -> Cow<'_, CallToolResult> {
    let json = serde_json::to_string(result).unwrap_or_default();
    if json.len() <= MCP_RESULT_CAP_BYTES {
        return Cow::Borrowed(result);
    }
    let preview = truncate_text(&json, TruncationPolicy::Bytes(PREVIEW_BYTES));
    Cow::Owned(CallToolResult {
        content: vec![json!({ "type": "text", "text": preview })],
        is_error: result.is_error,
        ..CallToolResult::default()
    })
}

impl ToolOutput for CallToolResult {
    fn log_preview(&self) -> String {
        telemetry_preview(&serde_json::to_string(self).unwrap_or_default())
    }

    fn success_for_logging(&self) -> bool {
        self.success()
    }

    fn to_response_item(&self, call_id: &CallId, _payload: &ToolPayload) -> ResponseInputItem {
        ResponseInputItem::McpToolCallOutput { call_id: call_id.clone(), output: self.clone() }
    }

    fn code_mode_result(&self, _payload: &ToolPayload) -> Value {
        self.without_meta_json()
    }
}

#[cfg(test)]
#[path = "mcp_result_tests.rs"]
mod tests;
