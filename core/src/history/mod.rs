//! What was said and done, in memory.
//!
//! # Layout, in the order of an item
//! [`History::record`] keeps it (`payload`: outputs are cut). [`History::for_prompt`] shows it to the model
//! (`normalise`: every call gets its output; `media`: what the model cannot take is replaced). [`History::trim`]
//! lets it go (`trim`: never one half of a pair). `pairing` says which output belongs to which call.

mod media;
mod normalise;
mod pairing;
mod payload;
mod trim;

#[cfg(test)]
pub(crate) mod samples;

use std::fmt;
use std::sync::Arc;

use tenon_protocol::{CallId, ItemKind, ResponseItem};
use tenon_tools::{ModelAbilities, TruncationPolicy};

pub use media::{IMAGE_LEFT_OUT, IMAGE_OMITTED, MAX_PROMPT_IMAGE_BYTES};
pub use normalise::ABORTED;
pub use pairing::CallFamily;
pub(crate) use pairing::{Positions, Role, index, role, synthetic_output, unfit_call};
pub(crate) use payload::{payload, payload_mut};

/// Looks at every item before it is kept, and may put another in its place: where images that no request could carry
/// are shrunk or replaced.
pub type EntryFilter = Arc<dyn Fn(ResponseItem) -> ResponseItem + Send + Sync>;

/// The items of a thread, in the order they were recorded.
#[derive(Clone, Default)]
pub struct History {
    items: Vec<Arc<ResponseItem>>,
    policy: TruncationPolicy,
    filter: Option<EntryFilter>,
}

/// A call that has no output yet.
#[derive(Clone, Debug, PartialEq)]
pub struct UnpairedCall {
    /// Where it stands in [`History::items`].
    pub position: usize,
    /// The call.
    pub item: Arc<ResponseItem>,
    /// Its id.
    pub call_id: CallId,
    /// What kind of output it waits for.
    pub family: CallFamily,
}

impl History {
    /// An empty history that cuts outputs to `policy` (times the allowance of core.md 3.7).
    #[must_use]
    pub fn new(policy: TruncationPolicy) -> Self {
        Self { items: Vec::new(), policy, filter: None }
    }

    /// The same history, with a filter that every item passes before it is kept.
    #[must_use]
    pub fn with_entry_filter(self, filter: EntryFilter) -> Self {
        Self { filter: Some(filter), ..self }
    }

    /// Cuts outputs to another policy from here on; what is recorded stays as it is.
    pub fn set_policy(&mut self, policy: TruncationPolicy) {
        self.policy = policy;
    }

    /// Keeps an item, an output cut to the policy, and gives it as it is kept. None for what has no place in a history
    /// (core.md 7.4): messages of the role `system`, ghost snapshots, and calls without a call id, which nobody could
    /// answer.
    pub fn record(&mut self, item: ResponseItem) -> Option<Arc<ResponseItem>> {
        if !is_kept(&item) {
            return None;
        }
        let item = match &self.filter {
            Some(filter) => filter(item),
            None => item,
        };
        let item = Arc::new(payload::truncated(item, self.policy));
        self.items.push(Arc::clone(&item));
        Some(item)
    }

    /// Records several items in order.
    pub fn extend(&mut self, items: impl IntoIterator<Item = ResponseItem>) {
        for item in items {
            self.record(item);
        }
    }

    /// Every item, as it was kept.
    #[must_use]
    pub fn items(&self) -> &[Arc<ResponseItem>] {
        &self.items
    }

    /// What a request to a model with these abilities shows (core.md 7.5): each call followed by an output, outputs
    /// without a call left out, images and sound replaced where the model takes none, and the images before the newest
    /// [`MAX_PROMPT_IMAGE_BYTES`].
    ///
    /// The history itself is untouched. Takes time linear in the number of items, and shares those that need no repair.
    #[must_use]
    pub fn for_prompt(&self, abilities: &ModelAbilities) -> Vec<Arc<ResponseItem>> {
        normalise::normalised(&self.items, *abilities)
    }

