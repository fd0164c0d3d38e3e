//! What the calls of a file came to that have no output there (runtime.md D11.2, D11.14).

use std::collections::HashMap;

use tenon_protocol::{CallId, ResponseItem};
use tenon_tools::CutOffCall;

use super::facts::Journal;
use super::processes::Processes;
use super::reader::LoadedRollout;
use crate::history::{CallFamily, Positions, Role, index, role, synthetic_output};
use crate::router::ToolRouter;

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
    Ended(ResponseItem),
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
            Left::Ended(output) => (Settlement::Recorded, output),
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
pub(super) fn unsettled(rollout: &LoadedRollout, processes: &dyn Processes) -> Vec<Unsettled> {
    if !rollout.is_journalled() {
        return Vec::new();
    }
    let replayed = rollout.replayed();
    let items: Vec<&ResponseItem> = replayed.iter().map(|replayed| &replayed.item).collect();
    let mut unpaired: Vec<usize> = index(&items).values().flat_map(Positions::unpaired).copied().collect();
    unpaired.sort_unstable();
    let (occurrences, journal) = (occurrences(rollout), Journal::of(rollout));
    let look = |at: usize| {
        let call = replayed.get(at)?;
        let occurrence = call.line.and_then(|line| occurrences.get(&line)).copied().unwrap_or_default();
        look(&call.item, occurrence, &journal, processes)
    };
    unpaired.into_iter().filter_map(look).collect()
}

fn look(
    call: &ResponseItem,
    occurrence: u32,
    journal: &Journal<'_>,
    processes: &dyn Processes,
) -> Option<Unsettled> {
    let Role::Call(family, id) = role(call) else { return None };
    let call_id = CallId::from(id);
    let known = journal.get(&call_id, occurrence);
    let left = if let Some(output) = known.and_then(|known| known.output(family)) {
        Left::Ended(output)
    } else if let Some(known) = known.filter(|known| known.started) {
        let facts = journal.lines(known, processes);
        let told = [OUTCOME_UNKNOWN.to_owned()].into_iter().chain(facts).collect::<Vec<_>>().join("\n");
        let tool_call = ToolRouter::build_tool_call(call).ok().flatten();
        Left::CutOff {
            told,
            cut_off: tool_call.map(|tool_call| Box::new(known.cut_off(tool_call, occurrence))),
        }
    } else {
        Left::NotStarted { asked: known.is_some_and(|known| known.asked) }
    };
    Some(Unsettled { call: call.clone(), call_id, occurrence, left })
}

/// Which call of its id and kind the call of each line is, over the whole file.
fn occurrences(rollout: &LoadedRollout) -> HashMap<usize, u32> {
    let mut counts: HashMap<(CallFamily, &str), u32> = HashMap::new();
    let mut occurrences = HashMap::new();
    for (line, item) in rollout.items() {
        if let Role::Call(family, id) = role(item) {
            let count = counts.entry((family, id)).or_default();
            occurrences.insert(line, *count);
            *count += 1;
        }
    }
    occurrences
}

#[cfg(test)]
#[path = "settle_tests.rs"]
mod tests;
