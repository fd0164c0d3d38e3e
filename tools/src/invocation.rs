//! A call bound to its place.

use std::sync::Arc;

use tenon_protocol::{CallId, ToolName};
use tokio_util::sync::CancellationToken;

use crate::{Host, SharedTurnDiff, StepContext, ToolCallSource, ToolPayload};

/// How a call that may run is confined. Policy and whoever approves decide it before the call runs (runtime.md D9.b, step
/// 3); the tool that starts something holds it to that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Confinement {
    /// By the step's sandbox mode.
    #[default]
    Sandboxed,
    /// By nothing of ours.
    Unsandboxed,
}

/// A call bound to the step it belongs to (core.md 2.2): all that a handler may see. What it may do beyond its own
/// crate is behind [`Host`]. A handler is tested with a literal of this struct and [`Host::detached`].
#[derive(Debug, Clone)]
pub struct ToolInvocation {
    /// The model's id of the call.
    pub call_id: CallId,
    /// The normalised name the call was found under.
    pub tool_name: ToolName,
    /// What the call carries, after hooks have rewritten it.
    pub payload: ToolPayload,
    /// Where the call came from.
    pub source: ToolCallSource,
    /// The snapshot that the model's tool list was built from.
    pub step: Arc<StepContext>,
    /// How the call is confined. It is settled when the call runs; in `prepare` it says nothing yet.
    pub confinement: Confinement,
    /// Fires when the call is cancelled. A tool that owns processes or requests ends them and then answers.
    pub cancellation: CancellationToken,
    /// What the turn's patches really changed.
    pub tracker: SharedTurnDiff,
    /// What the handler may do outside its own crate.
    pub host: Host,
}

impl ToolInvocation {
    /// An invocation outside of any session, for tests of a handler: [`StepContext::default`], [`Host::detached`].
    pub fn detached(tool_name: ToolName, payload: ToolPayload) -> Self {
        Self {
            call_id: CallId::from("call"),
            tool_name,
            payload,
            source: ToolCallSource::Direct,
            step: Arc::new(StepContext::default()),
            confinement: Confinement::default(),
            cancellation: CancellationToken::new(),
            tracker: SharedTurnDiff::default(),
            host: Host::detached(),
        }
    }

    /// The arguments of a function call.
    ///
    /// # Errors
    /// `{handler} handler received unsupported payload` for any other payload (core.md 9.1).
    pub fn function_arguments(&self, handler: &str) -> Result<&str, crate::FunctionCallError> {
        match &self.payload {
            ToolPayload::Function { arguments } => Ok(arguments),
            ToolPayload::ToolSearch { .. } | ToolPayload::Custom { .. } => Err(
                crate::FunctionCallError::respond(format!("{handler} handler received unsupported payload")),
            ),
        }
    }
}
