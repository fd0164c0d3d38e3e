//! Lines of a rollout file: what happened in a thread, in order (runtime.md D11).

mod event_msg;
mod journal;
mod request;
mod session_meta;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

pub use event_msg::{
    AgentMessageEvent, AgentReasoningEvent, EventMsg, TokenCountEvent, TokenUsageInfo, TurnAbortedEvent,
    TurnCompleteEvent, TurnStartedEvent, UnknownEvent, UserMessageEvent,
};
pub use journal::{CallFact, CallFinished, CallOutcome, CallProgress, CallStarted, TextAside};
pub use request::{ModelRequest, ToolHash};
pub use session_meta::{GitInfo, SessionMeta};

use crate::item::ResponseItem;
use crate::raw_json::RawJson;
use crate::surrogates::replace_lone_surrogates;

/// One line: `{"timestamp", "type", "payload"}`. Other members of a line (`ordinal`, `metadata`) are not read.
#[derive(Clone, Debug, PartialEq)]
pub struct RolloutLine {
    /// When the line was written: UTC, milliseconds, `Z`.
    pub timestamp: String,
    /// What it says.
    pub item: RolloutItem,
}

/// What a line says.
#[derive(Clone, Debug, PartialEq)]
pub enum RolloutItem {
    /// `session_meta`: whose file this is; the first line.
    SessionMeta(Box<SessionMeta>),
    /// `response_item`: an item of the conversation.
    ResponseItem(ResponseItem),
    /// `turn_context`: under what settings the turn that follows ran.
    TurnContext(Value),
    /// `world_state`: `{full, state}`, a snapshot or a JSON merge patch.
    WorldState(Value),
    /// `compacted`: what took the place of earlier items.
    Compacted(Value),
    /// `event_msg`: what clients were told.
    EventMsg(EventMsg),
    /// `call_started` (ours): a call is about to have its first side effect.
    CallStarted(CallStarted),
    /// `call_progress` (ours): a fact about a running call.
    CallProgress(CallProgress),
    /// `call_finished` (ours): how a call ended, with its output.
    CallFinished(CallFinished),
    /// `model_request` (ours): what the model was asked, by its hashes.
    ModelRequest(ModelRequest),
    /// A line of a type that we don't know.
    Unknown {
        /// The line's `type`.
        tag: String,
        /// Its payload as it came.
        payload: RawJson,
    },
}

/// Why a text is no line of a rollout.
#[derive(Debug, thiserror::Error)]
pub enum RolloutLineError {
    /// It is no JSON object with `timestamp`, `type` and `payload`.
    #[error("not a rollout line: {0}")]
    NotALine(#[source] serde_json::Error),
    /// It is of a type that we know, but its payload doesn't fit.
    #[error("a `{tag}` line whose payload doesn't fit: {source}")]
    Payload {
        /// The line's `type`.
        tag: String,
        /// serde's reason.
        source: serde_json::Error,
    },
}

/// Reads one line, without its line break.
///
/// # Errors
/// [`RolloutLineError`]. An unknown type, an unknown event and an unknown item are no errors: they are kept.
pub fn parse_line(line: &str) -> Result<RolloutLine, RolloutLineError> {
    let wire: Wire<'_> = serde_json::from_str(line).map_err(RolloutLineError::NotALine)?;
    let item = RolloutItem::read(&wire.tag, wire.payload)
        .map_err(|source| RolloutLineError::Payload { tag: wire.tag, source })?;
    Ok(RolloutLine { timestamp: wire.timestamp, item })
}

/// Reads one line as [`parse_line`] does, with U+FFFD in the place of lone surrogates (`"\ud83d"` is legal JSON and no
/// text: no request could hold it). The second value tells whether there was one.
///
/// # Errors
/// As [`parse_line`].
pub fn parse_line_mended(line: &str) -> Result<(RolloutLine, bool), RolloutLineError> {
    match replace_lone_surrogates(line) {
        Some(mended) => Ok((parse_line(&mended)?, true)),
        None => Ok((parse_line(line)?, false)),
    }
}

#[derive(Deserialize)]
struct Wire<'a> {
    timestamp: String,
    #[serde(rename = "type")]
    tag: String,
    #[serde(borrow)]
    payload: &'a RawValue,
}

impl RolloutLine {
    /// The line's JSON text, without a line break; it holds none.
    ///
    /// # Errors
    /// serde_json's; every line that can be made has a JSON form, so none is expected.
    pub fn to_json(&self) -> serde_json::Result<String> {
        self.item.to_json(&self.timestamp)
    }
}

