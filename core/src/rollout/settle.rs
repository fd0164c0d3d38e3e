//! What the calls of a file came to that have no output there (runtime.md D11.2, D11.14).

use std::collections::HashMap;

use tenon_protocol::{CallId, ResponseItem};
use tenon_tools::CutOffCall;

use super::copies::ReadBack;
use super::error::RolloutError;
use super::facts::Journal;
use super::processes::Processes;
use super::reader::LoadedRollout;
use super::replay::ReplayedItem;
use crate::history::{CallFamily, Positions, Role, index, role, synthetic_output};
use crate::router::ToolRouter;
use crate::runtime::CallNumbers;

/// What the model reads of a call that never started.
pub const NOT_RUN: &str = "not run: the runtime stopped before this call started";

/// What the model reads of a call that was running; one line for each known fact follows.
pub const OUTCOME_UNKNOWN: &str =
    "outcome unknown: the runtime stopped while this call ran; it was not run again";

/// How a call was settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settlement {
    /// It had not started.
    NotRun,
    /// It had started, and nobody knows how far it came.
    OutcomeUnknown,
    /// It had ended, and its output was known.
    Recorded,
    /// It had ended, and its outcome is known; of its output something is lost that lay beside the file. There is
    /// [`OUTPUT_LOST`](super::OUTPUT_LOST) in its place.
    OutputLost,
    /// It had started, and its tool knew how it came out.
    Checked,
}

/// A call that was settled.
#[derive(Debug, Clone, PartialEq)]
pub struct SettledCall {
    /// The call's id.
    pub call_id: CallId,
    /// Which call of this id and kind it is, from 0.
    pub occurrence: u32,
    /// How it was settled.
    pub settlement: Settlement,
    /// The output it was given.
    pub output: ResponseItem,
}

/// A call without an output, and what is known of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Unsettled {
    pub(super) call: ResponseItem,
    pub(super) call_id: CallId,
    pub(super) occurrence: u32,
    pub(super) left: Left,
}

/// How far a call had come.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Left {
    /// To its end.
    Ended(ReadBack),
    /// To where nothing had been done; perhaps to where somebody was asked.
    NotStarted { asked: bool },
    /// Nobody knows. What the model is told of it, and what a tool is asked about, where it is a call of a tool.
    CutOff { told: String, cut_off: Option<Box<CutOffCall>> },
}

impl Unsettled {
    /// The output that it gets by what is known.
    pub(super) fn settled(self) -> Option<SettledCall> {
        let Self { call, call_id, occurrence, left } = self;
        let (settlement, output) = match left {
            Left::Ended(ReadBack { output, is_lost: false }) => (Settlement::Recorded, output),
            Left::Ended(ReadBack { output, is_lost: true }) => (Settlement::OutputLost, output),
            Left::NotStarted { asked: _ } => (Settlement::NotRun, synthetic_output(&call, NOT_RUN)?),
            Left::CutOff { told, cut_off: _ } => {
                (Settlement::OutcomeUnknown, synthetic_output(&call, &told)?)
            }
        };
        Some(SettledCall { call_id, occurrence, settlement, output })
    }
}

/// The calls without an output, in their order. None for a file whose calls were not journalled: nobody knows anything
/// of them.
///
/// # Errors
/// When an output that lies beside the file cannot be read: it is not lost.
pub(super) fn unsettled(
    rollout: &LoadedRollout,
    processes: &dyn Processes,
) -> Result<Vec<Unsettled>, RolloutError> {
    if !rollout.is_journalled() {
        return Ok(Vec::new());
    }
    let replayed = rollout.replayed();
    let items: Vec<&ResponseItem> = replayed.iter().map(|replayed| &replayed.item).collect();
    let mut unpaired: Vec<usize> = index(&items).values().flat_map(Positions::unpaired).copied().collect();
    unpaired.sort_unstable();
    let (numbered, journal) = (Numbered::of(rollout), Journal::of(rollout));
    let calls = unpaired.into_iter().filter_map(|at| replayed.get(at));
    calls.filter_map(|call| look(call, &numbered, &journal, processes).transpose()).collect()
}

fn look(
    replayed: &ReplayedItem,
    numbered: &Numbered,
    journal: &Journal<'_>,
    processes: &dyn Processes,
) -> Result<Option<Unsettled>, RolloutError> {
    let call = &replayed.item;
    let Role::Call(family, id) = role(call) else { return Ok(None) };
    let call_id = CallId::from(id);
    // The place of a call that a compaction has kept is not known: it is taken for the first of its id.
    let number = replayed.line.map_or(Some(0), |line| numbered.occurrence(line));
    let unsettled = |left| Unsettled { call: call.clone(), call_id: call_id.clone(), occurrence: 0, left };
    let Some(occurrence) = number else {
        // No tool was ever called by it, so that the journal cannot know it.
        return Ok(Some(unsettled(Left::NotStarted { asked: false })));
    };
    let known = journal.get(&call_id, occurrence);
    let tool_call = ToolRouter::build_tool_call(call).ok().flatten();
    let name = tool_call.as_ref().map(|call| call.tool_name.to_string()).unwrap_or_default();
    let others = numbered.others(family, id, occurrence);
    let left = if let Some(output) = known.map(|known| known.output(family)).transpose()?.flatten() {
        Left::Ended(output)
    } else if let Some(known) = known.filter(|known| known.has_started(&name, &others)) {
        let facts = journal.lines(known, processes);
        let told = [OUTCOME_UNKNOWN.to_owned()].into_iter().chain(facts).collect::<Vec<_>>().join("\n");
        let cut_off = tool_call.map(|call| Box::new(known.cut_off(call, occurrence, &others)));
        Left::CutOff { told, cut_off }
    } else {
        Left::NotStarted { asked: known.is_some_and(|known| known.asked) }
    };
    Ok(Some(Unsettled { occurrence, ..unsettled(left) }))
}

/// The calls of tools in a file, numbered as the runtime that ran them has numbered them.
#[derive(Debug, Default)]
struct Numbered {
    /// By the places of their lines.
    occurrences: HashMap<usize, u32>,
    /// The tools that are called by an id and number, by the kinds of their calls.
    tools: HashMap<(String, u32), Vec<(CallFamily, String)>>,
}

impl Numbered {
    fn of(rollout: &LoadedRollout) -> Self {
        let (mut this, numbers) = (Self::default(), CallNumbers::default());
        for (line, item) in rollout.items() {
            let Role::Call(family, id) = role(item) else { continue };
            let Ok(Some(call)) = ToolRouter::build_tool_call(item) else { continue };
            let occurrence = numbers.next(&call.call_id, &call.payload).occurrence;
            this.occurrences.insert(line, occurrence);
            let tools = this.tools.entry((id.to_owned(), occurrence)).or_default();
            tools.push((family, call.tool_name.to_string()));
        }
        this
    }

    /// Which call of its id and kind the call of a line is; none of one that calls no tool.
    fn occurrence(&self, line: usize) -> Option<u32> {
        self.occurrences.get(&line).copied()
    }

    /// The tools that calls of other kinds with the same id and number call.
    fn others(&self, family: CallFamily, id: &str, occurrence: u32) -> Vec<String> {
        let tools = self.tools.get(&(id.to_owned(), occurrence)).into_iter().flatten();
        tools.filter(|(of, _)| *of != family).map(|(_, tool)| tool.clone()).collect()
    }
}

#[cfg(test)]
#[path = "settle_tests.rs"]
mod tests;
