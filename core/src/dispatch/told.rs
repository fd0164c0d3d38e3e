//! What a call has told of itself, for the case that it is cut short.

use std::sync::{Arc, Mutex, PoisonError};

use tenon_protocol::CallFact;
use tenon_tools::Progress;
use tenon_tools::facts::{file_line, is_about_the_same, nested_line, request_line};

/// How many things a call may tell of that an aborted call's output names. Of more it says how many there were.
pub(super) const MAX_TOLD: usize = 64;

/// Hands facts on, and keeps the newest about each thing.
pub(crate) struct Told {
    journal: Arc<dyn Progress>,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    facts: Vec<CallFact>,
    left_out: usize,
}

impl Known {
    fn note(&mut self, fact: &CallFact) {
        if let Some(known) = self.facts.iter_mut().find(|known| is_about_the_same(known, fact)) {
            *known = fact.clone();
        } else if self.facts.len() < MAX_TOLD {
            self.facts.push(fact.clone());
        } else if !is_end(fact) {
            // What is begun and ended is one thing.
            self.left_out += 1;
        }
    }
}

impl Told {
    pub(crate) fn new(journal: Arc<dyn Progress>) -> Self {
        Self { journal, known: Mutex::default() }
    }

    /// A line for each thing, in the order in which they came up.
    pub(crate) fn lines(&self) -> Vec<String> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut lines: Vec<String> = known.facts.iter().filter_map(line).collect();
        if known.left_out > 0 {
            lines.push(format!("... and {} more", known.left_out));
        }
        lines
    }
}

impl Progress for Told {
    fn record(&self, fact: CallFact) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).note(&fact);
        self.journal.record(fact);
    }
}

/// Whether a fact ends what another one has begun.
fn is_end(fact: &CallFact) -> bool {
    match fact {
        CallFact::Nested { outcome, .. } => outcome.is_some(),
        CallFact::File { done, .. } => *done,
        CallFact::Process { .. } | CallFact::Request { .. } | CallFact::Asked => false,
    }
}

fn line(fact: &CallFact) -> Option<String> {
    match fact {
        CallFact::File { path, done } => Some(file_line(path, *done)),
        CallFact::Request { server, id: _ } => Some(request_line(server)),
        CallFact::Nested { tool, outcome, call_id: _ } => Some(nested_line(tool, *outcome)),
        // It is ended with its call, or it is another call's; and a question is no effect.
        CallFact::Process { .. } | CallFact::Asked => None,
    }
}

#[cfg(test)]
#[path = "told_tests.rs"]
mod tests;
