//! What a line of a rollout is to whoever reads a session from it: resume, rollback, replay and verification ask here, so
//! that all of them take the same line for the same thing.

use serde::Deserialize;
use serde_json::Value;
use tenon_protocol::{
    CallFinished, CallProgress, CallStarted, ContentItem, EventMsg, ItemKind, Message, ModelRequest,
    ResponseItem, RolloutItem, SessionMeta, ToolSearchOutputItem, UnknownEvent, UserMessageEvent,
};

use crate::router::EXECUTED_BY_CLIENT;

/// How messages begin that have the role `user` and are not the user's words: they tell the model where it is.
const CONTEXT_MARKS: [&str; 8] = [
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<turn_aborted>",
    "<user_shell_command>",
    "<skill>",
    "<subagent_notification>",
    "<hook_prompt",
];

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LineKind<'a> {
    /// Whose file it is.
    Meta(&'a SessionMeta),
    /// The settings of the turn that follows.
    Settings(&'a Value),
    /// What the user has said, as the model reads it.
    Prompt(&'a ResponseItem),
    /// What one agent has said to another: it begins a turn as a prompt does (runtime.md D11.13).
    Mail(&'a ResponseItem),
    /// What the model has said, its calls and those of the provider among it.
    Said(&'a ResponseItem),
    /// What the model was told beside prompts: outputs of calls, context, words of the developer.
    Told(&'a ResponseItem),
    /// An item that nobody says: a snapshot, a setting of the conversation. It parts nothing.
    Beside(&'a ResponseItem),
    /// What the user has said, in their own words. The item that the model reads may stand beside it.
    Words(&'a UserMessageEvent),
    /// A turn begins.
    TurnStarted,
    /// A turn has ended well.
    TurnCompleted,
    /// A turn was broken off.
    TurnAborted,
    /// So many of the user's last turns are undone.
    RolledBack(usize),
    /// What took the place of everything before.
    Compacted(&'a Value),
    /// What the model was asked.
    Request(&'a ModelRequest),
    /// A call is about to have its first side effect.
    Started(&'a CallStarted),
    /// A fact about a running call.
    Progress(&'a CallProgress),
    /// A call has ended.
    Finished(&'a CallFinished),
    /// What else clients were told, states of the world, and lines of a type that we don't know.
    Other,
}

impl<'a> LineKind<'a> {
    /// What the line is that says this.
    #[must_use]
    pub fn of(item: &'a RolloutItem) -> Self {
        match item {
            RolloutItem::SessionMeta(meta) => Self::Meta(meta),
            RolloutItem::ResponseItem(item) => Self::of_item(item),
            RolloutItem::TurnContext(settings) => Self::Settings(settings),
            RolloutItem::Compacted(payload) => Self::Compacted(payload),
            RolloutItem::EventMsg(event) => Self::of_event(event),
            RolloutItem::CallStarted(line) => Self::Started(line),
            RolloutItem::CallProgress(line) => Self::Progress(line),
            RolloutItem::CallFinished(line) => Self::Finished(line),
            RolloutItem::ModelRequest(request) => Self::Request(request),
            RolloutItem::WorldState(_) | RolloutItem::Unknown { .. } => Self::Other,
        }
    }

    /// What an item of the conversation is.
    #[must_use]
    pub fn of_item(item: &'a ResponseItem) -> Self {
        match item.kind() {
            ItemKind::Message(message) if message.role == "assistant" => Self::Said(item),
            ItemKind::Message(message) if is_prompt(message) => Self::Prompt(item),
            ItemKind::AgentMessage(_) => Self::Mail(item),
            ItemKind::Message(_) | ItemKind::FunctionCallOutput(_) | ItemKind::CustomToolCallOutput(_) => {
                Self::Told(item)
            }
            ItemKind::ToolSearchOutput(output) if is_ours(output) => Self::Told(item),
            ItemKind::Reasoning(_)
            | ItemKind::LocalShellCall(_)
            | ItemKind::FunctionCall(_)
            | ItemKind::ToolSearchCall(_)
            | ItemKind::CustomToolCall(_)
            | ItemKind::ToolSearchOutput(_)
            | ItemKind::WebSearchCall(_)
            | ItemKind::ImageGenerationCall(_)
            | ItemKind::Compaction(_)
            | ItemKind::ContextCompaction(_)
            | ItemKind::Unknown(_) => Self::Said(item),
            ItemKind::AdditionalTools(_)
            | ItemKind::CompactionTrigger(_)
            | ItemKind::ConfigurationUpdate(_)
            | ItemKind::GhostSnapshot(_) => Self::Beside(item),
        }
    }

    fn of_event(event: &'a EventMsg) -> Self {
        match event {
            EventMsg::UserMessage(words) => Self::Words(words),
            EventMsg::TurnStarted(_) => Self::TurnStarted,
            EventMsg::TurnComplete(_) => Self::TurnCompleted,
            EventMsg::TurnAborted(_) => Self::TurnAborted,
            EventMsg::Unknown(event) if event.tag == "thread_rolled_back" => {
                Self::RolledBack(rolled_back(event))
            }
            EventMsg::TokenCount(_)
            | EventMsg::AgentMessage(_)
            | EventMsg::AgentReasoning(_)
            | EventMsg::Unknown(_) => Self::Other,
        }
    }
}

fn is_ours(output: &ToolSearchOutputItem) -> bool {
    output.execution == EXECUTED_BY_CLIENT
}

fn rolled_back(event: &UnknownEvent) -> usize {
    #[derive(Deserialize)]
    struct RolledBack {
        num_turns: usize,
    }
    event.raw.to::<RolledBack>().map_or(0, |event| event.num_turns)
}

/// Whether a message is the user's, and not one that only tells the model where it is.
fn is_prompt(message: &Message) -> bool {
    let is_context = |entry: &ContentItem| {
        let text = entry.as_text().map(str::trim_start);
        text.is_some_and(|text| CONTEXT_MARKS.iter().any(|mark| text.starts_with(mark)))
    };
    message.role == "user" && !message.content.iter().any(is_context)
}

/// The words of a message of the user's; none for one that only tells the model where it is.
#[must_use]
pub fn user_text(item: &ResponseItem) -> Option<String> {
    match item.kind() {
        ItemKind::Message(message) if is_prompt(message) => Some(message.text()),
        _ => None,
    }
}

#[cfg(test)]
#[path = "line_kind_tests.rs"]
mod tests;
