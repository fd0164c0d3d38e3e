//! Text and media, from a tool that has nothing else to tell.

use serde_json::Value;
use tenon_protocol::{
    CallId, FunctionCallOutputBody, FunctionCallOutputContentItem, FunctionCallOutputPayload,
    ResponseInputItem,
};

use super::item_for;
use crate::{ToolOutput, ToolPayload, telemetry_preview};

/// The plain output: items for the model.
///
/// Exactly one text becomes a bare string; nothing, several items or any other kind stay a list.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FunctionToolOutput {
    /// What the model reads.
    pub body: Vec<FunctionCallOutputContentItem>,
    /// Whether it went well; absent counts as well.
    pub success: Option<bool>,
    /// What hooks see, where it is not the body.
    pub post_tool_use_response: Option<Value>,
}

impl FunctionToolOutput {
    /// One text.
    pub fn from_text(text: impl Into<String>, success: Option<bool>) -> Self {
        Self::from_items(vec![FunctionCallOutputContentItem::text(text)], success)
    }

    /// Several items.
    pub fn from_items(body: Vec<FunctionCallOutputContentItem>, success: Option<bool>) -> Self {
        Self { body, success, post_tool_use_response: None }
    }

    /// The same with something else for hooks.
    #[must_use]
    pub fn with_post_tool_use_response(mut self, response: Value) -> Self {
        self.post_tool_use_response = Some(response);
        self
    }

    /// The items as the model is sent them.
    fn payload(&self) -> FunctionCallOutputPayload {
        let body = match self.body.as_slice() {
            [FunctionCallOutputContentItem::InputText { text }] => FunctionCallOutputBody::Text(text.clone()),
            items => FunctionCallOutputBody::ContentItems(items.to_vec()),
        };
        FunctionCallOutputPayload { body, success: self.success }
    }
}

impl ToolOutput for FunctionToolOutput {
    fn log_preview(&self) -> String {
        match self.body.as_slice() {
            [FunctionCallOutputContentItem::InputText { text }] => telemetry_preview(text),
            _ => telemetry_preview(&self.payload().body.to_text().unwrap_or_default()),
        }
    }

    fn success_for_logging(&self) -> bool {
        self.success.unwrap_or(true)
    }

    fn to_response_item(&self, call_id: &CallId, payload: &ToolPayload) -> ResponseInputItem {
        item_for(payload, call_id, self.payload())
    }

    fn post_tool_use_response(&self, _call_id: &CallId, _payload: &ToolPayload) -> Option<Value> {
        self.post_tool_use_response.clone()
    }
}

#[cfg(test)]
#[path = "function_tests.rs"]
mod tests;
