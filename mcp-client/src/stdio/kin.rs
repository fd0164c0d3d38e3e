//! A server's process and all that it started: its process group, and those who have left that.
//!
//! A process that calls `setsid` (a browser that a server drives, for one) is in no group of ours, and its parents may
//! have ended. But it has the environment that it was started with, and in that there is a mark. One that clears its
//! environment as well is not found.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use memchr::memmem;
use rustix::process::{
    Pid, PidfdFlags, Signal, getpid, kill_process_group, pidfd_open, pidfd_send_signal,
    test_kill_process_group,
};

/// The variable that tells whose process it is.
pub(super) const MARK: &str = "TENON_MCP_SERVER";

/// Bytes of an environment that are looked through. More than servers are given.
const ENVIRON_BYTES: u64 = 1024 * 1024;

/// The value of [`MARK`] for one start of one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark(String);

impl Mark {
    /// One that no other process has.
    pub(super) fn new() -> Self {
        static STARTED: AtomicU64 = AtomicU64::new(0);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        Self(format!("{}-{now}-{number}", getpid().as_raw_nonzero()))
    }

    pub(super) fn value(&self) -> OsString {
        self.0.clone().into()
    }

    /// Whether this process was started with it. A dead one has no environment any more.
    fn is_on(&self, pid: Pid) -> bool {
        let mut environment = vec![0];
        let file = File::open(format!("/proc/{}/environ", pid.as_raw_nonzero()));
        let read = file.and_then(|file| file.take(ENVIRON_BYTES).read_to_end(&mut environment));
        let line = format!("\0{MARK}={}\0", self.0);
        read.is_ok() && memmem::find(&environment, line.as_bytes()).is_some()
    }
}

/// The processes of one server.
#[derive(Debug, Clone)]
pub(super) struct Kin {
    pub(super) group: Pid,
    pub(super) mark: Mark,
}

/// Who is left of them. The dead that nobody has reaped do not count: that may never happen.
#[derive(Debug, Default)]
struct Left {
    in_group: bool,
    /// Those who have left the group. A descriptor stands for the process that was looked at, whatever becomes of its
    /// number.
    strays: Vec<OwnedFd>,
}

impl Kin {
    /// Tells all of them, and says whether anybody was there. It looks through `/proc`, and so takes milliseconds.
    pub(super) fn signal(&self, signal: Signal) -> bool {
        let left = self.left();
        // Who is told may have ended meanwhile.
        for stray in &left.strays {
            let _ = pidfd_send_signal(stray, signal);
        }
        if left.in_group {
            let _ = kill_process_group(self.group, signal);
        }
        left.anybody()
    }

    /// Whether anybody is left. It takes as long.
    pub(super) fn are_left(&self) -> bool {
        self.left().anybody()
    }

    fn left(&self) -> Left {
        let (mut strays, mut living, mut dead) = (Vec::new(), false, false);
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids =
            entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok().and_then(Pid::from_raw));
        for pid in pids {
            match Stat::of(pid) {
                Some(Stat { group, dead: is_dead }) if group == self.group.as_raw_nonzero().get() => {
                    living |= !is_dead;
                    dead |= is_dead;
                }
                Some(_) | None => strays.extend(self.stray(pid)),
            }
        }
        // Where nothing is told of them, the kernel is asked, for which the dead are members.
        let in_group = living || (!dead && test_kill_process_group(self.group).is_ok());
        Left { in_group, strays }
    }

    fn stray(&self, pid: Pid) -> Option<OwnedFd> {
        if !self.mark.is_on(pid) {
            return None;
        }
        let process = pidfd_open(pid, PidfdFlags::empty()).ok()?;
        // The number may have become another's before it was opened.
        self.mark.is_on(pid).then_some(process)
    }
}

impl Left {
    fn anybody(&self) -> bool {
        self.in_group || !self.strays.is_empty()
    }
}

/// What `/proc/PID/stat` tells of a process.
struct Stat {
    group: i32,
    /// It has ended, and nobody has reaped it.
    dead: bool,
}

impl Stat {
    fn of(pid: Pid) -> Option<Self> {
        let line = fs::read(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
        // `pid (name) state ppid pgrp ...`, where the name may hold anything.
        let end_of_name = line.iter().rposition(|byte| *byte == b')')?;
        let mut fields = std::str::from_utf8(line.get(end_of_name + 1..)?).ok()?.split_ascii_whitespace();
        let dead = matches!(fields.next()?, "Z" | "X" | "x");
        Some(Self { group: fields.nth(1)?.parse().ok()?, dead })
    }
}
