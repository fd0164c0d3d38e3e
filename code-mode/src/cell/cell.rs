//! One cell: what its script has put out, how it stands, how it is stopped.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tenon_protocol::FunctionCallOutputContentItem;
use tenon_tools::OpenQuestions;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::output::Output;
use crate::engine::{Outcome, RunningScript, ScriptEnd, Stored};
use crate::limits::STOP_DEADLINE;

/// What a session's cells have stored, each cell's writes as a whole.
#[derive(Clone, Default)]
pub(super) struct Store(Arc<Mutex<Arc<Stored>>>);

impl Store {
    pub(super) fn snapshot(&self) -> Arc<Stored> {
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn commit(&self, writes: Stored) {
        if !writes.is_empty() {
            let mut stored = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::make_mut(&mut stored).extend(writes);
        }
    }
}

/// Counts threads that were given up and still run.
#[derive(Clone, Default)]
pub(super) struct Abandoned(Arc<AtomicUsize>);

impl Abandoned {
    pub(super) fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// One script and what it has come to.
pub(super) struct Cell {
    pub(super) id: String,
    state: Mutex<State>,
    /// Told of whatever an observer may wait for.
    changed: Notify,
    script: OnceLock<RunningScript>,
    /// Cancels the script's calls.
    pub(super) cancellation: CancellationToken,
    /// The script's calls that have no result yet.
    pub(super) calls: TaskTracker,
    /// Where they run.
    pub(super) runtime: Handle,
    store: Store,
    abandoned: Abandoned,
    questions: OpenQuestions,
}

#[derive(Default)]
struct State {
    output: Output,
    thread: Thread,
    /// How the script ended, once its calls have as well.
    outcome: Option<Outcome>,
    observed: bool,
    terminated_by_observer: bool,
    /// What was put out when the script handed control back to the observer of now.
    yielded: Option<Vec<FunctionCallOutputContentItem>>,
}

/// The script's thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Thread {
    #[default]
    Runs,
    /// It did not stop in time; nothing it says is listened to.
    Abandoned,
    Ended,
}

impl State {
    fn leave_unread(&mut self) {
        if let Some(items) = self.yielded.take() {
            self.output.put_back(items);
        }
    }
}

/// Why an observer is not let in (runtime.md C8.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Busy {
    Observed,
    Terminating,
}

/// What an observer was waiting for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Seen {
    Ended(Outcome),
    StillRuns,
}

impl Cell {
    /// A cell whose script does not run yet. `questions` tells whether one of its calls waits for an answer.
    pub(super) fn new(
        id: String,
        runtime: Handle,
        store: Store,
        abandoned: Abandoned,
        questions: OpenQuestions,
    ) -> Arc<Self> {
        Arc::new(Self {
            id,
            state: Mutex::default(),
            changed: Notify::new(),
            script: OnceLock::new(),
            cancellation: CancellationToken::new(),
            calls: TaskTracker::new(),
            runtime,
            store,
            abandoned,
            questions,
        })
    }

    pub(super) fn runs(&self, script: RunningScript) {
        self.script.set(script).ok();
        // Whoever stopped the cell before its script was known could not reach it.
        if self.cancellation.is_cancelled() {
            self.stop();
        }
    }

    /// Lets an observer in.
    pub(super) fn attach(&self, terminates: bool) -> Result<(), Busy> {
        let mut state = self.lock();
        if state.observed {
            return Err(if state.terminated_by_observer { Busy::Terminating } else { Busy::Observed });
        }
        state.observed = true;
        state.terminated_by_observer = terminates;
        Ok(())
    }

    pub(super) fn detach(&self) {
        let mut state = self.lock();
        state.observed = false;
        state.terminated_by_observer = false;
        state.leave_unread();
    }

    /// All that was put out and not read.
    pub(super) fn take_output(&self) -> Vec<FunctionCallOutputContentItem> {
        let mut state = self.lock();
        state.leave_unread();
        state.output.take()
    }

    /// What was put out until the script handed control back, or until now where it did not.
    pub(super) fn take_yielded(&self) -> Vec<FunctionCallOutputContentItem> {
        let mut state = self.lock();
        state.yielded.take().unwrap_or_else(|| state.output.take())
    }

