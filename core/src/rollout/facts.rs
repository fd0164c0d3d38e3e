//! What the journal of a file knows of each call.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest, Sha256};
use tenon_protocol::{CallFact, CallFinished, CallId, CallOutcome, CallStarted, RolloutItem};
use tenon_tools::facts::{file_line, is_about_the_same, nested_line, request_line};
use tenon_tools::{ContentHash, CutOffCall, LeftBehind, LeftProcess, ToolCall};

use super::copies::ReadBack;
use super::error::RolloutError;
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
    /// Somebody was asked whether it may run.
    pub(super) asked: bool,
    /// Its starts, in order.
    starts: Vec<&'a CallStarted>,
    facts: Vec<Told<'a>>,
    finished: Vec<Finished<'a>>,
}

/// The end of a call, and the file that holds its output.
#[derive(Debug)]
struct Finished<'a> {
    line: &'a CallFinished,
    rollout: &'a LoadedRollout,
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
                    let call = journal.call(&started.call_id, started.occurrence);
                    call.started = true;
                    call.starts.push(started);
                }
                RolloutItem::CallProgress(progress) => {
                    let told = Told { fact: &progress.fact, timestamp: &line.line.timestamp };
                    let call = journal.call(&progress.call_id, progress.occurrence);
                    if progress.fact == CallFact::Asked {
                        call.asked = true;
                        continue;
                    }
                    // Whoever has other facts to tell has started, even when the line that says so is lost.
                    call.started = true;
                    call.facts.push(told);
                }
                RolloutItem::CallFinished(finished) => {
                    let end = Finished { line: finished, rollout };
                    journal.call(&finished.call_id, finished.occurrence).finished.push(end);
                }
                RolloutItem::SessionMeta(_)
                | RolloutItem::ResponseItem(_)
                | RolloutItem::TurnContext(_)
                | RolloutItem::WorldState(_)
                | RolloutItem::Compacted(_)
                | RolloutItem::EventMsg(_)
                | RolloutItem::ModelRequest(_)
                | RolloutItem::Unknown { .. } => {}
            }
        }
        journal
    }

    /// What calls have left behind.
    pub(super) fn left_behind(&self, session_id: &str) -> LeftBehind {
        let cut_off = self.calls.values().filter(|call| call.started && call.finished.is_empty());
        let written: BTreeSet<PathBuf> = cut_off.flat_map(CallFacts::writes).collect();
        let processes =
            self.calls.values().flat_map(|call| &call.facts).filter_map(|told| process(told.fact));
        LeftBehind {
            session_id: session_id.to_owned(),
            written: written.into_iter().collect(),
            processes: processes.collect(),
        }
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
            CallFact::Process { .. } | CallFact::File { .. } | CallFact::Request { .. } | CallFact::Asked => {
                call.own_line(told, processes)
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
        let outcome = outcome.or_else(|| own?.finished.last().map(|finished| finished.line.outcome));
        let is_known =
            matches!(outcome, Some(CallOutcome::Completed | CallOutcome::Failed | CallOutcome::Blocked));
        let facts = own.into_iter().filter(|_| !is_known).flat_map(|own| own.own_lines(processes));
        [nested_line(tool, outcome)].into_iter().chain(facts).collect()
    }
}

/// The process that a fact tells of.
fn process(fact: &CallFact) -> Option<LeftProcess> {
    match fact {
        CallFact::Process { pid, group, started_at, boot_id } => {
            Some(LeftProcess { pid: *pid, group: *group, started_at: *started_at, boot_id: boot_id.clone() })
        }
        CallFact::File { .. } | CallFact::Request { .. } | CallFact::Nested { .. } | CallFact::Asked => None,
    }
}

