//! Stage 7, where the sandbox has stopped a command: whether it is run again without it (runtime.md D9.b, rows 5 to 8).
//!
//! The first run stands, whatever is said: this refuses nothing. A second run is somebody's own decision, who is told
//! that there was a first one; the reference starts it unasked where the command had been approved.

use std::sync::Arc;

use async_trait::async_trait;
use tenon_tools::{
    ApprovalDecision, ApprovalRequest, Confinement, Effects, FirstRun, Retries, Retry, ToolExecutor,
    ToolInvocation,
};

use super::Dispatch;
use super::bound::Bound;
use super::environment::DispatchEnvironment;
use super::inquiry::{Inquiry, MAX_QUESTIONS, REFUSED, TIMED_OUT, own_words};
use crate::hooks::PermissionRequestAction;
use crate::policy::Question;

/// What the model reads when what would be run again changed each time it was asked about.
const KEEPS_CHANGING: &str = "what it would run changed each time its approval was given";

/// Asks about second runs of one call.
struct Asking {
    env: Arc<DispatchEnvironment>,
    tool: Arc<dyn ToolExecutor>,
    question: Question,
}

impl Dispatch {
    /// Lets the call ask about a second run, where the sandbox can stop it and policy lets somebody be asked.
    pub(super) async fn offer_retry(&mut self, effects: &Effects) {
        let confined =
            self.call.confinement == Confinement::Sandboxed && !self.call.step.sandbox.is_unrestricted();
        if effects.command.is_none() || !confined {
            return;
        }
        if let Some(question) = self.env.policy.retry(&self.call, effects).await {
            let (env, tool) = (Arc::clone(&self.env), Arc::clone(&self.tool));
            self.call.host.retries = Arc::new(Asking { env, tool, question });
        }
    }
}

#[async_trait]
impl Retries for Asking {
    async fn ask(&self, call: &ToolInvocation, effects: &Effects, first: FirstRun) -> Retry {
        let inquiry = Inquiry { env: &self.env, tool: self.tool.as_ref(), call };
        for asked_before in 0..MAX_QUESTIONS {
            let bound = Bound::of(effects).await;
            let request = inquiry.request(None, &bound, &self.question);
            let request =
                ApprovalRequest { changed: asked_before > 0, first_run: Some(first.clone()), ..request };
            if let Err(why) = self.answer(inquiry, request, &bound).await {
                return Retry::No(Some(why));
            }
            if Bound::of(effects).await == bound {
                return Retry::Unsandboxed;
            }
        }
        Retry::No(Some(KEEPS_CHANGING.to_owned()))
    }
}

impl Asking {
    /// The answer to one question.
    ///
    /// # Errors
    /// Why not, for the model.
    async fn answer(
        &self,
        inquiry: Inquiry<'_>,
        request: ApprovalRequest,
        bound: &Bound,
    ) -> Result<(), String> {
        match inquiry.ask_hooks(bound.effects(), self.question.reason.as_deref()).await {
            PermissionRequestAction::Allow => return Ok(()),
            PermissionRequestAction::Deny { message } => return Err(message),
            PermissionRequestAction::Undecided => {}
        }
        // A yes to more than this call was not offered: it counts for this call alone, and settles no other.
        let Ok(decision) = inquiry.wait_for_answer(request, bound.effects()).await else { return Ok(()) };
        match decision {
            ApprovalDecision::Approved
            | ApprovalDecision::ApprovedForSession
            | ApprovalDecision::ApprovedExecPolicyAmendment { .. }
            | ApprovalDecision::ApprovedMcpPolicyAmendment => Ok(()),
            ApprovalDecision::Denied { reason } => {
                Err(own_words(reason.as_deref()).unwrap_or_else(|| REFUSED.to_owned()))
            }
            ApprovalDecision::TimedOut => Err(TIMED_OUT.to_owned()),
            ApprovalDecision::Abort => {
                self.env.interrupt.cancel();
                Err(REFUSED.to_owned())
            }
        }
    }
}
