//! The thread that owns processes, seen from outside.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::event::{EventfdFlags, eventfd};
use tokio::sync::oneshot;

use super::error::SpawnError;
use super::launch::{Launch, Streams};
use super::process::Process;
use super::worker::Worker;

/// What the thread is asked to do.
#[derive(Debug)]
pub(super) enum Job {
    /// Start a process. When nobody waits for it any more, it is ended at once.
    Start { launch: Launch, streams: Streams, reply: oneshot::Sender<Result<Arc<Process>, SpawnError>> },
    /// End a process and all of its session.
    End { process: Arc<Process>, grace: Duration, done: oneshot::Sender<()> },
    /// End what is left of sessions that another process had started, whose members bear this mark.
    EndLeft { sessions: Vec<LeftSession>, mark: OsString },
    /// End everything, then the thread.
    Close { done: oneshot::Sender<()> },
}

/// A session that another process had started.
#[derive(Debug)]
pub(super) struct LeftSession {
    pub(super) number: i32,
    /// When its leader started, in clock ticks after boot.
    pub(super) started_at: u64,
    pub(super) done: oneshot::Sender<()>,
}

/// Starts processes and keeps them: see [`spawn`](super). The thread begins with the first process. Dropping the
/// keeper ends every process that is left, and waits for that.
#[derive(Debug)]
pub(crate) struct Keeper {
    subreaper: bool,
    state: Mutex<State>,
}

#[derive(Debug)]
enum State {
    Idle,
    Running(Thread),
    Closed,
}

#[derive(Debug)]
struct Thread {
    jobs: Sender<Job>,
    wake: Arc<OwnedFd>,
    handle: JoinHandle<()>,
}

impl Keeper {
    /// Whether this process is to be made a `subreaper` is for the host to say: it is changed as a whole.
    pub(crate) fn new(subreaper: bool) -> Self {
        Self { subreaper, state: Mutex::new(State::Idle) }
    }

    /// Starts a process. Dropping the future ends it, should it have started.
    pub(crate) async fn start(&self, launch: Launch, streams: Streams) -> Result<Arc<Process>, SpawnError> {
        let (reply, answer) = oneshot::channel();
        let program = launch.program.clone();
        self.begin().map_err(|error| match error {
            Some(error) => SpawnError::from_io(&program, error),
            None => SpawnError::Closed,
        })?;
        self.send(Job::Start { launch, streams, reply });
        answer.await.unwrap_or(Err(SpawnError::Closed))
    }

    /// Ends the process and everything else in its session: SIGTERM, then SIGKILL when `grace` has passed and some
    /// are left; with no grace SIGKILL at once. It begins now, and goes on when the future is dropped; the future is
    /// ready when all of them are dead and the process is reaped.
    pub(crate) fn end(&self, process: &Arc<Process>, grace: Duration) -> impl Future<Output = ()> + use<> {
        let (done, ended) = oneshot::channel();
        self.send(Job::End { process: Arc::clone(process), grace, done });
        async move { drop(ended.await) }
    }

    /// Ends what is left of sessions that another process of this machine had started, by number and by when their
    /// leaders started, in clock ticks after boot. A session whose leader has gone is known by the `mark` that one of
    /// its members bears; what has only the number of such a session is let alone.
    pub(crate) async fn end_left(&self, sessions: Vec<(i32, u64)>, mark: OsString) {
        if sessions.is_empty() || self.begin().is_err() {
            return;
        }
        let with_end = |(number, started_at)| {
            let (done, ended) = oneshot::channel();
            (LeftSession { number, started_at, done }, ended)
        };
        let (sessions, ends): (Vec<_>, Vec<_>) = sessions.into_iter().map(with_end).unzip();
        self.send(Job::EndLeft { sessions, mark });
        for end in ends {
            drop(end.await);
        }
    }

    /// Ends all processes and what is left of their sessions, and then the thread. Nothing can be started after.
    pub(crate) async fn close(&self) {
        let Some(thread) = self.take() else { return };
        let (done, closed) = oneshot::channel();
        thread.send(Job::Close { done });
        drop(closed.await);
        // Its last act was to answer.
        drop(thread.handle.join());
    }

    /// Starts the thread where it does not run yet. An error of none: it has been closed.
    fn begin(&self) -> Result<(), Option<io::Error>> {
        let mut state = self.lock();
        match *state {
            State::Running(_) => Ok(()),
            State::Closed => Err(None),
            State::Idle => {
                *state = State::Running(Thread::start(self.subreaper).map_err(Some)?);
                Ok(())
            }
        }
    }

    fn send(&self, job: Job) {
        // Without a thread the job is dropped, and with it the sender that somebody waits for.
        if let State::Running(thread) = &*self.lock() {
            thread.send(job);
        }
    }

    fn take(&self) -> Option<Thread> {
        match std::mem::replace(&mut *self.lock(), State::Closed) {
            State::Running(thread) => Some(thread),
            State::Idle | State::Closed => None,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        let Some(thread) = self.take() else { return };
        thread.send(Job::Close { done: oneshot::channel().0 });
        drop(thread.handle.join());
    }
}

impl Thread {
    fn start(subreaper: bool) -> io::Result<Self> {
        let wake = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        let (jobs, inbox) = mpsc::channel();
        let worker = Worker::new(inbox, Arc::clone(&wake), subreaper);
        let handle = std::thread::Builder::new().name("tenon-exec".to_owned()).spawn(move || worker.run())?;
        Ok(Self { jobs, wake, handle })
    }

    fn send(&self, job: Job) {
        if self.jobs.send(job).is_ok() {
            // It fails only when the counter is full, and then the thread is awake anyway.
            let _ = rustix::io::write(&*self.wake, &1_u64.to_ne_bytes());
        }
    }
}

#[cfg(test)]
#[path = "keeper_tests.rs"]
mod tests;
