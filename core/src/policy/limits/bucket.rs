//! A token bucket.

use std::time::{Duration, Instant};

use super::Rate;

/// Tokens of one tool.
#[derive(Debug)]
pub(super) struct Bucket {
    rate: Rate,
    /// How much of it is missing, as the time it takes to fill that up.
    missing: Duration,
    seen: Instant,
}

impl Bucket {
    pub(super) fn full(rate: Rate, now: Instant) -> Self {
        Self { rate, missing: Duration::ZERO, seen: now }
    }

    /// Takes a token, or says how long it is until there is one.
    pub(super) fn take(&mut self, now: Instant) -> Result<(), Duration> {
        let Rate { calls, per } = self.rate;
        let since = now.saturating_duration_since(self.seen);
        self.missing = self.missing.saturating_sub(since);
        self.seen = now;
        // The time one token takes to fill up.
        let one = per / calls.get();
        let after = self.missing + one;
        if after <= per {
            self.missing = after;
            return Ok(());
        }
        Err(after - per)
    }
}
