//! UserPromptSubmit: block, stop, context.

use tenon_tools::{CommandOutcome, HookRunStatus};

use super::{Words, filled, of_context};
use crate::hooks::PromptSubmitAction;
use crate::hooks::handler::Ran;
use crate::hooks::output::PromptSubmitOutput;

const WORDS: Words = Words {
    invalid: "hook returned invalid user prompt submit JSON output",
    no_reason: Some("UserPromptSubmit hook exited with code 2 but did not write a blocking reason to stderr"),
};

/// The reason where a hook asks to stop and gives none.
const STOPPED: &str = "UserPromptSubmit hook stopped execution";

pub(in crate::hooks) fn prompt_submit(outcome: &CommandOutcome, is_closed: bool) -> Ran<PromptSubmitAction> {
    of_context(
        outcome,
        &WORDS,
        is_closed,
        |reason| Ran::of(PromptSubmitAction { block: Some(reason), additional_context: None }),
        |text| PromptSubmitAction { block: None, additional_context: Some(text) },
        |output| decide(output, is_closed).unwrap_or_else(Ran::failed),
    )
}

fn decide(output: PromptSubmitOutput, is_closed: bool) -> Result<Ran<PromptSubmitAction>, &'static str> {
    let additional_context = filled(output.hook_specific_output.and_then(|own| own.additional_context));
    let answer = |block| PromptSubmitAction { block, additional_context };
    if !output.r#continue {
        let reason = output.stop_reason.unwrap_or_else(|| STOPPED.to_owned());
        return Ok(Ran::of(answer(Some(reason))).standing(HookRunStatus::Stopped));
    }
    match (output.decision, output.reason) {
        (Some(_), reason) => {
            let reason = filled(reason)
                .ok_or("UserPromptSubmit hook returned decision:block without a non-empty reason")?;
            Ok(Ran::of(answer(Some(reason))))
        }
        (None, Some(_)) if is_closed => Err("UserPromptSubmit hook returned reason without decision"),
        (None, _) => Ok(Ran::of(answer(None))),
    }
}
