//! A command that another tool has taken over: a patch in a shell command (runtime.md A8).

use std::time::Duration;

use async_trait::async_trait;
use tenon_protocol::{CallId, MediaAbilities, ResponseInputItem};
use tenon_tools::{
    Effects, ExecCommandToolOutput, FunctionCallError, PreparedCall, ShownAs, ToolInvocation, ToolOutput,
};

/// The other tool's call, answered in the layout of this one.
pub(super) struct Intercepted {
    pub(super) inner: Box<dyn PreparedCall>,
    pub(super) max_output_tokens: Option<usize>,
}

#[async_trait]
impl PreparedCall for Intercepted {
    fn effects(&self) -> &Effects {
        self.inner.effects()
    }

    fn diff(&self) -> Option<String> {
        self.inner.diff()
    }

    fn shown_as(&self) -> ShownAs {
        self.inner.shown_as()
    }

    async fn run(self: Box<Self>, call: &ToolInvocation) -> Result<Box<dyn ToolOutput>, FunctionCallError> {
        let output = self.inner.run(call).await?;
        let item = output.to_response_item(&CallId::from(""), &call.payload);
        Ok(Box::new(ExecCommandToolOutput {
            event_call_id: call.call_id.clone(),
            wall_time: Duration::ZERO,
            raw_output: text_of(item).into_bytes(),
            max_output_tokens: self.max_output_tokens,
            // No PostToolUse hook hears of it: the command itself never ran (core.md 9.3).
            hook_command: None,
            truncation_policy: call.step.truncation,
            ..ExecCommandToolOutput::default()
        }))
    }
}

/// What a model would read of an item.
fn text_of(item: ResponseInputItem) -> String {
    match item {
        ResponseInputItem::FunctionCallOutput { output, .. }
        | ResponseInputItem::CustomToolCallOutput { output, .. } => output.body.to_text().unwrap_or_default(),
        ResponseInputItem::McpToolCallOutput { output, .. } => {
            output.to_payload(MediaAbilities::ALL).body.to_text().unwrap_or_default()
        }
        ResponseInputItem::Message { .. } | ResponseInputItem::ToolSearchOutput { .. } => String::new(),
    }
}
