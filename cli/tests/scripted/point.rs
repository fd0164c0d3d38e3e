//! When a session is hit, and the loop over all points of a run.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use serde::{Deserialize, Serialize};

use super::place::Place;
use super::processes;
use super::random::Random;

/// Points at a time.
const AT_A_TIME: usize = 2;
/// How many effects may be waited for: no more than a session has.
const MAX_EFFECTS: u64 = 9;

/// What is waited for.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub enum Point {
    Time(Duration),
    Bytes(u64),
    Effects(usize),
}

/// How long and how large a session is that nobody hits.
#[derive(Debug, Clone, Copy)]
pub struct Whole {
    pub time: Duration,
    pub resume_time: Duration,
    pub bytes: u64,
}

impl Point {
    /// A point of a session like this.
    pub fn of(whole: Whole, random: &mut Random) -> Self {
        match random.below(3) {
            0 => Self::Time(part(whole.time, random)),
            1 => Self::Bytes(random.below(whole.bytes)),
            _ => Self::Effects(1 + usize::try_from(random.below(MAX_EFFECTS)).expect("small")),
        }
    }

    pub fn has_come(self, place: &Place, begun: Instant) -> bool {
        match self {
            Self::Time(time) => begun.elapsed() >= time,
            Self::Bytes(bytes) => place.rollout_bytes() >= bytes,
            Self::Effects(effects) => place.effects_so_far() >= effects,
        }
    }
}

/// Some part of a time.
pub fn part(time: Duration, random: &mut Random) -> Duration {
    let micros = u64::try_from(time.as_micros()).expect("small").max(1);
    Duration::from_micros(random.below(micros))
}

/// What the environment asks for.
#[derive(Debug, Clone, Copy)]
pub struct Asked {
    pub seed: u64,
    first: u64,
    points: u64,
}

impl Asked {
    /// Reads `TENON_NAME_POINTS`, `TENON_NAME_SEED` and `TENON_NAME_FIRST`, and prints the seed.
    pub fn of(name: &str, ordinary: u64) -> Self {
        let number = |what: &str| {
            let text = std::env::var(format!("TENON_{name}_{what}")).ok()?;
            Some(text.parse().expect("a number"))
        };
        let points = number("POINTS").unwrap_or(ordinary);
        let seed = number("SEED").unwrap_or_else(of_the_clock);
        println!("TENON_{name}_SEED={seed}");
        Self { seed, first: number("FIRST").unwrap_or(0), points }
    }

    /// Plays every point, and fails with all that went wrong.
    pub fn play(self, play: impl Fn(u64) -> Result<(), String> + Sync) {
        let Self { seed, first, points } = self;
        let (next, failed) = (AtomicU64::new(first), Mutex::new(Vec::new()));
        let play = || {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= first + points {
                    return;
                }
                if let Err(complaint) = play(number) {
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
}

fn of_the_clock() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970");
    u64::try_from(now.as_micros()).expect("small")
}
