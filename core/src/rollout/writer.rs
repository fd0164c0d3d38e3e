//! The one thread that writes a rollout file.
//!
//! It takes all that waits, writes it line by line, syncs once if anybody waits for that, and answers everybody: a
//! command that comes while a sync runs is covered by the next one (group commit, runtime.md D11.7).

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tenon_protocol::{RenderedLine, RolloutItem};
use tenon_tools::{Event, EventSink};

use super::backlog::Backlog;
use super::copies::{Copies, Need, TextHash};
use super::error::SaveError;
use super::line_file::LineFile;
use super::queue::{Batch, Command, Entry, Queue, Wants, What};
use super::reader::Seen;
use super::stamp::timestamp;

/// Writes what a queue holds, until it is closed.
pub(super) struct Writer {
    queue: Arc<Queue>,
    file: Box<dyn LineFile>,
    copies: Copies,
    events: Arc<dyn EventSink>,
    backlog: Backlog,
    stamps: Stamps,
    /// The last attempt to write has failed: the next barrier opens the file afresh.
    broken: bool,
    /// The operator has been told of the failure that lasts.
    told: bool,
    /// Something was written since the last sync, by us or before us.
    dirty: bool,
    /// Lines that found no room since the operator was last told of such.
    refused: usize,
}

impl Writer {
    pub(super) fn new(
        queue: Arc<Queue>,
        file: Box<dyn LineFile>,
        copies: Copies,
        events: Arc<dyn EventSink>,
        backlog: Backlog,
    ) -> Self {
        Self {
            queue,
            file,
            copies,
            events,
            backlog,
            stamps: Stamps::default(),
            broken: false,
            told: false,
            dirty: true,
            refused: 0,
        }
    }

    /// The same writer, behind lines that the file holds already.
    pub(super) fn behind(mut self, before: Seen) -> Self {
        self.stamps.before = before;
        self
    }

    /// Serves until the queue is closed and empty, then tries once more to write what is left, and tells what is lost.
    pub(super) fn run(mut self) {
        while let Some(batch) = Arc::clone(&self.queue).take() {
            self.serve(batch);
        }
        if !self.backlog.is_empty() {
            self.told_barrier(Wants::Written);
        }
        let lost = self.refused + self.backlog.len();
        if lost > 0 {
            self.warn(format!(
                "Lines lost from the conversation transcript: {lost}. They could not be written."
            ));
        }
    }

    fn serve(&mut self, batch: Batch) {
        let Batch { commands, dropped_facts } = batch;
        let mut waiting = Vec::new();
        let mut wants = Wants::Nothing;
        for Command { entries, wants: wanted, reply } in commands {
            let taken = self.take_in(entries);
            wants = wants.max(wanted);
            if let Some(reply) = reply {
                waiting.push((wanted, reply, taken));
            }
        }
        let outcome = match wants {
            Wants::Nothing => self.write_if_whole(),
            Wants::Written | Wants::Lines | Wants::Durable => self.told_barrier(wants),
        };
        self.tell_lost(dropped_facts);
        for notice in self.copies.take_notices() {
            self.warn(notice);
        }
        for (wanted, reply, taken) in waiting {
            // Whoever asked may be gone.
            let _ = reply.send(taken.and(outcome.of(wanted)));
        }
    }

    /// Puts lines behind those that wait already.
    ///
    /// # Errors
    /// When one of them can never be written.
    fn take_in(&mut self, entries: Vec<Entry>) -> Result<(), SaveError> {
        let mut taken = Ok(());
        for Entry { at, what } in entries {
            let (superseded, rendered) = match what {
                What::Rendered(line) => (Vec::new(), Ok(self.stamps.stamp(line, at))),
                What::Item(mut item, need) => {
                    (self.move_aside(&mut item, need), self.stamps.render(&item, at))
                }
            };
            match rendered {
                Ok(line) => {
                    if self.backlog.push(line) {
                        self.copies.supersede(superseded);
                    } else {
                        self.refused += 1;
                        taken = Err(SaveError::new("too much waits to be written already"));
                    }
                }
                Err(error) => {
                    let error = SaveError::new(error);
                    self.warn(error.to_string());
                    taken = Err(error);
                }
            }
        }
        taken
    }

