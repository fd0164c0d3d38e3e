//! Stage 8: PostToolUse hooks. They see what came of the call and may change what the model reads of it; an extended
//! hook sees it before anybody else does, and may put something else in its place for all of them.

use std::time::Duration;

use serde_json::Value;
use tenon_protocol::ResponseInputItem;
use tenon_tools::{
    FunctionCallError, HookEventName, HookIdentity, HookInputForm, PostToolUseFeedbackOutput,
    ReplacedToolOutput, ResponseFacts, ToolOutput,
};

use super::identity::kind_only;
use super::{AnyToolResult, Dispatch, Stopped};
use crate::hooks::{HookContext, PostToolUse, PostToolUseOutcome};

/// How long extended hooks still have for a call that was cancelled. What they have not looked at by then is withheld.
const LAST_LOOK: Duration = Duration::from_secs(2);

/// What is read in place of an output that nobody has looked at.
const NOT_LOOKED_AT: &str =
    "The call was cancelled before the PostToolUse hooks had looked at its output. The output is withheld.";

/// What came of a call.
type Ran = Result<Box<dyn ToolOutput>, Stopped>;

impl Dispatch {
    /// Lets hooks look at what came of the call. Plain hooks hear of a success only, and of none when the call is
    /// cancelled meanwhile: it keeps its real result.
    pub(super) async fn after_hooks(&mut self, ran: Ran) -> Result<AnyToolResult, Stopped> {
        if cfg!(tenon_without_hook_stages) || self.env.hooks.is_empty() {
            return ran.map(|output| self.result(output, None));
        }
        // On the heap, since most calls meet no hook and should not carry the room for one.
        Box::pin(self.ask_and_answer(ran)).await
    }

    async fn ask_and_answer(&mut self, ran: Ran) -> Result<AnyToolResult, Stopped> {
        let outcome = match self.post_event(&ran) {
            Some((event, identity)) => self.ask_after(&event, &identity).await,
            None => PostToolUseOutcome::default(),
        };
        let PostToolUseOutcome { feedback, contexts, updated_output } = outcome;
        self.contexts.extend(contexts);
        let ran = match updated_output {
            Some(updated) => replaced(ran, updated),
            None => ran,
        };
        match ran {
            Ok(output) => Ok(self.result(output, feedback)),
            Err(stopped) => Err(self.failure(stopped, feedback)),
        }
    }

    /// Asks. What the client was not to see before is shown now, as the hooks have left it.
    async fn ask_after(&mut self, event: &PostToolUse, identity: &HookIdentity) -> PostToolUseOutcome {
        self.looked_at = true;
        let (name, aliases) = (identity.tool_name.as_ref(), identity.aliases);
        let is_extended = self.env.hooks.is_extended_for(HookEventName::PostToolUse, name, aliases);
        let cancellation = self.call.cancellation.clone();
        let asked = self.env.hooks.post_tool_use(event, aliases);
        let given_up = async {
            cancellation.cancelled().await;
            if is_extended {
                tokio::time::sleep(LAST_LOOK).await;
            }
        };
        let outcome = tokio::select! {
            outcome = asked => outcome,
            () = given_up => PostToolUseOutcome {
                updated_output: is_extended.then(|| Value::String(NOT_LOOKED_AT.to_owned())),
                ..PostToolUseOutcome::default()
            },
        };
        let seen = event.whole_response.as_ref().unwrap_or(&event.tool_response);
        self.events.let_go(seen, outcome.updated_output.as_ref());
        outcome
    }

    /// The output as the model is to read it.
    fn result(&mut self, output: Box<dyn ToolOutput>, feedback: Option<String>) -> AnyToolResult {
        let output = match &feedback {
            Some(text) => Box::new(PostToolUseFeedbackOutput::new(output, text)) as _,
            None => output,
        };
        // What is left of the payload tells its kind, and no more is asked of it.
        let kind = kind_only(&self.call.payload);
        let payload = std::mem::replace(&mut self.call.payload, kind);
        let call_id = self.call.call_id.clone();
        AnyToolResult { call_id, payload, output, feedback }
    }

    /// The failure as the model is to read it. A script is told of the real one, and the model of the hook's words.
    fn failure(&mut self, stopped: Stopped, feedback: Option<String>) -> Stopped {
        match (stopped, feedback) {
            (Stopped::Failed(FunctionCallError::RespondToModel(text)), Some(feedback)) => {
                let nested = self.call.source.is_nested();
                if nested {
                    self.contexts.push(feedback.clone());
                }
                Stopped::Failed(FunctionCallError::RespondToModel(if nested { text } else { feedback }))
            }
            (stopped, _) => stopped,
        }
    }

