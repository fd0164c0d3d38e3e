//! PostToolUse: feedback, stop, context; for extended hooks, another output.

use serde_json::Value;
use tenon_tools::{CommandOutcome, HookRunStatus};

use super::{Words, filled, of_tool};
use crate::hooks::handler::Ran;
use crate::hooks::output::PostToolUseOutput;
use crate::hooks::{HookContract, PostToolUseAction};

const WORDS: Words = Words {
    invalid: "hook returned invalid post-tool-use JSON output",
    no_reason: Some("PostToolUse hook exited with code 2 but did not write feedback to stderr"),
};

/// What is read where a hook asks to stop and says no more.
pub(in crate::hooks) const STOPPED: &str = "PostToolUse hook stopped execution";

pub(in crate::hooks) fn post_tool_use(
    outcome: &CommandOutcome,
    contract: HookContract,
) -> Ran<PostToolUseAction> {
    of_tool(
        outcome,
        &WORDS,
        contract.is_closed(),
        // The call has happened: words on it are no objection.
        |feedback| {
            let action = PostToolUseAction { feedback: Some(feedback), ..PostToolUseAction::default() };
            Ran::of(action).standing(HookRunStatus::Completed)
        },
        |output| decide(output, contract).map_or_else(Ran::failed, Ran::of),
    )
}

fn decide(mut output: PostToolUseOutput, contract: HookContract) -> Result<PostToolUseAction, &'static str> {
    let specific = output.hook_specific_output.take().unwrap_or_default();
    if specific.updated_tool_output.is_some() && !contract.extended {
        return Err(WORDS.invalid);
    }
    let mut action = PostToolUseAction {
        additional_context: filled(specific.additional_context),
        updated_output: specific.updated_tool_output.filter(|updated| !updated.is_null()),
        ..PostToolUseAction::default()
    };
    if output.r#continue || contract.is_closed() {
        check(&output, specific.updated_mcp_tool_output.as_ref())?;
    }
    if !output.r#continue {
        let stop = output.stop_reason.unwrap_or_else(|| STOPPED.to_owned());
        action.feedback = Some(filled(output.reason).unwrap_or_else(|| stop.clone()));
        action.stop = Some(stop);
        return Ok(action);
    }
    action.feedback = match (output.decision, output.reason) {
        (Some(_), reason) => Some(
            filled(reason).ok_or("PostToolUse hook returned decision:block without a non-empty reason")?,
        ),
        (None, Some(_)) => return Err("PostToolUse hook returned reason without decision"),
        (None, None) => None,
    };
    Ok(action)
}

/// What no decision can stand beside.
fn check(output: &PostToolUseOutput, updated_mcp: Option<&Value>) -> Result<(), &'static str> {
    if output.suppress_output {
        return Err("PostToolUse hook returned unsupported suppressOutput");
    }
    if updated_mcp.is_some() {
        return Err("PostToolUse hook returned unsupported updatedMCPToolOutput");
    }
    Ok(())
}
