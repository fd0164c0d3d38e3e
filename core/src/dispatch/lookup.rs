//! Stages 1 and 2: whose call it is, and whether its payload is of a kind the tool takes.

use std::sync::Arc;

use tenon_tools::{
    FunctionCallError, LifecycleOutcome, ToolExecutor, ToolInvocation, ToolPayload, telemetry_preview,
};

use super::{CallEnd, CallEvents};

/// The tool of a call, if the one that was found by its name takes its payload.
///
/// # Errors
/// An answer for the model when there is none; a fatal error when the payload is of the wrong kind.
pub(super) fn check(
    tool: Option<Arc<dyn ToolExecutor>>,
    call: &ToolInvocation,
) -> Result<Arc<dyn ToolExecutor>, FunctionCallError> {
    let name = &call.tool_name;
    let Some(tool) = tool else {
        return Err(FunctionCallError::respond(match call.payload {
            ToolPayload::Custom { .. } => format!("unsupported custom tool call: {name}"),
            ToolPayload::Function { .. } | ToolPayload::ToolSearch { .. } => {
                format!("unsupported call: {name}")
            }
        }));
    };
    if tool.accepts(&call.payload) {
        Ok(tool)
    } else {
        Err(FunctionCallError::Fatal(format!("tool {name} invoked with incompatible payload")))
    }
}

/// The end of a call that met no tool: no hook and no observer hears of it, but it is shown.
pub(super) fn not_dispatched(events: &CallEvents, error: FunctionCallError) -> CallEnd {
    let outcome = LifecycleOutcome::Failed { handler_executed: false };
    events.finish(outcome, || telemetry_preview(error.text()));
    events.identity().end_with(Err(error), outcome)
}
