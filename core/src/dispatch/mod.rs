//! The stages that every call passes, direct or nested, one file each.
//!
//! ```text
//! 1 lookup     unknown: the model is answered
//! 2 lookup     payload of the wrong kind: Fatal
//! 3 pre        PreToolUse hooks: block, rewrite, context
//! 4 prepare    the tool parses and verifies; nothing has happened yet
//! 5 approve    policy, then whoever approves, on the facts of 4
//! 6 journal    "started", durable before the first side effect
//! 7 run        the tool does it
//! 8 post       PostToolUse hooks: feedback for the model's view alone; another output from an extended hook
//! ```
//!
//! Nothing that can refuse runs after the first side effect. A panic is caught in here, so that every observer still
//! hears of the end. Order and texts: core.md 5.1.

mod approve;
mod call_events;
mod environment;
mod held;
mod identity;
mod journal;
mod lookup;
mod outcome;
mod post;
mod pre;
mod run;
mod terminal;

use std::borrow::Cow;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use serde_json::Value;
use tenon_tools::{
    FunctionCallError, Host, LifecycleOutcome, ToolCall, ToolCallSource, ToolExecutor, ToolInvocation,
    ToolOutput,
};
use tokio_util::sync::CancellationToken;

pub(crate) use call_events::{CallEvents, Shown};
pub use environment::{DispatchEnvironment, LifecycleObserver};
pub(crate) use identity::Identity;
pub use journal::{CallJournal, JournalError, NoJournal};
pub use outcome::{AnyToolResult, CallEnd};
pub(crate) use run::panic_text;
pub(crate) use terminal::Terminal;

/// One call on its way through the stages.
pub(crate) struct Dispatch<'a> {
    env: &'a DispatchEnvironment,
    tool: Arc<dyn ToolExecutor>,
    call: ToolInvocation,
    /// What the call is counted as among calls of its id and kind (core.md 0.2).
    occurrence: u32,
    events: &'a Arc<CallEvents>,
    terminal: &'a Terminal,
    /// What hooks have to tell the model, in order.
    contexts: Vec<String>,
    /// What the model had asked for, where a hook has rewritten it.
    original_input: Option<Value>,
    /// Whether PostToolUse hooks have been asked.
    looked_at: bool,
}

/// A call that is to be dispatched.
pub(crate) struct Order {
    /// The call, its name normalised.
    pub(crate) call: ToolCall,
    /// Whose it is; none where the name is nobody's.
    pub(crate) tool: Option<Arc<dyn ToolExecutor>>,
    pub(crate) source: ToolCallSource,
    pub(crate) cancellation: CancellationToken,
}

/// How a call was stopped on its way.
pub(crate) enum Stopped {
    /// A hook, a policy or a person said no.
    Refused(String),
    /// It failed.
    Failed(FunctionCallError),
}

impl From<FunctionCallError> for Stopped {
    fn from(error: FunctionCallError) -> Self {
        Self::Failed(error)
    }
}

/// Takes a call through all stages. What comes back is never missing: a failure, a refusal and a panic are ends too.
pub(crate) async fn dispatch(
    env: &DispatchEnvironment,
    mut order: Order,
    events: &Arc<CallEvents>,
    terminal: &Terminal,
) -> CallEnd {
    let tool = match lookup::find(&mut order) {
        Ok(tool) => tool,
        Err(error) => return lookup::not_dispatched(events, order, error),
    };
    let mut dispatch = Dispatch::new(env, tool, order, events, terminal);
    let result = match AssertUnwindSafe(dispatch.stages()).catch_unwind().await {
        Ok(result) => result,
        Err(panic) => {
            let stopped = run::panicked(&mut dispatch, panic.as_ref());
            drop(panic);
            Box::pin(dispatch.after_panic(stopped)).await
        }
    };
    dispatch.end(result)
}

impl<'a> Dispatch<'a> {
    fn new(
        env: &'a DispatchEnvironment,
        tool: Arc<dyn ToolExecutor>,
        order: Order,
        events: &'a Arc<CallEvents>,
        terminal: &'a Terminal,
    ) -> Self {
        let Order { call, tool: _, source, cancellation } = order;
        let occurrence = events.identity().occurrence;
        let progress = env.journal.progress(&call.call_id, occurrence);
        let host = Host {
            events: Arc::clone(events) as _,
            progress: progress.unwrap_or_else(|| Arc::clone(&env.host.progress)),
            services: Arc::clone(&env.host.services),
        };
        let call = ToolInvocation {
            call_id: call.call_id,
            tool_name: call.tool_name,
            payload: call.payload,
            source,
            step: Arc::clone(&env.step),
            cancellation,
            tracker: env.tracker.clone(),
            host,
        };
        let (contexts, original_input, looked_at) = (Vec::new(), None, false);
        Self { env, tool, call, occurrence, events, terminal, contexts, original_input, looked_at }
    }

    /// The list of stages.
    async fn stages(&mut self) -> Result<AnyToolResult, Stopped> {
        let ran = self.stages_up_to_run().await;
        self.after_hooks(ran).await
    }

    async fn stages_up_to_run(&mut self) -> Result<Box<dyn ToolOutput>, Stopped> {
        #[cfg(not(tenon_without_hook_stages))]
        self.before_hooks().await?;
        let prepared = self.tool.prepare(&self.call).await?;
        self.approve(prepared.as_ref()).await?;
        self.journal_started(prepared.as_ref()).await?;
        self.run(prepared).await
    }

    /// The end of a call that panicked. Who hears of failures hears of this one, unless they have been asked already.
    async fn after_panic(&mut self, stopped: Stopped) -> Result<AnyToolResult, Stopped> {
        if self.looked_at {
            return Err(stopped);
        }
        let looked = AssertUnwindSafe(self.after_hooks(Err(stopped))).catch_unwind().await;
        looked.unwrap_or_else(|panic| Err(run::panicked(self, panic.as_ref())))
    }

    /// The end of the call, told to everybody exactly once.
    fn end(self, result: Result<AnyToolResult, Stopped>) -> CallEnd {
        let outcome = self.outcome(&result);
        let result = result.map_err(|stopped| match stopped {
            Stopped::Refused(text) => FunctionCallError::RespondToModel(text),
            Stopped::Failed(error) => error,
        });
        self.finish_item(&result, outcome);
        let Self { env, call, occurrence, contexts, .. } = self;
        env.ended(&call.call_id, &call.tool_name, outcome);
        CallEnd::new(call.call_id, &call.payload, occurrence, outcome, result, contexts)
    }

    fn outcome(&self, result: &Result<AnyToolResult, Stopped>) -> LifecycleOutcome {
        match result {
            Ok(result) => {
                let success = result.output.success_for_logging();
                // A tool that waits for its own teardown says so by an output that is no success.
                let torn_down =
                    !success && self.call.cancellation.is_cancelled() && self.tool.waits_for_cancellation();
                if torn_down { LifecycleOutcome::Aborted } else { LifecycleOutcome::Completed { success } }
            }
            Err(Stopped::Refused(_)) => LifecycleOutcome::Blocked,
            Err(Stopped::Failed(_)) => {
                LifecycleOutcome::Failed { handler_executed: self.terminal.handler_ran() }
            }
        }
    }

    fn finish_item(&self, result: &Result<AnyToolResult, FunctionCallError>, outcome: LifecycleOutcome) {
        let shown = match result {
            Ok(result) => Cow::Owned(result.output.log_preview()),
            Err(error) => Cow::Borrowed(error.text()),
        };
        self.events.finish(&shown, outcome);
    }
}
