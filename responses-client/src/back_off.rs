//! How long to wait before a request is sent again.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822;
use reqwest::header::{HeaderMap, HeaderName, RETRY_AFTER};

/// The wait before the first retry, doubled with each one after it (runtime.md D2.2).
const FIRST: Duration = Duration::from_millis(200);
/// No wait of our own choice is longer.
const LONGEST: Duration = Duration::from_secs(60);
/// The wait is spread over 0.9 to 1.1 of itself.
const SPREAD: std::ops::RangeInclusive<f64> = 0.9..=1.1;
/// The same as `Retry-After`, in milliseconds; some providers send it too.
const RETRY_AFTER_MS: HeaderName = HeaderName::from_static("retry-after-ms");

/// The wait before the `n`th retry, from 1.
pub(crate) fn before_retry(n: u32) -> Duration {
    delay(n, random())
}

/// `random` is from 0 to 1.
fn delay(n: u32, random: f64) -> Duration {
    let doubled = FIRST.saturating_mul(2_u32.saturating_pow(n.saturating_sub(1))).min(LONGEST);
    doubled.mul_f64(SPREAD.start() + (SPREAD.end() - SPREAD.start()) * random)
}

/// A number from 0 to 1: the standard library seeds its hashers at random.
fn random() -> f64 {
    let bits = RandomState::new().build_hasher().finish();
    f64::from(u32::try_from(bits >> 32).unwrap_or_default()) / f64::from(u32::MAX)
}

/// How long the server asks to wait: `Retry-After` in seconds or as a date, or its form in milliseconds. A date in the
/// past is no wait; what can't be read is no answer.
pub(crate) fn asked_for(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = |name: &HeaderName| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(milliseconds) = text(&RETRY_AFTER_MS).and_then(number) {
        return Duration::try_from_secs_f64(milliseconds / 1000.0).ok();
    }
    let value = text(&RETRY_AFTER)?;
    if let Some(seconds) = number(value) {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = rfc2822::DateTimeParser::new().parse_timestamp(value).ok()?;
    Some(Duration::try_from(date.duration_since(now)).unwrap_or(Duration::ZERO))
}

/// A finite number; one below zero counts as zero.
fn number(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|number| number.is_finite()).map(|number| number.max(0.0))
}

#[cfg(test)]
#[path = "back_off_tests.rs"]
mod tests;
