//! Stage 5: policy, then whoever approves. Both decide on what the tool prepared.

use tenon_tools::{ApprovalDecision, ApprovalRequest, Effects, PreparedCall};

use super::pre::touched;
use super::{Dispatch, Stopped};
use crate::hooks::{HookContext, PermissionRequest, PermissionRequestAction};
use crate::policy::PolicyDecision;

/// What the model reads of the refusal of a plain tool.
const REFUSED: &str = "rejected by user";
/// What the model reads when nobody answered in time.
const TIMED_OUT: &str = "approval timed out";

impl Dispatch {
    /// Lets policy, hooks and whoever approves decide. A call without effects has nothing to decide on.
    pub(super) async fn approve(&mut self, prepared: &dyn PreparedCall) -> Result<(), Stopped> {
        let effects = prepared.effects();
        if effects.is_none() {
            return Ok(());
        }
        match self.env.policy.decide(&self.call, effects).await {
            PolicyDecision::Allow => Ok(()),
            PolicyDecision::Deny { text } => Err(Stopped::Refused(text)),
            PolicyDecision::Ask { reason } => Box::pin(self.ask(effects, reason)).await,
        }
    }

    async fn ask(&mut self, effects: &Effects, reason: Option<String>) -> Result<(), Stopped> {
        match self.ask_hooks(effects).await {
            PermissionRequestAction::Allow => return Ok(()),
            PermissionRequestAction::Deny { message } => return Err(Stopped::Refused(message)),
            PermissionRequestAction::Undecided => {}
        }
        let request = ApprovalRequest {
            call_id: self.call.call_id.clone(),
            tool_name: self.call.tool_name.clone(),
            effects: effects.clone(),
            reason,
        };
        match self.call.host.approver.approve(request).await {
            ApprovalDecision::Approved | ApprovalDecision::ApprovedForSession => Ok(()),
            ApprovalDecision::Denied { reason } => {
                Err(Stopped::Refused(refusal_text(effects, reason.as_deref())))
            }
            ApprovalDecision::TimedOut => Err(Stopped::Refused(refusal_text(effects, Some(TIMED_OUT)))),
            ApprovalDecision::Abort => {
                self.env.interrupt.cancel();
                Err(Stopped::Refused(refusal_text(effects, None)))
            }
        }
    }

    async fn ask_hooks(&self, effects: &Effects) -> PermissionRequestAction {
        let identity = self.tool.hook_identity().filter(|_| !self.env.hooks.is_empty());
        let Some(identity) = identity else {
            return PermissionRequestAction::Undecided;
        };
        let Some(mut tool_input) = identity.input(&self.call.payload) else {
            return PermissionRequestAction::Undecided;
        };
        let reason = effects.command.as_ref().and_then(|command| command.justification.as_ref());
        if let (Some(reason), Some(members)) = (reason, tool_input.as_object_mut()) {
            members.insert("description".to_owned(), reason.clone().into());
        }
        let event = PermissionRequest {
            context: HookContext::from(self.call.step.as_ref()),
            tool_name: identity.tool_name.clone(),
            tool_input,
            paths: touched(effects),
        };
        self.env.hooks.permission_request(&event, identity.aliases).await
    }
}

/// What the model reads when somebody said no, by what they said no to (runtime.md D9.4).
fn refusal_text(effects: &Effects, reason: Option<&str>) -> String {
    let own_words = reason.map(str::trim).filter(|reason| !reason.is_empty());
    match (effects, own_words) {
        (Effects { command: Some(_), .. }, None) => "exec command rejected by user".to_owned(),
        (Effects { command: Some(_), .. }, Some(reason)) => format!("exec command rejected: {reason}"),
        (Effects { mcp: Some(_), .. }, None) => "user rejected MCP tool call".to_owned(),
        (Effects { mcp: Some(_), .. }, Some(reason)) => reason.to_owned(),
        (Effects { writes, .. }, None) if !writes.is_empty() => "patch rejected by user".to_owned(),
        (Effects { writes, .. }, Some(reason)) if !writes.is_empty() => format!("patch rejected: {reason}"),
        (_, Some(reason)) => reason.to_owned(),
        (_, None) => REFUSED.to_owned(),
    }
}
