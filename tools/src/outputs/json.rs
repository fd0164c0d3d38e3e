//! A JSON value.

use serde_json::Value;
use tenon_protocol::{CallId, FunctionCallOutputPayload, ResponseInputItem};

use super::item_for;
use crate::{ToolOutput, ToolPayload, telemetry_preview};

/// A JSON value: compact text for the model, itself for scripts and hooks.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonToolOutput {
    /// The value.
    pub value: Value,
    /// Whether it went well; absent counts as well.
    pub success: Option<bool>,
    /// Whether it carries text from outside this machine.
    pub contains_external_context: bool,
}

impl JsonToolOutput {
    /// A value of a call that went well.
    pub fn new(value: Value) -> Self {
        Self { value, success: Some(true), contains_external_context: false }
    }

    /// The same, carrying text from outside this machine.
    #[must_use]
    pub fn with_external_context(mut self) -> Self {
        self.contains_external_context = true;
        self
    }
}

impl ToolOutput for JsonToolOutput {
    fn log_preview(&self) -> String {
        telemetry_preview(&self.value.to_string())
    }

    fn success_for_logging(&self) -> bool {
        self.success.unwrap_or(true)
    }

    fn contains_external_context(&self) -> bool {
        self.contains_external_context
    }

    fn to_response_item(&self, call_id: &CallId, payload: &ToolPayload) -> ResponseInputItem {
        let output = FunctionCallOutputPayload::text(self.value.to_string());
        item_for(payload, call_id, FunctionCallOutputPayload { success: self.success, ..output })
    }

    fn post_tool_use_response(&self, _call_id: &CallId, _payload: &ToolPayload) -> Option<Value> {
        Some(self.value.clone())
    }

    fn code_mode_result(&self, _payload: &ToolPayload) -> Value {
        self.value.clone()
    }
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
