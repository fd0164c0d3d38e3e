//! The tools that a search found.

use serde_json::Value;
use tenon_protocol::{CallId, ResponseInputItem};

use super::search_item;
use crate::{LoadableToolSpec, ToolOutput, ToolPayload, telemetry_preview};

/// The tools that a search found, none included: that too is a success.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolSearchOutput {
    /// The tools, coalesced.
    pub tools: Vec<LoadableToolSpec>,
}

impl ToolSearchOutput {
    fn tools_json(&self) -> Vec<Value> {
        let json = |tool| {
            serde_json::to_value(tool).unwrap_or_else(|error| {
                Value::String(format!("failed to serialize tool_search output: {error}"))
            })
        };
        self.tools.iter().map(json).collect()
    }
}

impl ToolOutput for ToolSearchOutput {
    fn log_preview(&self) -> String {
        telemetry_preview(&Value::Array(self.tools_json()).to_string())
    }

    fn success_for_logging(&self) -> bool {
        true
    }

    fn to_response_item(&self, call_id: &CallId, _payload: &ToolPayload) -> ResponseInputItem {
        search_item(call_id, self.tools_json())
    }
}
