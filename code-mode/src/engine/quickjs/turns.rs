//! The loop of a script: its jobs, then what comes from outside, until its promise settles.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Instant;

use rquickjs::{Ctx, Promise, Value};

use super::errors;
use super::globals::tools;
use super::memory::out_of_memory_text;
use super::run::halted;
use super::shared::Shared;
use crate::engine::{Outcome, Wake};

/// What a script fails with that nothing can wake (runtime.md C5.7).
const DEAD_WAIT: &str = "the script awaits something that no pending call or timer can settle";

/// Goes on until the script is over. Control comes back here whenever nothing is left to compute.
pub(super) fn go_on<'js>(
    ctx: &Ctx<'js>,
    shared: &Shared<'js>,
    promise: &Promise<'js>,
    wakes: &Receiver<Wake>,
) -> Outcome {
    let turns = Turns { ctx, shared, promise, wakes };
    let mut outcome = turns.run_jobs();
    loop {
        if let Some(outcome) = outcome {
            return outcome;
        }
        shared.watch.turn();
        outcome = turns.next();
    }
}

struct Turns<'a, 'js> {
    ctx: &'a Ctx<'js>,
    shared: &'a Shared<'js>,
    promise: &'a Promise<'js>,
    wakes: &'a Receiver<Wake>,
}

impl Turns<'_, '_> {
    /// One thing that has come from outside, one timer, or the wait for either.
    fn next(&self) -> Option<Outcome> {
        let wake = self.wakes.try_recv().ok();
        let woken = wake.is_some();
        if let Some(outcome) = wake.and_then(|wake| self.take(wake)) {
            return Some(outcome);
        }
        let due = self.shared.timers.borrow_mut().take_due(Instant::now());
        match due {
            Some(callback) => {
                if callback.call::<_, Value<'_>>(()).is_err() {
                    return Some(errors::thrown(self.ctx, self.shared));
                }
                self.run_jobs()
            }
            None if woken => None,
            None => self.wait(),
        }
    }

    /// Waits for a result, a timer or the end.
    fn wait(&self) -> Option<Outcome> {
        let next = self.shared.timers.borrow().next();
        let wake = match next {
            Some(at) => self.wakes.recv_timeout(at.saturating_duration_since(Instant::now())),
            None if self.shared.calls.borrow().is_empty() => return Some(self.dead_wait()),
            None => self.wakes.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match wake {
            Ok(wake) => self.take(wake),
            Err(RecvTimeoutError::Timeout) => None,
            // The script itself holds a sender: this cannot be.
            Err(RecvTimeoutError::Disconnected) => Some(Outcome::Stopped),
        }
    }

    fn take(&self, wake: Wake) -> Option<Outcome> {
        match wake {
            Wake::Stop => Some(Outcome::Stopped),
            Wake::Settled(number, result) => {
                let call = self.shared.calls.borrow_mut().remove(&number);
                if let Some(call) = call {
                    tools::settle(self.ctx, self.shared, &call, result);
                }
                self.run_jobs()
            }
        }
    }

    /// Runs jobs until none is left. The outcome, where the script is over then.
    fn run_jobs(&self) -> Option<Outcome> {
        while self.shared.watch.halt().is_none() && self.ctx.execute_pending_job() {}
        self.outcome()
    }

    fn outcome(&self) -> Option<Outcome> {
        if let Some(halt) = self.shared.watch.halt() {
            return Some(halted(halt, self.shared));
        }
        match self.promise.result::<Value<'_>>()? {
            Ok(_) => Some(Outcome::Completed),
            Err(_) => Some(errors::thrown(self.ctx, self.shared)),
        }
    }

    /// Nothing is left that could settle what the script awaits: a fault of the script's, unless the engine had no
    /// room to tell it.
    fn dead_wait(&self) -> Outcome {
        let text = if self.shared.memory_was_full(self.ctx) {
            out_of_memory_text(self.shared.script.limits.memory_bytes)
        } else {
            DEAD_WAIT.to_owned()
        };
        Outcome::Failed(text)
    }
}
