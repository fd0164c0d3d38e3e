//! What a call asks of the sandbox, and what is refused of it before anything else happens (runtime.md B11).

use serde::Deserialize;
use tenon_tools::{ApprovalPolicy, FunctionCallError, SandboxPermissions, StepContext};

/// `sandbox_permissions` as the model writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum AskedPermissions {
    UseDefault,
    RequireEscalated,
    WithAdditionalPermissions,
}

/// The arguments of a call that concern the sandbox.
#[derive(Debug, Default)]
pub(super) struct PermissionArguments {
    pub(super) asked: Option<AskedPermissions>,
    /// Whether `additional_permissions` is there.
    pub(super) additional: bool,
    pub(super) justification: Option<String>,
    pub(super) prefix_rule: Option<Vec<String>>,
}

/// What of it goes to policy and approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Permissions {
    pub(super) asked: SandboxPermissions,
    pub(super) justification: Option<String>,
    pub(super) prefix_rule: Option<Vec<String>>,
}

impl PermissionArguments {
    /// Checks them against the step's policy. Whether an escalation is granted is decided later, by policy and
    /// approval; here is refused what can never be.
    pub(super) fn check(self, step: &StepContext) -> Result<Permissions, FunctionCallError> {
        if self.justification.is_some() && self.asked.is_none() {
            return Err(FunctionCallError::respond(
                "`justification` requires an explicit `sandbox_permissions`; use `sandbox_permissions: \
                 \"require_escalated\"` for unsandboxed execution, or omit `justification`.",
            ));
        }
        let asked = match self.asked {
            None | Some(AskedPermissions::UseDefault) => SandboxPermissions::UseDefault,
            Some(AskedPermissions::RequireEscalated) => SandboxPermissions::RequireEscalated,
            Some(AskedPermissions::WithAdditionalPermissions) => {
                SandboxPermissions::WithAdditionalPermissions
            }
        };
        if asked != SandboxPermissions::UseDefault && step.approval != ApprovalPolicy::OnRequest {
            let policy = policy_name(step.approval);
            return Err(FunctionCallError::respond(format!(
                "approval policy is {policy}; reject command — you cannot ask for escalated permissions if the \
                 approval policy is {policy}"
            )));
        }
        if asked == SandboxPermissions::WithAdditionalPermissions || self.additional {
            return Err(FunctionCallError::respond(
                "additional permissions are disabled; enable `features.exec_permission_approvals` before using \
                 `with_additional_permissions`",
            ));
        }
        Ok(Permissions { asked, justification: self.justification, prefix_rule: self.prefix_rule })
    }
}

/// The policy's name as the model reads it.
fn policy_name(policy: ApprovalPolicy) -> &'static str {
    match policy {
        ApprovalPolicy::UnlessTrusted => "UnlessTrusted",
        ApprovalPolicy::OnRequest => "OnRequest",
        ApprovalPolicy::Granular(_) => "Granular",
        ApprovalPolicy::Never => "Never",
    }
}

#[cfg(test)]
#[path = "permissions_tests.rs"]
mod tests;
