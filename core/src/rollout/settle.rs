//! What the calls of a file came to that have no output there (runtime.md D11.2, D11.14).

use std::collections::HashMap;

use tenon_protocol::{CallId, ResponseItem};

use super::facts::Journal;
use super::processes::Processes;
use super::reader::LoadedRollout;
use crate::history::{CallFamily, Positions, Role, index, role, synthetic_output};

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

/// The outputs that the calls without one get, in the order of the calls. None for a file whose calls were not
/// journalled: nobody knows anything of them.
pub(super) fn settlements(rollout: &LoadedRollout, processes: &dyn Processes) -> Vec<SettledCall> {
    if !rollout.is_journalled() {
        return Vec::new();
    }
    let replayed = rollout.replayed();
    let items: Vec<&ResponseItem> = replayed.iter().map(|replayed| &replayed.item).collect();
    let mut unpaired: Vec<usize> = index(&items).values().flat_map(Positions::unpaired).copied().collect();
    unpaired.sort_unstable();
    let (occurrences, journal) = (occurrences(rollout), Journal::of(rollout));
    let settled = unpaired.into_iter().filter_map(|at| {
        let call = replayed.get(at)?;
        let occurrence = call.line.and_then(|line| occurrences.get(&line)).copied().unwrap_or_default();
        settle(&call.item, occurrence, &journal, processes)
    });
    settled.collect()
}

fn settle(
    call: &ResponseItem,
    occurrence: u32,
    journal: &Journal<'_>,
    processes: &dyn Processes,
) -> Option<SettledCall> {
    let Role::Call(family, id) = role(call) else { return None };
    let call_id = CallId::from(id);
    let known = journal.get(&call_id, occurrence);
    let (settlement, output) = if let Some(output) = known.and_then(|known| known.output(family)) {
        (Settlement::Recorded, output.clone())
    } else if let Some(known) = known.filter(|known| known.started) {
        let facts = journal.lines(known, processes);
        let text = [OUTCOME_UNKNOWN.to_owned()].into_iter().chain(facts).collect::<Vec<_>>().join("\n");
        (Settlement::OutcomeUnknown, synthetic_output(call, &text)?)
    } else {
        (Settlement::NotRun, synthetic_output(call, NOT_RUN)?)
    };
    Some(SettledCall { call_id, occurrence, settlement, output })
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
