//! The program is sent a signal.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Instant;

use rustix::process::Signal;
use serde_json::{Value, json};
use tenon_core::INTERRUPT_MARKER;

use crate::scripted::guard::{self, Blow};
use crate::scripted::place::Place;
use crate::scripted::point::{Point, Whole};
use crate::scripted::promises::{Told, complaints};
use crate::scripted::random::Random;
use crate::scripted::script;
use crate::scripted::server::Model;

/// The program's exit status where its turn was interrupted (cli.md).
const INTERRUPTED: i32 = 130;

/// Plays a session to its end.
pub(crate) fn whole() -> Whole {
    let (place, begun) = (Place::new(), Instant::now());
    let status = run(&place, None).expect("it ends");
    let time = begun.elapsed();
    assert!(status.success(), "{status}");
    assert_eq!(complaints(&place, &place.recorded_items(), &[Told::Done]), Vec::<String>::new());
    assert_eq!(place.effects_so_far(), script::COUNTED.len());
    Whole { time, resume_time: time, bytes: place.rollout_bytes() }
}

/// Plays one point: what was done, and what is wrong.
pub(crate) fn play(place: &Place, whole: Whole, random: &mut Random) -> (String, Result<(), String>) {
    let point = Point::of(whole, random);
    let signal = if random.below(2) == 0 { Signal::INT } else { Signal::TERM };
    let blow = Blow { point, signal };
    (format!("{blow:?} to the program"), hit(place, blow))
}

fn hit(place: &Place, blow: Blow) -> Result<(), String> {
    let status = run(place, Some(blow))?;
    if status.signal() == Some(blow.signal.as_raw()) {
        // It came before the program listened: then it must have done nothing.
        let begun = !place.rollout_lines().is_empty() || place.effects_so_far() > 0;
        return if begun { Err(format!("{status}, and it had begun")) } else { Ok(()) };
    }
    let recorded = place.recorded_items();
    let mut wrong = complaints(place, &recorded, Told::AFTER_A_CANCEL);
    wrong.extend(end(place, status));
    if place.rollout_lines().iter().any(|line| line["payload"]["type"] == "turn_started") {
        wrong.extend(goes_on(place, &recorded)?);
    }
    crate::settled(&wrong)
}

/// How the turn ended, as everybody was told.
fn end(place: &Place, status: ExitStatus) -> Vec<String> {
    let interrupted = match status.code() {
        Some(INTERRUPTED) => true,
        Some(0) => false,
        _ => return vec![format!("{status}: {}", place.stderr())],
    };
    let mut wrong = Vec::new();
    let lines = place.rollout_lines();
    let is_marker = |line: &&Value| line["payload"]["content"][0]["text"] == INTERRUPT_MARKER;
    let markers = lines.iter().filter(is_marker).count();
    let last = lines.last().map(|line| line["payload"].clone()).unwrap_or_default();
    let begun = lines.iter().any(|line| line["payload"]["type"] == "turn_started");
    let stdout = place.stdout();
    let told: Option<Value> = stdout.lines().last().and_then(|line| serde_json::from_str(line).ok());
    let failed = json!({"type": "turn.failed", "error": {"message": "interrupted"}});
    let told_so = told.as_ref() == Some(&failed);
    if begun && (markers, told_so) != (usize::from(interrupted), interrupted) {
        wrong.push(format!("{status}, {markers} markers, and the last that was told is {told:?}"));
    }
    let kind = if interrupted { "turn_aborted" } else { "turn_complete" };
    if begun && last["type"] != kind {
        wrong.push(format!("{status}, and the last line is {last}"));
    }
    wrong
}

/// Goes on from the session's file: nothing is left to be settled, and the model is asked.
fn goes_on(place: &Place, recorded: &[Value]) -> Result<Vec<String>, String> {
    let model = Model::start(Vec::new());
    let command = place.command(&model.base_url(), &["resume", "--last", "go on"]);
    let status = guard::run(place, command, None)?;
    let Some(input) = model.first_input().filter(|_| status.success()) else {
        return Err(format!("it cannot be resumed: {status}: {}", place.stderr()));
    };
    let mut wrong = complaints(place, &input, Told::AFTER_A_CANCEL);
    let outputs = |items: &[Value]| {
        items
            .iter()
            .filter(|item| item["type"].as_str().is_some_and(|kind| kind.ends_with("_output")))
            .count()
    };
    let (before, after) = (outputs(recorded), outputs(&place.recorded_items()));
    if before != after {
        wrong.push(format!(
            "{before} outputs were recorded when it was cancelled, {after} when it was resumed"
        ));
    }
    Ok(wrong)
}

/// Runs the scripted session, to its end or to the point of the signal.
fn run(place: &Place, blow: Option<Blow>) -> Result<ExitStatus, String> {
    let model = Model::start(script::answers(&place.effects()));
    guard::run(place, place.command(&model.base_url(), &["begin"]), blow)
        .map_err(|report| format!("{report}the model had {} requests", model.requests().len()))
}
