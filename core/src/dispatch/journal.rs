//! Stage 6: what is about to happen is written down before it happens.

use std::sync::Arc;

use async_trait::async_trait;
use tenon_protocol::{CallFinished, CallId, CallStarted};
use tenon_tools::{PreparedCall, Progress, ToolCallSource};

use super::{Dispatch, Stopped};

/// A line that could not be made durable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct JournalError(pub String);

/// Where calls are written down, so that a crash cannot make us forget one.
#[async_trait]
pub trait CallJournal: Send + Sync {
    /// Writes that a call starts. It is durable when this returns.
    ///
    /// # Errors
    /// When it could not be made durable. The line is kept and tried again later.
    async fn started(&self, line: CallStarted) -> Result<(), JournalError>;

    /// Whether anything is written at all: where not, no line is made.
    fn is_kept(&self) -> bool {
        true
    }

    /// Writes that a call ended, with the output that the model will read. It is on its way to the file when this
    /// returns, and durable before the next request. The output of a nested call is never written anywhere else.
    async fn finished(&self, line: CallFinished, source: &ToolCallSource);

    /// Takes the facts of one call; none where nothing is written down.
    fn progress(&self, call_id: &CallId, occurrence: u32) -> Option<Arc<dyn Progress>>;
}

/// Writes nothing down: a session without a rollout.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoJournal;

#[async_trait]
impl CallJournal for NoJournal {
    fn is_kept(&self) -> bool {
        false
    }

    async fn finished(&self, _: CallFinished, _: &ToolCallSource) {}

    async fn started(&self, _: CallStarted) -> Result<(), JournalError> {
        Ok(())
    }

    fn progress(&self, _: &CallId, _: u32) -> Option<Arc<dyn Progress>> {
        None
    }
}

impl Dispatch {
    /// Writes the call down, if it has an effect at all. A disk that takes no more is the operator's matter: the
    /// recorder has told them, keeps the line, and the call goes on.
    pub(super) async fn journal_started(&mut self, prepared: &dyn PreparedCall) -> Result<(), Stopped> {
        let effects = prepared.effects();
        if effects.is_none() || !self.env.journal.is_kept() {
            return Ok(());
        }
        let line = CallStarted {
            call_id: self.call.call_id.clone(),
            occurrence: self.events.identity().occurrence,
            tool: self.call.tool_name.to_string(),
            source: self.call.source.label().to_owned(),
            effects: serde_json::to_value(effects).unwrap_or_default(),
            again: self.events.identity().again.map(str::to_owned),
            at: self.env.timestamp(),
        };
        if let Err(error) = self.env.journal.started(line).await {
            tracing::error!(call_id = %self.call.call_id, %error, "the start of a call could not be made durable");
        }
        Ok(())
    }
}
