//! What `/proc` tells of processes: who belongs to a session, and since when.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStringExt;

use rustix::process::Pid;

/// More than the line of any process takes: its name has 16 bytes, each of its 50 numbers 20.
const STAT_BYTES: usize = 1536;

/// Bytes of an environment that are looked through. More than commands are given.
const ENVIRON_BYTES: u64 = 1024 * 1024;

/// One process that is not dead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) pid: Pid,
    pub(super) parent: i32,
    pub(super) group: i32,
    pub(super) session: i32,
    /// Clock ticks after boot, which tell it from a later process with its number.
    pub(super) started_at: u64,
}

/// The living processes of these sessions among `all`.
///
/// A session whose number has passed to a stranger has no members: that of a leader which was reaped by us cannot be
/// its own any more. `is_leader` tells whether a process that bears the number of its session may do so.
pub(super) fn members(
    all: &[Found],
    sessions: &BTreeSet<i32>,
    is_leader: impl Fn(&Found) -> bool,
) -> Vec<Found> {
    let mut found: Vec<Found> =
        all.iter().filter(|process| sessions.contains(&process.session)).copied().collect();
    let taken: BTreeSet<i32> = found
        .iter()
        .filter(|process| process.number() == process.session && !is_leader(process))
        .map(|process| process.session)
        .collect();
    found.retain(|process| !taken.contains(&process.session));
    found
}

/// Those among `all` that descend from `members` and have left their session, by the sessions that they are in now.
pub(super) fn strays(all: &[Found], members: &[Found]) -> Vec<Found> {
    let mut kin: BTreeSet<i32> = members.iter().map(Found::number).collect();
    let sessions: BTreeSet<i32> = members.iter().map(|process| process.session).collect();
    let mut strays = Vec::new();
    // Each round finds the children of those before; numbers say nothing of who came first.
    loop {
        let known = kin.len();
        for process in all {
            if kin.contains(&process.parent)
                && kin.insert(process.number())
                && !sessions.contains(&process.session)
            {
                strays.push(*process);
            }
        }
        if kin.len() == known {
            return strays;
        }
    }
}

impl Found {
    /// Its number, as those of groups and sessions are written.
    pub(super) fn number(&self) -> i32 {
        self.pid.as_raw_pid()
    }
}

/// What stands there for one process; none when it is dead or gone.
pub(super) fn of(pid: Pid) -> Option<Found> {
    read(pid).filter(|stat| stat.alive).map(|stat| stat.found)
}

/// When a child of ours started, be it dead already; 0 where there is no `/proc`.
pub(super) fn started_at(pid: Pid) -> u64 {
    read(pid).map_or(0, |stat| stat.found.started_at)
}

/// Between which starts of the machine we are; none where the kernel does not say.
pub(crate) fn boot_id() -> Option<String> {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned()).filter(|id| !id.is_empty())
}

/// One line of `/proc/PID/stat`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) alive: bool,
    pub(super) found: Found,
}

/// What stands there for one process, be it dead; none when it is gone.
pub(super) fn read(pid: Pid) -> Option<Stat> {
    let mut line = [0; STAT_BYTES];
    let length = File::open(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?.read(&mut line).ok()?;
    parse(pid, line.get(..length)?)
}

/// All living processes.
pub(super) fn all() -> Vec<Found> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| number(entry.file_name().to_str()?));
    pids.filter_map(of).collect()
}

/// The numbers of the children of the main thread, the dead that nobody has reaped among them: the kernel leaves orphans
/// to it, as long as it lives, and those of other threads were started by them. Empty where the kernel does not list
/// them.
pub(super) fn children_of_the_main_thread() -> Vec<Pid> {
    let main = rustix::process::getpid().as_raw_nonzero();
    let list = fs::read_to_string(format!("/proc/self/task/{main}/children")).unwrap_or_default();
    list.split_ascii_whitespace().filter_map(number).collect()
}

fn number(text: &str) -> Option<Pid> {
    text.parse().ok().and_then(Pid::from_raw)
}

/// The value of a variable in the environment that a process was started with.
pub(super) fn variable(pid: Pid, name: &str) -> Option<OsString> {
    let mut environment = Vec::new();
    let file = File::open(format!("/proc/{}/environ", pid.as_raw_nonzero())).ok()?;
    file.take(ENVIRON_BYTES).read_to_end(&mut environment).ok()?;
    environment.split(|byte| *byte == 0).find_map(|variable| {
        let value = variable.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
        Some(OsString::from_vec(value.to_vec()))
    })
}

/// Reads `pid (name) state ppid pgrp session ...`. The name may hold anything, so what follows is counted from the
/// last parenthesis.
fn parse(pid: Pid, line: &[u8]) -> Option<Stat> {
    let end_of_name = line.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(line.get(end_of_name + 1..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let alive = !matches!(fields.next()?, "Z" | "X" | "x");
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    let session = fields.next()?.parse().ok()?;
    let started_at = fields.nth(15)?.parse().ok()?;
    Some(Stat { alive, found: Found { pid, parent, group, session, started_at } })
}

#[cfg(test)]
#[path = "procfs_tests.rs"]
mod tests;
