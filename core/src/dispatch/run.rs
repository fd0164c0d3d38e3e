//! Stage 7: the tool does it.

use std::any::Any;

use tenon_tools::{Event, FunctionCallError, PreparedCall, ToolOutput};

use super::{Dispatch, Stopped};

impl Dispatch {
    /// Runs what was prepared. From here on there is no refusing.
    pub(super) async fn run(
        &mut self,
        prepared: Box<dyn PreparedCall>,
    ) -> Result<Box<dyn ToolOutput>, Stopped> {
        self.events.start(prepared.shown_as());
        self.events.terminal().begin();
        if prepared.effects().mcp.is_some() {
            self.mark_external_context("mcp_tool_call");
        }
        let output = prepared.run(&self.call).await;
        self.events.terminal().reached();
        let output = output?;
        if output.contains_external_context() {
            self.mark_external_context("tool_output");
        }
        Ok(output)
    }

    /// Tells that text from outside this machine comes into the thread, where that is to be marked (core.md 5.7).
    fn mark_external_context(&self, reason: &'static str) {
        if self.env.mark_external_context {
            self.env.host.events.emit(Event::ExternalContext {
                call_id: self.call.call_id.clone(),
                tool_name: self.call.tool_name.clone(),
                reason,
            });
        }
    }
}

/// The end of a call whose handler panicked. The panic's text is the operator's; the model reads
/// that the tool failed.
pub(super) fn panicked(dispatch: &mut Dispatch, panic: &(dyn Any + Send)) -> Stopped {
    let name = &dispatch.call.tool_name;
    let text = panic_text(panic);
    tracing::error!(tool = %name, call_id = %dispatch.call.call_id, panic = text, "a tool panicked");
    dispatch.env.host.events.emit(Event::Warning { message: format!("tool {name} panicked: {text}") });
    Stopped::Failed(FunctionCallError::RespondToModel(format!("tool {name} failed unexpectedly")))
}

/// What a panic says.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no text")
}
