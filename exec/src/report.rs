//! What a client is told of a command while it runs and when it ends (runtime.md B12).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tenon_protocol::{CallId, ItemStatus, TurnItem};
use tenon_tools::{Event, EventSink};

use crate::buffer::whole_prefix;
use crate::output::Output;

/// Bytes of one delta.
const MAX_DELTA_BYTES: usize = 8192;

/// Deltas of one call. What comes after is only in the item that ends it.
const MAX_DELTAS: usize = 10_000;

/// Tells of one command. Its item ends exactly once, whoever sees the end first.
pub(crate) struct Report {
    events: Arc<dyn EventSink>,
    call_id: CallId,
    command: Vec<String>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    deltas_left: usize,
    ended: bool,
}

impl Report {
    pub(crate) fn new(events: Arc<dyn EventSink>, call_id: CallId, command: Vec<String>) -> Self {
        Self { events, call_id, command, state: Mutex::new(State { deltas_left: MAX_DELTAS, ended: false }) }
    }

    /// Sends what the command has printed since the last time.
    pub(crate) fn deltas(&self, output: &Output) {
        let mut state = self.lock();
        if !state.ended {
            self.send_deltas(&mut state, output, false);
        }
    }

    /// Ends the item: with the last deltas, the transcript and the exit code. Only the first time.
    pub(crate) fn end(&self, output: &Output, exit_code: i32) {
        let mut state = self.lock();
        if std::mem::replace(&mut state.ended, true) {
            return;
        }
        self.send_deltas(&mut state, output, true);
        output.stop_deltas();
        self.events.emit(Event::ItemCompleted(TurnItem::CommandExecution {
            id: self.call_id.as_str().to_owned(),
            command: self.command.clone(),
            aggregated_output: output.transcript().into_text(),
            exit_code: Some(exit_code),
            status: if exit_code == 0 { ItemStatus::Completed } else { ItemStatus::Failed },
        }));
    }

    /// Says no more: somebody else ends the item.
    pub(crate) fn silence(&self) {
        self.lock().ended = true;
    }

    /// Tells that the command ended in the background.
    pub(crate) fn background_exit(&self, process_id: i32, exit_code: i32) {
        self.events.emit(Event::BackgroundExit { call_id: self.call_id.clone(), process_id, exit_code });
    }

    /// Tells that the command was written to or polled.
    pub(crate) fn interaction(&self, process_id: i32, stdin: String) {
        self.events.emit(Event::TerminalInteraction { call_id: self.call_id.clone(), process_id, stdin });
    }

    pub(crate) fn call_id(&self) -> &CallId {
        &self.call_id
    }

    pub(crate) fn command(&self) -> &[String] {
        &self.command
    }

    fn send_deltas(&self, state: &mut State, output: &Output, end: bool) {
        let bytes = output.take_deltas(end);
        let mut rest = bytes.as_slice();
        while !rest.is_empty() && state.deltas_left > 0 {
            let chunk = whole_prefix(rest, MAX_DELTA_BYTES);
            rest = rest.get(chunk.len()..).unwrap_or_default();
            state.deltas_left -= 1;
            self.events.emit(Event::ExecOutputDelta { call_id: self.call_id.clone(), chunk: chunk.to_vec() });
        }
        if state.deltas_left == 0 {
            output.stop_deltas();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Report")
            .field("call_id", &self.call_id)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
