//! What clients are told of a run (core.md 8.11).

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use tenon_protocol::CallId;
use tenon_tools::{
    Clock, Event, EventSink, HookEntry, HookEntryKind, HookExecutionMode, HookHandlerType, HookRunStatus,
    HookRunSummary,
};

use super::ConfiguredHook;

/// A run that clients have been told of. They are told of its end exactly once: by [`end`](Self::end), or when it is
/// dropped, which is what happens to a question that is withdrawn.
pub(super) struct ShownRun {
    events: Arc<dyn EventSink>,
    clock: Arc<dyn Clock>,
    turn_id: Option<String>,
    begun: Instant,
    run: Option<HookRunSummary>,
}

impl ShownRun {
    /// Tells that a hook is about to run.
    pub(super) fn begin(
        hook: &ConfiguredHook,
        turn_id: Option<&str>,
        call: Option<&CallId>,
        events: &Arc<dyn EventSink>,
        clock: &Arc<dyn Clock>,
    ) -> Self {
        let run = HookRunSummary {
            id: run_id(hook, call),
            event_name: hook.event,
            handler_type: HookHandlerType::Command,
            execution_mode: HookExecutionMode::Sync,
            scope: hook.event.scope(),
            source_path: hook.source_path.clone(),
            source: hook.source,
            display_order: hook.display_order,
            status: HookRunStatus::Running,
            status_message: hook.status_message.clone(),
            started_at: unix_seconds(clock.wall()),
            completed_at: None,
            duration_ms: None,
            entries: Vec::new(),
        };
        let turn_id = turn_id.map(str::to_owned);
        events.emit(Event::HookStarted { turn_id: turn_id.clone(), run: run.clone() });
        let (events, clock) = (Arc::clone(events), Arc::clone(clock));
        Self { begun: clock.now(), events, clock, turn_id, run: Some(run) }
    }

    /// The run's id.
    pub(super) fn id(&self) -> &str {
        self.run.as_ref().map(|run| run.id.as_str()).unwrap_or_default()
    }

    /// How long it has been running.
    pub(super) fn elapsed(&self) -> Duration {
        self.clock.now().saturating_duration_since(self.begun)
    }

    /// Tells how it ended.
    pub(super) fn end(mut self, status: HookRunStatus, took: Duration, entries: Vec<HookEntry>) {
        self.tell(status, took, entries);
    }

    fn tell(&mut self, status: HookRunStatus, took: Duration, entries: Vec<HookEntry>) {
        let Some(run) = self.run.take() else { return };
        let run = HookRunSummary {
            status,
            completed_at: Some(unix_seconds(self.clock.wall())),
            duration_ms: Some(i64::try_from(took.as_millis()).unwrap_or(i64::MAX)),
            entries,
            ..run
        };
        self.events.emit(Event::HookCompleted { turn_id: self.turn_id.take(), run });
    }
}

impl Drop for ShownRun {
    fn drop(&mut self) {
        let took = self.elapsed();
        let why = HookEntry { kind: HookEntryKind::Error, text: "hook was cancelled".to_owned() };
        self.tell(HookRunStatus::Failed, took, vec![why]);
    }
}

/// `{label}:{display order}:{file}`, and for tools `:{call}` (core.md 8.4).
fn run_id(hook: &ConfiguredHook, call: Option<&CallId>) -> String {
    let id = format!("{}:{}:{}", hook.event.label(), hook.display_order, hook.source_path.display());
    call.map_or_else(|| id.clone(), |call| format!("{id}:{call}"))
}

fn unix_seconds(time: SystemTime) -> i64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
