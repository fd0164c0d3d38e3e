//! What a running command prints, on its way to those who read it: collections, the transcript, and deltas.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, watch};

use crate::buffer::{Captured, HeadTailBuffer, RETAINED_BYTES};

/// Bytes kept for deltas between two of their events. What a flood prints beyond is left out of them.
const DELTA_BACKLOG: usize = 64 * 1024;

/// How far reading has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Flow {
    /// All is read that was there when the process ended. Others may still be writing.
    pub(crate) settled: bool,
    /// Nobody can write any more.
    pub(crate) closed: bool,
}

impl Flow {
    /// Whether everything is read that the process itself has written.
    pub(crate) fn is_complete(self) -> bool {
        self.settled || self.closed
    }
}

/// The output of one command.
#[derive(Debug)]
pub(crate) struct Output {
    state: Mutex<State>,
    flow: watch::Sender<Flow>,
    news: Notify,
}

#[derive(Debug)]
struct State {
    /// What no collection has had yet.
    pending: HeadTailBuffer,
    /// What collections have had.
    transcript: HeadTailBuffer,
    /// What no delta has had yet; none when there are to be no more.
    deltas: Option<HeadTailBuffer>,
    /// Whether nobody wants it any more.
    discarded: bool,
    /// Whether the last byte ended a line, or there was none.
    at_line_start: bool,
}

impl State {
    /// Whether somebody waits for deltas of it.
    fn push(&mut self, bytes: &[u8]) -> bool {
        if let Some(last) = bytes.last() {
            self.at_line_start = *last == b'\n';
        }
        self.pending.push(bytes);
        self.deltas.as_mut().map(|deltas| deltas.push(bytes)).is_some()
    }
}

impl Output {
    pub(crate) fn new() -> Self {
        let state = State {
            pending: HeadTailBuffer::new(RETAINED_BYTES),
            transcript: HeadTailBuffer::new(RETAINED_BYTES),
            deltas: Some(HeadTailBuffer::new(DELTA_BACKLOG)),
            discarded: false,
            at_line_start: true,
        };
        Self { state: Mutex::new(state), flow: watch::Sender::new(Flow::default()), news: Notify::new() }
    }

    /// Takes what was read.
    pub(crate) fn push(&self, bytes: &[u8]) {
        let mut state = self.lock();
        if state.discarded {
            return;
        }
        let wanted = state.push(bytes);
        drop(state);
        if wanted {
            self.news.notify_one();
        }
    }

    /// Adds a line of our own after what was read.
    pub(crate) fn push_line(&self, line: &str) {
        let at_line_start = self.lock().at_line_start;
        let before = if at_line_start { "" } else { "\n" };
        self.push(format!("{before}{line}\n").as_bytes());
    }

    /// Takes how far reading has come.
    pub(crate) fn set_flow(&self, change: impl FnOnce(&mut Flow)) {
        self.flow.send_if_modified(|flow| {
            let before = *flow;
            change(flow);
            *flow != before
        });
    }

    /// How far reading has come.
    pub(crate) fn flow(&self) -> watch::Receiver<Flow> {
        self.flow.subscribe()
    }

    /// Takes what has come since the last collection: what was taken once never comes again. At the end even a
    /// character that is not complete.
    pub(crate) fn collect(&self, end: bool) -> Captured {
        let mut state = self.lock();
        let captured = state.pending.take(end);
        state.transcript.absorb(&captured);
        captured
    }

    /// All there was, as far as it is kept.
    pub(crate) fn transcript(&self) -> Captured {
        let state = self.lock();
        let mut whole = HeadTailBuffer::new(RETAINED_BYTES);
        whole.absorb(&state.transcript.snapshot());
        whole.absorb(&state.pending.snapshot());
        whole.take(true)
    }

    /// Takes what has come since the last deltas.
    pub(crate) fn take_deltas(&self, end: bool) -> Vec<u8> {
        self.lock().deltas.as_mut().map(|deltas| deltas.take(end).into_bytes()).unwrap_or_default()
    }

    /// Keeps nothing for deltas from now on.
    pub(crate) fn stop_deltas(&self) {
        self.lock().deltas = None;
    }

    /// Waits until there may be something for deltas.
    pub(crate) async fn news(&self) {
        self.news.notified().await;
    }

    /// Lets go of everything, and of what will come: background children may go on writing.
    pub(crate) fn discard(&self) {
        let mut state = self.lock();
        state.discarded = true;
        state.deltas = None;
        state.pending = HeadTailBuffer::new(0);
        state.transcript = HeadTailBuffer::new(0);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
