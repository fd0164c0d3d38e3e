//! What commands leave behind that has left their session, too: a process that calls `setsid`, and whose parent ends.
//!
//! Nobody can tell it by its session or by its parents. But where this process is a subreaper, such a one becomes its
//! child; and the environment that it was started with bears the id of the session (runtime.md B5). A process that
//! clears its environment before it leaves is not found.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::time::{Duration, Instant};

use rustix::process::{Pid, WaitOptions, getpid, set_child_subreaper, waitpid};

use super::procfs::{self, Found, Stat};
use crate::environment::Environment;

/// The variable that all commands have.
const MARK: &str = "TENON_SESSION_ID";

/// For how long a dead child that is not known must have been seen dead before it is reaped: whoever waits for it, here
/// or in another part of the process, has done so by then.
const DEAD_FOR: Duration = Duration::from_secs(1);

/// The children that were not started by us.
#[derive(Debug, Default)]
pub(super) struct Adopted {
    /// Values of the mark that commands were given.
    marks: BTreeSet<OsString>,
    /// Sessions that were found, and when their leader started.
    sessions: BTreeMap<i32, Option<u64>>,
    /// Children that were dead when they were looked at last, and since when they are known to be. They may have
    /// somebody who waits for them; whoever is dead for [`DEAD_FOR`] has nobody.
    dead: BTreeMap<i32, Instant>,
    has_to_look: bool,
}

impl Adopted {
    /// From now on orphans of this process's descendants become its children: a change for the whole process.
    pub(super) fn begin() -> io::Result<Self> {
        set_child_subreaper(Some(getpid()))?;
        Ok(Self::default())
    }

    /// A command was started with these variables, which leads this session from now on.
    pub(super) fn note(&mut self, environment: &Environment, session: i32) {
        self.sessions.remove(&session);
        if let Some(mark) = environment.get(OsStr::new(MARK))
            && !self.marks.contains(mark)
        {
            self.marks.insert(mark.clone());
        }
    }

    /// Looks through our children: reaps the dead of sessions that are `known`, and gives the sessions that were not
    /// known and are a command's. `started` are the children that are reaped elsewhere.
    pub(super) fn look(&mut self, known: impl Fn(i32) -> bool, started: &BTreeSet<i32>) -> Vec<i32> {
        // 0 where the session's leader is outside of this namespace of processes, as under `docker exec`.
        let own = procfs::of(getpid()).map(|process| process.session);
        let now = Instant::now();
        let (mut new, mut dead) = (Vec::new(), BTreeMap::new());
        for child in procfs::children() {
            if started.contains(&number(child)) {
                continue;
            }
            let Some(Stat { alive, found }) = procfs::read(child) else { continue };
            if !alive {
                let is_ours = known(found.session) || self.sessions.contains_key(&found.session);
                let since = self.dead.get(&number(child)).copied().unwrap_or(now);
                if is_ours || now.saturating_duration_since(since) >= DEAD_FOR {
                    // It is dead, so nothing is waited for.
                    let _ = waitpid(Some(child), WaitOptions::NOHANG);
                } else if Some(found.session) != own {
                    dead.insert(number(child), since);
                }
                continue;
            }
            if known(found.session) || Some(found.session) == own || !self.is_marked(&found) {
                continue;
            }
            let leader = Pid::from_raw(found.session).and_then(procfs::of);
            self.sessions.insert(found.session, leader.map(|leader| leader.started_at));
            new.push(found.session);
        }
        self.has_to_look = !dead.is_empty();
        self.dead = dead;
        new
    }

    /// When the leader of a session that was found started, where it lives; none for other sessions.
    pub(super) fn leader_of(&self, session: i32) -> Option<Option<u64>> {
        self.sessions.get(&session).copied()
    }

    /// Whether a process that bears the number of its session is the leader that was found.
    pub(super) fn is_leader(&self, process: &Found) -> bool {
        self.sessions.get(&process.session).is_some_and(|started_at| *started_at == Some(process.started_at))
    }

    /// Nothing is left of a session.
    pub(super) fn forget(&mut self, session: i32) {
        self.sessions.remove(&session);
        // The last of it may be dead and not reaped yet.
        self.has_to_look = true;
    }

    /// Whether there may be something to reap.
    pub(super) fn has_to_look(&self) -> bool {
        self.has_to_look
    }

    fn is_marked(&self, process: &Found) -> bool {
        procfs::variable(process.pid, MARK).is_some_and(|mark| self.marks.contains(&mark))
    }
}

fn number(pid: Pid) -> i32 {
    pid.as_raw_nonzero().get()
}
