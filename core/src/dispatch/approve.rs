//! Stage 5: policy, then whoever approves. Both decide on what the tool prepared, and a yes is bound to that.

use tenon_protocol::CallFact;
use tenon_tools::{
    ApprovalDecision, ApprovalRequest, ApprovalScope, Confinement, Effects, Event, PreparedCall,
};

use super::bound::Bound;
use super::inquiry::{Inquiry, MAX_QUESTIONS, REFUSED, TIMED_OUT, own_words};
use super::{Dispatch, Stopped};
use crate::hooks::PermissionRequestAction;
use crate::policy::{PolicyDecision, Question};

/// What the model reads when it changed each time.
const KEEPS_CHANGING: &str = "not run: what this call would do changed each time its approval was given";

/// What a question came to.
enum Answer {
    /// It may run; how far the yes reaches.
    Yes(ApprovalScope),
    /// Another answer has settled it in the meantime.
    Settled(Confinement),
}

impl Dispatch {
    /// Lets policy, hooks and whoever approves decide, and gives back the call that may run. A call without effects has
    /// nothing to decide on.
    pub(super) async fn approve(
        &mut self,
        prepared: Box<dyn PreparedCall>,
    ) -> Result<Box<dyn PreparedCall>, Stopped> {
        if prepared.effects().is_none() && self.ask.is_none() {
            return Ok(prepared);
        }
        let decision = self.env.policy.decide(&self.call, prepared.effects()).await;
        match asked_by_hook(decision, self.ask.take()) {
            PolicyDecision::Allow => Ok(prepared),
            PolicyDecision::AllowUnsandboxed => {
                self.call.confinement = Confinement::Unsandboxed;
                Ok(prepared)
            }
            PolicyDecision::Deny { text } => Err(Stopped::Refused(text)),
            // On the heap, since most calls are not asked about and should not carry the room for it.
            PolicyDecision::Ask(question) => Box::pin(self.ask_until_settled(prepared, question)).await,
        }
    }

    /// Asks, and asks again where what was approved has changed meanwhile.
    async fn ask_until_settled(
        &mut self,
        mut prepared: Box<dyn PreparedCall>,
        mut question: Question,
    ) -> Result<Box<dyn PreparedCall>, Stopped> {
        for asked_before in 0..MAX_QUESTIONS {
            let bound = Bound::of(prepared.effects()).await;
            let scope = match self.ask(prepared.as_ref(), &bound, &question, asked_before > 0).await? {
                Answer::Yes(scope) => scope,
                Answer::Settled(confinement) => {
                    self.call.confinement = confinement;
                    return Ok(prepared);
                }
            };
            let again = self.tool.prepare(&self.call).await?;
            if Bound::of(again.effects()).await == bound {
                self.remember(prepared.effects(), &scope).await;
                if question.unsandboxed || self.is_allowed_by_new_rule(prepared.effects(), &scope).await {
                    self.call.confinement = Confinement::Unsandboxed;
                }
                return Ok(prepared);
            }
            // What it would do now has to be decided on as it is now.
            prepared = again;
            question = match self.env.policy.decide(&self.call, prepared.effects()).await {
                PolicyDecision::Ask(question) => question,
                PolicyDecision::Deny { text } => return Err(Stopped::Refused(text)),
                // Somebody was asked about it, so somebody is asked again.
                PolicyDecision::Allow | PolicyDecision::AllowUnsandboxed => question,
            };
        }
        Err(Stopped::Refused(KEEPS_CHANGING.to_owned()))
    }

