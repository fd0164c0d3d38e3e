//! An output of which is said that it carries text from outside.

use serde_json::Value;
use tenon_protocol::{CallId, ResponseInputItem};

use crate::{ToolOutput, ToolPayload};

/// The output, in everything else as it is.
pub(super) struct ExternalContext(pub(super) Box<dyn ToolOutput>);

impl ToolOutput for ExternalContext {
    fn log_preview(&self) -> String {
        self.0.log_preview()
    }

    fn success_for_logging(&self) -> bool {
        self.0.success_for_logging()
    }

    fn contains_external_context(&self) -> bool {
        true
    }

    fn to_response_item(&self, call_id: &CallId, payload: &ToolPayload) -> ResponseInputItem {
        self.0.to_response_item(call_id, payload)
    }

    fn post_tool_use_id(&self, call_id: &CallId) -> CallId {
        self.0.post_tool_use_id(call_id)
    }

    fn post_tool_use_input(&self, payload: &ToolPayload) -> Option<Value> {
        self.0.post_tool_use_input(payload)
    }

    fn post_tool_use_response(&self, call_id: &CallId, payload: &ToolPayload) -> Option<Value> {
        self.0.post_tool_use_response(call_id, payload)
    }

    fn code_mode_result(&self, payload: &ToolPayload) -> Value {
        self.0.code_mode_result(payload)
    }
}
