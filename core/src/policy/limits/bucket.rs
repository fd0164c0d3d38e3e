//! A token bucket.

use std::time::{Duration, Instant};

use super::Rate;

/// Tokens of one tool.
#[derive(Debug)]
pub(super) struct Bucket {
    rate: Rate,
    /// How much of it is missing, in nanoseconds of filling times the calls of the rate: so that one token is the time
    /// that the whole bucket takes to fill, and nothing is ever rounded.
    missing: u128,
    /// The latest time it has seen.
    seen: Instant,
}

impl Bucket {
    pub(super) fn full(rate: Rate, now: Instant) -> Self {
        Self { rate, missing: 0, seen: now }
    }

    /// Takes a token, or says how long it is until there is one. Who comes late, having looked at the clock before
    /// another that was faster, fills nothing up a second time.
    pub(super) fn take(&mut self, now: Instant) -> Result<(), Duration> {
        let Rate { calls, per } = self.rate;
        let (calls, one) = (u128::from(calls.get()), per.as_nanos());
        let filled = now.saturating_duration_since(self.seen).as_nanos().saturating_mul(calls);
        self.missing = self.missing.saturating_sub(filled);
        self.seen = self.seen.max(now);
        let (after, most) = (self.missing.saturating_add(one), one.saturating_mul(calls));
        if after <= most {
            self.missing = after;
            return Ok(());
        }
        let wait = u64::try_from((after - most).div_ceil(calls)).unwrap_or(u64::MAX);
        Err(Duration::from_nanos(wait).saturating_add(self.seen.saturating_duration_since(now)))
    }
}

#[cfg(test)]
#[path = "bucket_tests.rs"]
mod tests;
