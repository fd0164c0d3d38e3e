//! What the tests of this folder share.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use serde_json::json;
use tenon_protocol::{
    CallFinished, CallId, CallOutcome, CallStarted, ResponseItem, RolloutItem, SessionMeta,
};
use tenon_tools::{Clock, Event, EventSink};

use super::processes::Processes;
use super::reader::LoadedRollout;
use super::recorder::RecorderHost;
use super::settle::{SettledCall, Unsettled, unsettled};

/// A clock that stands still at 2026-11-30T10:00:00.000Z.
pub(super) struct FixedClock;

pub(super) const FIXED: &str = "2026-11-30T10:00:00.000Z";

pub(super) fn fixed_time() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_796_032_800)
}

impl Clock for FixedClock {
    fn now(&self) -> Instant {
        Instant::now()
    }
    fn wall(&self) -> SystemTime {
        fixed_time()
    }
}

/// Keeps the warnings.
#[derive(Default)]
pub(super) struct Warnings(Mutex<Vec<String>>);

impl EventSink for Warnings {
    fn emit(&self, event: Event) {
        if let Event::Warning { message } = event {
            self.0.lock().unwrap().push(message);
        }
    }
}

impl Warnings {
    pub(super) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

pub(super) fn host() -> (RecorderHost, Arc<Warnings>) {
    let warnings = Arc::new(Warnings::default());
    (RecorderHost { clock: Arc::new(FixedClock), events: Arc::clone(&warnings) as _ }, warnings)
}

pub(super) fn meta(id: &str, cwd: &std::path::Path) -> SessionMeta {
    SessionMeta {
        id: id.to_owned(),
        cwd: cwd.to_owned(),
        originator: "tests".to_owned(),
        cli_version: "0.0.0".to_owned(),
        source: json!("exec"),
        ..SessionMeta::default()
    }
}

pub(super) fn said(text: &str) -> RolloutItem {
    RolloutItem::ResponseItem(ResponseItem::message("user", text))
}

pub(super) fn started(call_id: &str) -> CallStarted {
    CallStarted {
        call_id: CallId::from(call_id),
        occurrence: 0,
        tool: "exec_command".to_owned(),
        source: "direct".to_owned(),
        effects: json!({}),
        again: None,
        at: FIXED.to_owned(),
    }
}

pub(super) fn finished(call_id: &str, output: ResponseItem) -> CallFinished {
    CallFinished {
        call_id: CallId::from(call_id),
        occurrence: 0,
        outcome: CallOutcome::Completed,
        output,
        aside: Vec::new(),
        at: FIXED.to_owned(),
    }
}

/// The outputs that calls get by what is known of them.
pub(super) fn settlements(rollout: &LoadedRollout, processes: &dyn Processes) -> Vec<SettledCall> {
    unsettled(rollout, processes).unwrap().into_iter().filter_map(Unsettled::settled).collect()
}

/// What the lines of a file say, in short: the type, and the text of a message or the id of a call.
pub(super) fn told(text: &str) -> Vec<String> {
    text.lines()
        .map(|line| {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            let payload = &line["payload"];
            let what = [&payload["content"][0]["text"], &payload["call_id"], &payload["type"]];
            let what = what.iter().find_map(|value| value.as_str()).unwrap_or_default();
            format!("{} {what}", line["type"].as_str().unwrap())
        })
        .collect()
}
