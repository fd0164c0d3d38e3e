//! Which items leave together (core.md 7.5, runtime.md D6.5).

use std::collections::HashSet;
use std::sync::Arc;

use tenon_protocol::ResponseItem;

use super::pairing::{CallFamily, Positions, Role, index, role};

/// The positions to remove when those that `chosen` names are to go. A pair goes as one; a call that waits for its
/// output stays, whoever asks; what a script said beside its output goes with the last call of its id.
pub(super) fn removals(items: &[Arc<ResponseItem>], chosen: impl Fn(usize) -> bool) -> HashSet<usize> {
    let index = index(items);
    let mut removed: HashSet<usize> = (0..items.len()).filter(|&position| chosen(position)).collect();
    for positions in index.values() {
        let Positions { calls, outputs } = positions;
        for (&call, &output) in calls.iter().zip(outputs) {
            if removed.contains(&call) || removed.contains(&output) {
                removed.extend([call, output]);
            }
        }
        for in_flight in positions.unpaired() {
            removed.remove(in_flight);
        }
    }
    for (position, item) in items.iter().enumerate() {
        if let Role::Notify(id) = role(item)
            && let Some(Positions { calls, outputs: _ }) = index.get(&(CallFamily::Custom, id))
            && calls.iter().all(|call| removed.contains(call))
        {
            removed.insert(position);
        }
    }
    removed
}
