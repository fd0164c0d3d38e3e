//! Whether a process that a journal tells of still runs.

use std::fs;

use jiff::Timestamp;
use tenon_tools::LeftProcess;

/// How far the clock may have been off between the start of the machine and a line, before the line is known to be of
/// an earlier start.
const CLOCK_SLACK_SECONDS: i64 = 5;

/// What is known of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProcessState {
    /// It runs.
    Running,
    /// It has ended, or is a zombie that nobody has waited for.
    Ended,
    /// A process of this id runs, and nobody knows whether it is this one.
    Unknown,
}

/// Tells of processes.
pub(super) trait Processes {
    /// The state of a process that was told of at `timestamp`.
    fn state(&self, process: &LeftProcess, timestamp: &str) -> ProcessState;
}

/// The processes of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SystemProcesses;

impl Processes for SystemProcesses {
    fn state(&self, process: &LeftProcess, timestamp: &str) -> ProcessState {
        let LeftProcess { pid, started_at, boot_id, group: _ } = process;
        // Where the start of the machine is known, the clock is not asked: it may have been set since.
        let is_of_before = match boot_id {
            Some(boot_id) => this_boot().is_none_or(|this| this != *boot_id),
            None => told_before_boot(timestamp),
        };
        if is_of_before {
            return ProcessState::Ended;
        }
        let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return ProcessState::Ended };
        let Some((state, start)) = parse_stat(&stat) else { return ProcessState::Unknown };
        if matches!(state, 'Z' | 'X') {
            return ProcessState::Ended;
        }
        match started_at {
            0 => ProcessState::Unknown,
            _ if *started_at == start => ProcessState::Running,
            _ => ProcessState::Ended,
        }
    }
}

/// State (field 3) and start time (field 22) of `/proc/PID/stat`. The name in field 2 may hold anything, brackets and
/// blanks too: what counts begins behind its last bracket.
fn parse_stat(stat: &str) -> Option<(char, u64)> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    let start = fields.nth(18)?.parse().ok()?;
    Some((state, start))
}

/// Between which starts of the machine we are.
fn this_boot() -> Option<String> {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").ok().map(|id| id.trim().to_owned())
}

/// Whether the machine was started after a line was written: then none of the line's processes can be left, and a
/// process of the same id and start time is another one.
fn told_before_boot(timestamp: &str) -> bool {
    let Ok(told) = timestamp.parse::<Timestamp>() else { return false };
    boot_second().is_some_and(|boot| told.as_second().saturating_add(CLOCK_SLACK_SECONDS) < boot)
}

/// When the machine was started, in seconds after 1970.
fn boot_second() -> Option<i64> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    stat.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()
}

#[cfg(test)]
#[path = "processes_tests.rs"]
mod tests;
