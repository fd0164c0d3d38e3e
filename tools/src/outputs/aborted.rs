//! A call that was cancelled.

use std::time::Duration;

use tenon_protocol::{CallId, FunctionCallOutputPayload, ResponseInputItem};

use super::{item_for, search_item};
use crate::{ToolOutput, ToolPayload, telemetry_preview};

/// The least time that an aborted call is said to have taken (core.md 6.2).
const SHORTEST: Duration = Duration::from_millis(100);

/// What a cancelled call answers: no success for the log, and success absent (not false) in the model's item. A search
/// answers an empty list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AbortedToolOutput {
    /// What happened, in the words of core.md 6.3.
    pub message: String,
}

impl AbortedToolOutput {
    /// The answer of a call that was cancelled after this time, with a line for each effect that stands or may stand.
    pub fn after(elapsed: Duration, effects: impl IntoIterator<Item = String>) -> Self {
        let seconds = elapsed.max(SHORTEST).as_secs_f64();
        let said = format!("aborted by user after {seconds:.1}s");
        let lines: Vec<String> = std::iter::once(said).chain(effects).collect();
        Self { message: lines.join("\n") }
    }
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