impl CallFacts<'_> {
    /// The call as a tool is asked about it.
    pub(super) fn cut_off(&self, call: ToolCall, occurrence: u32, others: &[String]) -> CutOffCall {
        let start = self.start_of(&call.tool_name.to_string(), others);
        CutOffCall {
            call,
            occurrence,
            started_at: start.map(|start| start.at.clone()),
            effects: start.map(|start| start.effects.clone()).unwrap_or_default(),
            facts: self.facts.iter().map(|told| told.fact.clone()).collect(),
        }
    }

    /// The newest fact about each subject, in the order in which the subjects came up.
    fn newest(&self) -> Vec<&Told<'_>> {
        let mut newest: Vec<&Told<'_>> = Vec::new();
        for told in &self.facts {
            match newest.iter_mut().find(|known| is_about_the_same(known.fact, told.fact)) {
                Some(known) => *known = told,
                None => newest.push(told),
            }
        }
        newest
    }

    /// The writes that it was about to do, as the journal has them, the newest first.
    fn planned(&self) -> impl Iterator<Item = &Value> {
        self.starts.iter().rev().filter_map(|start| start.effects.get("writes")?.as_array()).flatten()
    }

    /// The files that it was to write.
    fn writes(&self) -> Vec<PathBuf> {
        let planned = self.planned().filter_map(|effect| effect["path"].as_str().map(PathBuf::from));
        let told = self.facts.iter().filter_map(|told| match told.fact {
            CallFact::File { path, done: _ } => Some(path.clone()),
            CallFact::Process { .. }
            | CallFact::Request { .. }
            | CallFact::Nested { .. }
            | CallFact::Asked => None,
        });
        planned.chain(told).collect()
    }

    fn own_lines(&self, processes: &dyn Processes) -> Vec<String> {
        self.newest().into_iter().flat_map(|told| self.own_line(told, processes)).collect()
    }

    /// What a fact says that is not about another call: a line, or nothing where nothing is certain.
    fn own_line(&self, told: &Told<'_>, processes: &dyn Processes) -> Vec<String> {
        match told.fact {
            CallFact::Process { pid, .. } => {
                let state = process(told.fact).map(|process| processes.state(&process, told.timestamp));
                match state {
                    Some(ProcessState::Running) => vec![format!("process {pid} is still running")],
                    Some(ProcessState::Ended) => vec![format!("process {pid} has ended")],
                    Some(ProcessState::Unknown) | None => Vec::new(),
                }
            }
            CallFact::File { path, done } => vec![file_line(path, *done || self.was_written(path))],
            CallFact::Request { server, id: _ } => vec![request_line(server)],
            CallFact::Nested { .. } | CallFact::Asked => Vec::new(),
        }
    }

    /// Whether a file that was about to be written is not any more what it was. Between a write and the line that tells
    /// of it a process can end; the file itself says how it stands.
    fn was_written(&self, path: &Path) -> bool {
        let before = self.planned().find(|effect| effect["path"].as_str() == Some(&*path.to_string_lossy()));
        let is_other =
            |before: &Value| hash_of(path).as_ref().and_then(Value::as_str) != before["content"].as_str();
        before.is_some_and(is_other)
    }

    /// The output that the call gave, if it belongs to a call of this family.
    ///
    /// # Errors
    /// When it lies beside the file and cannot be read.
    pub(super) fn output(&self, family: CallFamily) -> Result<Option<ReadBack>, RolloutError> {
        let fits =
            |end: &&Finished<'_>| matches!(role(&end.line.output), Role::Output(of, _) if of == family);
        let end = self.finished.iter().rev().find(fits);
        end.map(|end| end.rollout.read_back(end.line)).transpose()
    }

    /// Whether the call of the tool `name` has started, beside calls of the tools `others` that are known by the same id
    /// and number. The journal tells these apart by their tools alone; a start of neither is one of each.
    pub(super) fn has_started(&self, name: &str, others: &[String]) -> bool {
        self.started && (self.starts.is_empty() || self.start_of(name, others).is_some())
    }

    /// Its last start.
    fn start_of(&self, name: &str, others: &[String]) -> Option<&CallStarted> {
        let is_its = |start: &&CallStarted| start.tool == name || !others.contains(&start.tool);
        self.starts.iter().rev().copied().find(is_its)
    }
}

/// The hash of a file in the form of the journal; none of what is no file or cannot be read.
fn hash_of(path: &Path) -> Option<Value> {
    // Nothing else is opened: a pipe would be waited for.
    let bytes =
        path.symlink_metadata().ok().filter(fs::Metadata::is_file).and_then(|_| fs::read(path).ok())?;
    serde_json::to_value(ContentHash(Sha256::digest(bytes).into())).ok()
}
