//! The queue between the runtime, which must not wait, and a reader, who may be slow.

use std::io::{self, ErrorKind, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use tenon_tools::{Event, EventSink};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::Printer;

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
    end: std::sync::Mutex<Option<oneshot::Receiver<OutputEnd>>>,
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
        Ok(Self { orders, end: std::sync::Mutex::new(Some(end)) })
    }

    /// Waits until everything is written that was emitted before. What is emitted later is dropped.
    pub(crate) async fn finish(&self) -> OutputEnd {
        // The thread may be gone already; then its end is there.
        let _ = self.orders.send(Order::End);
        let end = self.end.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        match end {
            Some(end) => {
                end.await.unwrap_or_else(|_| OutputEnd::Failed(io::Error::other("the writer panicked")))
            }
            None => OutputEnd::Written,
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
            event => drop(self.orders.send(Order::Event(Box::new(event)))),
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
