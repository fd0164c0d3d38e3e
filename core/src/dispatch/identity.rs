//! Who a call is, for when nothing else is left of it.

use std::time::Duration;

use tenon_protocol::{CallId, ToolName};
use tenon_tools::{
    AbortedToolOutput, FunctionCallError, LifecycleOutcome, ToolCall, ToolOutput, ToolPayload,
};

use super::{AnyToolResult, CallEnd};

/// Who a call is.
#[derive(Debug)]
pub(crate) struct Identity {
    pub(crate) call_id: CallId,
    /// The normalised name.
    pub(crate) tool_name: ToolName,
    /// A payload of the call's kind, without its content.
    kind: ToolPayload,
    /// Which one it is among the calls of its id and kind (core.md 0.2).
    pub(crate) occurrence: u32,
    /// Why it is handed over once more, where another runtime had started it.
    pub(crate) again: Option<&'static str>,
}

impl Identity {
    pub(crate) fn of(call: &ToolCall, occurrence: u32, again: Option<&'static str>) -> Self {
        let ToolCall { tool_name, call_id, payload, .. } = call;
        let (call_id, tool_name) = (call_id.clone(), tool_name.clone());
        Self { call_id, tool_name, kind: kind_only(payload), occurrence, again }
    }

    /// An end of which nothing else is known.
    pub(crate) fn end_with(
        &self,
        result: Result<AnyToolResult, FunctionCallError>,
        outcome: LifecycleOutcome,
    ) -> CallEnd {
        CallEnd::new(self.call_id.clone(), &self.kind, self.occurrence, outcome, result, Vec::new())
    }

    /// The end of a call that was cut short, which had told this of itself.
    pub(crate) fn aborted(&self, elapsed: Duration, told: Vec<String>) -> CallEnd {
        let output: Box<dyn ToolOutput> = Box::new(AbortedToolOutput::after(elapsed, told));
        let (call_id, payload) = (self.call_id.clone(), self.kind.clone());
        let result = AnyToolResult { call_id, payload, output, feedback: None };
        self.end_with(Ok(result), LifecycleOutcome::Aborted)
    }
}

/// A payload of the same kind, without content: the kind alone decides the variant of an answer.
pub(super) fn kind_only(payload: &ToolPayload) -> ToolPayload {
    match payload {
        ToolPayload::Function { .. } => ToolPayload::Function { arguments: String::new() },
        ToolPayload::Custom { .. } => ToolPayload::Custom { input: String::new() },
        ToolPayload::ToolSearch { .. } => ToolPayload::ToolSearch {
            arguments: tenon_protocol::SearchToolCallParams { query: String::new(), limit: None },
        },
    }
}
