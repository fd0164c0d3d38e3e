//! What comes out of dispatch.

use serde_json::Value;
use tenon_protocol::{CallId, CallOutcome, ResponseInputItem};
use tenon_tools::{FunctionCallError, LifecycleOutcome, ToolOutput, ToolPayload, failure_response};

/// A result of any tool, with what is needed to project it.
pub struct AnyToolResult {
    /// The call.
    pub call_id: CallId,
    /// What it carried when it ran.
    pub payload: ToolPayload,
    /// What came of it.
    pub output: Box<dyn ToolOutput>,
    /// What a post hook wants the model to read: in `output` already, and here for a call whose output a script gets.
    pub feedback: Option<String>,
}

impl std::fmt::Debug for AnyToolResult {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AnyToolResult").field("call_id", &self.call_id).finish_non_exhaustive()
    }
}

impl AnyToolResult {
    /// The model's item.
    pub fn to_response(&self) -> ResponseInputItem {
        self.output.to_response_item(&self.call_id, &self.payload)
    }

    /// The value a script gets.
    pub fn code_mode_result(&self) -> Value {
        self.output.code_mode_result(&self.payload)
    }
}

/// The end of one call. There is always exactly one.
#[derive(Debug)]
pub struct CallEnd {
    /// The call.
    pub call_id: CallId,
    /// Which one it is among the calls of its id and kind, from 0.
    pub occurrence: u32,
    /// How it ended.
    pub outcome: LifecycleOutcome,
    /// What the model reads; or the bare text of a fatal error, which ends the turn and never becomes an item.
    pub response: Result<ResponseInputItem, String>,
    /// What came of it, for those who read something else than the model does.
    pub result: Result<AnyToolResult, FunctionCallError>,
    /// What hooks have to tell the model, in order.
    pub contexts: Vec<String>,
}

impl CallEnd {
    pub(crate) fn new(
        call_id: CallId,
        payload: &ToolPayload,
        occurrence: u32,
        outcome: LifecycleOutcome,
        result: Result<AnyToolResult, FunctionCallError>,
        contexts: Vec<String>,
    ) -> Self {
        let response = match &result {
            Ok(result) => Ok(result.to_response()),
            Err(FunctionCallError::RespondToModel(text)) => Ok(failure_response(payload, &call_id, text)),
            Err(FunctionCallError::Fatal(text)) => Err(text.clone()),
        };
        Self { call_id, occurrence, outcome, response, result, contexts }
    }

    /// The word a journal line has for the outcome.
    pub fn journal_outcome(&self) -> CallOutcome {
        match self.outcome {
            LifecycleOutcome::Blocked => CallOutcome::Blocked,
            LifecycleOutcome::Completed { .. } => CallOutcome::Completed,
            LifecycleOutcome::Failed { .. } => CallOutcome::Failed,
            LifecycleOutcome::Aborted => CallOutcome::Aborted,
        }
    }

    /// What a log shows of it.
    pub fn preview(&self) -> String {
        match &self.result {
            Ok(result) => result.output.log_preview(),
            Err(error) => error.text().to_owned(),
        }
    }
}
