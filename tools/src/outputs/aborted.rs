//! A call that was cancelled.

use tenon_protocol::{CallId, FunctionCallOutputPayload, ResponseInputItem};

use super::{item_for, search_item};
use crate::{ToolOutput, ToolPayload, telemetry_preview};

/// What a cancelled call answers: no success for the log, and success absent (not false) in the model's item. A search
/// answers an empty list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AbortedToolOutput {
    /// What happened, in the words of core.md 6.3.
    pub message: String,
}

impl ToolOutput for AbortedToolOutput {
    fn log_preview(&self) -> String {
        telemetry_preview(&self.message)
    }

    fn success_for_logging(&self) -> bool {
        false
    }

    fn to_response_item(&self, call_id: &CallId, payload: &ToolPayload) -> ResponseInputItem {
        match payload {
            ToolPayload::ToolSearch { .. } => search_item(call_id, Vec::new()),
            ToolPayload::Function { .. } | ToolPayload::Custom { .. } => {
                item_for(payload, call_id, FunctionCallOutputPayload::text(&self.message))
            }
        }
    }
}