    /// What hooks are told; none where no hook is to hear of it.
    fn post_event(&self, ran: &Ran) -> Option<(PostToolUse, HookIdentity)> {
        let identity = self.tool.hook_identity().filter(|identity| identity.post)?;
        let (name, aliases) = (identity.tool_name.as_ref(), identity.aliases);
        let is_extended = self.env.hooks.is_extended_for(HookEventName::PostToolUse, name, aliases);
        let event = match ran {
            Ok(output) => self.of_output(output.as_ref(), &identity, is_extended)?,
            Err(Stopped::Failed(error)) if is_extended => self.of_failure(error.text(), &identity),
            Err(Stopped::Failed(_) | Stopped::Refused(_)) => return None,
        };
        Some((event, identity))
    }

    /// An output, by the recorded contract; where that has nothing to tell, and an extended hook is there, all of it.
    fn of_output(
        &self,
        output: &dyn ToolOutput,
        identity: &HookIdentity,
        is_extended: bool,
    ) -> Option<PostToolUse> {
        let (call_id, payload) = (&self.call.call_id, &self.call.payload);
        let plain = plain_response(output, identity, call_id, payload);
        if plain.is_none() && !is_extended {
            return None;
        }
        let is_plain = plain.is_some();
        let ResponseFacts { whole, exit_code, unfinished } = output.response_facts();
        let tool_input = output.post_tool_use_input(payload).or_else(|| identity.input(payload));
        let tool_response = plain.or_else(|| body(&output.to_response_item(call_id, payload)));
        Some(PostToolUse {
            // Extended hooks answer for all that anybody will read, and not only for what other hooks are shown of it.
            whole_response: whole.filter(|_| is_extended),
            success: output.success_for_logging() && exit_code.is_none_or(|code| code == 0),
            exit_code,
            finished: !unfinished,
            is_plain,
            tool_use_id: output.post_tool_use_id(call_id),
            ..self.event(identity, tool_input?, tool_response?)
        })
    }

    /// A failure, which only extended hooks hear of. The input is null where the call has none to show.
    fn of_failure(&self, text: &str, identity: &HookIdentity) -> PostToolUse {
        let tool_input = identity.input(&self.call.payload).unwrap_or_default();
        self.event(identity, tool_input, Value::String(text.to_owned()))
    }

    /// The event of a failure.
    fn event(&self, identity: &HookIdentity, tool_input: Value, tool_response: Value) -> PostToolUse {
        PostToolUse {
            context: HookContext::from(self.call.step.as_ref()),
            tool_name: identity.tool_name.clone(),
            tool_input,
            original_input: self.original_input.as_deref().cloned(),
            tool_response,
            whole_response: None,
            tool_use_id: self.call.call_id.clone(),
            source: self.call.source.clone(),
            success: false,
            exit_code: None,
            finished: true,
            is_plain: false,
        }
    }
}

/// `tool_response` by the recorded contract (core.md 5.3): of a success, where the tool has one to show.
fn plain_response(
    output: &dyn ToolOutput,
    identity: &HookIdentity,
    call_id: &tenon_protocol::CallId,
    payload: &tenon_tools::ToolPayload,
) -> Option<Value> {
    if !output.success_for_logging() {
        return None;
    }
    let own = output.post_tool_use_response(call_id, payload);
    match identity.form {
        HookInputForm::Arguments => own.or_else(|| function_body(&output.to_response_item(call_id, payload))),
        HookInputForm::McpArguments | HookInputForm::CommandMember { .. } | HookInputForm::CommandText => own,
    }
}

/// What came of the call with another text in it.
fn replaced(ran: Ran, updated: Value) -> Ran {
    match ran {
        Ok(output) => Ok(output
            .with_response(&updated)
            .unwrap_or_else(|| Box::new(ReplacedToolOutput::new(output.as_ref(), updated)))),
        Err(Stopped::Failed(FunctionCallError::RespondToModel(_))) => {
            Err(Stopped::Failed(FunctionCallError::RespondToModel(text_of(updated))))
        }
        Err(Stopped::Failed(FunctionCallError::Fatal(_))) => {
            Err(Stopped::Failed(FunctionCallError::Fatal(text_of(updated))))
        }
        Err(Stopped::Refused(text)) => Err(Stopped::Refused(text)),
    }
}

fn text_of(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
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

/// The body of any output that a model reads.
fn body(item: &ResponseInputItem) -> Option<Value> {
    match item {
        ResponseInputItem::FunctionCallOutput { output, .. }
        | ResponseInputItem::CustomToolCallOutput { output, .. } => serde_json::to_value(output).ok(),
        ResponseInputItem::McpToolCallOutput { output, .. } => serde_json::to_value(output).ok(),
        ResponseInputItem::ToolSearchOutput { tools, .. } => serde_json::to_value(tools).ok(),
        ResponseInputItem::Message { .. } => None,
    }
}
