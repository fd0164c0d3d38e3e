//! The queue between the runtime, which must not wait, and a reader, who may be slow.

use std::io::{self, ErrorKind, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tenon_tools::{AbortReason, Event, EventSink};
use tokio::sync::oneshot;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::Printer;

/// How long a reader who does not read is waited for once the user wants the run to end.
pub(crate) const FLUSH_PATIENCE: Duration = Duration::from_secs(2);

/// How the writing of a session's events ended.
#[derive(Debug)]
pub(crate) enum OutputEnd {
    /// All was written.
    Written,
    /// The reader has gone away: not our failure, and nobody is there to hear of it.
    Closed,
    /// The writer failed.
    Failed(io::Error),
}

enum Order {
    Event(Box<Event>),
    End,
}

/// Takes events and writes them in order, on a thread of its own.
///
/// The queue holds what a client is shown of calls, whose texts are bounded where they are made; pieces of a text that
/// is still being written are not queued, since no printer shows them. So it is bounded by the calls that are made
/// while the reader does not read.
#[derive(Debug)]
pub(crate) struct Output {
    orders: Sender<Order>,
    end: Mutex<Option<oneshot::Receiver<OutputEnd>>>,
    /// The turn that has begun and not ended.
    turn: Mutex<Option<String>>,
}

impl Output {
    /// Starts the thread. `broken` is cancelled when nothing more can be written: then there is no point in going on.
    ///
    /// # Errors
    /// When there can be no further thread.
    pub(crate) fn start(
        printer: Box<dyn Printer>,
        out: Box<dyn Write + Send>,
        broken: CancellationToken,
    ) -> io::Result<Self> {
        let (orders, queue) = channel();
        let (done, end) = oneshot::channel();
        // Not joined but awaited through `end`: a second Ctrl-C must not wait for a reader that does not read.
        thread::Builder::new().name("output".to_owned()).spawn(move || {
            // Nobody may be waiting any more.
            let _ = done.send(write_all(printer, out, &queue, &broken));
        })?;
        Ok(Self { orders, end: Mutex::new(Some(end)), turn: Mutex::default() })
    }

    /// Says of a turn which nobody will end any more that it was interrupted.
    pub(crate) fn abort_turn(&self) {
        let turn = self.turn().take();
        if let Some(turn_id) = turn {
            self.emit(Event::TurnAborted {
                turn_id,
                reason: AbortReason::Interrupted,
                aborted_calls: Vec::new(),
            });
        }
    }

    /// Waits until everything is written that was emitted before. What is emitted later is dropped. A reader who does
    /// not read is waited for without end, but for no more than [`FLUSH_PATIENCE`] once the run is `cancelled`.
    pub(crate) async fn finish(&self, cancelled: &CancellationToken) -> OutputEnd {
        // The thread may be gone already; then its end is there.
        let _ = self.orders.send(Order::End);
        let end = self.end.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(end) = end else { return OutputEnd::Written };
        let patience = async {
            cancelled.cancelled().await;
            sleep(FLUSH_PATIENCE).await;
        };
        tokio::select! {
            biased;
            end = end => end.unwrap_or_else(|_| OutputEnd::Failed(io::Error::other("the writer panicked"))),
            () = patience => OutputEnd::Closed,
        }
    }

    fn turn(&self) -> MutexGuard<'_, Option<String>> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps track of whether a turn is open.
    fn follow(&self, event: &Event) {
        if let Event::TurnStarted { turn_id } = event {
            *self.turn() = Some(turn_id.clone());
        } else if matches!(
            event,
            Event::TurnCompleted { .. } | Event::TurnFailed { .. } | Event::TurnAborted { .. }
        ) {
            *self.turn() = None;
        }
    }
}

impl EventSink for Output {
    fn emit(&self, event: Event) {
        match event {
            Event::AgentMessageDelta { .. }
            | Event::ReasoningDelta { .. }
            | Event::ExecOutputDelta { .. }
            | Event::PatchProgress { .. } => {}
            // Fails only after the end, when nothing more is to be written.
            event => {
                self.follow(&event);
                drop(self.orders.send(Order::Event(Box::new(event))));
            }
        }
    }
}

fn write_all(
    mut printer: Box<dyn Printer>,
    mut out: Box<dyn Write + Send>,
    queue: &Receiver<Order>,
    broken: &CancellationToken,
) -> OutputEnd {
    let mut failure = None;
    while let Ok(Order::Event(event)) = queue.recv() {
        if failure.is_some() {
            continue;
        }
        if let Err(error) = printer.print(*event, &mut out) {
            failure = Some(error);
            broken.cancel();
        }
    }
    let failure = failure.or_else(|| printer.finish(&mut out).and_then(|()| out.flush()).err());
    match failure {
        None => OutputEnd::Written,
        Some(error) if error.kind() == ErrorKind::BrokenPipe => OutputEnd::Closed,
        Some(error) => OutputEnd::Failed(error),
    }
}

#[cfg(test)]
#[path = "sink_tests.rs"]
mod tests;
