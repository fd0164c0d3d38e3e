//! Stage 8: PostToolUse hooks. They see the result and may change what the model reads of it; nothing else.

use serde_json::Value;
use tenon_protocol::ResponseInputItem;
use tenon_tools::{HookIdentity, HookInputForm, PostToolUseFeedbackOutput, ToolOutput};

use super::{AnyToolResult, Dispatch};
use crate::hooks::{HookContext, PostToolUse, PostToolUseOutcome};

impl Dispatch<'_> {
    /// Lets hooks look at a success, and wraps the output where one of them has something to say. A call that is
    /// cancelled meanwhile keeps its real result, without hooks.
    pub(super) async fn after_hooks(&mut self, output: Box<dyn ToolOutput>) -> AnyToolResult {
        let outcome = match self.post_event(output.as_ref()) {
            Some((event, identity)) => {
                let cancellation = self.call.cancellation.clone();
                let asked = self.env.hooks.post_tool_use(&event, identity.aliases);
                tokio::select! {
                    outcome = asked => outcome,
                    () = cancellation.cancelled() => PostToolUseOutcome::default(),
                }
            }
            None => PostToolUseOutcome::default(),
        };
        let PostToolUseOutcome { feedback, contexts } = outcome;
        self.contexts.extend(contexts);
        let output = match &feedback {
            Some(text) => Box::new(PostToolUseFeedbackOutput::new(output, text)) as _,
            None => output,
        };
        let (call_id, payload) = (self.call.call_id.clone(), self.call.payload.clone());
        AnyToolResult { call_id, payload, output, feedback }
    }

    /// What hooks are told; none where no hook is to hear of it.
    fn post_event(&self, output: &dyn ToolOutput) -> Option<(PostToolUse, HookIdentity)> {
        if self.env.hooks.is_empty() || !output.success_for_logging() {
            return None;
        }
        let identity = self.tool.hook_identity().filter(|identity| identity.post)?;
        let (call_id, payload) = (&self.call.call_id, &self.call.payload);
        let tool_input = output.post_tool_use_input(payload).or_else(|| identity.input(payload))?;
        let own = output.post_tool_use_response(call_id, payload);
        let tool_response = match identity.form {
            HookInputForm::Arguments => {
                own.or_else(|| function_body(&output.to_response_item(call_id, payload)))?
            }
            HookInputForm::McpArguments
            | HookInputForm::CommandMember { .. }
            | HookInputForm::CommandText => own?,
        };
        let event = PostToolUse {
            context: HookContext::from(self.call.step.as_ref()),
            tool_name: identity.tool_name.clone(),
            tool_input,
            tool_response,
            tool_use_id: output.post_tool_use_id(call_id),
            source: self.call.source.clone(),
        };
        Some((event, identity))
    }
}

/// The body of a function output as a hook reads it; none for other kinds (core.md 5.3).
fn function_body(item: &ResponseInputItem) -> Option<Value> {
    match item {
        ResponseInputItem::FunctionCallOutput { output, .. } => serde_json::to_value(output).ok(),
        ResponseInputItem::Message { .. }
        | ResponseInputItem::McpToolCallOutput { .. }
        | ResponseInputItem::CustomToolCallOutput { .. }
        | ResponseInputItem::ToolSearchOutput { .. } => None,
    }
}
