//! PermissionRequest: allow or deny.

use tenon_tools::CommandOutcome;

use super::{Words, of_tool};
use crate::hooks::PermissionRequestAction;
use crate::hooks::handler::Ran;
use crate::hooks::output::{Behavior, Permission, PermissionRequestOutput};

const WORDS: Words = Words {
    invalid: "hook returned invalid permission-request JSON output",
    no_reason: Some("PermissionRequest hook exited with code 2 but did not write a denial reason to stderr"),
};

/// What the model reads of a refusal without words.
const DENIED: &str = "PermissionRequest hook denied approval";

pub(in crate::hooks) fn permission_request(
    outcome: &CommandOutcome,
    is_closed: bool,
) -> Ran<PermissionRequestAction> {
    of_tool(
        outcome,
        &WORDS,
        is_closed,
        |message| Ran::of(PermissionRequestAction::Deny { message }),
        |output| decide(output).map_or_else(Ran::failed, Ran::of),
    )
}

fn decide(output: PermissionRequestOutput) -> Result<PermissionRequestAction, &'static str> {
    if !output.r#continue {
        return Err("PermissionRequest hook returned unsupported continue:false");
    }
    if output.stop_reason.is_some() {
        return Err("PermissionRequest hook returned unsupported stopReason");
    }
    if output.suppress_output {
        return Err("PermissionRequest hook returned unsupported suppressOutput");
    }
    let decision = output.hook_specific_output.and_then(|specific| specific.decision);
    decision.map_or(Ok(PermissionRequestAction::Undecided), permission)
}

fn permission(decision: Permission) -> Result<PermissionRequestAction, &'static str> {
    let Permission { behavior, message, updated_input, updated_permissions, interrupt } = decision;
    if updated_input.is_some() {
        return Err("PermissionRequest hook returned unsupported updatedInput");
    }
    if updated_permissions.is_some() {
        return Err("PermissionRequest hook returned unsupported updatedPermissions");
    }
    if interrupt {
        return Err("PermissionRequest hook returned unsupported interrupt:true");
    }
    Ok(match behavior {
        Behavior::Allow => PermissionRequestAction::Allow,
        Behavior::Deny => {
            let words = message.as_deref().map(str::trim).filter(|words| !words.is_empty());
            PermissionRequestAction::Deny { message: words.unwrap_or(DENIED).to_owned() }
        }
    })
}
