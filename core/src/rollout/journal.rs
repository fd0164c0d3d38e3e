//! The rollout as the journal of calls.

use std::sync::Arc;

use async_trait::async_trait;
use tenon_protocol::{CallFact, CallFinished, CallId, CallProgress, CallStarted, RolloutItem};
use tenon_tools::{Progress, ToolCallSource};

use super::RolloutRecorder;
use super::copies::Need;
use crate::dispatch::{CallJournal, JournalError};

#[async_trait]
impl CallJournal for RolloutRecorder {
    fn is_kept(&self) -> bool {
        self.is_enabled()
    }

    async fn started(&self, line: CallStarted) -> Result<(), JournalError> {
        self.journal_started(line).await.map_err(|error| JournalError(error.to_string()))
    }

    /// The turn loop makes all finished calls durable at once: [`RolloutRecorder::sync`] before the next request.
    async fn finished(&self, line: CallFinished, source: &ToolCallSource) {
        let need = if source.is_nested() { Need::Alone } else { Need::UntilRecorded };
        self.record_finished(line, need).await;
    }

    fn progress(&self, call_id: &CallId, occurrence: u32) -> Option<Arc<dyn Progress>> {
        RolloutRecorder::progress(self, call_id, occurrence)
    }
}

impl RolloutRecorder {
    /// Takes the facts of one call; none when nothing is written. Neither waits nor fails: facts are in the file in
    /// the order in which they are told.
    #[must_use]
    pub fn progress(&self, call_id: &CallId, occurrence: u32) -> Option<Arc<dyn Progress>> {
        self.is_enabled().then(|| {
            let facts = CallFacts { recorder: self.clone(), call_id: call_id.clone(), occurrence };
            Arc::new(facts) as Arc<dyn Progress>
        })
    }
}

/// Takes the facts of one call.
#[derive(Debug)]
struct CallFacts {
    recorder: RolloutRecorder,
    call_id: CallId,
    occurrence: u32,
}

impl Progress for CallFacts {
    fn record(&self, fact: CallFact) {
        let line = CallProgress { call_id: self.call_id.clone(), occurrence: self.occurrence, fact };
        self.recorder.note(RolloutItem::CallProgress(line));
    }
}

#[cfg(test)]
#[path = "journal_tests.rs"]
mod tests;
