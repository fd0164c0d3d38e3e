//! What commands leave behind that has left their session, too: a process that calls `setsid`, and whose parent ends.
//!
//! Nobody can tell it by its session or by its parents. But where this process is a subreaper, such a one becomes its
//! child; and it bears the mark of the session that it comes from (`marks`).

use std::collections::BTreeMap;
use std::io;
use std::time::{Duration, Instant};

use rustix::process::{Pid, WaitOptions, getpid, set_child_subreaper, waitpid};

use super::children;
use super::marks::Marks;
use super::procfs::{self, Found, Stat};

/// For how long a child that was never seen alive must have been seen dead before it is reaped. If it is the host's
/// own, whoever waits for it has done so by then.
const DEAD_FOR: Duration = Duration::from_secs(1);

/// The children that were not started by us.
#[derive(Debug, Default)]
pub(super) struct Adopted {
    /// Sessions that were found, and when their leader started.
    sessions: BTreeMap<i32, Option<u64>>,
    /// Children that have begun a session and bear no mark of ours, and when they started: the host's, to be reaped by
    /// the host.
    hosts: BTreeMap<i32, u64>,
    /// Children that were dead when they were looked at first, and when that was.
    dead: BTreeMap<i32, Instant>,
    has_to_look: bool,
}

/// One look at the children of this process.
struct Look<'a, Known> {
    known: Known,
    marks: &'a Marks,
    host_session: Option<i32>,
    now: Instant,
    new: Vec<i32>,
    hosts: BTreeMap<i32, u64>,
    dead: BTreeMap<i32, Instant>,
}

impl Adopted {
    /// From now on orphans of this process's descendants become its children: a change for the whole process.
    pub(super) fn begin() -> io::Result<Self> {
        set_child_subreaper(Some(getpid()))?;
        Ok(Self::default())
    }

    /// A command leads this session from now on.
    pub(super) fn note(&mut self, session: i32) {
        self.sessions.remove(&session);
    }

    /// Looks through the children that may have been left to us: reaps the dead of sessions that are `known`, and gives
    /// the sessions that were not known and are a command's.
    pub(super) fn look(&mut self, marks: &Marks, known: impl Fn(i32) -> bool) -> Vec<i32> {
        self.look_among(procfs::children_of_the_main_thread, marks, known)
    }

    fn look_among(
        &mut self,
        children: impl FnOnce() -> Vec<Pid>,
        marks: &Marks,
        known: impl Fn(i32) -> bool,
    ) -> Vec<i32> {
        let mut look = Look {
            known,
            marks,
            // 0 where the session's leader is outside of this namespace of processes, as under `docker exec`.
            host_session: procfs::of(getpid()).map(|process| process.session),
            now: Instant::now(),
            new: Vec::new(),
            hosts: BTreeMap::new(),
            dead: BTreeMap::new(),
        };
        children::while_none_begins(|started| {
            let others = children().into_iter().filter(|child| !started.contains(&child.as_raw_pid()));
            others.for_each(|child| self.look_at(child, &mut look));
        });
        self.has_to_look = !look.dead.is_empty();
        (self.hosts, self.dead) = (look.hosts, look.dead);
        look.new
    }

    fn look_at(&mut self, child: Pid, look: &mut Look<'_, impl Fn(i32) -> bool>) {
        if let Some(Stat { alive, found }) = procfs::read(child)
            && Some(found.session) != look.host_session
        {
            if alive { self.look_at_living(&found, look) } else { self.look_at_dead(&found, look) }
        }
    }

    fn look_at_living(&mut self, child: &Found, look: &mut Look<'_, impl Fn(i32) -> bool>) {
        if (look.known)(child.session) {
            return;
        }
        if look.marks.bears(child.pid) {
            let leader = Pid::from_raw(child.session).and_then(procfs::of);
            self.sessions.insert(child.session, leader.map(|leader| leader.started_at));
            look.new.push(child.session);
        } else {
            look.hosts.insert(child.number(), child.started_at);
        }
    }

    fn look_at_dead(&self, child: &Found, look: &mut Look<'_, impl Fn(i32) -> bool>) {
        if self.hosts.get(&child.number()) == Some(&child.started_at) {
            look.hosts.insert(child.number(), child.started_at);
            return;
        }
        let is_ours = (look.known)(child.session) || self.sessions.contains_key(&child.session);
        let since = self.dead.get(&child.number()).copied().unwrap_or(look.now);
        if is_ours || look.now.saturating_duration_since(since) >= DEAD_FOR {
            // It is dead, so nothing is waited for.
            let _ = waitpid(Some(child.pid), WaitOptions::NOHANG);
        } else {
            look.dead.insert(child.number(), since);
        }
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
}

#[cfg(test)]
#[path = "adopted_tests.rs"]
mod tests;
