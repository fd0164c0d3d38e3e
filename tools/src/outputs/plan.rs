//! The plan was taken.

use serde_json::{Map, Value};
use tenon_protocol::{CallId, FunctionCallOutputPayload, ResponseInputItem};

use super::function_item;
use crate::{ToolOutput, ToolPayload};

/// The answer of update_plan: always the same, and an empty object for scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PlanToolOutput;

impl PlanToolOutput {
    /// What the model reads.
    pub const TEXT: &'static str = "Plan updated";
}

impl ToolOutput for PlanToolOutput {
    fn log_preview(&self) -> String {
        Self::TEXT.to_owned()
    }

    fn success_for_logging(&self) -> bool {
        true
    }

    fn to_response_item(&self, call_id: &CallId, _payload: &ToolPayload) -> ResponseInputItem {
        function_item(call_id, FunctionCallOutputPayload::text(Self::TEXT).with_success(true))
    }

    fn code_mode_result(&self, _payload: &ToolPayload) -> Value {
        Value::Object(Map::new())
    }
}
