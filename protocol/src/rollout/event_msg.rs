//! What clients were told, as far as rollouts keep it (runtime.md D11.4).

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::event::TokenUsage;
use crate::peek::peek_text;
use crate::raw_json::RawJson;

/// An event of a rollout, tagged by its own `type`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EventMsg {
    /// What the thread cost so far.
    TokenCount(TokenCountEvent),
    /// A turn began (also read as `task_started`).
    TurnStarted(TurnStartedEvent),
    /// A turn ended well (also read as `task_complete`).
    TurnComplete(TurnCompleteEvent),
    /// A turn was broken off.
    TurnAborted(TurnAbortedEvent),
    /// What the user said.
    UserMessage(UserMessageEvent),
    /// What the model said.
    AgentMessage(AgentMessageEvent),
    /// What the model thought, in summary.
    AgentReasoning(AgentReasoningEvent),
    /// An event that we don't know, or whose members don't fit, as it came.
    #[serde(untagged)]
    Unknown(UnknownEvent),
}

/// Payload of [`EventMsg::TokenCount`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TokenCountEvent {
    /// The counts, once there are any.
    #[serde(default)]
    pub info: Option<TokenUsageInfo>,
    /// The provider's limits.
    #[serde(default)]
    pub rate_limits: Option<Value>,
}

/// Token counts of a thread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenUsageInfo {
    /// Of all answers.
    pub total_token_usage: TokenUsage,
    /// Of the last answer.
    pub last_token_usage: TokenUsage,
    /// How much the model can read, in tokens.
    #[serde(default)]
    pub model_context_window: Option<u64>,
}

/// Payload of [`EventMsg::TurnStarted`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnStartedEvent {
    /// The turn's id; absent in old files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    /// How much the model can read, in tokens.
    #[serde(default)]
    pub model_context_window: Option<u64>,
}

/// Payload of [`EventMsg::TurnComplete`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnCompleteEvent {
    /// The turn's id; absent in old files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    /// The model's last words.
    #[serde(default)]
    pub last_agent_message: Option<String>,
}

/// Payload of [`EventMsg::TurnAborted`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnAbortedEvent {
    /// The turn's id; absent in old files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    /// `interrupted`, `replaced`, `review_ended` or `budget_limited`.
    pub reason: String,
    /// When the turn began, in seconds after 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<i64>,
    /// When it was broken off, in seconds after 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<i64>,
    /// How long it ran, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<i64>,
}

/// Payload of [`EventMsg::UserMessage`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserMessageEvent {
    /// The text.
    pub message: String,
    /// Images that came with it, as URLs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub images: Option<Vec<String>>,
}

/// Payload of [`EventMsg::AgentMessage`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentMessageEvent {
    /// The text.
    pub message: String,
}

/// Payload of [`EventMsg::AgentReasoning`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentReasoningEvent {
    /// The text.
    pub text: String,
}

/// Payload of [`EventMsg::Unknown`].
#[derive(Clone, Debug, PartialEq)]
pub struct UnknownEvent {
    /// The event's `type`; empty when it has none.
    pub tag: String,
    /// The event as it came.
    pub raw: RawJson,
}

impl Serialize for UnknownEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for EventMsg {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = RawJson::deserialize(deserializer)?;
        let tag = peek_text(raw.get(), "type").unwrap_or_default().into_owned();
        let known = match tag.as_str() {
            "token_count" => raw.to().ok().map(Self::TokenCount),
            "turn_started" | "task_started" => raw.to().ok().map(Self::TurnStarted),
            "turn_complete" | "task_complete" => raw.to().ok().map(Self::TurnComplete),
            "turn_aborted" => raw.to().ok().map(Self::TurnAborted),
            "user_message" => raw.to().ok().map(Self::UserMessage),
            "agent_message" => raw.to().ok().map(Self::AgentMessage),
            "agent_reasoning" => raw.to().ok().map(Self::AgentReasoning),
            _ => None,
        };
        Ok(known.unwrap_or(Self::Unknown(UnknownEvent { tag, raw })))
    }
}
