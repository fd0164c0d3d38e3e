//! What a request shows of the history: every call with its output, and nothing that the model cannot take
//! (core.md 7.5). The history itself stays as it is.

use std::collections::HashSet;
use std::sync::Arc;

use tenon_protocol::{ItemKind, ResponseItem};
use tenon_tools::ModelAbilities;

use super::media::{MAX_PROMPT_IMAGE_BYTES, keep_newest_images, without_unsupported};
use super::pairing::{CallFamily, PairIndex, Positions, Role, index, role, synthetic_output};

/// The text of an output that nobody gave (core.md 7.5 A).
pub const ABORTED: &str = "aborted";

/// The items as a request shows them. Linear in their number; items that need no repair are shared, not copied.
pub(super) fn normalised(items: &[Arc<ResponseItem>], abilities: ModelAbilities) -> Vec<Arc<ResponseItem>> {
    let index = index(items);
    let missing: HashSet<usize> = index.values().flat_map(Positions::unpaired).copied().collect();
    let mut prompt = Vec::with_capacity(items.len() + missing.len());
    for (position, item) in items.iter().enumerate() {
        if is_orphan(item, &index) {
            continue;
        }
        prompt.push(match without_unsupported(item, abilities) {
            Some(replaced) => Arc::new(replaced),
            None => Arc::clone(item),
        });
        if missing.contains(&position)
            && let Some(output) = missing_output(item)
        {
            prompt.push(Arc::new(output));
        }
    }
    keep_newest_images(&mut prompt, MAX_PROMPT_IMAGE_BYTES);
    prompt
}

/// The output that stands in for a missing one, with the log line that its kind of call gets.
fn missing_output(call: &ResponseItem) -> Option<ResponseItem> {
    let id = call.call_id().unwrap_or_default();
    if let ItemKind::CustomToolCall(_) = call.kind() {
        tracing::error!("Custom tool call output is missing for call id: {id}");
    } else if let ItemKind::LocalShellCall(_) = call.kind() {
        tracing::error!("Local shell call output is missing for call id: {id}");
    } else {
        tracing::info!("{} output is missing for call id: {id}", call.tag());
    }
    synthetic_output(call, ABORTED)
}

/// Whether the item answers a call that is not there. An output beyond the number of its calls is none: it is kept
/// (runtime.md D6.4).
fn is_orphan(item: &ResponseItem, index: &PairIndex<'_>) -> bool {
    let (family, id) = match role(item) {
        Role::Output(family, id) => (family, id),
        Role::Notify(id) => (CallFamily::Custom, id),
        Role::Call(..) | Role::Neither => return false,
    };
    if searched_by_server(item)
        || index.get(&(family, id)).is_some_and(|positions| !positions.calls.is_empty())
    {
        return false;
    }
    let kind = match family {
        CallFamily::Function => "function call",
        CallFamily::Custom => "custom tool call",
        CallFamily::Search => "tool search",
    };
    tracing::error!("Orphan {kind} output for call id: {id}");
    true
}

fn searched_by_server(item: &ResponseItem) -> bool {
    matches!(item.kind(), ItemKind::ToolSearchOutput(output) if output.execution == "server")
}

#[cfg(test)]
#[path = "normalise_tests.rs"]
mod tests;
