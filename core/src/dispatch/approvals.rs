//! What the calls of a session share while they wait for answers.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

/// How long an answer is waited for, and the news that one has been given which reaches further than its call.
#[derive(Debug, Clone)]
pub struct Approvals {
    limit: Option<Duration>,
    remembered: Arc<watch::Sender<()>>,
}

impl Default for Approvals {
    fn default() -> Self {
        Self::within(None)
    }
}

impl Approvals {
    /// Answers are waited for so long; none waits as long as it takes.
    pub fn within(limit: Option<Duration>) -> Self {
        Self { limit, remembered: Arc::new(watch::Sender::new(())) }
    }

    /// Comes when an answer is too late.
    pub(super) async fn time_up(&self) {
        match self.limit {
            Some(limit) => tokio::time::sleep(limit).await,
            None => std::future::pending().await,
        }
    }

    /// Hears of answers from now on.
    pub(super) fn watch(&self) -> Remembered {
        Remembered(self.remembered.subscribe())
    }

    /// An answer reaches further than its call.
    pub(super) fn remembered(&self) {
        self.remembered.send_replace(());
    }
}

/// Hears of answers that reach further than their call.
pub(super) struct Remembered(watch::Receiver<()>);

impl Remembered {
    /// Comes with the next one.
    pub(super) async fn changed(&mut self) {
        if self.0.changed().await.is_err() {
            // Nobody is left who could give one.
            std::future::pending::<()>().await;
        }
    }
}
