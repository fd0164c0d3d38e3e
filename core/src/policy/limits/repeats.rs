//! The same call with the same failure.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, Hash, Hasher, RandomState};

use tenon_tools::ToolInvocation;

/// Failing calls of one turn that are told apart. Beyond, the one that has not failed for the longest time is
/// forgotten.
const MAX_WATCHED: usize = 64;

/// A call by what it is called with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct SameCall(u64);

/// How often which call has failed in a row, the newest last.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    hasher: RandomState,
    failing: VecDeque<Failing>,
    /// Calls that have begun and not ended, each of which may fail as well.
    under_way: HashMap<SameCall, u32>,
}

#[derive(Debug)]
struct Failing {
    call: SameCall,
    failure: u64,
    count: u32,
}

impl Repeats {
    /// The call as it is known here.
    pub(super) fn watch(&self, call: &ToolInvocation) -> SameCall {
        let mut hasher = self.hasher.build_hasher();
        call.tool_name.to_string().hash(&mut hasher);
        call.payload.log_payload().hash(&mut hasher);
        SameCall(hasher.finish())
    }

    /// How often a call has failed in the same way up to now.
    pub(super) fn count(&self, call: SameCall) -> u32 {
        self.failing.iter().find(|failing| failing.call == call).map_or(0, |failing| failing.count)
    }

    /// How often a call is being made now.
    pub(super) fn under_way(&self, call: SameCall) -> u32 {
        self.under_way.get(&call).copied().unwrap_or_default()
    }

    /// A call begins.
    pub(super) fn began(&mut self, call: SameCall) {
        let count = self.under_way.entry(call).or_default();
        *count = count.saturating_add(1);
    }

    /// A call that began is made no longer.
    pub(super) fn left(&mut self, call: SameCall) {
        match self.under_way.get_mut(&call) {
            Some(count) if *count > 1 => *count -= 1,
            Some(_) | None => drop(self.under_way.remove(&call)),
        }
    }

    /// A call ended; how often it has now failed in this way.
    pub(super) fn ended(&mut self, call: SameCall, failure: Option<&str>) -> u32 {
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
