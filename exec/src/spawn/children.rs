//! The children that workers of this process have started and not reaped yet.
//!
//! Several services may live in one process, each with a worker of its own. One that reaps what was left to the process
//! (`adopted`) must not take the end of a child that another waits for. So all of them are in one list, from before
//! anybody can look until they are reaped.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, WaitStatus, kill_process, waitid, waitpid,
};

/// Their numbers. Locked while one is reaped, since from then on the number may be another's.
static STARTED: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// Held, shared, while a child begins: it may be dead before its number is in the list.
static BEGINNING: RwLock<()> = RwLock::new(());

/// A child that was started by a worker. Dropping it neither ends nor reaps it.
#[derive(Debug)]
pub(super) struct OwnChild {
    pid: Pid,
    /// How it ended, once it is reaped.
    ended: Option<WaitStatus>,
}

impl OwnChild {
    /// Starts a child by `start`, which gives its number.
    pub(super) fn begin<E>(start: impl FnOnce() -> Result<Pid, E>) -> Result<Self, E> {
        let _beginning = BEGINNING.read().unwrap_or_else(PoisonError::into_inner);
        let pid = start()?;
        started().insert(pid.as_raw_pid());
        Ok(Self { pid, ended: None })
    }

    pub(super) fn pid(&self) -> Pid {
        self.pid
    }

    /// Reaps it if it is dead, and says how it ended; none while it lives. An error means that somebody else has
    /// reaped it.
    pub(super) fn try_wait(&mut self) -> Result<Option<WaitStatus>, Errno> {
        if self.ended.is_some() {
            return Ok(self.ended);
        }
        let mut started = started();
        let waited = waitpid(Some(self.pid), WaitOptions::NOHANG);
        if !matches!(waited, Ok(None)) {
            started.remove(&self.pid.as_raw_pid());
        }
        self.ended = waited?.map(|(_, status)| status);
        Ok(self.ended)
    }

    /// Waits for its end, and reaps it.
    pub(super) fn wait(&mut self) {
        if self.ended.is_none() {
            // The list is not locked meanwhile. An error means that it is not there, and says so below as well.
            let _ = waitid(WaitId::Pid(self.pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
            let _ = self.try_wait();
        }
    }

    /// Kills it, where it lives.
    pub(super) fn kill(&self) {
        if self.ended.is_none() {
            let _ = kill_process(self.pid, Signal::KILL);
        }
    }
}

/// Looks at the children of this process while none begins; `look` is given the numbers of those that workers wait for.
pub(super) fn while_none_begins<T>(look: impl FnOnce(&BTreeSet<i32>) -> T) -> T {
    let _none = BEGINNING.write().unwrap_or_else(PoisonError::into_inner);
    look(&started())
}

fn started() -> MutexGuard<'static, BTreeSet<i32>> {
    STARTED.lock().unwrap_or_else(PoisonError::into_inner)
}