    async fn ask(
        &mut self,
        prepared: &dyn PreparedCall,
        bound: &Bound,
        question: &Question,
        changed: bool,
    ) -> Result<Answer, Stopped> {
        let inquiry = Inquiry { env: &self.env, tool: self.tool.as_ref(), call: &self.call };
        let justification =
            bound.effects().command.as_ref().and_then(|command| command.justification.as_deref());
        match inquiry.ask_hooks(bound.effects(), justification).await {
            PermissionRequestAction::Allow => return Ok(Answer::Yes(ApprovalScope::Once)),
            PermissionRequestAction::Deny { message } => return Err(Stopped::Refused(message)),
            PermissionRequestAction::Undecided => {}
        }
        // Should this runtime end before the answer, whoever goes on knows that nothing has happened yet.
        self.call.host.progress.record(CallFact::Asked);
        let request = ApprovalRequest { changed, ..inquiry.request(prepared.diff(), bound, question) };
        let decision = match inquiry.wait_for_answer(request, prepared.effects()).await {
            Ok(decision) => decision,
            Err(confinement) => return Ok(Answer::Settled(confinement)),
        };
        let effects = prepared.effects();
        let offers =
            |wanted: fn(&ApprovalScope) -> bool| question.scopes.iter().find(|scope| wanted(scope)).cloned();
        let scope = match decision {
            ApprovalDecision::Approved => None,
            ApprovalDecision::ApprovedForSession => offers(|scope| matches!(scope, ApprovalScope::Session)),
            ApprovalDecision::ApprovedExecPolicyAmendment { prefix } => {
                match offers(|scope| matches!(scope, ApprovalScope::Prefix { .. })) {
                    Some(ApprovalScope::Prefix { prefix: _, file }) => {
                        Some(ApprovalScope::Prefix { prefix, file })
                    }
                    Some(ApprovalScope::Once | ApprovalScope::Session | ApprovalScope::McpTool { .. })
                    | None => None,
                }
            }
            ApprovalDecision::ApprovedMcpPolicyAmendment => {
                offers(|scope| matches!(scope, ApprovalScope::McpTool { .. }))
            }
            ApprovalDecision::Denied { reason } => return Err(refusal(effects, reason.as_deref())),
            ApprovalDecision::TimedOut => return Err(refusal(effects, Some(TIMED_OUT))),
            ApprovalDecision::Abort => {
                self.env.interrupt.cancel();
                return Err(refusal(effects, None));
            }
        };
        Ok(Answer::Yes(scope.unwrap_or(ApprovalScope::Once)))
    }

    /// Remembers a yes that reaches beyond the call, and lets those who wait for theirs look whether it is for them.
    async fn remember(&self, effects: &Effects, scope: &ApprovalScope) {
        if *scope == ApprovalScope::Once {
            return;
        }
        if let Err(shorter) = self.env.policy.remember(&self.call, effects, scope).await {
            self.env.host.events.emit(Event::Warning { message: shorter.to_string() });
        }
        self.env.approvals.remembered();
    }

    /// A rule allows without a sandbox (runtime.md D10.6), where it is one that speaks for this call.
    async fn is_allowed_by_new_rule(&self, effects: &Effects, scope: &ApprovalScope) -> bool {
        let decided = match scope {
            ApprovalScope::Once | ApprovalScope::Session | ApprovalScope::McpTool { .. } => return false,
            ApprovalScope::Prefix { .. } => self.env.policy.decide(&self.call, effects).await,
        };
        decided == PolicyDecision::AllowUnsandboxed
    }
}

/// What a hook wants asked is asked, unless it is refused anyway.
fn asked_by_hook(decision: PolicyDecision, asks: Option<String>) -> PolicyDecision {
    let Some(reason) = asks else { return decision };
    match decision {
        PolicyDecision::Allow => PolicyDecision::ask(reason),
        PolicyDecision::AllowUnsandboxed => {
            PolicyDecision::Ask(Question { reason: Some(reason), unsandboxed: true, ..Question::default() })
        }
        // A hook looks at this call: a yes to it is none to others.
        PolicyDecision::Ask(question) => PolicyDecision::Ask(Question {
            reason: Some(reason),
            scopes: vec![ApprovalScope::Once],
            ..question
        }),
        PolicyDecision::Deny { text } => PolicyDecision::Deny { text },
    }
}

fn refusal(effects: &Effects, reason: Option<&str>) -> Stopped {
    Stopped::Refused(refusal_text(effects, reason))
}

/// What the model reads when somebody said no, by what they said no to (runtime.md D9.4, core.md 8.6).
fn refusal_text(effects: &Effects, reason: Option<&str>) -> String {
    match (effects, own_words(reason)) {
        (Effects { command: Some(_), .. }, None) => "exec command rejected by user".to_owned(),
        (Effects { command: Some(_), .. }, Some(reason)) => format!("exec command rejected: {reason}"),
        (Effects { mcp: Some(_), .. }, None) => "user rejected MCP tool call".to_owned(),
        (Effects { writes, .. }, None) if !writes.is_empty() => "patch rejected by user".to_owned(),
        (Effects { writes, .. }, Some(reason)) if !writes.is_empty() => format!("patch rejected: {reason}"),
        (_, Some(reason)) => reason,
        (_, None) => REFUSED.to_owned(),
    }
}

#[cfg(test)]
#[path = "approve_tests.rs"]
mod tests;
