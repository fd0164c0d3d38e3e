//! The same call with the same failure.

use std::collections::VecDeque;
use std::hash::{BuildHasher, Hash, Hasher, RandomState};

use tenon_tools::ToolInvocation;

/// Failing calls of one turn that are told apart. Beyond, the one that has not failed for the longest time is
/// forgotten.
const MAX_WATCHED: usize = 64;

/// A call by what it is called with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WatchedCall(u64);

/// How often which call has failed in a row, the newest last.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    hasher: RandomState,
    failing: VecDeque<Failing>,
}

#[derive(Debug)]
struct Failing {
    call: WatchedCall,
    failure: u64,
    count: u32,
}

impl Repeats {
    /// The call as it is known here.
    pub(super) fn watch(&self, call: &ToolInvocation) -> WatchedCall {
        let mut hasher = self.hasher.build_hasher();
        call.tool_name.to_string().hash(&mut hasher);
        call.payload.log_payload().hash(&mut hasher);
        WatchedCall(hasher.finish())
    }

    /// How often a call has failed in the same way up to now.
    pub(super) fn count(&self, call: WatchedCall) -> u32 {
        self.failing.iter().find(|failing| failing.call == call).map_or(0, |failing| failing.count)
    }

    /// A new turn begins.
    pub(super) fn forget(&mut self) {
        self.failing.clear();
    }

    /// A call ended; how often it has now failed in this way.
    pub(super) fn ended(&mut self, call: WatchedCall, failure: Option<&str>) -> u32 {
        let before = self.failing.iter().position(|failing| failing.call == call);
        let before = before.and_then(|place| self.failing.remove(place));
        let Some(failure) = failure else { return 0 };
        let failure = self.hasher.hash_one(failure);
        let again = before.filter(|before| before.failure == failure);
        let count = again.map_or(0, |before| before.count).saturating_add(1);
        if self.failing.len() >= MAX_WATCHED {
            self.failing.pop_front();
        }
        self.failing.push_back(Failing { call, failure, count });
        count
    }
}

#[cfg(test)]
#[path = "repeats_tests.rs"]
mod tests;
