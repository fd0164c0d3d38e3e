//! What commands leave behind when they end: members of their session, and such as have left it.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::time::Instant;

use super::super::adopted::Adopted;
use super::super::ending::Ending;
use super::super::keeper::LeftSession;
use super::super::marks::MARK;
use super::super::procfs::{self, Found};
use super::{SWEEP_INTERVAL, Worker};
use crate::store::TERM_GRACE;

impl Worker {
    /// Looks now and then for sessions that have become empty.
    pub(super) fn sweep(&mut self) {
        if self.has_to_sweep() && Instant::now() >= self.next_sweep {
            self.adopt();
            self.forget_empty();
            self.next_sweep = Instant::now() + SWEEP_INTERVAL;
        }
    }

    pub(super) fn has_to_sweep(&self) -> bool {
        let looks = |adopted: &Adopted| adopted.has_to_look() || !self.running.is_empty();
        !self.finished.is_empty() || self.adopted.as_ref().is_some_and(looks)
    }

    pub(super) fn become_subreaper(&mut self) {
        if self.subreaper {
            let adopted = Adopted::begin();
            self.adopted =
                adopted.inspect_err(|error| tracing::warn!(%error, "cannot become a subreaper")).ok();
        }
    }

    /// Takes in what commands have left behind, to be ended with the rest. Whether there was anything.
    pub(super) fn adopt(&mut self) -> bool {
        let Some(adopted) = &mut self.adopted else { return false };
        let running: BTreeSet<i32> = self.running.iter().map(|slot| slot.process.pid()).collect();
        let known = |session| running.contains(&session) || self.finished.contains(&session);
        let new = adopted.look(&self.marks, known);
        for session in &new {
            self.finished.insert(*session);
            self.tell_begun(*session);
        }
        !new.is_empty()
    }

    /// Forgets the sessions of finished commands that have no members left.
    pub(super) fn forget_empty(&mut self) {
        if self.finished.is_empty() {
            return;
        }
        let is_leader =
            |process: &Found| self.adopted.as_ref().is_some_and(|adopted| adopted.is_leader(process));
        let left = procfs::members(&procfs::all(), &self.finished, is_leader);
        let left = left.into_iter().map(|process| process.session).collect();
        let before = std::mem::replace(&mut self.finished, left);
        let empty: Vec<i32> = before.difference(&self.finished).copied().collect();
        for session in empty {
            self.forget(session);
        }
    }

    /// Ends what is left of sessions that another process had started and did not live to end.
    pub(in crate::spawn) fn end_left(&mut self, sessions: Vec<LeftSession>, mark: &OsStr) {
        let all = procfs::all();
        for LeftSession { number, started_at, done } in sessions {
            if self.leader(number).is_none() && is_left(&all, number, started_at, mark) {
                let ending = Ending::new(number, Some(done), TERM_GRACE).led_by(Some(started_at));
                self.endings.push(ending);
            } else {
                // Nothing is left of it, or nothing that is known to be its own.
                let _ = done.send(());
            }
        }
    }

    /// Nothing is left of a session.
    pub(super) fn forget(&mut self, session: i32) {
        if let Some(adopted) = &mut self.adopted {
            adopted.forget(session);
        }
        self.tell_ended(session);
    }
}

/// Whether there is somebody left of a session that another process had started: its leader, known by when it started,
/// or members that bear the mark. A number that has passed to a stranger is none of ours.
fn is_left(all: &[Found], session: i32, started_at: u64, mark: &OsStr) -> bool {
    let mut members = all.iter().filter(|process| process.session == session);
    match all.iter().find(|process| process.number() == session) {
        Some(leader) => leader.started_at == started_at && leader.session == session,
        None => members.any(|member| procfs::variable(member.pid, MARK).is_some_and(|found| found == *mark)),
    }
}
