//! Stages 1 and 2: whose call it is, and whether its payload is of a kind the tool takes.

use std::sync::Arc;

use tenon_tools::{FunctionCallError, LifecycleOutcome, ToolExecutor, ToolPayload};

use super::{CallEnd, CallEvents, DispatchEnvironment, Order};

/// The tool of a call.
///
/// # Errors
/// An answer for the model when there is none; a fatal error when the payload is of the wrong kind.
pub(super) fn find(
    env: &DispatchEnvironment,
    order: &Order,
) -> Result<Arc<dyn ToolExecutor>, FunctionCallError> {
    let name = order.call.tool_name.clone().with_default_namespace();
    let Some(tool) = env.registry.get(&name) else {
        return Err(FunctionCallError::respond(match order.call.payload {
            ToolPayload::Custom { .. } => format!("unsupported custom tool call: {name}"),
            ToolPayload::Function { .. } | ToolPayload::ToolSearch { .. } => {
                format!("unsupported call: {name}")
            }
        }));
    };
    if tool.accepts(&order.call.payload) {
        Ok(Arc::clone(tool))
    } else {
        Err(FunctionCallError::Fatal(format!("tool {name} invoked with incompatible payload")))
    }
}

/// The end of a call that met no tool: no hook and no observer hears of it, but it is shown.
pub(super) fn not_dispatched(events: &CallEvents, order: Order, error: FunctionCallError) -> CallEnd {
    let outcome = LifecycleOutcome::Failed { handler_executed: false };
    events.finish(error.text(), outcome);
    let Order { call, occurrence, .. } = order;
    CallEnd::new(call.call_id, &call.payload, occurrence, outcome, Err(error), Vec::new())
}
