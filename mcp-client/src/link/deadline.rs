//! How long an answer is waited for.

use std::time::Duration;

use tokio::time::Instant;

use super::Limits;

/// How much time is left: it is used up while no question is open, and comes back with progress.
pub(super) struct Deadline {
    limits: Limits,
    idle: Duration,
    total: Duration,
}

impl Deadline {
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, idle: limits.idle, total: limits.total }
    }

    pub(super) fn left(&self) -> Duration {
        self.idle.min(self.total)
    }

    /// The limit that is nearer, in whole.
    pub(super) fn limit(&self) -> Duration {
        if self.total < self.idle { self.limits.total } else { self.limits.idle }
    }

    pub(super) fn spend(&mut self, began: Instant, standing_still: bool) {
        if !standing_still {
            self.idle = self.idle.saturating_sub(began.elapsed());
            self.total = self.total.saturating_sub(began.elapsed());
        }
    }

    pub(super) fn progressed(&mut self, began: Instant, standing_still: bool) {
        self.spend(began, standing_still);
        self.idle = self.limits.idle;
    }
}

#[cfg(test)]
#[path = "deadline_tests.rs"]
mod tests;
