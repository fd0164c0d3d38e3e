//! Stage 3: PreToolUse hooks.

use std::collections::BTreeSet;
use std::path::PathBuf;

use tenon_tools::{Effects, HookEventName, HookIdentity};

use super::{Dispatch, Stopped};
use crate::hooks::{HookContext, PreToolUse};

/// Tools whose refusal names the command and not the tool (core.md 5.4).
const COMMAND_TOOLS: [&str; 2] = ["Bash", "apply_patch"];

impl Dispatch {
    /// Lets hooks block or rewrite the call. What they say beside it is kept, whatever becomes of the call.
    pub(super) async fn before_hooks(&mut self) -> Result<(), Stopped> {
        if self.env.hooks.is_empty() {
            return Ok(());
        }
        // On the heap, since most calls meet no hook and should not carry the room for one.
        Box::pin(self.ask_before()).await
    }

    async fn ask_before(&mut self) -> Result<(), Stopped> {
        let Some(identity) = self.tool.hook_identity() else {
            return Ok(());
        };
        let (name, aliases) = (identity.tool_name.as_ref(), identity.aliases);
        if identity.post && self.env.hooks.is_extended_for(HookEventName::PostToolUse, name, aliases) {
            self.events.hold();
        }
        if !identity.pre {
            return Ok(());
        }
        let Some(tool_input) = identity.input(&self.call.payload) else {
            return Ok(());
        };
        let event = PreToolUse {
            context: HookContext::from(self.call.step.as_ref()),
            tool_name: identity.tool_name.clone(),
            tool_input,
            tool_use_id: self.call.call_id.clone(),
            source: self.call.source.clone(),
            paths: self.paths(&identity).await,
        };
        let outcome = self.env.hooks.pre_tool_use(&event, identity.aliases).await;
        self.contexts.extend(outcome.contexts);
        if let Some(reason) = outcome.blocked {
            return Err(Stopped::Refused(block_text(&identity, &event, &reason)));
        }
        self.ask = outcome.ask;
        if let Some(input) = outcome.rewrite {
            self.call.payload = identity.rewrite(&self.call.payload, &input)?;
            self.events.show_payload(&self.call);
            self.original_input = Some(Box::new(event.tool_input));
        }
        Ok(())
    }

    /// What the call as it stands would touch, for extended hooks. Preparing changes nothing; the call is prepared
    /// again once the hooks have answered.
    async fn paths(&self, identity: &HookIdentity) -> Option<Vec<PathBuf>> {
        if !self.env.hooks.is_extended_for(HookEventName::PreToolUse, &identity.tool_name, identity.aliases) {
            return None;
        }
        let prepared = self.tool.prepare(&self.call).await.ok()?;
        Some(touched(prepared.effects()))
    }
}

/// Every file that a call would read or write.
pub(super) fn touched(effects: &Effects) -> Vec<PathBuf> {
    let files = effects.reads.iter().chain(&effects.writes);
    files.map(|file| file.path.clone()).collect::<BTreeSet<_>>().into_iter().collect()
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
