//! Ending a session: asking its processes to end, killing them, and waiting until none is left.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};
use tokio::sync::oneshot;

use super::process::Process;
use super::procfs::{self, Found};

/// How long killed processes are waited for before they are looked for and killed again.
const KILL_INTERVAL: Duration = Duration::from_millis(100);

/// How often they are killed before they are given up: a process that waits for a broken disk cannot be killed.
const MAX_KILLS: u32 = 30;

/// A session that is being ended.
#[derive(Debug)]
pub(super) struct Ending {
    session: i32,
    /// Sessions of descendants that have left theirs, and when their leaders started, where those live.
    strays: BTreeMap<i32, Option<u64>>,
    kills: u32,
    /// When it gets harder.
    deadline: Instant,
    /// Those that were signalled and have not died yet.
    watched: Vec<OwnedFd>,
    /// How many were signalled that cannot be watched, for want of descriptors.
    unwatched: usize,
    waiting: Vec<oneshot::Sender<()>>,
    asked: bool,
    /// Whether there was anybody to be signalled who is not reaped by his number, as a leader is.
    signalled: bool,
}

impl Ending {
    /// It begins with the first [`advance`](Self::advance).
    pub(super) fn new(session: i32, done: Option<oneshot::Sender<()>>, grace: Duration) -> Self {
        Self {
            session,
            strays: BTreeMap::new(),
            kills: 0,
            deadline: Instant::now() + grace,
            watched: Vec::new(),
            unwatched: 0,
            waiting: done.into_iter().collect(),
            // Without grace nobody is asked: the first thing due is to kill.
            asked: grace.is_zero(),
            signalled: false,
        }
    }

    pub(super) fn session(&self) -> i32 {
        self.session
    }

    /// All sessions that it ends: that which it was made for, and those of strays.
    pub(super) fn sessions(&self) -> impl Iterator<Item = i32> {
        self.strays.keys().copied().chain([self.session])
    }

    /// Whether there may be somebody dead whom nobody reaps by his number.
    pub(super) fn has_signalled(&self) -> bool {
        self.signalled
    }

    /// Its own leader lives, is not reaped by us, and started then.
    pub(super) fn led_by(mut self, started_at: Option<u64>) -> Self {
        self.strays.insert(self.session, started_at);
        self.signalled = true;
        self
    }

    pub(super) fn deadline(&self) -> Instant {
        self.deadline
    }

    pub(super) fn watched(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.watched.iter().map(AsFd::as_fd)
    }

    /// One more waits for it, perhaps with less patience.
    pub(super) fn join(&mut self, done: Option<oneshot::Sender<()>>, grace: Duration) {
        self.waiting.extend(done);
        if self.kills == 0 {
            self.deadline = self.deadline.min(Instant::now() + grace);
        }
    }

    /// Does what is due. `leader` is the session's leader while it has not been reaped. Whether it is over.
    pub(super) fn advance(&mut self, leader: Option<&Process>) -> bool {
        self.watched.retain(|pidfd| !has_ended(pidfd));
        let now = Instant::now();
        if !self.asked {
            self.asked = true;
            self.signal(leader, Signal::TERM);
        } else if now >= self.deadline {
            if self.kills == MAX_KILLS {
                tracing::warn!(session = self.session, "processes do not end, not even by SIGKILL");
                return self.answer();
            }
            self.kills += 1;
            self.deadline = now + KILL_INTERVAL;
            self.signal(leader, Signal::KILL);
        } else if self.all_dead(leader) {
            // All that were signalled are dead. Were they all there were?
            self.signal(None, if self.kills == 0 { Signal::TERM } else { Signal::KILL });
        }
        self.all_dead(leader) && self.answer()
    }

    fn all_dead(&self, leader: Option<&Process>) -> bool {
        leader.is_none() && self.watched.is_empty() && self.unwatched == 0
    }

    /// Signals every process of the session and watches them from now on.
    fn signal(&mut self, leader: Option<&Process>, signal: Signal) {
        let mut all = procfs::all();
        self.note_strays(&all, leader.is_some());
        // The group at once, so that none of it can fork away from the list.
        if let Some(leader) = leader {
            leader.signal_group(signal);
            all = procfs::all();
        }
        let members = self.members(&all, leader.is_some());
        self.watched.clear();
        self.unwatched = 0;
        for found in members {
            self.signal_one(found, leader.is_some(), signal);
        }
        if let Some(leader) = leader
            && signal == Signal::TERM
        {
            // A stopped process hears nothing else before it goes on.
            leader.signal_group(Signal::CONT);
        }
    }

    /// Takes note of the sessions that descendants have begun, as long as they can be told by their parents.
    fn note_strays(&mut self, all: &[Found], led: bool) {
        let members = self.members(all, led);
        for stray in procfs::strays(all, &members) {
            let leader = all.iter().find(|process| process.number() == stray.session);
            self.strays.entry(stray.session).or_insert(leader.map(|leader| leader.started_at));
        }
    }

    fn members(&self, all: &[Found], led: bool) -> Vec<Found> {
        let sessions = self.strays.keys().copied().chain([self.session]).collect();
        procfs::members(all, &sessions, |process| match self.strays.get(&process.session) {
            Some(started_at) => *started_at == Some(process.started_at),
            None => led,
        })
    }

    /// Signals one process that was found. Its descriptor holds on to it, whatever becomes of its number.
    fn signal_one(&mut self, found: Found, led: bool, signal: Signal) {
        let pidfd = match pidfd_open(found.pid, PidfdFlags::empty()) {
            Ok(pidfd) => pidfd,
            Err(Errno::SRCH) => return,
            Err(_) => {
                // No descriptors left: then by its number, which was its own a moment ago.
                let _ = kill_process(found.pid, signal);
                self.unwatched += 1;
                return;
            }
        };
        if procfs::of(found.pid) != Some(found) {
            return;
        }
        let heard_with_the_leader = led && found.group == self.session;
        if !heard_with_the_leader {
            let _ = pidfd_send_signal(&pidfd, signal);
            if signal == Signal::TERM {
                let _ = pidfd_send_signal(&pidfd, Signal::CONT);
            }
        }
        self.signalled |= found.number() != self.session;
        self.watched.push(pidfd);
    }

    /// Tells all who wait that it is over.
    fn answer(&mut self) -> bool {
        for done in self.waiting.drain(..) {
            let _ = done.send(());
        }
        true
    }
}

fn has_ended(pidfd: &OwnedFd) -> bool {
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let mut polled = [PollFd::new(pidfd, PollFlags::IN)];
    poll(&mut polled, Some(&now)).is_ok_and(|ready| ready > 0)
}