impl RolloutItem {
    /// The line's `type`.
    #[must_use]
    pub fn tag(&self) -> &str {
        match self {
            Self::SessionMeta(_) => "session_meta",
            Self::ResponseItem(_) => "response_item",
            Self::TurnContext(_) => "turn_context",
            Self::WorldState(_) => "world_state",
            Self::Compacted(_) => "compacted",
            Self::EventMsg(_) => "event_msg",
            Self::CallStarted(_) => "call_started",
            Self::CallProgress(_) => "call_progress",
            Self::CallFinished(_) => "call_finished",
            Self::ModelRequest(_) => "model_request",
            Self::Unknown { tag, .. } => tag,
        }
    }

    /// The text of the line that has this time, without a line break; it holds none.
    ///
    /// # Errors
    /// serde_json's; every item that can be made has a JSON form, so none is expected.
    pub fn to_json(&self, timestamp: &str) -> serde_json::Result<String> {
        serde_json::to_string(&Parts { timestamp, tag: self.tag(), payload: &Payload(self) })
    }

    fn read(tag: &str, payload: &RawValue) -> serde_json::Result<Self> {
        let json = payload.get();
        Ok(match tag {
            "session_meta" => Self::SessionMeta(serde_json::from_str(json)?),
            "response_item" => Self::ResponseItem(serde_json::from_str(json)?),
            "turn_context" => Self::TurnContext(serde_json::from_str(json)?),
            "world_state" => Self::WorldState(serde_json::from_str(json)?),
            "compacted" => Self::Compacted(serde_json::from_str(json)?),
            "event_msg" => Self::EventMsg(serde_json::from_str(json)?),
            "call_started" => Self::CallStarted(serde_json::from_str(json)?),
            "call_progress" => Self::CallProgress(serde_json::from_str(json)?),
            "call_finished" => Self::CallFinished(serde_json::from_str(json)?),
            "model_request" => Self::ModelRequest(serde_json::from_str(json)?),
            _ => Self::Unknown { tag: tag.to_owned(), payload: payload.into() },
        })
    }
}

impl Serialize for RolloutLine {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (timestamp, tag, payload) = (&self.timestamp, self.item.tag(), &Payload(&self.item));
        Parts { timestamp, tag, payload }.serialize(serializer)
    }
}

/// A line in its three members.
#[derive(Serialize)]
struct Parts<'a, P> {
    timestamp: &'a str,
    #[serde(rename = "type")]
    tag: &'a str,
    payload: &'a P,
}

/// The payload of a line.
struct Payload<'a>(&'a RolloutItem);

impl Serialize for Payload<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            RolloutItem::SessionMeta(payload) => payload.serialize(serializer),
            RolloutItem::ResponseItem(payload) => payload.serialize(serializer),
            RolloutItem::TurnContext(payload)
            | RolloutItem::WorldState(payload)
            | RolloutItem::Compacted(payload) => payload.serialize(serializer),
            RolloutItem::EventMsg(payload) => payload.serialize(serializer),
            RolloutItem::CallStarted(payload) => payload.serialize(serializer),
            RolloutItem::CallProgress(payload) => payload.serialize(serializer),
            RolloutItem::CallFinished(payload) => payload.serialize(serializer),
            RolloutItem::ModelRequest(payload) => payload.serialize(serializer),
            RolloutItem::Unknown { payload, .. } => payload.serialize(serializer),
        }
    }
}

/// A line as its JSON text, whose time may still change. Whoever has it need not know what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderedLine {
    text: String,
    /// How many bytes of it are the time.
    timestamp_len: usize,
}

/// What stands before the time of a line.
const BEFORE_TIMESTAMP: &str = r#"{"timestamp":""#;

impl RenderedLine {
    /// The line that has this time. The time is one as lines have it, without anything that JSON would escape.
    ///
    /// # Errors
    /// serde_json's; every item that can be made has a JSON form, so none is expected.
    pub fn of(item: &RolloutItem, timestamp: &str) -> serde_json::Result<Self> {
        Ok(Self { text: item.to_json(timestamp)?, timestamp_len: timestamp.len() })
    }

    /// Gives the line another time.
    pub fn set_timestamp(&mut self, timestamp: &str) {
        let (begin, end) = (BEFORE_TIMESTAMP.len(), BEFORE_TIMESTAMP.len() + self.timestamp_len);
        if self.text.get(begin..end) != Some(timestamp) {
            self.text.replace_range(begin..end, timestamp);
            self.timestamp_len = timestamp.len();
        }
    }

    /// The text, without a line break; it holds none.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// As [`text`](Self::text), to be kept.
    #[must_use]
    pub fn into_text(self) -> String {
        self.text
    }
}

impl<'de> Deserialize<'de> for RolloutLine {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = RawJson::deserialize(deserializer)?;
        parse_line(raw.get()).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
#[path = "rollout_tests.rs"]
mod tests;
