//! `[limits]` of `config.toml`.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Duration;

use serde::Deserialize;
use tenon_core::policy::{LimitOptions, LoopGuard, Rate, ToolLimit};
use toml::Table;

use super::values::AtLeastOne;

/// `[limits]`.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct LimitsFile {
    loop_guard: Option<LoopGuardFile>,
    calls_per_turn: Option<u32>,
    #[serde(default)]
    pub(super) tools: BTreeMap<String, ToolLimitFile>,
    #[serde(flatten)]
    pub(super) unknown: Table,
}

/// `[limits.loop_guard]`. Either alone would be half a guard.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct LoopGuardFile {
    note_after: NonZeroU32,
    refuse_after: NonZeroU32,
}

/// `[limits.tools.NAME]`.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct ToolLimitFile {
    calls_per_turn: Option<u32>,
    rate: Option<RateFile>,
    #[serde(flatten)]
    pub(super) unknown: Table,
}

/// `rate = { calls = 10, per_sec = 60 }`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct RateFile {
    calls: NonZeroU32,
    per_sec: AtLeastOne,
}

impl From<LimitsFile> for LimitOptions {
    fn from(file: LimitsFile) -> Self {
        let LimitsFile { loop_guard, calls_per_turn, tools, unknown: _ } = file;
        let tools = tools.into_iter().map(|(name, tool)| (name, tool.into()));
        Self { loop_guard: loop_guard.map(Into::into), calls_per_turn, tools: tools.collect() }
    }
}

impl From<LoopGuardFile> for LoopGuard {
    fn from(file: LoopGuardFile) -> Self {
        let LoopGuardFile { note_after, refuse_after } = file;
        Self { note_after, refuse_after }
    }
}

impl From<ToolLimitFile> for ToolLimit {
    fn from(file: ToolLimitFile) -> Self {
        let ToolLimitFile { calls_per_turn, rate, unknown: _ } = file;
        Self { calls_per_turn, rate: rate.map(Into::into) }
    }
}

impl From<RateFile> for Rate {
    fn from(file: RateFile) -> Self {
        let RateFile { calls, per_sec } = file;
        Self { calls, per: Duration::from_secs(per_sec.0) }
    }
}
