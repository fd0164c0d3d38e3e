//! SessionStart: stop, context.

use tenon_tools::CommandOutcome;

use super::{Words, filled, of_context};
use crate::hooks::SessionStartAction;
use crate::hooks::handler::Ran;
use crate::hooks::output::SessionStartOutput;

const WORDS: Words = Words { invalid: "hook returned invalid session start JSON output", no_reason: None };

/// The reason where a hook asks to stop and gives none.
const STOPPED: &str = "SessionStart hook stopped execution";

pub(in crate::hooks) fn session_start(outcome: &CommandOutcome, is_closed: bool) -> Ran<SessionStartAction> {
    of_context(
        outcome,
        &WORDS,
        is_closed,
        // The event has no such exit code.
        |_| Ran::default(),
        |text| SessionStartAction { stop: None, additional_context: Some(text) },
        |output| Ran::of(decide(output)),
    )
}

fn decide(output: SessionStartOutput) -> SessionStartAction {
    let stop = (!output.r#continue).then(|| output.stop_reason.unwrap_or_else(|| STOPPED.to_owned()));
    let context = output.hook_specific_output.and_then(|own| own.additional_context);
    SessionStartAction { stop, additional_context: filled(context) }
}
