//! From the lines of a file to the history they tell of: what was rolled back is gone, what was compacted is replaced
//! (runtime.md D11.12, D11.13), and an output that was settled later stands at its call.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use tenon_protocol::{ItemKind, ResponseItem, RolloutItem};
use tenon_tools::{TruncationPolicy, approx_token_count, truncate_text};

use super::line_kind::user_text;
use super::reader::LoadedRollout;
use super::turns::Turns;
use crate::history::{Role, index, role};
use crate::search::LoadedTools;

/// How much of what the user said outlives a compaction that kept no items, in approximate tokens (runtime.md D8.3).
const KEPT_USER_TOKENS: usize = 20_000;

/// What stands in the place of a summary that is empty (runtime.md D8.3).
const NO_SUMMARY: &str = "(no summary available)";

/// An item of the history that a file tells of.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ReplayedItem {
    pub(super) item: ResponseItem,
    /// The place of its line among those that were read; none for an item of a compaction.
    pub(super) line: Option<usize>,
}

impl LoadedRollout {
    /// The items of the conversation as they stand at the end of the file.
    #[must_use]
    pub fn history(&self) -> Vec<ResponseItem> {
        self.replayed().into_iter().map(|replayed| replayed.item).collect()
    }

    /// Every call in the file, also of what was rolled back or compacted: what a session that goes on must count.
    #[must_use]
    pub fn calls(&self) -> Vec<ResponseItem> {
        self.items().filter(|(_, item)| is_call(item)).map(|(_, item)| item.clone()).collect()
    }

    /// The tools that searches in the file found, also of what was compacted: a compaction does not unload them.
    #[must_use]
    pub fn loaded_tools(&self) -> LoadedTools {
        self.items().map(|(_, item)| item).collect()
    }

    /// The newest `turn_context` that was not rolled back.
    #[must_use]
    pub fn turn_context(&self) -> Option<&Value> {
        let turns = Turns::of(self);
        self.lines.iter().enumerate().rev().find_map(|(at, line)| match &line.line.item {
            RolloutItem::TurnContext(context) if turns.is_alive(at) => Some(context),
            RolloutItem::TurnContext(_)
            | RolloutItem::SessionMeta(_)
            | RolloutItem::ResponseItem(_)
            | RolloutItem::WorldState(_)
            | RolloutItem::Compacted(_)
            | RolloutItem::EventMsg(_)
            | RolloutItem::CallStarted(_)
            | RolloutItem::CallProgress(_)
            | RolloutItem::CallFinished(_)
            | RolloutItem::ModelRequest(_)
            | RolloutItem::Unknown { .. } => None,
        })
    }

    /// The response items with the places of their lines.
    pub(super) fn items(&self) -> impl Iterator<Item = (usize, &ResponseItem)> {
        self.lines.iter().enumerate().filter_map(|(at, line)| match &line.line.item {
            RolloutItem::ResponseItem(item) => Some((at, item)),
            RolloutItem::SessionMeta(_)
            | RolloutItem::TurnContext(_)
            | RolloutItem::WorldState(_)
            | RolloutItem::Compacted(_)
            | RolloutItem::EventMsg(_)
            | RolloutItem::CallStarted(_)
            | RolloutItem::CallProgress(_)
            | RolloutItem::CallFinished(_)
            | RolloutItem::ModelRequest(_)
            | RolloutItem::Unknown { .. } => None,
        })
    }

    pub(super) fn replayed(&self) -> Vec<ReplayedItem> {
        let turns = Turns::of(self);
        let mut replay = Replay::default();
        for (at, line) in self.lines.iter().enumerate().filter(|(at, _)| turns.is_alive(*at)) {
            match &line.line.item {
                RolloutItem::ResponseItem(item) if !is_dropped(item) => {
                    replay.items.push(ReplayedItem { item: item.clone(), line: Some(at) });
                }
                RolloutItem::Compacted(payload) => replay.compact(payload),
                RolloutItem::ResponseItem(_)
                | RolloutItem::SessionMeta(_)
                | RolloutItem::TurnContext(_)
                | RolloutItem::WorldState(_)
                | RolloutItem::EventMsg(_)
                | RolloutItem::CallStarted(_)
                | RolloutItem::CallProgress(_)
                | RolloutItem::CallFinished(_)
                | RolloutItem::ModelRequest(_)
                | RolloutItem::Unknown { .. } => {}
            }
        }
        if self.is_journalled() { late_outputs_in_place(replay.items, &turns) } else { replay.items }
    }
}

