//! One command: its process, its output, and who is told of them.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tenon_tools::FirstRun;
use tokio_util::sync::CancellationToken;

use crate::buffer::Captured;
use crate::limit::Limit;
use crate::output::Output;
use crate::report::Report;
use crate::sandbox::{Denial, Limits};
use crate::spawn::{Exit, Keyboard, Process};

/// How long a collection waits for the output to close once the process has ended (runtime.md B1).
const CLOSE_GRACE: Duration = Duration::from_millis(50);

/// How much later than its deadline a collection may be for the sake of what the process wrote before its end.
const SETTLE_GRACE: Duration = Duration::from_millis(50);

/// How long the watcher waits for the output to close once the process has ended (runtime.md B1).
const TRAILING_GRACE: Duration = Duration::from_millis(100);

/// How long deltas are gathered before they are sent.
const DELTA_INTERVAL: Duration = Duration::from_millis(20);

/// A command that was started. It is a session as soon as the call that started it has yielded.
#[derive(Debug)]
pub(crate) struct Session {
    /// What the model knows it by.
    pub(crate) id: i32,
    /// What the model asked to run.
    pub(crate) command: String,
    /// Where it was started.
    pub(crate) folder: PathBuf,
    /// Its terminal, where it has one.
    pub(crate) keyboard: Option<Keyboard>,
    /// Its process.
    pub(crate) process: Arc<Process>,
    /// What it prints.
    pub(crate) output: Arc<Output>,
    /// Who is told.
    pub(crate) report: Report,
    /// When it was started.
    pub(crate) started: Instant,
    /// Held by whoever collects or writes: one at a time.
    pub(crate) interaction: Arc<tokio::sync::Mutex<()>>,
    /// Stops the reading of its output.
    pub(crate) reading: CancellationToken,
    /// How long it may run.
    pub(crate) limit: Option<Limit>,
    /// Whether the model has been told of its end without having asked.
    pub(crate) noted: AtomicBool,
    /// What it is held to, where it is.
    pub(crate) limits: Option<Limits>,
}

/// What a collection brought.
#[derive(Debug)]
pub(crate) struct Collected {
    /// The output since the last one.
    pub(crate) output: Captured,
    /// How the process ended; none while it runs.
    pub(crate) exit_code: Option<i32>,
}

impl Session {
    /// Waits until the process has ended and nothing more of its output is to come, at most until `deadline`, and
    /// takes what there is (runtime.md B7.1). Dropping the future takes nothing.
    pub(crate) async fn collect(&self, deadline: Instant) -> Collected {
        self.settle(deadline).await;
        self.take()
    }

    /// As [`collect`](Self::collect), and where the command has failed as one does that the sandbox has refused
    /// something, the output says so in its last line, and it may be run again without; not where it was ended for its
    /// time was over. For the call that started it (runtime.md B7.5, B8.4).
    pub(crate) async fn collect_telling_denial(&self, deadline: Instant) -> (Collected, Option<FirstRun>) {
        self.settle(deadline).await;
        let mut first_run = None;
        if let (Some(limits), Some(exit)) = (&self.limits, self.process.exited())
            && let Some(denial) = Denial::find(limits, exit.code(), || self.output.transcript().into_text())
        {
            self.output.push_line(&denial.line());
            let in_time = !self.limit.as_ref().is_some_and(Limit::is_reached);
            first_run = in_time.then(|| FirstRun { exit_code: exit.code(), denial: denial.line() });
        }
        (self.take(), first_run)
    }

    async fn settle(&self, deadline: Instant) {
        if tokio::time::timeout_at(deadline.into(), self.finished(CLOSE_GRACE)).await.is_err()
            && self.process.exited().is_some()
        {
            // It has just ended. What it wrote before is in the pipe and would be lost.
            let mut flow = self.output.flow();
            drop(tokio::time::timeout(SETTLE_GRACE, flow.wait_for(|flow| flow.is_complete())).await);
        }
    }

    /// Waits for the end of the process, but not longer than `patience`. Whether it has ended.
    pub(crate) async fn ended_within(&self, patience: Duration) -> bool {
        let mut exit = self.process.exit();
        tokio::time::timeout(patience, exit.wait_for(Option::is_some)).await.is_ok()
    }

    /// Takes what there is now.
    pub(crate) fn take(&self) -> Collected {
        // In this order: output that comes between the two belongs to a process that is still reported alive.
        let exit_code = self.process.exited().map(Exit::code);
        if exit_code.is_some() {
            self.tell_limit();
        }
        Collected { output: self.output.collect(exit_code.is_some()), exit_code }
    }

    /// Waits until the process has ended, all it wrote is read, and either nobody else can write or `grace` is over
    /// since its end.
    pub(crate) async fn finished(&self, grace: Duration) {
        let mut exit = self.process.exit();
        // The senders live as long as the session.
        let Ok(Some(ended)) = exit.wait_for(Option::is_some).await.map(|exit| *exit) else { return };
        if let Some(limit) = &self.limit {
            limit.settled().await;
        }
        let mut flow = self.output.flow();
        let closed = flow.wait_for(|flow| flow.closed);
        if tokio::time::timeout_at((ended.at + grace).into(), closed).await.is_err() {
            let mut flow = self.output.flow();
            drop(flow.wait_for(|flow| flow.is_complete()).await);
        }
    }

    /// Interrupts its process group.
    pub(crate) fn interrupt(&self) {
        self.process.signal_group(Signal::INT);
    }

    /// Ends its item, once.
    pub(crate) fn end_item(&self) {
        if let Some(exit) = self.process.exited() {
            self.tell_limit();
            self.report.end(&self.output, exit.code());
        }
    }

    /// Waits until its time is over while it still runs; for ever when it has no limit, or has ended in time. From
    /// then on its output says so at its end, which [`Limit::end`] must bring.
    pub(crate) async fn limit_reached(&self) -> &Limit {
        if let Some(limit) = &self.limit {
            limit.over(self.started).await;
            if self.process.exited().is_none() {
                limit.reach();
                return limit;
            }
        }
        std::future::pending().await
    }

    fn tell_limit(&self) {
        if let Some(line) = self.limit.as_ref().and_then(Limit::line) {
            self.output.push_line(&line);
        }
    }

    /// Sends its deltas until it has finished, then waits for its turn and ends its item. `is_unheard` tells whether
    /// nobody has been told of the end yet.
    pub(crate) async fn watch(&self, is_unheard: impl Fn(&Self) -> bool + Send) {
        let finished = self.finished(TRAILING_GRACE);
        tokio::pin!(finished);
        loop {
            tokio::select! {
                () = &mut finished => break,
                () = self.output.news() => {}
            }
            // A short rest, so that many small writes become few events.
            let over = tokio::time::timeout(DELTA_INTERVAL, &mut finished).await.is_ok();
            self.report.deltas(&self.output);
            if over {
                break;
            }
        }
        let _turn = self.interaction.lock().await;
        self.end_item();
        if let Some(exit) = self.process.exited()
            && is_unheard(self)
        {
            self.report.background_exit(self.id, exit.code());
        }
    }
}