    /// Moves the long texts of a call's end beside the file. Of an item of the conversation, gives those that lie there
    /// and need not any more once its line is durable.
    fn move_aside(&mut self, item: &mut RolloutItem, need: Need) -> Vec<TextHash> {
        if let RolloutItem::CallFinished(line) = item {
            self.copies.take_out(line, need);
            return Vec::new();
        }
        if let RolloutItem::ResponseItem(item) = item { self.copies.held_by(item) } else { Vec::new() }
    }

    /// Writes without a barrier: a failure is left for the next barrier to mend.
    fn write_if_whole(&mut self) -> Outcome {
        if !self.broken
            && let Err(error) = self.write()
        {
            self.broken = true;
            tracing::warn!(%error, "rollout lines could not be written; the next barrier tries again");
        }
        Outcome { written: Ok(()), synced: Ok(()), copied: Ok(()) }
    }

    fn told_barrier(&mut self, wants: Wants) -> Outcome {
        let outcome = self.barrier(wants);
        self.tell(&outcome);
        outcome
    }

    /// Writes everything and syncs if that is wanted. After a failure the file is opened afresh, and it is tried once
    /// more (runtime.md D11.7).
    fn barrier(&mut self, wants: Wants) -> Outcome {
        let first = (!self.broken).then(|| self.attempt(wants));
        let outcome = match first {
            Some(outcome) if outcome.error().is_none() => outcome,
            Some(_) | None => self.retry(wants, first),
        };
        self.broken = outcome.error().is_some();
        outcome
    }

    fn retry(&mut self, wants: Wants, first: Option<Outcome>) -> Outcome {
        match self.file.reopen() {
            Ok(tail) => {
                self.backlog.continue_after(tail);
                self.attempt(wants)
            }
            // What was written before stays written.
            Err(error) => first.unwrap_or_else(|| Outcome {
                written: if self.backlog.is_empty() { Ok(()) } else { Err(SaveError::from(&error)) },
                ..Outcome::failed(&error)
            }),
        }
    }

    fn attempt(&mut self, wants: Wants) -> Outcome {
        if let Err(error) = self.write() {
            return Outcome::failed(&error);
        }
        let (copied, synced) = match wants {
            Wants::Nothing | Wants::Written => (Ok(()), Ok(())),
            Wants::Lines => (Ok(()), self.sync()),
            // What a line refers to is durable before the line is.
            Wants::Durable => (self.copies.sync(), self.sync()),
        };
        let told = |done: io::Result<()>| done.map_err(|error| SaveError::from(&error));
        Outcome { written: Ok(()), synced: told(synced), copied: told(copied) }
    }

    fn write(&mut self) -> io::Result<()> {
        self.dirty |= !self.backlog.is_empty();
        self.backlog.write_to(&mut *self.file)
    }

    /// Syncs, unless nothing was written since that was done last.
    fn sync(&mut self) -> io::Result<()> {
        if self.dirty {
            self.file.sync_data()?;
            self.dirty = false;
        }
        self.copies.let_go();
        Ok(())
    }

    /// Tells the operator of a failure, once as long as it lasts (runtime.md D11.9).
    fn tell(&mut self, outcome: &Outcome) {
        let Some(error) = outcome.error() else {
            self.told = false;
            return;
        };
        if !self.told {
            self.told = true;
            self.warn(save_failure(error));
        }
    }

    /// Tells the operator what will never be in the file: once the file takes lines again, so that one outage is one
    /// message.
    fn tell_lost(&mut self, facts: usize) {
        if self.refused > 0 && !self.broken {
            let lines = std::mem::take(&mut self.refused);
            self.warn(format!(
                "Lines lost from the conversation transcript: {lines}. More waited to be written than is kept."
            ));
        }
        if facts > 0 {
            self.warn(format!(
                "Facts of running calls lost: {facts}. They came faster than the transcript could be written."
            ));
        }
    }

