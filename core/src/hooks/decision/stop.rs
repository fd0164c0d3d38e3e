//! Stop: go on with another prompt, or really stop.

use tenon_tools::CommandOutcome;

use super::{NO_DECISION, Said, Words, filled, said, with_message};
use crate::hooks::StopAction;
use crate::hooks::handler::Ran;
use crate::hooks::output::StopOutput;

const WORDS: Words = Words {
    invalid: "hook returned invalid stop hook JSON output",
    no_reason: Some("Stop hook exited with code 2 but did not write a continuation prompt to stderr"),
};

/// Other text is a failure here, whatever the contract.
pub(in crate::hooks) fn stop(outcome: &CommandOutcome, is_closed: bool) -> Ran<StopAction> {
    match said::<StopOutput>(outcome, &WORDS) {
        Err(failure) => Ran::failed(failure),
        Ok(Said::Nothing) => Ran::default(),
        Ok(Said::Text(_)) if is_closed => Ran::failed(NO_DECISION),
        Ok(Said::Text(_)) => Ran::failed(WORDS.invalid),
        Ok(Said::Objection(reason)) => Ran::of(StopAction::Block { reason }),
        Ok(Said::Decision(output)) => {
            with_message(output, |output| decide(output, is_closed).map_or_else(Ran::failed, Ran::of))
        }
    }
}

fn decide(output: StopOutput, is_closed: bool) -> Result<StopAction, &'static str> {
    if !output.r#continue {
        return Ok(StopAction::Stop);
    }
    match (output.decision, output.reason) {
        (Some(_), reason) => filled(reason)
            .map(|reason| StopAction::Block { reason })
            .ok_or("Stop hook returned decision:block without a non-empty reason"),
        (None, Some(_)) if is_closed => Err("Stop hook returned reason without decision"),
        (None, _) => Ok(StopAction::Continue),
    }
}
