//! What the journal of a file knows of each call.

use std::collections::HashMap;

use tenon_protocol::{CallFact, CallFinished, CallId, CallOutcome, ResponseItem, RolloutItem};

use super::processes::{ProcessState, Processes};
use super::reader::LoadedRollout;
use crate::history::{CallFamily, Role, role};

/// What is known of the calls of a file, by id and occurrence (runtime.md D11.2).
#[derive(Debug, Default)]
pub(super) struct Journal<'a> {
    calls: HashMap<(CallId, u32), CallFacts<'a>>,
}

/// What is known of one call.
#[derive(Debug, Default)]
pub(super) struct CallFacts<'a> {
    pub(super) started: bool,
    facts: Vec<Told<'a>>,
    finished: Vec<&'a CallFinished>,
}

/// A fact, and when it was told.
#[derive(Debug)]
struct Told<'a> {
    fact: &'a CallFact,
    timestamp: &'a str,
}

impl<'a> Journal<'a> {
    pub(super) fn of(rollout: &'a LoadedRollout) -> Self {
        let mut journal = Self::default();
        for line in &rollout.lines {
            match &line.line.item {
                RolloutItem::CallStarted(started) => {
                    journal.call(&started.call_id, started.occurrence).started = true;
                }
                RolloutItem::CallProgress(progress) => {
                    let told = Told { fact: &progress.fact, timestamp: &line.line.timestamp };
                    let call = journal.call(&progress.call_id, progress.occurrence);
                    // Whoever has facts to tell has started, even when the line that says so is lost.
                    call.started = true;
                    call.facts.push(told);
                }
                RolloutItem::CallFinished(finished) => {
                    journal.call(&finished.call_id, finished.occurrence).finished.push(finished);
                }
                RolloutItem::SessionMeta(_)
                | RolloutItem::ResponseItem(_)
                | RolloutItem::TurnContext(_)
                | RolloutItem::WorldState(_)
                | RolloutItem::Compacted(_)
                | RolloutItem::EventMsg(_)
                | RolloutItem::Unknown { .. } => {}
            }
        }
        journal
    }

    fn call(&mut self, call_id: &CallId, occurrence: u32) -> &mut CallFacts<'a> {
        self.calls.entry((call_id.clone(), occurrence)).or_default()
    }

    pub(super) fn get(&self, call_id: &CallId, occurrence: u32) -> Option<&CallFacts<'a>> {
        self.calls.get(&(call_id.clone(), occurrence))
    }

    /// One line for each fact that is known of a call, in the order in which the facts were first told.
    pub(super) fn lines(&self, call: &CallFacts<'_>, processes: &dyn Processes) -> Vec<String> {
        let lines = |told: &Told<'_>| match told.fact {
            CallFact::Nested { tool, call_id, outcome } => {
                self.nested_lines(tool, call_id, *outcome, processes)
            }
            CallFact::Process { .. } | CallFact::File { .. } | CallFact::Request { .. } => {
                own_line(told, processes)
            }
        };
        call.newest().into_iter().flat_map(lines).collect()
    }

    /// A nested call is journalled under an id of its own: its end may be known although the script has not heard of
    /// it, and where it is not known, its own facts say more.
    fn nested_lines(
        &self,
        tool: &str,
        call_id: &CallId,
        outcome: Option<CallOutcome>,
        processes: &dyn Processes,
    ) -> Vec<String> {
        let own = self.get(call_id, 0);
        match outcome.or_else(|| own?.finished.last().map(|finished| finished.outcome)) {
            Some(CallOutcome::Completed) => vec![format!("nested call of {tool}: completed")],
            Some(CallOutcome::Failed | CallOutcome::Blocked) => {
                vec![format!("nested call of {tool}: failed")]
            }
            // A call that was cut short may have done anything.
            Some(CallOutcome::Aborted) | None => {
                let facts = own.map(CallFacts::newest).unwrap_or_default();
                let facts = facts.into_iter().flat_map(|told| own_line(told, processes));
                [format!("nested call of {tool}: outcome unknown")].into_iter().chain(facts).collect()
            }
        }
    }
}

/// What a fact says that is not about another call: a line, or nothing where nothing is certain.
fn own_line(told: &Told<'_>, processes: &dyn Processes) -> Vec<String> {
    match told.fact {
        CallFact::Process { pid, group: _, started_at } => {
            match processes.state(*pid, *started_at, told.timestamp) {
                ProcessState::Running => vec![format!("process {pid} is still running")],
                ProcessState::Ended => vec![format!("process {pid} has ended")],
                ProcessState::Unknown => Vec::new(),
            }
        }
        CallFact::File { path, done: true } => vec![format!("{}: written", path.display())],
        CallFact::File { path, done: false } => vec![format!("{}: not written", path.display())],
        CallFact::Request { server, id: _ } => vec![format!("request to {server} was not answered")],
        CallFact::Nested { .. } => Vec::new(),
    }
}

/// Whether two facts are about the same: the later one says how it stands.
fn same_subject(a: &CallFact, b: &CallFact) -> bool {
    match (a, b) {
        (CallFact::Process { pid: a, .. }, CallFact::Process { pid: b, .. }) => a == b,
        (CallFact::File { path: a, .. }, CallFact::File { path: b, .. }) => a == b,
        (CallFact::Nested { call_id: a, .. }, CallFact::Nested { call_id: b, .. }) => a == b,
        (CallFact::Request { .. }, CallFact::Request { .. }) => a == b,
        (
            CallFact::Process { .. }
            | CallFact::File { .. }
            | CallFact::Nested { .. }
            | CallFact::Request { .. },
            CallFact::Process { .. }
            | CallFact::File { .. }
            | CallFact::Nested { .. }
            | CallFact::Request { .. },
        ) => false,
    }
}

impl CallFacts<'_> {
    /// The newest fact about each subject, in the order in which the subjects came up.
    fn newest(&self) -> Vec<&Told<'_>> {
        let mut newest: Vec<&Told<'_>> = Vec::new();
        for told in &self.facts {
            match newest.iter_mut().find(|known| same_subject(known.fact, told.fact)) {
                Some(known) => *known = told,
                None => newest.push(told),
            }
        }
        newest
    }

    /// The output that the call gave, if it belongs to a call of this family.
    pub(super) fn output(&self, family: CallFamily) -> Option<&ResponseItem> {
        let fits = |item: &&ResponseItem| matches!(role(item), Role::Output(of, _) if of == family);
        self.finished.iter().rev().map(|finished| &finished.output).find(fits)
    }
}
