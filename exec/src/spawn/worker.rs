//! The thread that owns processes, from inside: one loop that waits for jobs, for ends and for times.

mod leftovers;
mod watched;

use std::collections::BTreeSet;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{PidfdFlags, pidfd_open};
use tokio::sync::oneshot;

use super::adopted::Adopted;
use super::children::OwnChild;
use super::ending::Ending;
use super::error::SpawnError;
use super::keeper::Job;
use super::launch::{Launch, Streams};
use super::lifeline::Lifeline;
use super::marks::Marks;
use super::process::{Exit, Process};
use super::procfs;

/// How often a process is asked after where the kernel has no descriptor for it, or no more of them.
const BLIND_INTERVAL: Duration = Duration::from_millis(10);

/// How often the sessions of finished commands are looked through for survivors. A number that is out of use for less
/// than this cannot have come round again.
const SWEEP_INTERVAL: Duration = Duration::from_secs(2);

/// How often it is looked for what commands have left behind, when all are ended. What is found has its own to leave.
const MAX_ADOPTIONS: u32 = 10;

/// A process that has not been reaped.
#[derive(Debug)]
struct Slot {
    child: OwnChild,
    pidfd: Option<OwnedFd>,
    process: Arc<Process>,
}

impl Drop for Slot {
    /// Should the thread come to grief, nobody waits for ever for an end that nobody would tell.
    fn drop(&mut self) {
        self.process.give_up();
    }
}

/// The state of the thread.
#[derive(Debug)]
pub(super) struct Worker {
    jobs: Receiver<Job>,
    wake: Arc<OwnedFd>,
    running: Vec<Slot>,
    /// Sessions whose leader is reaped and which may have members left.
    finished: BTreeSet<i32>,
    endings: Vec<Ending>,
    /// What all processes bear that were started here.
    marks: Marks,
    /// Ends what we leave behind when we are killed; begins with the first process.
    lifeline: Option<Lifeline>,
    next_sweep: Instant,
    closing: Option<Vec<oneshot::Sender<()>>>,
    subreaper: bool,
    /// What commands have left behind, where this process is a subreaper.
    adopted: Option<Adopted>,
}

impl Worker {
    pub(super) fn new(jobs: Receiver<Job>, wake: Arc<OwnedFd>, subreaper: bool) -> Self {
        Self {
            jobs,
            wake,
            running: Vec::new(),
            finished: BTreeSet::new(),
            endings: Vec::new(),
            marks: Marks::default(),
            lifeline: None,
            next_sweep: Instant::now(),
            closing: None,
            subreaper,
            adopted: None,
        }
    }

    /// Runs until it is closed and all processes are gone, but for those that even SIGKILL does not end.
    pub(super) fn run(mut self) {
        self.become_subreaper();
        let mut adoptions = 0;
        loop {
            self.take_jobs();
            self.reap();
            self.sweep();
            self.advance_endings();
            if self.closing.is_some() && self.endings.is_empty() {
                adoptions += 1;
                if adoptions > MAX_ADOPTIONS || !self.adopt() {
                    break;
                }
                self.close(None);
                continue;
            }
            self.wait();
        }
        for done in self.closing.into_iter().flatten() {
            let _ = done.send(());
        }
    }

    fn take_jobs(&mut self) {
        let mut counter = [0; 8];
        // Nothing to read is as good as something: the inbox is looked at either way.
        let _ = rustix::io::read(&*self.wake, &mut counter);
        loop {
            match self.jobs.try_recv() {
                Ok(Job::Start { launch, streams, reply }) => self.start(&launch, streams, reply),
                Ok(Job::End { process, grace, done }) => self.end(process.pid(), grace, Some(done)),
                Ok(Job::EndLeft { sessions, mark }) => self.end_left(sessions, &mark),
                Ok(Job::Close { done }) => self.close(Some(done)),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return self.close(None),
            }
        }
    }

