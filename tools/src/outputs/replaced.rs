//! A result that an extended PostToolUse hook has put another in place of.

use serde_json::Value;
use tenon_protocol::{CallId, FunctionCallOutputBody, FunctionCallOutputPayload, ResponseInputItem};

use super::item_for;
use crate::{ToolOutput, ToolPayload, code_mode, telemetry_preview};

/// What stands for a result that has no form of its own to keep: a text, a list of the model's content items, or any
/// other JSON. All readers see it; nothing of the original is left but whether it was a success, and whether its text
/// came from outside.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplacedToolOutput {
    updated: Value,
    success: bool,
    external: bool,
}

impl ReplacedToolOutput {
    /// `updated` in place of `original`.
    pub fn new(original: &dyn ToolOutput, updated: Value) -> Self {
        let (success, external) = (original.success_for_logging(), original.contains_external_context());
        Self { updated, success, external }
    }

    fn body(&self) -> FunctionCallOutputBody {
        match &self.updated {
            Value::String(text) => FunctionCallOutputBody::Text(text.clone()),
            other => self.content_items().unwrap_or_else(|| FunctionCallOutputBody::Text(other.to_string())),
        }
    }

    fn content_items(&self) -> Option<FunctionCallOutputBody> {
        let items = self.updated.as_array().filter(|items| !items.is_empty())?;
        serde_json::from_value(Value::Array(items.clone())).ok().map(FunctionCallOutputBody::ContentItems)
    }
}

impl ToolOutput for ReplacedToolOutput {
    fn log_preview(&self) -> String {
        telemetry_preview(&self.body().to_text().unwrap_or_default())
    }

    fn success_for_logging(&self) -> bool {
        self.success
    }

    fn contains_external_context(&self) -> bool {
        self.external
    }

    fn to_response_item(&self, call_id: &CallId, payload: &ToolPayload) -> ResponseInputItem {
        item_for(
            payload,
            call_id,
            FunctionCallOutputPayload { body: self.body(), success: Some(self.success) },
        )
    }

    fn post_tool_use_response(&self, _call_id: &CallId, _payload: &ToolPayload) -> Option<Value> {
        Some(self.updated.clone())
    }

    fn code_mode_result(&self, payload: &ToolPayload) -> Value {
        match self.content_items() {
            Some(_) => code_mode::value_of(self.to_response_item(&CallId::from(""), payload)),
            None => self.updated.clone(),
        }
    }
}

#[cfg(test)]
#[path = "replaced_tests.rs"]
mod tests;
