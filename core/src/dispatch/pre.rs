//! Stage 3: PreToolUse hooks.

use tenon_tools::HookIdentity;

use super::{Dispatch, Stopped};
use crate::hooks::{HookContext, PreToolUse};

/// Tools whose refusal names the command and not the tool (core.md 5.4).
const COMMAND_TOOLS: [&str; 2] = ["Bash", "apply_patch"];

impl Dispatch<'_> {
    /// Lets hooks block or rewrite the call. What they say beside it is kept, whatever becomes of the call.
    pub(super) async fn before_hooks(&mut self) -> Result<(), Stopped> {
        if self.env.hooks.is_empty() {
            return Ok(());
        }
        let Some(identity) = self.tool.hook_identity().filter(|identity| identity.pre) else {
            return Ok(());
        };
        let Some(tool_input) = identity.input(&self.call.payload) else {
            return Ok(());
        };
        let event = PreToolUse {
            context: HookContext::from(self.call.step.as_ref()),
            tool_name: identity.tool_name.clone(),
            tool_input,
            tool_use_id: self.call.call_id.clone(),
            source: self.call.source.clone(),
        };
        let outcome = self.env.hooks.pre_tool_use(&event, identity.aliases).await;
        self.contexts.extend(outcome.contexts);
        if let Some(reason) = outcome.blocked {
            return Err(Stopped::Refused(block_text(&identity, &event, &reason)));
        }
        if let Some(input) = outcome.rewrite {
            self.call.payload = identity.rewrite(&self.call.payload, &input)?;
            self.events.show_payload(&self.call);
        }
        Ok(())
    }
}

/// What the model reads of a blocked call (core.md 5.4).
fn block_text(identity: &HookIdentity, event: &PreToolUse, reason: &str) -> String {
    let name = &identity.tool_name;
    let command = event.tool_input.get("command").and_then(serde_json::Value::as_str);
    match command {
        Some(command) if COMMAND_TOOLS.contains(&name.as_ref()) => {
            format!("Command blocked by PreToolUse hook: {reason}. Command: {command}")
        }
        Some(_) | None => format!("Tool call blocked by PreToolUse hook: {reason}. Tool: {name}"),
    }
}
