use pretty_assertions::assert_eq;
use tenon_tools::{GranularApproval, SandboxPolicy, WorkspaceWrite};

use super::*;

/// D9.b, the default requirement, and its text of D9.4.
#[test]
fn the_default_requirement() {
    let granular = |sandbox_approval| {
        ApprovalPolicy::Granular(GranularApproval { sandbox_approval, ..GranularApproval::default() })
    };
    let denied = "approval policy disallowed sandbox approval prompt";
    let rows = [
        (ApprovalPolicy::Never, ["allow", "allow"]),
        (ApprovalPolicy::OnRequest, ["ask", "allow"]),
        (granular(true), ["ask", "allow"]),
        (granular(false), [denied, "allow"]),
        (ApprovalPolicy::UnlessTrusted, ["ask", "ask"]),
    ];
    for (approval, expected) in rows {
        let sandboxes =
            [SandboxPolicy::WorkspaceWrite(WorkspaceWrite::default()), SandboxPolicy::DangerFullAccess];
        let found = sandboxes.map(|sandbox| {
            match decide(&StepContext { approval, sandbox, ..StepContext::default() }) {
                PolicyDecision::Allow => "allow".to_owned(),
                PolicyDecision::Ask(_) => "ask".to_owned(),
                PolicyDecision::Deny { text } => text,
                PolicyDecision::AllowUnsandboxed => "unsandboxed".to_owned(),
            }
        });
        assert_eq!(found, expected, "{approval:?}");
    }
}
