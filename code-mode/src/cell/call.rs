//! A script's call of a tool: through every stage that a direct call passes (runtime.md C6).

use std::sync::Arc;

use tenon_protocol::{CallFact, CallOutcome};
use tenon_tools::{Progress, ToolCall, ToolCallSource, ToolCaller, ToolPayload};
use tokio_util::sync::CancellationToken;

use super::call_ids::CallIds;
use crate::engine::{CallResult, ScriptCall};
use crate::nested_tool::{NestedKind, NestedTool};
use crate::surface::EXEC;

/// What a call is rejected with whose script is over (C6.2).
pub(super) const CANCELLED: &str = "code mode nested tool call cancelled";

/// What a call is rejected with that nobody can run any more.
pub(super) const STOPPED: &str = "code mode nested tool dispatcher stopped";

/// Whom calls of one `exec` go through.
#[derive(Clone)]
pub(super) struct Callers {
    pub(super) tools: Arc<dyn ToolCaller>,
    /// Takes facts of the `exec` call for the journal.
    pub(super) progress: Arc<dyn Progress>,
}

/// Makes the call of a tool, with an id of `ids`, out of what the script gave.
///
/// # Errors
/// What its promise is rejected with: the argument is not what the tool takes.
pub(super) fn tool_call(
    tool: &NestedTool,
    argument: Option<String>,
    ids: &CallIds,
) -> Result<ToolCall, String> {
    if tool.name.is_default_namespace() && tool.name.name() == EXEC {
        return Err("exec cannot invoke itself".to_owned());
    }
    let payload = match tool.kind {
        NestedKind::Function => function_payload(tool, argument)?,
        NestedKind::Freeform => freeform_payload(tool, argument)?,
    };
    Ok(ToolCall { tool_name: tool.name.clone(), call_id: ids.next(), payload, encrypted_function_args: None })
}

/// JSON text of an object; no argument is an empty one.
fn function_payload(tool: &NestedTool, argument: Option<String>) -> Result<ToolPayload, String> {
    let arguments = argument.unwrap_or_else(|| "{}".to_owned());
    if arguments.starts_with('{') {
        Ok(ToolPayload::Function { arguments })
    } else {
        Err(format!("tool `{}` expects a JSON object for arguments", tool.name))
    }
}

fn freeform_payload(tool: &NestedTool, argument: Option<String>) -> Result<ToolPayload, String> {
    let no_string = || format!("tool `{}` expects a string input", tool.name);
    let json = argument.filter(|json| json.starts_with('"')).ok_or_else(no_string)?;
    match serde_json::from_str(&json) {
        Ok(input) => Ok(ToolPayload::Custom { input }),
        // A string that is no text: half of a surrogate pair.
        Err(error) => Err(format!("failed to serialize JavaScript value: {error}")),
    }
}

/// Where a call comes from: the cell, and the script's own count.
pub(super) fn source(cell_id: &str, call: &ScriptCall) -> ToolCallSource {
    ToolCallSource::CodeMode {
        cell_id: cell_id.to_owned(),
        runtime_tool_call_id: format!("tool-{}", call.number.0),
    }
}

/// Runs the call. Whatever goes wrong is a text for the script, a fatal error as well: it does not end the turn.
pub(super) async fn run(
    callers: Callers,
    call: ToolCall,
    source: ToolCallSource,
    cancellation: CancellationToken,
) -> CallResult {
    let (tool, call_id) = (call.tool_name.to_string(), call.call_id.clone());
    callers.progress.record(CallFact::Nested { tool: tool.clone(), call_id: call_id.clone(), outcome: None });
    let result = callers.tools.call(call, source, cancellation.clone()).await;
    let outcome = match &result {
        // A call that was cut short may have done anything; what it gave is an account of that.
        _ if cancellation.is_cancelled() => CallOutcome::Aborted,
        Ok(_) => CallOutcome::Completed,
        Err(_) => CallOutcome::Failed,
    };
    callers.progress.record(CallFact::Nested { tool, call_id, outcome: Some(outcome) });
    match result {
        Ok(value) => serde_json::to_string(&value).map_err(|error| error.to_string()),
        Err(error) => Err(error.text().to_owned()),
    }
}

#[cfg(test)]
#[path = "call_tests.rs"]
mod tests;
