//! The program is killed at random points of a session, and resumed.
//!
//! `cargo test -p tenon --test crash` plays 50 points; `TENON_CRASH_POINTS=1000 cargo test -p tenon --test crash` more.
//! The seed is printed; `TENON_CRASH_SEED` takes it. Points differ in what they wait for before they kill: a time, a
//! length of the rollout, a number of effects. Some kill the resumed program too, and resume once more. What must hold
//! afterwards is in `scripted::promises`. A run that hangs is killed and fails its point with a report.
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "test code")]

#[path = "../scripted/mod.rs"]
mod scripted;

use std::process::ExitStatus;
use std::time::Instant;

use rustix::process::Signal;
use serde_json::Value;

use scripted::guard::{self, Blow};
use scripted::place::Place;
use scripted::point::{Asked, Point, Whole, part};
use scripted::promises::{self, Told};
use scripted::random::Random;
use scripted::server::Model;
use scripted::{processes, script};

/// Points of an ordinary run.
const POINTS: u64 = 50;
/// One in so many points kills the resumed program as well.
const KILL_RESUME: u64 = 4;

#[test]
fn whenever_it_is_killed_nothing_is_lost_and_nothing_is_done_twice() {
    let asked = Asked::of("CRASH", POINTS);
    processes::adopt();
    let whole = whole();
    println!("{whole:?}");
    asked.play(|number| play(asked.seed, number, whole));
}

/// Plays a session to its end, and resumes it.
fn whole() -> Whole {
    let place = Place::new();
    let begun = Instant::now();
    let status = run(&place, None).expect("it ends");
    let time = begun.elapsed();
    assert!(status.success(), "{status}");
    let bytes = place.rollout_bytes();
    let begun = Instant::now();
    let resumed = resume(&place, None).expect("it ends");
    let input = resumed.expect("it can be resumed").expect("the model is asked");
    let wrong = promises::complaints(&place, &input, Told::AFTER_A_CRASH);
    assert!(wrong.is_empty(), "{}: {wrong:#?}", place.keep().display());
    assert_eq!(place.effects_so_far(), script::COUNTED.len());
    Whole { time, resume_time: begun.elapsed(), bytes }
}

/// Plays one point.
fn play(seed: u64, number: u64, whole: Whole) -> Result<(), String> {
    let mut random = Random::of(seed, number);
    let point = Point::of(whole, &mut random);
    let place = Place::new();
    let (late, again) = (random.below(2) == 0, random.below(KILL_RESUME) == 0);
    let again = again.then(|| Point::Time(part(whole.resume_time, &mut random)));
    hit(&place, point, late, again).map_err(|complaint| {
        let kept = place.keep();
        format!("point {number} ({point:?}, then {again:?}), {}: {complaint}", kept.display())
    })
}

/// Kills the session at a point, and the resumed one at another, and resumes it for good.
fn hit(place: &Place, point: Point, late: bool, again: Option<Point>) -> Result<(), String> {
    let status = run(place, Some(point))?;
    if late {
        // Whoever resumes late finds nobody; who resumes at once finds what is still on its way out.
        processes::left_in(place.root());
    }
    if let Some(point) = again {
        let _ = resume(place, Some(point))?;
    }
    match resume(place, None)? {
        Ok(Some(input)) => {
            let wrong = promises::complaints(place, &input, Told::AFTER_A_CRASH);
            if wrong.is_empty() { Ok(()) } else { Err(format!("{status}: {wrong:#?}")) }
        }
        Ok(None) => Err(format!("{status}: the resumed model was not asked")),
        // Nothing can be resumed of a session that had not begun; then it must have done nothing.
        Err(_) if place.rollout_lines().is_empty() && place.effects_so_far() == 0 => Ok(()),
        Err(resumed) => Err(format!("{status}: it cannot be resumed: {resumed}")),
    }
}

/// Runs the scripted session, to its end or to the point where it is killed.
fn run(place: &Place, point: Option<Point>) -> Result<ExitStatus, String> {
    let model = Model::start(script::answers(&place.effects()));
    guard::run(place, place.command(&model.base_url(), &["begin"]), blow(point))
        .map_err(|report| format!("{report}the model had {} requests", model.requests().len()))
}

/// Goes on from the session's file: what the model is shown then, if it is asked.
fn resume(place: &Place, point: Option<Point>) -> Result<Result<Option<Vec<Value>>, ExitStatus>, String> {
    let model = Model::start(Vec::new());
    let command = place.command(&model.base_url(), &["resume", "--last", "go on"]);
    let status = guard::run(place, command, blow(point))
        .map_err(|report| format!("resumed, {report}the model had {} requests", model.requests().len()))?;
    if !status.success() {
        return Ok(Err(status));
    }
    Ok(Ok(model.first_input()))
}

fn blow(point: Option<Point>) -> Option<Blow> {
    point.map(|point| Blow { point, signal: Signal::KILL })
}
