//! What happens, for whoever watches.

use std::path::PathBuf;

use tenon_protocol::{CallId, TokenUsage, ToolName, TurnItem, UpdatePlanArgs};

use crate::HookRunSummary;

/// How a dispatched call ended: exactly one for each (core.md 5.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LifecycleOutcome {
    /// A hook, a policy or a person refused it before it ran.
    Blocked,
    /// It ran to its end.
    Completed {
        /// What its output says of itself for the log.
        success: bool,
    },
    /// It failed, or panicked.
    Failed {
        /// Whether its handler had begun to run.
        handler_executed: bool,
    },
    /// It was cancelled.
    Aborted,
}

/// Why a turn was aborted (core.md 1.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AbortReason {
    /// The user asked for it.
    Interrupted,
    /// Another turn took its place.
    Replaced,
    /// A budget ran out.
    BudgetLimited,
}

/// How an MCP server stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum McpServerState {
    /// It is being started, for the first time or again.
    Starting,
    /// It is connected.
    Ready {
        /// How many tools it offers.
        tools: usize,
    },
    /// It did not start.
    Failed {
        /// Why: for people, not for the model.
        message: String,
    },
    /// It was connected and has gone. The next call starts it again.
    Died {
        /// How it ended, with its last words: for people, not for the model.
        message: String,
    },
    /// It was ended with the session.
    Closed,
}

/// One event of a session. Text in it is for people and programs, never for the model.
#[derive(Debug, Clone)]
pub enum Event {
    /// The session has an id and a file.
    SessionStarted {
        /// The session's id.
        session_id: String,
        /// Its rollout, where there is one.
        rollout_path: Option<PathBuf>,
    },
    /// A turn began.
    TurnStarted {
        /// Its id.
        turn_id: String,
    },
    /// A turn reached its end.
    TurnCompleted {
        /// Its id.
        turn_id: String,
        /// What the session has used so far.
        usage: TokenUsage,
        /// The last message of the model's, if there was one.
        last_message: Option<String>,
    },
    /// A turn failed.
    TurnFailed {
        /// Its id.
        turn_id: String,
        /// Why.
        message: String,
    },
    /// A turn was cancelled.
    TurnAborted {
        /// Its id.
        turn_id: String,
        /// Why.
        reason: AbortReason,
        /// The calls that were cut short.
        aborted_calls: Vec<CallId>,
    },
    /// An item is there and in progress.
    ItemStarted(TurnItem),
    /// An item changed.
    ItemUpdated(TurnItem),
    /// An item is done.
    ItemCompleted(TurnItem),
    /// The model's plan, as it now stands.
    PlanUpdated {
        /// The call that changed it.
        call_id: CallId,
        /// The whole plan.
        plan: UpdatePlanArgs,
    },
    /// A piece of a message that is still being written.
    AgentMessageDelta {
        /// The message's item.
        item_id: Option<String>,
        /// The piece.
        delta: String,
    },
    /// A piece of the model's reasoning.
    ReasoningDelta {
        /// The item it belongs to.
        item_id: Option<String>,
        /// The piece.
        delta: String,
    },
    /// A piece of a command's output.
    ExecOutputDelta {
        /// The exec_command call.
        call_id: CallId,
        /// The bytes, as they came.
        chunk: Vec<u8>,
    },
    /// A session was written to or polled.
    TerminalInteraction {
        /// The exec_command call that started it.
        call_id: CallId,
        /// The session.
        process_id: i32,
        /// What was written.
        stdin: String,
    },
    /// A background session ended on its own.
    BackgroundExit {
        /// The exec_command call that started it.
        call_id: CallId,
        /// The session.
        process_id: i32,
        /// How it ended.
        exit_code: i32,
    },
    /// A patch that is still being written, as far as it can be read.
    PatchProgress {
        /// The call.
        call_id: CallId,
        /// For each path as the patch spells it, what would become of it.
        changes: Vec<(String, String)>,
    },
    /// An image was shown to the model.
    ImageViewed {
        /// The call.
        call_id: CallId,
        /// The file.
        path: PathBuf,
    },
    /// What the turn's patches changed so far, as a unified diff.
    TurnDiff {
        /// Empty where the changes cancel out.
        unified_diff: String,
    },
    /// An output carries text from outside this machine (core.md 5.7).
    ExternalContext {
        /// The call.
        call_id: CallId,
        /// Its tool.
        tool_name: ToolName,
        /// `tool_output`, `mcp_tool_call` or `record_completed_response_item`.
        reason: &'static str,
    },
    /// A dispatched call ended. Exactly one for each.
    CallEnded {
        /// The call.
        call_id: CallId,
        /// Its tool.
        tool_name: ToolName,
        /// How.
        outcome: LifecycleOutcome,
    },
    /// A hook is asked. All that are asked of one thing are told before the first of them runs.
    HookStarted {
        /// The turn; none before the first.
        turn_id: Option<String>,
        /// The run.
        run: HookRunSummary,
    },
    /// A hook has answered, or cannot any more. Those that were asked of one thing are told in their order.
    HookCompleted {
        /// The turn; none before the first.
        turn_id: Option<String>,
        /// The run.
        run: HookRunSummary,
    },
    /// A request to the model is tried again.
    Retrying {
        /// Which try comes next.
        attempt: u32,
        /// How many there may be.
        max: u32,
        /// What went wrong.
        message: String,
    },
    /// An MCP server stands differently from before.
    McpServer {
        /// Its configured name.
        server: String,
        /// How it stands now.
        state: McpServerState,
    },
    /// Something the operator should know. It does not end the turn.
    Warning {
        /// What.
        message: String,
    },
}
