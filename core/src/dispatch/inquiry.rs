//! One call that somebody is asked about: hooks first, then a person or whoever stands for them.

use tenon_tools::{
    ApprovalDecision, ApprovalRequest, ApprovalScope, Confinement, Effects, ToolExecutor, ToolInvocation,
    ToolPayload, TruncationPolicy, truncate_text,
};

use super::bound::Bound;
use super::environment::DispatchEnvironment;
use super::pre::touched;
use crate::hooks::{HookContext, PermissionRequest, PermissionRequestAction};
use crate::policy::{PolicyDecision, Question};

/// What a client says where a person has said no and nothing else (runtime.md D9.4).
pub(super) const REFUSED: &str = "rejected by user";
/// What the model reads when nobody answered in time.
pub(super) const TIMED_OUT: &str = "approval timed out";
/// How often a call is asked about again since what it would do has changed.
pub(super) const MAX_QUESTIONS: usize = 3;
/// How much of a client's own words the model is shown (runtime.md D9.4).
const MAX_REFUSAL: TruncationPolicy = TruncationPolicy::Tokens(900);
/// How much of a diff is put before whoever approves, in bytes.
const MAX_DIFF: TruncationPolicy = TruncationPolicy::Bytes(64 * 1024);

/// A call, and whom it can be asked of.
#[derive(Clone, Copy)]
pub(super) struct Inquiry<'a> {
    pub(super) env: &'a DispatchEnvironment,
    pub(super) tool: &'a dyn ToolExecutor,
    pub(super) call: &'a ToolInvocation,
}

impl Inquiry<'_> {
    /// What the hooks say, told why the call is asked about where there is more to say than its input does.
    pub(super) async fn ask_hooks(self, effects: &Effects, why: Option<&str>) -> PermissionRequestAction {
        let identity = self.tool.hook_identity().filter(|_| !self.env.hooks.is_empty());
        let Some(identity) = identity else {
            return PermissionRequestAction::Undecided;
        };
        let Some(mut tool_input) = identity.input(&self.call.payload) else {
            return PermissionRequestAction::Undecided;
        };
        if let (Some(why), Some(members)) = (why, tool_input.as_object_mut()) {
            members.insert("description".to_owned(), why.into());
        }
        let event = PermissionRequest {
            context: HookContext::from(self.call.step.as_ref()),
            tool_name: identity.tool_name.clone(),
            tool_input,
            paths: touched(effects),
        };
        self.env.hooks.permission_request(&event, identity.aliases).await
    }

    /// The request that is put to a person.
    pub(super) fn request(self, diff: Option<String>, bound: &Bound, question: &Question) -> ApprovalRequest {
        let effects = bound.effects();
        let shows_itself = effects.command.is_some() || !effects.writes.is_empty();
        ApprovalRequest {
            call_id: self.call.call_id.clone(),
            tool_name: self.call.tool_name.clone(),
            source: self.call.source.clone(),
            effects: effects.clone(),
            diff: diff.map(|diff| truncate_text(&diff, MAX_DIFF)),
            arguments: (!shows_itself).then(|| arguments(&self.call.payload)),
            reason: question.reason.clone(),
            scopes: question.scopes.clone(),
            changed: false,
            first_run: None,
        }
    }

    /// Waits for the answer, but no longer than may be waited, and not for one that another call's answer has given.
    pub(super) async fn wait_for_answer(
        self,
        request: ApprovalRequest,
        effects: &Effects,
    ) -> Result<ApprovalDecision, Confinement> {
        let approvals = &self.env.approvals;
        let mut remembered = approvals.watch();
        // An answer for this call alone is settled by no other.
        let alone = request.scopes.iter().all(|scope| *scope == ApprovalScope::Once);
        let _open = self.call.host.questions.open(&self.call.source);
        let mut answer = self.call.host.approver.approve(request);
        let mut time_up = std::pin::pin!(approvals.time_up());
        loop {
            tokio::select! {
                biased;
                decision = &mut answer => return Ok(decision),
                () = &mut time_up => return Ok(ApprovalDecision::TimedOut),
                () = remembered.changed(), if !alone => match self.env.policy.decide(self.call, effects).await {
                    PolicyDecision::Allow => return Err(Confinement::Sandboxed),
                    PolicyDecision::AllowUnsandboxed => return Err(Confinement::Unsandboxed),
                    PolicyDecision::Ask(_) | PolicyDecision::Deny { .. } => {}
                },
            }
        }
    }
}

/// The words of whoever said no, bounded; none where they said no more than that.
pub(super) fn own_words(reason: Option<&str>) -> Option<String> {
    let own_words = reason.map(str::trim).filter(|reason| !reason.is_empty() && *reason != REFUSED);
    own_words.map(|reason| truncate_text(reason, MAX_REFUSAL))
}

/// What the call is called with, as JSON where it is.
fn arguments(payload: &ToolPayload) -> serde_json::Value {
    let text = payload.log_payload();
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}