    fn start(
        &mut self,
        launch: &Launch,
        streams: Streams,
        reply: oneshot::Sender<Result<Arc<Process>, SpawnError>>,
    ) {
        if self.closing.is_some() || reply.is_closed() {
            return;
        }
        let child = match launch.start(streams) {
            Ok(child) => child,
            Err(error) => return drop(reply.send(Err(error))),
        };
        let pid = child.pid();
        let started_at = procfs::started_at(pid);
        let process = Arc::new(Process::new(pid, started_at));
        let pidfd = pidfd_open(pid, PidfdFlags::empty()).ok();
        if let Some(adopted) = &mut self.adopted {
            adopted.note(process.pid());
        }
        self.note_mark(&launch.environment);
        if !self.has_to_sweep() {
            self.next_sweep = Instant::now() + SWEEP_INTERVAL;
        }
        self.running.push(Slot { child, pidfd, process: Arc::clone(&process) });
        // The number is its own now, whoever had it before.
        self.finished.remove(&process.pid());
        let session = process.pid();
        if reply.send(Ok(process)).is_err() {
            self.end(session, Duration::ZERO, None);
        }
        self.tell_begun(session);
    }

    fn end(&mut self, session: i32, grace: Duration, done: Option<oneshot::Sender<()>>) {
        if let Some(ending) = self.endings.iter_mut().find(|ending| ending.session() == session) {
            ending.join(done, grace);
            return;
        }
        if self.leader(session).is_none() && !self.finished.contains(&session) {
            // Nothing is left of it.
            let _ = done.map(|done| done.send(()));
            return;
        }
        let ending = Ending::new(session, done, grace);
        let leader = self.adopted.as_ref().and_then(|adopted| adopted.leader_of(session));
        self.endings.push(match leader {
            Some(started_at) => ending.led_by(started_at),
            None => ending,
        });
    }

    fn close(&mut self, done: Option<oneshot::Sender<()>>) {
        self.closing.get_or_insert_default().extend(done);
        self.adopt();
        self.forget_empty();
        let mut sessions = self.finished.clone();
        sessions.extend(self.running.iter().map(|slot| slot.process.pid()));
        for session in sessions {
            self.end(session, Duration::ZERO, None);
        }
    }

    fn reap(&mut self) {
        let finished = &mut self.finished;
        let was_empty = finished.is_empty();
        self.running.retain_mut(|slot| {
            let child = &mut slot.child;
            let wait = || match child.try_wait() {
                Ok(status) => status.map(Exit::from),
                // There is no such child: someone else has reaped it.
                Err(_) => Some(Exit::unknown()),
            };
            let reaped = slot.process.reap(wait);
            if reaped {
                finished.insert(slot.process.pid());
            }
            !reaped
        });
        if was_empty && !self.finished.is_empty() {
            self.next_sweep = Instant::now() + SWEEP_INTERVAL;
        }
    }

    fn advance_endings(&mut self) {
        let mut endings = std::mem::take(&mut self.endings);
        endings.retain_mut(|ending| {
            let over = ending.advance(self.leader(ending.session()));
            if over {
                if ending.has_signalled() {
                    // As long as it is known whose they are, the dead are reaped.
                    self.adopt();
                }
                for session in ending.sessions() {
                    self.finished.remove(&session);
                    self.forget(session);
                }
            }
            !over
        });
        self.endings = endings;
    }

    /// The leader of a session, while it has not been reaped.
    fn leader(&self, session: i32) -> Option<&Process> {
        self.running.iter().find(|slot| slot.process.pid() == session).map(|slot| &*slot.process)
    }

    /// Sleeps until a job comes, a process ends or a time has come.
    fn wait(&self) {
        let now = Instant::now();
        let mut until: Option<Instant> = self.has_to_sweep().then_some(self.next_sweep);
        let mut fds: Vec<BorrowedFd<'_>> = vec![self.wake.as_fd()];
        for slot in &self.running {
            match &slot.pidfd {
                Some(pidfd) => fds.push(pidfd.as_fd()),
                None => until = earlier(until, now + BLIND_INTERVAL),
            }
        }
        for ending in &self.endings {
            fds.extend(ending.watched());
            until = earlier(until, ending.deadline());
        }
        let mut polled: Vec<PollFd<'_>> =
            fds.iter().map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)).collect();
        let timeout = until.map(|until| timespec(until.saturating_duration_since(now)));
        // Interrupted or out of memory: the loop looks at everything anyway.
        let _ = poll(&mut polled, timeout.as_ref());
    }
}

fn earlier(one: Option<Instant>, other: Instant) -> Option<Instant> {
    Some(one.map_or(other, |one| one.min(other)))
}

fn timespec(duration: Duration) -> Timespec {
    Timespec { tv_sec: duration.as_secs().cast_signed(), tv_nsec: i64::from(duration.subsec_nanos()) }
}
