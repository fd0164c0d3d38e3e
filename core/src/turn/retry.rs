//! When a stream breaks: what was called runs to its end once and is recorded, then the request is built anew from
//! the history as it now stands (runtime.md D2).

use std::time::Duration;

use tenon_tools::{Event, ModelError};

use super::Turn;
use super::sample::Sampled;

/// The first wait; each one after it is twice as long.
const FIRST_DELAY: Duration = Duration::from_millis(200);
/// Doublings after which the wait grows no further.
const MAX_DOUBLINGS: u32 = 10;

impl Turn<'_> {
    /// One request, tried again as often as the options allow.
    pub(super) async fn sample_with_retries(&mut self) -> Sampled {
        let max = self.session.options().stream_max_retries;
        let mut attempt = 0;
        loop {
            let error = match self.sample().await {
                Sampled::Broken(error) if error.retryable && attempt < max => error,
                end => return end,
            };
            attempt += 1;
            self.session.emit(Event::Retrying { attempt, max, message: error.message.clone() });
            tokio::select! {
                () = tokio::time::sleep(delay(attempt, &error)) => {}
                () = self.cancellation.cancelled() => return Sampled::Cancelled,
            }
        }
    }
}

/// How long to wait before a try: as long as the server asks, else 200 ms x 2^(n-1), a tenth more or less.
fn delay(attempt: u32, error: &ModelError) -> Duration {
    if let Some(asked) = error.delay {
        return asked;
    }
    let doublings = attempt.saturating_sub(1).min(MAX_DOUBLINGS);
    let (random, _) = uuid::Uuid::new_v4().as_u64_pair();
    let spread =
        0.9 + 0.2 * f64::from(u16::try_from(random & 0xffff).unwrap_or_default()) / f64::from(u16::MAX);
    FIRST_DELAY.saturating_mul(1 << doublings).mul_f64(spread)
}

#[cfg(test)]
mod tests {
    use tenon_tools::ModelErrorKind;

    use super::*;

    #[test]
    fn the_wait_doubles_within_a_tenth_and_the_server_has_the_last_word() {
        let error = ModelError::retryable(ModelErrorKind::Stream, "broken");
        for (attempt, base) in [(1, 200.0), (2, 400.0), (5, 3200.0), (11, 204_800.0), (40, 204_800.0)] {
            let waited = delay(attempt, &error).as_secs_f64() * 1000.0;
            assert!((base * 0.9..=base * 1.1 + 0.001).contains(&waited), "{attempt}: {waited}");
        }
        let asked = ModelError { delay: Some(Duration::from_secs(7)), ..error };
        assert_eq!(delay(3, &asked), Duration::from_secs(7));
    }
}
