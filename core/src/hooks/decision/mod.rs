//! What a hook's exit and output mean, by the tables of core.md 8.7 and 8.8: one file for each event.
//!
//! A hook that is *closed* (extended, or `on_error = "block"`) must give one valid decision: what the recorded tables
//! pass over in silence is its failure. Whether a failure is an objection is decided where the answers are gathered.

mod permission_request;
mod post_tool_use;
mod pre_tool_use;
mod prompt_submit;
mod session_start;
mod stop;

pub(super) use permission_request::permission_request;
pub(super) use post_tool_use::{STOPPED, post_tool_use};
pub(super) use pre_tool_use::pre_tool_use;
pub(super) use prompt_submit::prompt_submit;
pub(super) use session_start::session_start;
pub(super) use stop::stop;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tenon_tools::CommandOutcome;

use super::handler::Ran;
use super::output::Universal;

/// The exit code that objects with the words on standard error.
const OBJECTION: i32 = 2;

/// A closed hook that says something else than a decision.
const NO_DECISION: &str = "hook returned text that is no decision";

/// What the operator is told of a decision that nobody reads.
const HIDDEN_DECISION: &str =
    "it printed other text before its JSON, so that the JSON counts as text and not as a decision";

/// How many braces are tried as the start of a decision behind other text.
const MAX_HIDDEN_STARTS: usize = 64;

/// An event's own words for outputs that cannot be followed.
struct Words {
    /// Standard output begins like JSON and is none of the event's.
    invalid: &'static str,
    /// Exit code 2 with nothing on standard error. None: the code has no meaning of its own.
    no_reason: Option<&'static str>,
}

/// What a hook has said.
enum Said<T> {
    /// Nothing.
    Nothing,
    /// A JSON object of the event's shape.
    Decision(T),
    /// Any other text.
    Text(String),
    /// No, for this reason.
    Objection(String),
}

/// What a hook has said, or why that cannot be made out.
fn said<T: DeserializeOwned>(outcome: &CommandOutcome, words: &Words) -> Result<Said<T>, String> {
    match (outcome.exit_code, words.no_reason) {
        (None, _) => Err("hook exited without a status code".to_owned()),
        (Some(0), _) => read(&outcome.stdout, words.invalid),
        (Some(OBJECTION), Some(no_reason)) => match String::from_utf8_lossy(&outcome.stderr).trim() {
            "" => Err(no_reason.to_owned()),
            reason => Ok(Said::Objection(reason.to_owned())),
        },
        (Some(code), _) => Err(format!("hook exited with code {code}")),
    }
}

fn read<T: DeserializeOwned>(stdout: &[u8], invalid: &str) -> Result<Said<T>, String> {
    let text = String::from_utf8_lossy(stdout);
    let text = text.trim();
    if text.is_empty() {
        return Ok(Said::Nothing);
    }
    if !text.starts_with(['{', '[']) {
        return Ok(Said::Text(text.to_owned()));
    }
    // A list would fit as well, member by member.
    let decision = text.starts_with('{').then(|| serde_json::from_str(text).ok()).flatten();
    decision.map(Said::Decision).ok_or_else(|| invalid.to_owned())
}

/// The run of a hook of a tool's event: there, other text means nothing, and to a closed hook it means failure.
fn of_tool<T: DeserializeOwned + Universal, A: Default>(
    outcome: &CommandOutcome,
    words: &Words,
    is_closed: bool,
    objection: impl FnOnce(String) -> Ran<A>,
    decide: impl FnOnce(T) -> Ran<A>,
) -> Ran<A> {
    match said::<T>(outcome, words) {
        Err(failure) => Ran::failed(failure),
        Ok(Said::Nothing) => Ran::default(),
        Ok(Said::Text(_)) if is_closed => Ran::failed(NO_DECISION),
        Ok(Said::Text(text)) => Ran::default().warned(hidden_decision(&text)),
        Ok(Said::Objection(reason)) => objection(reason),
        Ok(Said::Decision(decision)) => with_message(decision, decide),
    }
}

/// The run of a hook whose other text is context for the model. To a closed hook it means failure where a decision is
/// hidden in it.
fn of_context<T: DeserializeOwned + Universal, A: Default>(
    outcome: &CommandOutcome,
    words: &Words,
    is_closed: bool,
    objection: impl FnOnce(String) -> Ran<A>,
    context: impl FnOnce(String) -> A,
    decide: impl FnOnce(T) -> Ran<A>,
) -> Ran<A> {
    match said::<T>(outcome, words) {
        Err(failure) => Ran::failed(failure),
        Ok(Said::Nothing) => Ran::default(),
        Ok(Said::Text(text)) => match hidden_decision(&text) {
            Some(_) if is_closed => Ran::failed(NO_DECISION),
            warning => Ran::of(context(text)).warned(warning),
        },
        Ok(Said::Objection(reason)) => objection(reason),
        Ok(Said::Decision(decision)) => with_message(decision, decide),
    }
}

/// Follows a decision. Its words for the operator are told in any case.
fn with_message<T: Universal, A: Default>(mut decision: T, decide: impl FnOnce(T) -> Ran<A>) -> Ran<A> {
    let message = decision.system_message();
    decide(decision).warned(message)
}

/// A warning where the end of a text is a JSON object.
fn hidden_decision(text: &str) -> Option<String> {
    let mut rests = text.match_indices('{').filter_map(|(at, _)| text.get(at..)).take(MAX_HIDDEN_STARTS);
    let is_object =
        |rest: &str| serde_json::from_str::<Map<String, Value>>(rest).is_ok_and(|map| !map.is_empty());
    rests.any(is_object).then(|| HIDDEN_DECISION.to_owned())
}

/// A text that says something.
fn filled(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.trim().is_empty())
}

#[cfg(test)]
#[path = "decision_tests.rs"]
mod tests;
