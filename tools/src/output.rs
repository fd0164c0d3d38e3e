//! The result of a call, and its five readers.

use serde_json::Value;
use tenon_protocol::{CallId, ResponseInputItem};

use crate::{ToolPayload, code_mode};

/// What a tool gives back (core.md 2.3). One object is projected separately for the log, the life cycle, the model,
/// hooks and a calling script; a fact about one projection never implies anything about another.
pub trait ToolOutput: Send + Sync {
    /// What telemetry shows, bounded by [`telemetry_preview`](crate::telemetry_preview).
    fn log_preview(&self) -> String;

    /// Whether the call counts as a success for log and life cycle. PostToolUse hooks run only then. It says nothing
    /// of the `success` the model's item carries.
    fn success_for_logging(&self) -> bool;

    /// Whether the output carries text from outside this machine.
    fn contains_external_context(&self) -> bool {
        false
    }

    /// What the model reads: the variant that belongs to `payload`.
    fn to_response_item(&self, call_id: &CallId, payload: &ToolPayload) -> ResponseInputItem;

    /// `tool_use_id` for hooks: the call's id, or that of the call this one is a part of.
    fn post_tool_use_id(&self, call_id: &CallId) -> CallId {
        call_id.clone()
    }

    /// `tool_input` for PostToolUse, where it is not what the tool's hook identity makes of the payload.
    fn post_tool_use_input(&self, _payload: &ToolPayload) -> Option<Value> {
        None
    }

    /// `tool_response` for PostToolUse, where it is not the item's body.
    fn post_tool_use_response(&self, _call_id: &CallId, _payload: &ToolPayload) -> Option<Value> {
        None
    }

    /// What a calling script gets: by default the model's item, converted (core.md 2.6).
    fn code_mode_result(&self, payload: &ToolPayload) -> Value {
        code_mode::value_of(self.to_response_item(&CallId::from(""), payload))
    }
}
