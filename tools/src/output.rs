//! The result of a call, and its five readers.

use serde_json::Value;
use tenon_protocol::{CallId, ResponseInputItem};

use crate::{ToolPayload, code_mode};

/// What an extended PostToolUse hook is told of a result beside what every hook is told (core.md 8, ours).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ResponseFacts {
    /// All that was captured, where that is more than the bounded text that other hooks see.
    pub whole: Option<Value>,
    /// How the command behind the result ended.
    pub exit_code: Option<i32>,
    /// Whether this is only a part: what the call started still runs and will have more to say.
    pub unfinished: bool,
}

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

    /// Whether the pictures of the model's item are known to be such that a model takes them. Others are looked at
    /// before the item is written down.
    fn pictures_are_checked(&self) -> bool {
        false
    }

    /// `tool_input` for PostToolUse, where it is not what the tool's hook identity makes of the payload.
    fn post_tool_use_input(&self, _payload: &ToolPayload) -> Option<Value> {
        None
    }

    /// `tool_response` for PostToolUse, where it is not the item's body.
    fn post_tool_use_response(&self, _call_id: &CallId, _payload: &ToolPayload) -> Option<Value> {
        None
    }

    /// What an extended hook is told beside.
    fn response_facts(&self) -> ResponseFacts {
        ResponseFacts::default()
    }

    /// The same result with what an extended hook has put in place of its `tool_response`, where the result has a
    /// form of its own to keep. Nothing of what was replaced may be left in it, for any reader. None: a
    /// [`ReplacedToolOutput`](crate::ReplacedToolOutput) takes its place.
    fn with_response(&self, _updated: &Value) -> Option<Box<dyn ToolOutput>> {
        None
    }

    /// What a calling script gets: by default the model's item, converted (core.md 2.6).
    fn code_mode_result(&self, payload: &ToolPayload) -> Value {
        code_mode::value_of(self.to_response_item(&CallId::from(""), payload))
    }
}
