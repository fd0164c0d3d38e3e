//! Which lines a rollout holds, and what the first one says.

use std::time::SystemTime;

use serde::Deserialize;
use serde_json::Value;
use tenon_protocol::{EventMsg, RolloutItem, RolloutLine, SessionMeta, UnknownEvent};

use super::git::git_info;
use super::stamp::timestamp;

/// A member of our `session_meta` lines: calls of this file are journalled, so that a call without any journal line
/// is known not to have started. Files of the reference don't have it.
pub(super) const JOURNAL_MARK: &str = "call_journal";

/// The events that our kind of file (history mode `legacy`) keeps beside those we know by type (runtime.md D11.4), and
/// ours: that the thread holds text from outside (core.md 5.7).
const KEPT_EVENTS: [&str; 13] = [
    "external_context",
    "thread_goal_updated",
    "thread_rolled_back",
    "thread_settings_applied",
    "agent_reasoning_raw_content",
    "entered_review_mode",
    "exited_review_mode",
    "patch_apply_end",
    "context_compacted",
    "mcp_tool_call_end",
    "web_search_end",
    "image_generation_end",
    "sub_agent_activity",
];

/// Whether a line belongs in a rollout (runtime.md D11.3, D11.4).
pub(super) fn is_written(item: &RolloutItem) -> bool {
    match item {
        RolloutItem::ResponseItem(item) => item.is_recorded(),
        RolloutItem::EventMsg(event) => match event {
            EventMsg::TokenCount(_)
            | EventMsg::TurnStarted(_)
            | EventMsg::TurnComplete(_)
            | EventMsg::TurnAborted(_)
            | EventMsg::UserMessage(_)
            | EventMsg::AgentMessage(_)
            | EventMsg::AgentReasoning(_) => true,
            EventMsg::Unknown(event) if event.tag == "item_completed" => is_kept_item(event),
            EventMsg::Unknown(event) => KEPT_EVENTS.contains(&event.tag.as_str()),
        },
        RolloutItem::SessionMeta(_)
        | RolloutItem::TurnContext(_)
        | RolloutItem::WorldState(_)
        | RolloutItem::Compacted(_)
        | RolloutItem::CallStarted(_)
        | RolloutItem::CallProgress(_)
        | RolloutItem::CallFinished(_)
        | RolloutItem::ModelRequest(_)
        | RolloutItem::Unknown { .. } => true,
    }
}

/// Of completed items only plans and sleeps are kept.
fn is_kept_item(event: &UnknownEvent) -> bool {
    #[derive(Deserialize)]
    struct Completed {
        item: Item,
    }
    #[derive(Deserialize)]
    struct Item {
        #[serde(rename = "type")]
        tag: String,
    }
    event
        .raw
        .to::<Completed>()
        .is_ok_and(|event| ["plan", "sleep"].iter().any(|kept| event.item.tag.eq_ignore_ascii_case(kept)))
}

/// The first line of a new file, complete.
pub(super) fn first_line(mut meta: SessionMeta, now: SystemTime) -> RolloutLine {
    if meta.timestamp.is_empty() {
        meta.timestamp = timestamp(now);
    }
    if meta.session_id.is_none() {
        meta.session_id = Some(meta.id.clone());
    }
    if meta.history_mode.is_none() {
        meta.history_mode = Some("legacy".to_owned());
    }
    if meta.git.is_none() {
        meta.git = git_info(&meta.cwd);
    }
    meta.extra.insert(JOURNAL_MARK.to_owned(), Value::Bool(true));
    RolloutLine { timestamp: timestamp(now), item: RolloutItem::SessionMeta(Box::new(meta)) }
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
