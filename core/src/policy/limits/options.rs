//! What a host sets.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Duration;

/// How often something may be called. Nothing is limited unless it is set.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LimitOptions {
    /// What becomes of a call that fails again and again.
    pub loop_guard: Option<LoopGuard>,
    /// The most calls of one turn, nested ones counted.
    pub calls_per_turn: Option<u32>,
    /// Limits of single tools, by the name that the model is shown (`exec_command`, `mcp__server.tool`).
    pub tools: BTreeMap<String, ToolLimit>,
}

impl LimitOptions {
    pub(super) fn is_off(&self) -> bool {
        let Self { loop_guard, calls_per_turn, tools } = self;
        loop_guard.is_none() && calls_per_turn.is_none() && tools.is_empty()
    }
}

/// The limits of one tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ToolLimit {
    /// The most calls of one turn.
    pub calls_per_turn: Option<u32>,
    /// How fast it may be called.
    pub rate: Option<Rate>,
}

/// A rate: a bucket that holds `calls` tokens and is filled once in `per`. A call takes one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// How many calls.
    pub calls: NonZeroU32,
    /// In which time; none at all limits nothing.
    pub per: Duration,
}

/// What becomes of the same call that fails in the same way, within one turn. Another failure or a success of it begins
/// a new count. Calls that are being made count as ones that may fail: there are never more of them than may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoopGuard {
    /// After so many failures the model is told, each time.
    pub note_after: NonZeroU32,
    /// After so many, the call is refused for the rest of the turn.
    pub refuse_after: NonZeroU32,
}

impl LoopGuard {
    pub(super) fn note(self, tool: &str, count: u32) -> String {
        let most = self.refuse_after;
        format!(
            "this call of {tool} has failed {count} times in this turn in the same way: change something before it is \
             made again (it is refused after {most} such failures)"
        )
    }

    pub(super) fn refusal(self, tool: &str) -> String {
        let most = self.refuse_after;
        format!(
            "not run: this call of {tool} has failed {most} times in this turn in the same way, as often as it may; \
             the limit ends with the turn, and does not hold for other arguments"
        )
    }

    pub(super) fn refusal_for_now(self, tool: &str, failed: u32, under_way: u32) -> String {
        let most = self.refuse_after;
        format!(
            "not run: this call of {tool} has failed {failed} times in this turn and is being made {under_way} times \
             now, and may fail {most} times in the same way; the limit ends when one of them comes out otherwise"
        )
    }
}
