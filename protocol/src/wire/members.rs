//! The members of each event that are read; all others are skipped.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::event::ResponseEvent;

#[derive(Deserialize)]
pub(super) struct Delta {
    #[serde(default)]
    pub(super) item_id: Option<String>,
    pub(super) delta: String,
}

#[derive(Deserialize)]
pub(super) struct CallDelta {
    #[serde(default)]
    pub(super) item_id: Option<String>,
    #[serde(default)]
    pub(super) call_id: Option<String>,
    pub(super) delta: String,
}

#[derive(Deserialize)]
pub(super) struct SummaryDelta {
    #[serde(default)]
    pub(super) item_id: Option<String>,
    pub(super) delta: String,
    #[serde(default)]
    pub(super) summary_index: Option<u64>,
}

impl SummaryDelta {
    pub(super) fn into_event(self) -> ResponseEvent {
        let Self { item_id, delta, summary_index } = self;
        ResponseEvent::ReasoningSummaryTextDelta { item_id, delta, summary_index }
    }
}

#[derive(Deserialize)]
pub(super) struct ContentDelta {
    #[serde(default)]
    pub(super) item_id: Option<String>,
    pub(super) delta: String,
    #[serde(default)]
    pub(super) content_index: Option<u64>,
}

impl ContentDelta {
    pub(super) fn into_event(self) -> ResponseEvent {
        let Self { item_id, delta, content_index } = self;
        ResponseEvent::ReasoningTextDelta { item_id, delta, content_index }
    }
}

#[derive(Deserialize)]
pub(super) struct SummaryDone {
    #[serde(default)]
    pub(super) item_id: Option<String>,
    pub(super) text: String,
    #[serde(default)]
    pub(super) summary_index: Option<u64>,
}

impl SummaryDone {
    pub(super) fn into_event(self) -> ResponseEvent {
        let Self { item_id, text, summary_index } = self;
        ResponseEvent::ReasoningSummaryTextDone { item_id, text, summary_index }
    }
}

#[derive(Deserialize)]
pub(super) struct SummaryPart {
    #[serde(default)]
    pub(super) item_id: Option<String>,
    #[serde(default)]
    pub(super) summary_index: Option<u64>,
}

#[derive(Deserialize)]
pub(super) struct ItemEvent<'a> {
    #[serde(borrow)]
    pub(super) item: &'a RawValue,
}

/// An event that holds the answer so far.
#[derive(Deserialize)]
pub(super) struct Outer<T> {
    #[serde(default = "none")]
    pub(super) response: Option<T>,
}

fn none<T>() -> Option<T> {
    None
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Created {
    pub(super) id: Option<String>,
}

impl Outer<Created> {
    pub(super) fn into_event(self) -> ResponseEvent {
        ResponseEvent::Created { response_id: self.response.and_then(|response| response.id) }
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Incomplete {
    pub(super) incomplete_details: Option<IncompleteDetails>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct IncompleteDetails {
    pub(super) reason: Option<String>,
}

impl Outer<Incomplete> {
    pub(super) fn into_event(self) -> ResponseEvent {
        let details = self.response.and_then(|response| response.incomplete_details);
        let reason = details.and_then(|details| details.reason).unwrap_or_else(|| "unknown".to_owned());
        ResponseEvent::Incomplete { reason }
    }
}
