//! One process that leads a session, as others see it.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use rustix::process::{Pid, Signal, WaitStatus, kill_process_group};
use tokio::sync::watch;

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exit {
    /// The code it gave; none for a death by signal.
    pub(crate) status: Option<i32>,
    /// The signal it died of.
    pub(crate) signal: Option<i32>,
    /// When that was noticed.
    pub(crate) at: Instant,
}

impl Exit {
    /// That of a process which somebody else has reaped, or whose keeper is gone.
    pub(super) fn unknown() -> Self {
        Self { status: None, signal: None, at: Instant::now() }
    }

    /// What a shell would call it: the code, or 128 + the signal (runtime.md B6.4); -1 where neither is known.
    pub(crate) fn code(self) -> i32 {
        self.status.or(self.signal.map(|signal| 128 + signal)).unwrap_or(-1)
    }
}

impl From<WaitStatus> for Exit {
    fn from(status: WaitStatus) -> Self {
        Self { status: status.exit_status(), signal: status.terminating_signal(), at: Instant::now() }
    }
}

/// A process that leads a session and a group, whose numbers are its own.
#[derive(Debug)]
pub(crate) struct Process {
    pid: Pid,
    started_at: u64,
    exit: watch::Sender<Option<Exit>>,
    /// Whether its number is still its own: set under the lock that reaping takes.
    reaped: Mutex<bool>,
}

impl Process {
    pub(super) fn new(pid: Pid, started_at: u64) -> Self {
        Self { pid, started_at, exit: watch::Sender::new(None), reaped: Mutex::new(false) }
    }

    /// Its number, which is that of its group and its session too.
    pub(crate) fn pid(&self) -> i32 {
        self.pid.as_raw_pid()
    }

    /// When the kernel says that it started, in clock ticks after boot; 0 when unknown.
    pub(crate) fn started_at(&self) -> u64 {
        self.started_at
    }

    /// How it ended, as soon as it has.
    pub(crate) fn exit(&self) -> watch::Receiver<Option<Exit>> {
        self.exit.subscribe()
    }

    /// How it ended; none while it runs.
    pub(crate) fn exited(&self) -> Option<Exit> {
        *self.exit.borrow()
    }

    /// Sends `signal` to its process group. Nothing happens when it has ended: nobody is there to be interrupted.
    pub(crate) fn signal_group(&self, signal: Signal) {
        let reaped = self.lock();
        if !*reaped {
            // It cannot fail but when all of the group is dead, or has changed its user.
            let _ = kill_process_group(self.pid, signal);
        }
    }

    /// Tries to reap it by `wait`, and tells everybody when it has. Whether it has.
    pub(super) fn reap(&self, wait: impl FnOnce() -> Option<Exit>) -> bool {
        let mut reaped = self.lock();
        let Some(exit) = wait() else { return false };
        *reaped = true;
        drop(reaped);
        self.exit.send_replace(Some(exit));
        true
    }

    /// Nobody is left who could reap it: it counts as ended, unless it has.
    pub(super) fn give_up(&self) {
        let mut reaped = self.lock();
        if !std::mem::replace(&mut *reaped, true) {
            drop(reaped);
            self.exit.send_replace(Some(Exit::unknown()));
        }
    }

    fn lock(&self) -> MutexGuard<'_, bool> {
        self.reaped.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
