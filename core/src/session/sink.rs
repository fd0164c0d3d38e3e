//! The session's events: what the file must know of them, and whoever watches.

use std::sync::Arc;

use serde_json::json;
use tenon_protocol::{EventMsg, RolloutItem, UnknownEvent};
use tenon_tools::{Event, EventSink};

use crate::rollout::RolloutRecorder;

/// Hands events on, and writes down the one that the file must know of: that the thread holds text from outside.
pub(super) struct SessionEvents {
    pub(super) watcher: Arc<dyn EventSink>,
    pub(super) recorder: RolloutRecorder,
}

impl EventSink for SessionEvents {
    fn emit(&self, event: Event) {
        if let Event::ExternalContext { call_id, tool_name, reason } = &event {
            let tag = "external_context";
            let raw = json!({
                "type": tag, "call_id": call_id, "tool": tool_name.to_string(), "reason": reason,
            });
            if let Ok(raw) = serde_json::value::to_raw_value(&raw) {
                let fact = EventMsg::Unknown(UnknownEvent { tag: tag.to_owned(), raw: raw.into() });
                self.recorder.record_fact(RolloutItem::EventMsg(fact));
            }
        }
        self.watcher.emit(event);
    }
}
