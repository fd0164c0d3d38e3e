//! The longest that a command may run.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::watch;

/// How far it has come with a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Within,
    Reached,
    Ended,
}

/// The limit of one command.
#[derive(Debug)]
pub(crate) struct Limit {
    after: Duration,
    stage: watch::Sender<Stage>,
    told: AtomicBool,
}

impl Limit {
    pub(crate) fn new(after: Duration) -> Self {
        Self { after, stage: watch::Sender::new(Stage::Within), told: AtomicBool::new(false) }
    }

    /// Waits for the end of the time of a command that began at `start`.
    pub(crate) async fn over(&self, start: Instant) {
        match start.checked_add(self.after) {
            Some(end) => tokio::time::sleep_until(end.into()).await,
            None => std::future::pending().await,
        }
    }

    /// The command is being ended, for its time is over.
    pub(crate) fn reach(&self) {
        self.stage.send_replace(Stage::Reached);
    }

    /// Nothing is left of it.
    pub(crate) fn end(&self) {
        self.stage.send_replace(Stage::Ended);
    }

    /// Waits until nothing is left of a command that has reached its limit; not at all for one that has not.
    pub(crate) async fn settled(&self) {
        let mut stage = self.stage.subscribe();
        // The sender lives as long as the limit.
        drop(stage.wait_for(|stage| *stage != Stage::Reached).await);
    }

    /// Whether the command has come to it.
    pub(crate) fn is_reached(&self) -> bool {
        *self.stage.borrow() != Stage::Within
    }

    /// What is to be told of a command that has reached it: once.
    pub(crate) fn line(&self) -> Option<String> {
        let first = self.is_reached() && !self.told.swap(true, Ordering::AcqRel);
        first.then(|| {
            format!("[ended: it ran longer than the limit of {:.1} seconds]", self.after.as_secs_f64())
        })
    }
}
