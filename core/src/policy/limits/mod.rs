//! How often something may be called at all. All of it is off unless it is set.
//!
//! The state is the session's: direct and nested calls draw on the same. A call counts from its beginning, so that no
//! number of parallel ones gets over a limit; one that a limit refuses counts for nothing. What is counted by the turn
//! is counted for the turn that a call belongs to, also where another has begun meanwhile ([`turns`]).

mod bucket;
mod options;
mod repeats;
mod turns;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tenon_tools::ToolInvocation;

use bucket::Bucket;
pub use options::{LimitOptions, LoopGuard, Rate, ToolLimit};
use repeats::SameCall;
use turns::{Turn, Turns};

/// The limits of a session, and how far each is used up. By default nothing is limited.
#[derive(Debug, Default)]
pub struct Limits {
    options: LimitOptions,
    state: Arc<Mutex<State>>,
}

/// A call that was let in and is watched by the loop guard until it ends, or is dropped.
#[derive(Debug)]
pub(crate) struct WatchedCall {
    call: SameCall,
    /// The number of its turn.
    turn: u64,
    /// None once it has left.
    state: Option<Arc<Mutex<State>>>,
}

impl WatchedCall {
    /// It is made no longer. Its turn, unless that is forgotten.
    fn leave<'t>(&mut self, turns: &'t mut Turns) -> Option<&'t mut Turn> {
        self.state.take()?;
        let turn = turns.numbered(self.turn)?;
        turn.repeats.left(self.call);
        Some(turn)
    }
}

impl Drop for WatchedCall {
    fn drop(&mut self) {
        let Some(state) = self.state.clone() else { return };
        self.leave(&mut state.lock().unwrap_or_else(PoisonError::into_inner).turns);
    }
}

#[derive(Debug, Default)]
struct State {
    turns: Turns,
    /// These fill up by the clock, across turns.
    buckets: HashMap<String, Bucket>,
}

impl Limits {
    /// These limits, of which nothing is used up.
    pub fn new(options: LimitOptions) -> Self {
        Self { options, state: Arc::default() }
    }

    /// Whether nothing is limited at all.
    pub(crate) fn is_off(&self) -> bool {
        self.options.is_off()
    }

    /// Counts a call in, or says which limit stands against it and when that ends.
    pub(crate) fn admit(&self, call: &ToolInvocation, now: Instant) -> Result<Option<WatchedCall>, String> {
        if self.options.is_off() {
            return Ok(None);
        }
        let name = call.tool_name.to_string();
        let mut state = self.state();
        let State { turns, buckets } = &mut *state;
        turns.begin(&call.step.turn_id, |turn| {
            let same = self.options.loop_guard.map(|_| turn.repeats.watch(call));
            self.check_repeats(turn, same, &name)?;
            self.check_counts(turn, &name)?;
            self.take_token(buckets, &name, now)?;
            turn.calls = turn.calls.saturating_add(1);
            if self.options.tools.contains_key(&name) {
                let by_tool = turn.calls_by_tool.entry(name).or_default();
                *by_tool = by_tool.saturating_add(1);
            }
            Ok(same.map(|call| {
                turn.repeats.began(call);
                WatchedCall { call, turn: turn.number(), state: Some(Arc::clone(&self.state)) }
            }))
        })
    }

    /// Hears how a call ended that is watched; `failure` is what went wrong. What the model should be told of it, if
    /// anything.
    pub(crate) fn ended(
        &self,
        mut watched: WatchedCall,
        call: &ToolInvocation,
        failure: Option<&str>,
    ) -> Option<String> {
        let guard = self.options.loop_guard?;
        let count = {
            let mut state = self.state();
            watched.leave(&mut state.turns)?.repeats.ended(watched.call, failure)
        };
        (count >= guard.note_after.get()).then(|| guard.note(&call.tool_name.to_string(), count))
    }

    fn check_repeats(&self, turn: &Turn, same: Option<SameCall>, name: &str) -> Result<(), String> {
        let Some((guard, call)) = self.options.loop_guard.zip(same) else { return Ok(()) };
        let (failed, under_way) = (turn.repeats.count(call), turn.repeats.under_way(call));
        let most = guard.refuse_after.get();
        if failed >= most {
            Err(guard.refusal(name))
        } else if failed.saturating_add(under_way) >= most {
            Err(guard.refusal_for_now(name, failed, under_way))
        } else {
            Ok(())
        }
    }

    fn check_counts(&self, turn: &Turn, name: &str) -> Result<(), String> {
        if let Some(most) = self.options.calls_per_turn.filter(|most| turn.calls >= *most) {
            return Err(format!(
                "not run: this turn has made {most} calls, the most it may; the limit ends with the turn"
            ));
        }
        let called = turn.calls_by_tool.get(name).copied().unwrap_or_default();
        let limit = self.options.tools.get(name).and_then(|limit| limit.calls_per_turn);
        if let Some(most) = limit.filter(|most| called >= *most) {
            return Err(format!(
                "not run: {name} was called {most} times in this turn, as often as it may be; the limit ends with the turn"
            ));
        }
        Ok(())
    }

    fn take_token(
        &self,
        buckets: &mut HashMap<String, Bucket>,
        name: &str,
        now: Instant,
    ) -> Result<(), String> {
        let Some(rate) = self.options.tools.get(name).and_then(|limit| limit.rate) else { return Ok(()) };
        let bucket = buckets.entry(name.to_owned()).or_insert_with(|| Bucket::full(rate, now));
        bucket.take(now).map_err(|wait| {
            let (calls, per, wait) = (rate.calls, rate.per.as_secs_f64(), shown(wait));
            format!(
                "not run: {name} may be called {calls} times in {per} seconds; the next call can be made in {wait} seconds"
            )
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A wait in seconds, to the next tenth: who has waited that long need not wait any more.
fn shown(wait: Duration) -> String {
    const TENTH: u128 = 100_000_000;
    let tenths = wait.as_nanos().div_ceil(TENTH);
    format!("{}.{}", tenths / 10, tenths % 10)
}

#[cfg(test)]
#[path = "limits_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "properties_tests.rs"]
mod properties;