    /// Waits for the end, for the script to hand control back, or until `deadline`; and on, as long as a call of the
    /// script waits for an answer from outside (runtime.md C8.14).
    pub(super) async fn observe(&self, deadline: Option<Instant>) -> Seen {
        loop {
            let seen = self.look_until(deadline).await;
            if seen != Seen::StillRuns || !self.questions.are_open(&self.id) {
                return seen;
            }
            self.questions.closed(&self.id).await;
        }
    }

    /// As [`observe`](Self::observe), whoever is asked meanwhile.
    pub(super) async fn look_until(&self, deadline: Option<Instant>) -> Seen {
        let seen = self.until(|state| {
            // A script that has handed control back is told of as running, even where it has ended since.
            let yielded = state.yielded.is_some().then_some(Seen::StillRuns);
            yielded.or_else(|| state.outcome.clone().map(Seen::Ended))
        });
        match deadline {
            Some(deadline) => tokio::select! {
                biased;
                seen = seen => seen,
                () = sleep_until(deadline) => Seen::StillRuns,
            },
            None => seen.await,
        }
    }

    /// Asks the script and its calls to stop.
    pub(super) fn stop(&self) {
        self.cancellation.cancel();
        if let Some(script) = self.script.get() {
            script.stop();
        }
    }

    /// Stops the script and waits for its end; a thread that does not stop within [`STOP_DEADLINE`] is given up. The
    /// script's own end where it came first.
    pub(super) async fn terminate(self: &Arc<Self>) -> Outcome {
        self.stop();
        let thread_ended = self.until(|state| (state.thread != Thread::Runs).then_some(()));
        tokio::select! {
            biased;
            () = thread_ended => {}
            () = tokio::time::sleep(STOP_DEADLINE) => self.abandon(),
        }
        self.until(|state| state.outcome.clone()).await
    }

    /// Gives the thread up, unless it has ended after all.
    fn abandon(self: &Arc<Self>) {
        let runs = {
            let mut state = self.lock();
            let runs = state.thread == Thread::Runs;
            if runs {
                state.thread = Thread::Abandoned;
                self.abandoned.0.fetch_add(1, Ordering::Relaxed);
            }
            runs
        };
        if runs {
            tracing::warn!(cell_id = %self.id, "a script could not be stopped; its thread was given up");
            self.end_when_calls_have(Outcome::Stopped);
        }
    }

    async fn until<T>(&self, look: impl Fn(&State) -> Option<T>) -> T {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            if let Some(seen) = look(&self.lock()) {
                return seen;
            }
            changed.await;
        }
    }

    /// Cancels the calls that still run. The cell has ended when they have (runtime.md C8.8).
    fn end_when_calls_have(self: &Arc<Self>, outcome: Outcome) {
        self.cancellation.cancel();
        self.calls.close();
        if self.calls.is_empty() {
            return self.end(outcome);
        }
        let cell = Arc::clone(self);
        self.runtime.spawn(async move {
            cell.calls.wait().await;
            cell.end(outcome);
        });
    }

    fn end(&self, outcome: Outcome) {
        self.lock().outcome = Some(outcome);
        self.changed.notify_waiters();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the script's thread tells. A thread that was given up is not listened to.
impl Cell {
    /// Whether what the thread says still counts.
    pub(super) fn listens(&self) -> bool {
        self.lock().thread == Thread::Runs
    }

    pub(super) fn put_out(&self, item: FunctionCallOutputContentItem) {
        let mut state = self.lock();
        if state.thread == Thread::Runs {
            state.output.push(item);
        }
    }

    /// Counts only while somebody waits (C8.4).
    pub(super) fn yield_control(&self) {
        let mut state = self.lock();
        if state.observed && state.yielded.is_none() && state.thread == Thread::Runs {
            state.yielded = Some(state.output.take());
            drop(state);
            self.changed.notify_waiters();
        }
    }

    /// The script is over. What it stored is kept whether it failed or not, but not of one that was stopped (C8.11).
    pub(super) fn script_ended(self: &Arc<Self>, end: ScriptEnd) {
        let before = std::mem::replace(&mut self.lock().thread, Thread::Ended);
        if before == Thread::Abandoned {
            self.abandoned.0.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        let ScriptEnd { outcome, writes } = end;
        if outcome != Outcome::Stopped {
            self.store.commit(writes);
        }
        self.changed.notify_waiters();
        self.end_when_calls_have(outcome);
    }
}
