//! A result that a PostToolUse hook has spoken to.

use std::fmt;

use serde_json::Value;
use tenon_protocol::{CallId, ResponseInputItem};

use super::FunctionToolOutput;
use crate::{ToolOutput, ToolPayload};

/// A result whose model view a hook has replaced. Only the model hears the hook; log, hooks and scripts see the
/// original, typed as it was (core.md 5.5).
pub struct PostToolUseFeedbackOutput {
    /// What the tool gave back.
    pub original: Box<dyn ToolOutput>,
    /// What the model reads in its place.
    pub model_visible: FunctionToolOutput,
}

impl PostToolUseFeedbackOutput {
    /// `original` with the hook's words for the model, success absent.
    pub fn new(original: Box<dyn ToolOutput>, feedback: impl Into<String>) -> Self {
        Self { original, model_visible: FunctionToolOutput::from_text(feedback, None) }
    }
}

impl fmt::Debug for PostToolUseFeedbackOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostToolUseFeedbackOutput")
            .field("original", &self.original.log_preview())
            .field("model_visible", &self.model_visible)
            .finish()
    }
}

impl ToolOutput for PostToolUseFeedbackOutput {
    fn log_preview(&self) -> String {
        self.original.log_preview()
    }

    fn success_for_logging(&self) -> bool {
        self.original.success_for_logging()
    }

    fn contains_external_context(&self) -> bool {
        self.original.contains_external_context()
    }

    fn to_response_item(&self, call_id: &CallId, payload: &ToolPayload) -> ResponseInputItem {
        self.model_visible.to_response_item(call_id, payload)
    }

    fn post_tool_use_id(&self, call_id: &CallId) -> CallId {
        self.original.post_tool_use_id(call_id)
    }

    fn post_tool_use_input(&self, payload: &ToolPayload) -> Option<Value> {
        self.original.post_tool_use_input(payload)
    }

    fn post_tool_use_response(&self, call_id: &CallId, payload: &ToolPayload) -> Option<Value> {
        self.original.post_tool_use_response(call_id, payload)
    }

    fn code_mode_result(&self, payload: &ToolPayload) -> Value {
        self.original.code_mode_result(payload)
    }
}

#[cfg(test)]
#[path = "feedback_tests.rs"]
mod tests;
