//! What waits for the writer, in order.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use tenon_protocol::{RenderedLine, RolloutItem};
use tokio::sync::{Semaphore, oneshot};

use super::copies::Need;
use super::error::SaveError;
use super::stamp::timestamp;

/// How many commands may wait for the writer (runtime.md D11.6). Who comes later waits for a place.
pub const QUEUED_COMMANDS: usize = 256;

/// How many facts of running calls may wait for the writer. They don't wait for a place, since those who report them
/// must not; what comes over the bound is dropped, counted and told.
pub const QUEUED_FACTS: usize = 8192;

/// A line that is still to be written.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) at: SystemTime,
    pub(super) what: What,
}

/// What a line is to say.
#[derive(Debug)]
pub(super) enum What {
    /// This. Of a call's end: for how long its long texts must be kept.
    Item(Box<RolloutItem>, Need),
    /// This, of which nothing is to be moved beside the file. Whoever hands the line over has rendered it, beside
    /// others who do: all lines go through one writer.
    Rendered(RenderedLine),
}

impl What {
    pub(super) fn item(item: RolloutItem, need: Need) -> Self {
        Self::Item(Box::new(item), need)
    }

    /// An item without long texts. One that cannot be rendered is left to the writer, which tells of it.
    pub(super) fn rendered(item: RolloutItem, at: SystemTime) -> Self {
        match RenderedLine::of(&item, &timestamp(at)) {
            Ok(line) => Self::Rendered(line),
            Err(_) => Self::item(item, Need::UntilRecorded),
        }
    }
}

/// What a command waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wants {
    /// Nothing: written when there is time.
    Nothing,
    /// Everything so far written.
    Written,
    /// Every line so far durable, but not what lies beside the file: what must be known before an effect is a line.
    Lines,
    /// Everything so far durable.
    Durable,
}

/// Lines to write, and who waits for them.
#[derive(Debug)]
pub(super) struct Command {
    pub(super) entries: Vec<Entry>,
    pub(super) wants: Wants,
    pub(super) reply: Option<oneshot::Sender<Result<(), SaveError>>>,
}

impl Command {
    /// Lines that nobody waits for.
    pub(super) fn lines(entries: Vec<Entry>) -> Self {
        Self { entries, wants: Wants::Nothing, reply: None }
    }

    /// Lines, and a wait for them and all before.
    pub(super) fn waiting(
        entries: Vec<Entry>,
        wants: Wants,
    ) -> (Self, oneshot::Receiver<Result<(), SaveError>>) {
        let (reply, answer) = oneshot::channel();
        (Self { entries, wants, reply: Some(reply) }, answer)
    }
}

/// The queue between a recorder and its writer.
#[derive(Debug)]
pub(super) struct Queue {
    state: Mutex<State>,
    filled: Condvar,
    /// The places that are free.
    places: Semaphore,
}

#[derive(Debug, Default)]
struct State {
    commands: Vec<Command>,
    /// How many of them have a place, which is free again when the writer takes them. A fact has none.
    placed: usize,
    facts: usize,
    dropped_facts: usize,
    closed: bool,
    /// The writer sleeps, and nobody has woken it yet. Waking is a system call, also of somebody who is awake.
    asleep: bool,
}

/// All that waited when the writer came for it.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) commands: Vec<Command>,
    /// Facts that found no place since the last batch.
    pub(super) dropped_facts: usize,
}

impl Queue {
    pub(super) fn new() -> Self {
        Self { state: Mutex::default(), filled: Condvar::new(), places: Semaphore::new(QUEUED_COMMANDS) }
    }

    /// Adds a command when there is a place for it.
    ///
    /// # Errors
    /// When the queue is closed.
    pub(super) async fn push(&self, command: Command) -> Result<(), SaveError> {
        let place = self.places.acquire().await.map_err(|_| SaveError::closed())?;
        let mut state = self.lock();
        if state.closed {
            return Err(SaveError::closed());
        }
        place.forget();
        state.placed += 1;
        self.add(state, command);
        Ok(())
    }

    /// Adds a fact without waiting.
    pub(super) fn push_fact(&self, entry: Entry) {
        let mut state = self.lock();
        if state.closed || state.facts >= QUEUED_FACTS {
            state.dropped_facts += 1;
            return;
        }
        state.facts += 1;
        self.add(state, Command::lines(vec![entry]));
    }

    fn add(&self, mut state: MutexGuard<'_, State>, command: Command) {
        state.commands.push(command);
        let asleep = std::mem::take(&mut state.asleep);
        drop(state);
        if asleep {
            self.filled.notify_one();
        }
    }

    /// Takes all that waits, or waits for something; none when the queue is closed and empty.
    pub(super) fn take(&self) -> Option<Batch> {
        let mut state = self.lock();
        while state.commands.is_empty() && !state.closed {
            state.asleep = true;
            state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.facts = 0;
        let dropped_facts = std::mem::take(&mut state.dropped_facts);
        let commands = std::mem::take(&mut state.commands);
        let placed = std::mem::take(&mut state.placed);
        drop(state);
        if commands.is_empty() {
            return None;
        }
        self.places.add_permits(placed);
        Some(Batch { commands, dropped_facts })
    }

    /// Takes no more commands. What waits is still written.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.places.close();
        self.filled.notify_one();
    }

    /// Ends the queue with its writer: who waits for an answer hears that there is none.
    pub(super) fn abandon(&self) {
        self.close();
        let unserved = std::mem::take(&mut self.lock().commands);
        if !unserved.is_empty() {
            tracing::error!(
                commands = unserved.len(),
                "the writer of a rollout has ended before its lines were written"
            );
        }
    }

    /// How many commands wait now.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        self.lock().commands.len()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;
