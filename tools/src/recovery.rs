//! What becomes of calls that a runtime had started and did not live to end, when their session goes on.

use std::path::PathBuf;

use serde_json::Value;
use tenon_protocol::CallFact;

use crate::ToolCall;

/// What may be done about a call of a tool that was cut off: it had started, and nobody knows how far it came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Recovery {
    /// Nothing. The model is told what is known.
    #[default]
    Tell,
    /// It may be run again: what it does twice is as if it were done once.
    RunAgain,
    /// The tool is asked for the outcome, by [`ToolExecutor::outcome_of`](crate::ToolExecutor::outcome_of).
    Check,
}

/// A call that was cut off, with what its journal knows.
#[derive(Debug, Clone, PartialEq)]
pub struct CutOffCall {
    /// The call as the model made it. Where a hook had rewritten its arguments, `effects` tells of what was run.
    pub call: ToolCall,
    /// Which call of its id and kind it is, from 0.
    pub occurrence: u32,
    /// When it started: UTC, milliseconds, `Z`. Absent where the line that says so is lost.
    pub started_at: Option<String>,
    /// What it was about to do, as the journal has it: [`Effects`](crate::Effects) as JSON.
    pub effects: Value,
    /// What it had told, in order.
    pub facts: Vec<CallFact>,
}

/// What calls left behind that another runtime had started and did not live to end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LeftBehind {
    /// The session that they belong to.
    pub session_id: String,
    /// The files that calls were to write which were cut off, whoever was called: one tool may have taken over what
    /// another was asked to run.
    pub written: Vec<PathBuf>,
    /// The processes that calls had started, of calls that had ended too: a command may outlive its call.
    pub processes: Vec<LeftProcess>,
}

/// A process that a call had started, and that may be another's by now: a number comes round again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftProcess {
    /// Its number, which was that of its session too.
    pub pid: u32,
    /// The number of its group.
    pub group: u32,
    /// When it started, in clock ticks after the machine's start; 0 when unknown.
    pub started_at: u64,
    /// Between which starts of the machine that was; none when unknown.
    pub boot_id: Option<String>,
}
