//! The program is killed at random points of a session, and resumed.
//!
//! `cargo test -p tenon --test crash` plays 50 points; `TENON_CRASH_POINTS=1000 cargo test -p tenon --test crash` more.
//! The seed is printed; `TENON_CRASH_SEED` takes it. Points differ in what they wait for before they kill: a time, a
//! length of the rollout, a number of effects. Some kill the resumed program too, and resume once more. What must hold
//! afterwards is in `verdict`.
#![allow(unreachable_pub, reason = "a module of a test is its own")]
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "test code")]

mod place;
mod processes;
mod random;
mod script;
mod server;
mod verdict;

use std::process::ExitStatus;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;

use place::Place;
use random::Random;
use server::Model;

/// Points of an ordinary run.
const POINTS: u64 = 50;
/// Points at a time.
const AT_A_TIME: usize = 2;
/// How often a killer looks whether its point has come.
const LOOK: Duration = Duration::from_micros(200);
/// One in so many points kills the resumed program as well.
const KILL_RESUME: u64 = 4;

/// What a killer waits for.
#[derive(Debug, Clone, Copy)]
enum Point {
    Time(Duration),
    Bytes(u64),
    Effects(usize),
}

/// How long and how large a session is that nobody kills.
#[derive(Debug, Clone, Copy)]
struct Whole {
    time: Duration,
    resume_time: Duration,
    bytes: u64,
}

#[test]
fn whenever_it_is_killed_nothing_is_lost_and_nothing_is_done_twice() {
    let points = number("TENON_CRASH_POINTS").unwrap_or(POINTS);
    let seed = number("TENON_CRASH_SEED").unwrap_or_else(of_the_clock);
    let first = number("TENON_CRASH_FIRST").unwrap_or(0);
    println!("TENON_CRASH_SEED={seed}");
    processes::adopt();
    let whole = whole();
    println!("{whole:?}");
    let (next, failed) = (AtomicU64::new(first), Mutex::new(Vec::new()));
    let play = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= first + points {
                return;
            }
            if let Err(complaint) = play(seed, number, whole) {
                println!("{complaint}");
                failed.lock().expect("no panic").push(complaint);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(play);
        }
    });
    let failed = failed.into_inner().expect("no panic");
    assert!(failed.is_empty(), "seed {seed}: {} of {points} points\n{}", failed.len(), failed.join("\n"));
    assert_eq!(processes::left(), Vec::<String>::new());
}

/// Plays a session to its end, and resumes it.
fn whole() -> Whole {
    let place = Place::new();
    let begun = Instant::now();
    let (status, _) = run(&place, None);
    let time = begun.elapsed();
    assert!(status.success(), "{status}");
    let bytes = place.rollout_bytes();
    let begun = Instant::now();
    let input = resume(&place, None).expect("it can be resumed").expect("the model is asked");
    let wrong = verdict::complaints(&place, &input);
    assert!(wrong.is_empty(), "{}: {wrong:#?}", place.keep().display());
    assert_eq!(place.effects_so_far(), script::COUNTED.len());
    Whole { time, resume_time: begun.elapsed(), bytes }
}

/// Plays one point.
fn play(seed: u64, number: u64, whole: Whole) -> Result<(), String> {
    let mut random = Random::of(seed, number);
    let point = match random.below(3) {
        0 => Point::Time(part(whole.time, &mut random)),
        1 => Point::Bytes(random.below(whole.bytes)),
        _ => Point::Effects(1 + usize::try_from(random.below(9)).expect("small")),
    };
    let place = Place::new();
    let (status, _) = run(&place, Some(point));
    if random.below(2) == 0 {
        // Whoever resumes late finds nobody; who resumes at once finds what is still on its way out.
        processes::left_in(place.root());
    }
    let again = (random.below(KILL_RESUME) == 0).then(|| Point::Time(part(whole.resume_time, &mut random)));
    let told = |place: Place, what: String| {
        let kept = place.keep();
        format!("point {number} ({point:?}, {status}, then {again:?}), {}: {what}", kept.display())
    };
    if let Some(point) = again {
        let _ = resume(&place, Some(point));
    }
    match resume(&place, None) {
        Ok(Some(input)) => {
            let wrong = verdict::complaints(&place, &input);
            if wrong.is_empty() { Ok(()) } else { Err(told(place, format!("{wrong:#?}"))) }
        }
        Ok(None) => Err(told(place, "the resumed model was not asked".to_owned())),
        // Nothing can be resumed of a session that had not begun; then it must have done nothing.
        Err(_) if place.rollout_lines().is_empty() && place.effects_so_far() == 0 => Ok(()),
        Err(status) => Err(told(place, format!("it cannot be resumed: {status}"))),
    }
}

/// Runs the scripted session, to its end or to the point.
fn run(place: &Place, point: Option<Point>) -> (ExitStatus, Model) {
    let model = Model::start(script::answers(&place.effects()));
    let status = until(place, place.command(&model.base_url(), &["begin"]), point);
    (status, model)
}

/// Goes on from the session's file: what the model is shown then, if it is asked.
fn resume(place: &Place, point: Option<Point>) -> Result<Option<Vec<Value>>, ExitStatus> {
    let model = Model::start(Vec::new());
    let status = until(place, place.command(&model.base_url(), &["resume", "--last", "go on"]), point);
    if !status.success() {
        return Err(status);
    }
    let input = |request: Value| request["input"].as_array().cloned();
    Ok(model.requests().into_iter().next().and_then(input))
}

/// Runs a program to its end, or kills it at the point.
fn until(place: &Place, mut command: std::process::Command, point: Option<Point>) -> ExitStatus {
    let mut child = processes::spawn(&mut command);
    if let Some(point) = point {
        let begun = Instant::now();
        while !point.has_come(place, begun) && child.try_wait().expect("ours").is_none() {
            std::thread::sleep(LOOK);
        }
        // It may have ended by itself.
        let _ = child.kill();
    }
    processes::wait(&mut child)
}

impl Point {
    fn has_come(self, place: &Place, begun: Instant) -> bool {
        match self {
            Self::Time(time) => begun.elapsed() >= time,
            Self::Bytes(bytes) => place.rollout_bytes() >= bytes,
            Self::Effects(effects) => place.effects_so_far() >= effects,
        }
    }
}

fn part(time: Duration, random: &mut Random) -> Duration {
    let micros = u64::try_from(time.as_micros()).expect("small").max(1);
    Duration::from_micros(random.below(micros))
}

fn number(variable: &str) -> Option<u64> {
    Some(std::env::var(variable).ok()?.parse().expect("a number"))
}

fn of_the_clock() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970");
    u64::try_from(now.as_micros()).expect("small")
}