    /// The calls that have no output yet, in order.
    #[must_use]
    pub fn unpaired_calls(&self) -> Vec<UnpairedCall> {
        let mut calls: Vec<UnpairedCall> = index(&self.items)
            .iter()
            .flat_map(|(&(family, id), positions)| {
                positions.unpaired().iter().map(move |&at| (family, id, at))
            })
            .filter_map(|(family, id, position)| {
                let item = Arc::clone(self.items.get(position)?);
                Some(UnpairedCall { position, item, call_id: CallId::from(id), family })
            })
            .collect();
        calls.sort_unstable_by_key(|call| call.position);
        calls
    }

    /// Removes the first `count` items, and with each the other half of its pair wherever it stands; gives what was
    /// removed, in order. A call that waits for its output stays.
    pub fn trim(&mut self, count: usize) -> Vec<Arc<ResponseItem>> {
        self.remove(|position| position < count)
    }

    /// Removes the items that `keep` says no to, as [`trim`](Self::trim) does.
    pub fn retain(&mut self, keep: impl Fn(&ResponseItem) -> bool) -> Vec<Arc<ResponseItem>> {
        let chosen: Vec<bool> = self.items.iter().map(|item| !keep(item)).collect();
        self.remove(|position| chosen.get(position).copied().unwrap_or_default())
    }

    fn remove(&mut self, chosen: impl Fn(usize) -> bool) -> Vec<Arc<ResponseItem>> {
        let removals = trim::removals(&self.items, chosen);
        let (mut kept, mut removed) =
            (Vec::with_capacity(self.items.len()), Vec::with_capacity(removals.len()));
        for (position, item) in self.items.drain(..).enumerate() {
            if removals.contains(&position) { removed.push(item) } else { kept.push(item) }
        }
        self.items = kept;
        removed
    }

    /// The text of the newest message of the model's that has one.
    #[must_use]
    pub fn last_agent_message(&self) -> Option<String> {
        self.items.iter().rev().find_map(|item| agent_text(item))
    }
}

/// The text of a message of the model's, unless it is blank.
pub(crate) fn agent_text(item: &ResponseItem) -> Option<String> {
    if let ItemKind::Message(message) = item.kind()
        && message.role == "assistant"
    {
        return Some(message.text()).filter(|text| !text.trim().is_empty());
    }
    None
}

/// Shows how much there is, not what: histories are long.
impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { items, policy, filter } = self;
        f.debug_struct("History")
            .field("items", &items.len())
            .field("policy", policy)
            .field("filter", &filter.is_some())
            .finish()
    }
}

/// Whether an item has a place in a history (core.md 7.4).
fn is_kept(item: &ResponseItem) -> bool {
    match item.kind() {
        ItemKind::Message(message) => message.role != "system",
        ItemKind::GhostSnapshot(_) => false,
        ItemKind::FunctionCall(_) | ItemKind::CustomToolCall(_) | ItemKind::LocalShellCall(_) => {
            item.call_id().is_some()
        }
        ItemKind::ToolSearchCall(_)
        | ItemKind::AgentMessage(_)
        | ItemKind::AdditionalTools(_)
        | ItemKind::Reasoning(_)
        | ItemKind::FunctionCallOutput(_)
        | ItemKind::CustomToolCallOutput(_)
        | ItemKind::ToolSearchOutput(_)
        | ItemKind::WebSearchCall(_)
        | ItemKind::ImageGenerationCall(_)
        | ItemKind::Compaction(_)
        | ItemKind::ContextCompaction(_)
        | ItemKind::CompactionTrigger(_)
        | ItemKind::ConfigurationUpdate(_) => true,
        ItemKind::Unknown(unknown) => match unfit_call(unknown) {
            Some(CallFamily::Function | CallFamily::Custom) => unknown.call_id.is_some(),
            Some(CallFamily::Search) | None => true,
        },
    }
}

#[cfg(test)]
#[path = "history_tests.rs"]
mod tests;
