//! Timers of one script: no thread and no task, but the time until which the loop waits.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use rquickjs::Function;

/// The longest wait that is told from for ever.
const LONGEST: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// What is to be called, and when: timers of the same time in the order in which they were set.
pub(super) struct Timers<'js> {
    most: usize,
    last_id: u64,
    by_time: BTreeMap<(Instant, u64), Function<'js>>,
    due: HashMap<u64, Instant>,
}

impl<'js> Timers<'js> {
    pub(super) fn new(most: usize) -> Self {
        Self { most, last_id: 0, by_time: BTreeMap::new(), due: HashMap::new() }
    }

    /// Sets a timer; none where there are as many as there may be. Ids count from 1.
    pub(super) fn set(&mut self, milliseconds: f64, callback: Function<'js>) -> Option<u64> {
        if self.due.len() >= self.most {
            return None;
        }
        self.last_id += 1;
        let at = Instant::now() + duration(milliseconds);
        self.by_time.insert((at, self.last_id), callback);
        self.due.insert(self.last_id, at);
        Some(self.last_id)
    }

    /// Takes a timer back. One that has fired or never was is no fault.
    pub(super) fn clear_one(&mut self, id: u64) {
        if let Some(at) = self.due.remove(&id) {
            self.by_time.remove(&(at, id));
        }
    }

    /// The next timer's time.
    pub(super) fn next(&self) -> Option<Instant> {
        self.by_time.first_key_value().map(|(&(at, _), _)| at)
    }

    /// Takes the first timer whose time has come.
    pub(super) fn take_due(&mut self, now: Instant) -> Option<Function<'js>> {
        let first = self.by_time.first_entry().filter(|first| first.key().0 <= now)?;
        let ((_, id), callback) = first.remove_entry();
        self.due.remove(&id);
        Some(callback)
    }

    pub(super) fn clear(&mut self) {
        self.by_time.clear();
        self.due.clear();
    }
}

/// What is no finite time, or past, is now.
fn duration(milliseconds: f64) -> Duration {
    if milliseconds.is_finite() && milliseconds > 0.0 {
        Duration::try_from_secs_f64(milliseconds / 1_000.0).unwrap_or(LONGEST).min(LONGEST)
    } else {
        Duration::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_time_to_wait_is_now() {
        for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 0.0, -0.0] {
            assert_eq!(duration(odd), Duration::ZERO, "{odd}");
        }
        assert_eq!(duration(1.5), Duration::from_micros(1_500));
        assert_eq!(duration(f64::MAX), LONGEST);
    }
}
