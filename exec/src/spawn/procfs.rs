//! What `/proc` tells of processes: who belongs to a session, and since when.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read;

use rustix::process::Pid;

/// More than the line of any process takes: its name has 16 bytes, each of its 50 numbers 20.
const STAT_BYTES: usize = 1536;

/// One process that is not dead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) pid: Pid,
    pub(super) group: i32,
    pub(super) session: i32,
    /// Clock ticks after boot, which tell it from a later process with its number.
    pub(super) started_at: u64,
}

/// The living processes of these sessions. Empty where there is no `/proc`.
///
/// A session whose number has passed to a stranger has no members: its leader was reaped by us, so a process that
/// bears its number cannot be it. `led` are the sessions whose leader has not been reaped.
pub(super) fn members(sessions: &BTreeSet<i32>, led: impl Fn(i32) -> bool) -> Vec<Found> {
    let mut found: Vec<Found> = all().filter(|process| sessions.contains(&process.session)).collect();
    let taken: BTreeSet<i32> = found
        .iter()
        .filter(|process| process.pid.as_raw_nonzero().get() == process.session && !led(process.session))
        .map(|process| process.session)
        .collect();
    found.retain(|process| !taken.contains(&process.session));
    found
}

/// What stands there for one process; none when it is dead or gone.
pub(super) fn of(pid: Pid) -> Option<Found> {
    read(pid).filter(|stat| stat.alive).map(|stat| stat.found)
}

/// When a child of ours started, be it dead already; 0 where there is no `/proc`.
pub(super) fn started_at(pid: Pid) -> u64 {
    read(pid).map_or(0, |stat| stat.found.started_at)
}

/// One line of `/proc/PID/stat`.
#[derive(Debug, PartialEq, Eq)]
struct Stat {
    alive: bool,
    found: Found,
}

fn read(pid: Pid) -> Option<Stat> {
    let mut line = [0; STAT_BYTES];
    let length = File::open(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?.read(&mut line).ok()?;
    parse(pid, line.get(..length)?)
}

fn all() -> impl Iterator<Item = Found> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok().and_then(Pid::from_raw));
    pids.filter_map(of)
}

/// Reads `pid (name) state ppid pgrp session ...`. The name may hold anything, so what follows is counted from the
/// last parenthesis.
fn parse(pid: Pid, line: &[u8]) -> Option<Stat> {
    let end_of_name = line.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(line.get(end_of_name + 1..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let alive = !matches!(fields.next()?, "Z" | "X" | "x");
    let group = fields.nth(1)?.parse().ok()?;
    let session = fields.next()?.parse().ok()?;
    let started_at = fields.nth(15)?.parse().ok()?;
    Some(Stat { alive, found: Found { pid, group, session, started_at } })
}

#[cfg(test)]
#[path = "procfs_tests.rs"]
mod tests;