    fn warn(&self, message: String) {
        self.events.emit(Event::Warning { message });
    }
}

/// However the writer ends, even by a panic of whom it tells of failures, nobody waits for it any more.
impl Drop for Writer {
    fn drop(&mut self) {
        self.queue.abandon();
    }
}

/// The words for a transcript that cannot be written (runtime.md D11.9).
fn save_failure(error: &SaveError) -> String {
    format!("Failed to save the conversation transcript; Codex will continue retrying. Error: {error}")
}

/// What a barrier achieved.
#[derive(Debug)]
struct Outcome {
    written: Result<(), SaveError>,
    /// The lines are durable.
    synced: Result<(), SaveError>,
    /// What they refer to is durable.
    copied: Result<(), SaveError>,
}

impl Outcome {
    /// Nothing was.
    fn failed(error: &io::Error) -> Self {
        let error = Err(SaveError::from(error));
        Self { written: error.clone(), synced: error.clone(), copied: error }
    }

    fn error(&self) -> Option<&SaveError> {
        [&self.written, &self.synced, &self.copied].into_iter().find_map(|done| done.as_ref().err())
    }

    /// What it means for somebody who waits for this much.
    fn of(&self, wants: Wants) -> Result<(), SaveError> {
        match wants {
            Wants::Nothing => Ok(()),
            Wants::Written => self.written.clone(),
            Wants::Lines => self.synced.clone(),
            Wants::Durable => self.synced.clone().and(self.copied.clone()),
        }
    }
}

/// Gives lines their times. The times of a writer never go back, whatever the clock does, and no two lines of a file are
/// the same: a reader takes a line that stands twice for a doubled one (cases.md K1).
#[derive(Debug, Default)]
struct Stamps {
    /// What the file held before us, perhaps at a time that a clock that went back comes to again.
    before: Seen,
    last: Option<SystemTime>,
    hasher: RandomState,
    /// The time that the last lines have, in words and in milliseconds after 1970, and the hashes of these lines.
    shown: String,
    millis: Option<u128>,
    seen: HashSet<u64>,
}

impl Stamps {
    /// The line of an item, with its line break.
    ///
    /// # Errors
    /// That it has none, in words.
    fn render(&mut self, item: &RolloutItem, at: SystemTime) -> Result<Vec<u8>, String> {
        self.show(at);
        match RenderedLine::of(item, &self.shown) {
            Ok(line) => Ok(self.stamp(line, at)),
            Err(error) => Err(format!("a `{}` line has no text form: {error}", item.tag())),
        }
    }

    /// The line with the time that it gets, and with its line break.
    fn stamp(&mut self, mut line: RenderedLine, mut at: SystemTime) -> Vec<u8> {
        loop {
            at = self.show(at);
            line.set_timestamp(&self.shown);
            if self.seen.insert(self.hasher.hash_one(line.text())) && !self.before.holds(line.text()) {
                let mut bytes = line.into_text().into_bytes();
                bytes.push(b'\n');
                return bytes;
            }
            at += Duration::from_millis(1);
        }
    }

    /// Sets the time of the next line, which is the last one's where that is later, and gives it. Many lines share a
    /// millisecond, and with it the words for it.
    fn show(&mut self, at: SystemTime) -> SystemTime {
        let at = self.last.map_or(at, |last| last.max(at));
        self.last = Some(at);
        let millis = at.duration_since(SystemTime::UNIX_EPOCH).ok().map(|since| since.as_millis());
        if millis.is_none() || millis != self.millis {
            self.millis = millis;
            let shown = timestamp(at);
            if shown != self.shown {
                self.seen.clear();
                self.shown = shown;
            }
        }
        at
    }
}

#[cfg(test)]
#[path = "writer_tests.rs"]
mod tests;
