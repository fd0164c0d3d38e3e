//! Where rollouts lie and how they are named (runtime.md D11.1).

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use jiff::tz::TimeZone;

use super::stamp::as_timestamp;

/// The folder of running threads, under the home folder: one folder a year, a month, a day.
pub(super) const SESSIONS: &str = "sessions";

/// The flat folder of threads that were put away.
pub(super) const ARCHIVED: &str = "archived_sessions";

/// The path of a new thread's rollout: `sessions/YYYY/MM/DD/rollout-YYYY-MM-DDThh-mm-ss-{id}.jsonl`, in local time.
#[must_use]
pub fn rollout_path(home: &Path, id: &str, now: SystemTime) -> PathBuf {
    rollout_path_in(home, id, now, &TimeZone::system())
}

pub(super) fn rollout_path_in(home: &Path, id: &str, now: SystemTime, zone: &TimeZone) -> PathBuf {
    let local = zone.to_datetime(as_timestamp(now));
    let (year, month, day) = (local.year(), local.month(), local.day());
    let (hour, minute, second) = (local.hour(), local.minute(), local.second());
    home.join(SESSIONS)
        .join(format!("{year:04}"))
        .join(format!("{month:02}"))
        .join(format!("{day:02}"))
        .join(format!("rollout-{year:04}-{month:02}-{day:02}T{hour:02}-{minute:02}-{second:02}-{id}.jsonl"))
}

/// The parts of a rollout's name.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RolloutName<'a> {
    /// `YYYY-MM-DDThh-mm-ss`: names sort by it.
    pub(super) time: &'a str,
    /// The thread's id; in the name of a reverted thread the part before `_`.
    pub(super) thread: &'a str,
}

/// Reads the name of a rollout file; none for another file.
pub(super) fn parse_name(name: &str) -> Option<RolloutName<'_>> {
    const TIME: usize = "YYYY-MM-DDThh-mm-ss".len();
    let rest = name.strip_prefix("rollout-")?.strip_suffix(".jsonl")?;
    let (time, rest) = rest.split_at_checked(TIME)?;
    let id = rest.strip_prefix('-')?;
    let thread = id.split_once('_').map_or(id, |(thread, _)| thread);
    (!thread.is_empty()).then_some(RolloutName { time, thread })
}

#[cfg(test)]
#[path = "layout_tests.rs"]
mod tests;