#[derive(Default)]
struct Replay {
    items: Vec<ReplayedItem>,
    summaries: HashSet<String>,
}

impl Replay {
    /// Puts what a compaction kept in the place of all before it.
    fn compact(&mut self, payload: &Value) {
        let kept = match payload.get("replacement_history").and_then(Value::as_array) {
            Some(items) => items.iter().filter_map(from_value).collect(),
            None => self.rebuilt(payload.get("message").and_then(Value::as_str).unwrap_or_default()),
        };
        self.items = kept.into_iter().map(|item| ReplayedItem { item, line: None }).collect();
    }

    /// What is left after a compaction of which only the summary is known: the user's newest words, and the summary.
    fn rebuilt(&mut self, summary: &str) -> Vec<ResponseItem> {
        let mut budget = KEPT_USER_TOKENS;
        let mut kept = Vec::new();
        for text in self.items.iter().rev().filter_map(|replayed| user_text(&replayed.item)) {
            if self.summaries.contains(&text) {
                continue;
            }
            if budget == 0 {
                break;
            }
            let cost = approx_token_count(&text);
            let text =
                if cost > budget { truncate_text(&text, TruncationPolicy::Tokens(budget)) } else { text };
            budget = budget.saturating_sub(cost);
            kept.push(ResponseItem::message("user", &text));
        }
        kept.reverse();
        let summary = if summary.is_empty() { NO_SUMMARY } else { summary };
        self.summaries.insert(summary.to_owned());
        kept.push(ResponseItem::message("user", summary));
        kept
    }
}

fn from_value(value: &Value) -> Option<ResponseItem> {
    let item = ResponseItem::from_raw(serde_json::value::to_raw_value(value).ok()?);
    (!item.tag().is_empty() && !is_dropped(&item)).then_some(item)
}

/// Puts the outputs that stand in a later turn than their call directly behind it. A turn answers its calls before it
/// ends; only a resume answers one later, and it can but append to the file.
fn late_outputs_in_place(items: Vec<ReplayedItem>, turns: &Turns) -> Vec<ReplayedItem> {
    let mut behind: HashMap<usize, usize> = HashMap::new();
    let plain: Vec<&ResponseItem> = items.iter().map(|replayed| &replayed.item).collect();
    for positions in index(&plain).values() {
        for (&call, &output) in positions.calls.iter().zip(&positions.outputs) {
            let lines = (items.get(call).and_then(|i| i.line), items.get(output).and_then(|i| i.line));
            if let (Some(from), Some(to)) = lines
                && turns.begins_between(from, to)
            {
                behind.insert(call, output);
            }
        }
    }
    if behind.is_empty() {
        return items;
    }
    let moved: HashSet<usize> = behind.values().copied().collect();
    let in_order = (0..items.len()).filter(|at| !moved.contains(at));
    let order: Vec<usize> = in_order.flat_map(|at| [Some(at), behind.get(&at).copied()]).flatten().collect();
    order.into_iter().filter_map(|at| items.get(at).cloned()).collect()
}

/// Whether an item is dropped when a file is loaded: snapshots of old rollouts are (runtime.md D11.11).
fn is_dropped(item: &ResponseItem) -> bool {
    matches!(item.kind(), ItemKind::GhostSnapshot(_))
}

/// Whether an item is a call of a kind that is answered.
fn is_call(item: &ResponseItem) -> bool {
    matches!(role(item), Role::Call(..))
}

#[cfg(test)]
#[path = "replay_tests.rs"]
mod tests;
