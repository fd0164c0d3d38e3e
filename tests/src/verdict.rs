//! Whether what a client did is what a scenario expects.

use serde_json::{Map, Value, json};
use similar::TextDiff;

use crate::normalise::{events, items, loosen, python_json, same};
use crate::runner::{Exit, Observed};
use crate::scenario::{Compare, Scenario};

/// Lines of agreement shown around a difference.
const CONTEXT: usize = 1;

/// The answer for one scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// All that was expected, and nothing else.
    Agrees,
    /// The differences, as a unified diff from what was expected to what was seen.
    Differs(String),
}

/// Compares. Exit status, outputs, files, lost calls and lines that are no JSON always; events, surface and the turn's
/// error where the scenario names them.
///
/// # Errors
/// When a rule of the looser comparison breaks the JSON.
pub fn verdict(scenario: &Scenario, seen: &Observed) -> serde_json::Result<Verdict> {
    let (mut got, mut want) = (Map::new(), Map::new());
    let mut compare = |what: &str, seen: Value, expected: Value| {
        got.insert(what.to_owned(), seen);
        want.insert(what.to_owned(), expected);
    };
    let expected = &scenario.expected;
    compare("outputs", json!(items::outputs(&seen.follow_ups)), json!(expected.outputs));
    compare("files", seen.files.clone(), json!(expected.files));
    compare("exit", exit(seen.exit), json!(expected.exit));
    compare("calls_lost", json!(seen.calls_lost), json!([]));
    compare("bad_lines", json!(events::bad_lines(&seen.events)), json!([]));
    if let Some(events) = &expected.events {
        compare("events", seen.shown.clone(), json!(events));
    }
    if let Some(surface) = &expected.surface {
        compare("surface", items::expected_of(&seen.surface, surface), Value::Object(surface.clone()));
    }
    if let Some(message) = &expected.turn_failed {
        compare("turn_failed", events::turn_failed(&seen.events), json!(message));
    }
    let (mut got, mut want) = (Value::Object(got), Value::Object(want));
    if scenario.compare == Some(Compare::ErrorClass) {
        (got, want) = (loosen(&got)?, loosen(&want)?);
    }
    Ok(if same(&got, &want) { Verdict::Agrees } else { Verdict::Differs(difference(&want, &got)) })
}

fn exit(exit: Exit) -> Value {
    match exit {
        Exit::Code(code) => json!(code),
        Exit::Signal(signal) => json!(-signal),
        Exit::TimedOut => json!("timeout"),
    }
}

fn difference(want: &Value, got: &Value) -> String {
    let lines = |value: &Value| format!("{:#}\n", python_json::sorted(value));
    let (want, got) = (lines(want), lines(got));
    let diff = TextDiff::from_lines(&want, &got);
    diff.unified_diff().context_radius(CONTEXT).header("expected", "client").to_string()
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
