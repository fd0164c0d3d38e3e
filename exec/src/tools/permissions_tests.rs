use pretty_assertions::assert_eq;
use tenon_tools::GranularApproval;

use super::*;

fn step(approval: ApprovalPolicy) -> StepContext {
    StepContext { approval, ..StepContext::default() }
}

fn asking(asked: AskedPermissions) -> PermissionArguments {
    PermissionArguments { asked: Some(asked), ..PermissionArguments::default() }
}

fn refusal(arguments: PermissionArguments, approval: ApprovalPolicy) -> String {
    arguments.check(&step(approval)).expect_err("refused").text().to_owned()
}

#[test]
fn nothing_asked_is_always_fine() {
    for approval in [ApprovalPolicy::Never, ApprovalPolicy::OnRequest, ApprovalPolicy::UnlessTrusted] {
        let expected =
            Permissions { asked: SandboxPermissions::UseDefault, justification: None, prefix_rule: None };
        assert_eq!(PermissionArguments::default().check(&step(approval)), Ok(expected.clone()));
        assert_eq!(asking(AskedPermissions::UseDefault).check(&step(approval)), Ok(expected));
    }
}

#[test]
fn an_escalation_is_handed_on_where_it_may_be_asked() {
    let arguments = PermissionArguments {
        justification: Some("why".to_owned()),
        prefix_rule: Some(vec!["git".to_owned()]),
        ..asking(AskedPermissions::RequireEscalated)
    };
    let expected = Permissions {
        asked: SandboxPermissions::RequireEscalated,
        justification: Some("why".to_owned()),
        prefix_rule: Some(vec!["git".to_owned()]),
    };
    assert_eq!(arguments.check(&step(ApprovalPolicy::OnRequest)), Ok(expected));
}

#[test]
fn an_escalation_is_refused_where_nobody_is_asked() {
    for (approval, name) in [
        (ApprovalPolicy::Never, "Never"),
        (ApprovalPolicy::UnlessTrusted, "UnlessTrusted"),
        (ApprovalPolicy::Granular(GranularApproval::default()), "Granular"),
    ] {
        for asked in [AskedPermissions::RequireEscalated, AskedPermissions::WithAdditionalPermissions] {
            assert_eq!(
                refusal(asking(asked), approval),
                format!(
                    "approval policy is {name}; reject command — you cannot ask for escalated permissions if the \
                     approval policy is {name}"
                )
            );
        }
    }
}

#[test]
fn additional_permissions_are_disabled() {
    let disabled = "additional permissions are disabled; enable `features.exec_permission_approvals` before using \
                    `with_additional_permissions`";
    let with = asking(AskedPermissions::WithAdditionalPermissions);
    assert_eq!(refusal(with, ApprovalPolicy::OnRequest), disabled);
    let alone = PermissionArguments { additional: true, ..PermissionArguments::default() };
    assert_eq!(refusal(alone, ApprovalPolicy::Never), disabled);
}

#[test]
fn a_justification_needs_something_to_justify() {
    let alone =
        PermissionArguments { justification: Some("why".to_owned()), ..PermissionArguments::default() };
    assert_eq!(
        refusal(alone, ApprovalPolicy::OnRequest),
        "`justification` requires an explicit `sandbox_permissions`; use `sandbox_permissions: \
         \"require_escalated\"` for unsandboxed execution, or omit `justification`."
    );
}
