//! PreToolUse: block, rewrite, context.

use tenon_tools::CommandOutcome;

use super::{Words, filled, of_tool};
use crate::hooks::handler::Ran;
use crate::hooks::output::{LegacyDecision, PermissionDecision, PreToolUseOutput, PreToolUseSpecific};
use crate::hooks::{HookContract, PreDecision, PreToolUseAction};

const WORDS: Words = Words {
    invalid: "hook returned invalid pre-tool-use JSON output",
    no_reason: Some("PreToolUse hook exited with code 2 but did not write a blocking reason to stderr"),
};

/// The reason of a hook that wants somebody asked and does not say why.
const ASKS: &str = "a hook wants it approved";

pub(in crate::hooks) fn pre_tool_use(
    outcome: &CommandOutcome,
    contract: HookContract,
) -> Ran<PreToolUseAction> {
    of_tool(
        outcome,
        &WORDS,
        contract.is_closed(),
        |reason| Ran::of(PreToolUseAction::block(reason)),
        |output| decide(output, contract).map_or_else(Ran::failed, Ran::of),
    )
}

/// The first problem wins.
fn decide(output: PreToolUseOutput, contract: HookContract) -> Result<PreToolUseAction, &'static str> {
    if !output.r#continue {
        return Err("PreToolUse hook returned unsupported continue:false");
    }
    if output.stop_reason.is_some() {
        return Err("PreToolUse hook returned unsupported stopReason");
    }
    if output.suppress_output {
        return Err("PreToolUse hook returned unsupported suppressOutput");
    }
    let specific = output.hook_specific_output.filter(PreToolUseSpecific::says_something);
    match specific {
        Some(_) if contract.is_closed() && (output.decision.is_some() || output.reason.is_some()) => {
            Err("PreToolUse hook returned decision or reason beside hookSpecificOutput")
        }
        Some(specific) => specific_decision(specific, contract),
        None => legacy_decision(output.decision, output.reason),
    }
}

fn specific_decision(
    specific: PreToolUseSpecific,
    contract: HookContract,
) -> Result<PreToolUseAction, &'static str> {
    let PreToolUseSpecific { permission_decision, permission_decision_reason: reason, updated_input, .. } =
        specific;
    let decision = match (permission_decision, updated_input) {
        (Some(PermissionDecision::Allow), Some(input)) => PreDecision::Rewrite { input },
        (Some(PermissionDecision::Deny | PermissionDecision::Ask) | None, Some(_)) => {
            return Err("PreToolUse hook returned updatedInput without permissionDecision:allow");
        }
        (Some(PermissionDecision::Allow), None) => {
            return Err("PreToolUse hook returned unsupported permissionDecision:allow");
        }
        // The plain contract has no question; one that asks without a reason still asks.
        (Some(PermissionDecision::Ask), None) if contract.extended => {
            PreDecision::Ask { reason: filled(reason).unwrap_or_else(|| ASKS.to_owned()) }
        }
        (Some(PermissionDecision::Ask), None) => {
            return Err("PreToolUse hook returned unsupported permissionDecision:ask");
        }
        (Some(PermissionDecision::Deny), None) => PreDecision::Block {
            reason: filled(reason).ok_or(
                "PreToolUse hook returned permissionDecision:deny without a non-empty \
                 permissionDecisionReason",
            )?,
        },
        (None, None) if reason.is_some() => {
            return Err("PreToolUse hook returned permissionDecisionReason without permissionDecision");
        }
        (None, None) => PreDecision::Continue,
    };
    Ok(PreToolUseAction { decision, additional_context: filled(specific.additional_context) })
}

fn legacy_decision(
    decision: Option<LegacyDecision>,
    reason: Option<String>,
) -> Result<PreToolUseAction, &'static str> {
    match decision {
        Some(LegacyDecision::Approve) => Err("PreToolUse hook returned unsupported decision:approve"),
        Some(LegacyDecision::Block) => filled(reason)
            .map(PreToolUseAction::block)
            .ok_or("PreToolUse hook returned decision:block without a non-empty reason"),
        None if reason.is_some() => Err("PreToolUse hook returned reason without decision"),
        None => Ok(PreToolUseAction::default()),
    }
}
