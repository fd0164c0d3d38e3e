//! What has no requirement of its own (runtime.md D9.b, D9.4).

use tenon_tools::{ApprovalPolicy, ApprovalScope, StepContext};

use super::NO_SANDBOX_APPROVAL;
use crate::policy::{PolicyDecision, Question};

/// | policy | decision |
/// |---|---|
/// | never | allow |
/// | on-request, granular | ask where the file system is restricted |
/// | untrusted | ask |
/// | granular that would ask, without sandbox_approval | deny |
pub(super) fn decide(step: &StepContext) -> PolicyDecision {
    let restricted = !step.sandbox.is_unrestricted();
    let (asks, may_ask) = match step.approval {
        ApprovalPolicy::Never => (false, true),
        ApprovalPolicy::OnRequest => (restricted, true),
        ApprovalPolicy::Granular(granular) => (restricted, granular.sandbox_approval),
        ApprovalPolicy::UnlessTrusted => (true, true),
    };
    match (asks, may_ask) {
        (false, _) => PolicyDecision::Allow,
        (true, false) => PolicyDecision::Deny { text: NO_SANDBOX_APPROVAL.to_owned() },
        (true, true) => {
            let scopes = vec![ApprovalScope::Once, ApprovalScope::Session];
            PolicyDecision::Ask(Question { scopes, ..Question::default() })
        }
    }
}

#[cfg(test)]
#[path = "other_tests.rs"]
mod tests;
