//! Stages 1 and 2: whose call it is, and whether its payload is of a kind the tool takes.

use std::sync::Arc;

use tenon_tools::{FunctionCallError, LifecycleOutcome, ToolExecutor, ToolPayload};

use super::{CallEnd, CallEvents, Order};

/// The tool of a call.
///
/// # Errors
/// An answer for the model when there is none; a fatal error when the payload is of the wrong kind.
pub(super) fn find(order: &mut Order) -> Result<Arc<dyn ToolExecutor>, FunctionCallError> {
    let name = &order.call.tool_name;
    let Some(tool) = order.tool.take() else {
        return Err(FunctionCallError::respond(match order.call.payload {
            ToolPayload::Custom { .. } => format!("unsupported custom tool call: {name}"),
            ToolPayload::Function { .. } | ToolPayload::ToolSearch { .. } => {
                format!("unsupported call: {name}")
            }
        }));
    };
    if tool.accepts(&order.call.payload) {
        Ok(tool)
    } else {
        Err(FunctionCallError::Fatal(format!("tool {name} invoked with incompatible payload")))
    }
}

/// The end of a call that met no tool: no hook and no observer hears of it, but it is shown.
pub(super) fn not_dispatched(events: &CallEvents, order: Order, error: FunctionCallError) -> CallEnd {
    let outcome = LifecycleOutcome::Failed { handler_executed: false };
    events.finish(error.text(), outcome);
    let occurrence = events.identity().occurrence;
    CallEnd::new(order.call.call_id, &order.call.payload, occurrence, outcome, Err(error), Vec::new())
}
