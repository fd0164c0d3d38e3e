//! A session is cancelled at random points: the program by a signal, a turn and single calls by the library.
//!
//! `cargo test -p tenon --test cancel` plays 100 points; `TENON_CANCEL_POINTS=2000 cargo test -p tenon --test cancel`
//! more. The seed is printed; `TENON_CANCEL_SEED` takes it, and `TENON_CANCEL_FIRST` the first point. Every call must
//! have its one output when the turn ends, before anything is resumed. What must hold of outputs, effects, files and
//! processes is in `scripted::promises`. What hangs is ended and fails its point with a report.
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "test code")]

#[path = "../scripted/mod.rs"]
mod scripted;

mod library;
mod program;

use scripted::place::Place;
use scripted::point::Asked;
use scripted::processes;
use scripted::random::Random;

/// The test that plays a point of the library's.
const ONE: &str = "one_point_in_a_process_of_its_own";
/// Points of an ordinary run.
const POINTS: u64 = 100;

#[test]
fn whenever_it_is_cancelled_every_call_is_answered_and_nothing_is_done_twice() {
    let asked = Asked::of("CANCEL", POINTS);
    processes::adopt();
    let whole = program::whole();
    println!("{whole:?}");
    asked.play(|number| {
        let (mut random, place) = (Random::of(asked.seed, number), Place::new());
        let (what, played) = match random.below(2) {
            0 => program::play(&place, whole, &mut random),
            _ => library::play(&place, whole, &random),
        };
        played
            .map_err(|complaint| format!("point {number} ({what}), {}: {complaint}", place.keep().display()))
    });
}

#[test]
#[ignore = "started by the other test, once a point"]
fn one_point_in_a_process_of_its_own() {
    library::play_here();
}

/// The complaints as one, if there are any.
fn settled(wrong: &[String]) -> Result<(), String> {
    if wrong.is_empty() { Ok(()) } else { Err(format!("{wrong:#?}")) }
}
