//! The stages that every call passes, direct or nested, one file each.
//!
//! ```text
//! 1 lookup     unknown: the model is answered
//! 2 lookup     payload of the wrong kind: Fatal
//!   limits     how often it may be called at all
//! 3 pre        PreToolUse hooks: block, rewrite, context
//! 4 prepare    the tool parses and verifies; nothing has happened yet
//! 5 approve    policy, then whoever approves, on the facts of 4
//! 6 journal    "started", durable before the first side effect
//! 7 run        the tool does it
//!   retry      what the sandbox has stopped, somebody may have run again without it
//! 8 post       PostToolUse hooks: feedback for the model's view alone; another output from an extended hook
//! ```
//!
//! Nothing that can refuse runs after the first side effect. A panic is caught in here, so that every observer still
//! hears of the end. Order and texts: core.md 5.1.

mod approvals;
mod approve;
mod bound;
mod call_events;
mod environment;
mod held;
mod identity;
mod inquiry;
mod journal;
mod limits;
mod lookup;
mod outcome;
mod post;
mod pre;
mod retry;
mod run;
mod terminal;
mod told;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use serde_json::Value;
use tenon_tools::{
    FunctionCallError, LifecycleOutcome, ToolExecutor, ToolInvocation, ToolOutput, telemetry_preview,
};

pub use approvals::Approvals;
pub(crate) use call_events::{CallEvents, Shown};
pub use environment::{DispatchEnvironment, LifecycleObserver};
pub(crate) use identity::Identity;
pub use journal::{CallJournal, JournalError, NoJournal};
pub use outcome::{AnyToolResult, CallEnd};
pub(crate) use run::panic_text;
pub(crate) use terminal::Terminal;
pub(crate) use told::Told;

use crate::policy::WatchedCall;

/// A call that was handed over.
pub(crate) enum Found {
    /// A tool takes it.
    Tool(Dispatch),
    /// Nobody does.
    Nobody {
        env: Arc<DispatchEnvironment>,
        call: ToolInvocation,
        events: Arc<CallEvents>,
        error: FunctionCallError,
    },
}

/// One call on its way through the stages.
pub(crate) struct Dispatch {
    env: Arc<DispatchEnvironment>,
    tool: Arc<dyn ToolExecutor>,
    call: ToolInvocation,
    events: Arc<CallEvents>,
    /// What hooks have to tell the model, in order.
    contexts: Vec<String>,
    /// The call as a loop guard knows it, once it was let in.
    watched: Option<Box<WatchedCall>>,
    /// Why a hook wants somebody asked.
    ask: Option<String>,
    /// What the model had asked for, where a hook has rewritten it.
    original_input: Option<Box<Value>>,
    /// Whether PostToolUse hooks have been asked.
    looked_at: bool,
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

impl Found {
    /// A call of the tool that was found by its name, if one was.
    pub(crate) fn new(
        env: Arc<DispatchEnvironment>,
        tool: Option<Arc<dyn ToolExecutor>>,
        call: ToolInvocation,
        events: Arc<CallEvents>,
    ) -> Self {
        match lookup::check(tool, &call) {
            Ok(tool) => {
                let (contexts, original_input, looked_at) = (Vec::new(), None, false);
                let (watched, ask) = (None, None);
                Self::Tool(Dispatch {
                    env,
                    tool,
                    call,
                    events,
                    contexts,
                    watched,
                    ask,
                    original_input,
                    looked_at,
                })
            }
            Err(error) => Self::Nobody { env, call, events, error },
        }
    }

    pub(crate) fn env(&self) -> &DispatchEnvironment {
        match self {
            Self::Tool(Dispatch { env, .. }) | Self::Nobody { env, .. } => env,
        }
    }

    pub(crate) fn call(&self) -> &ToolInvocation {
        match self {
            Self::Tool(Dispatch { call, .. }) | Self::Nobody { call, .. } => call,
        }
    }

    /// The tool that takes the call, if one does.
    pub(crate) fn tool(&self) -> Option<&dyn ToolExecutor> {
        match self {
            Self::Tool(Dispatch { tool, .. }) => Some(tool.as_ref()),
            Self::Nobody { .. } => None,
        }
    }

    /// Whether a tool of the call's name may come, or has come meanwhile.
    pub(crate) fn may_come(&self) -> bool {
        self.env().registry.may_come()
    }

    /// Waits for whatever could still bring a tool of the call's name.
    pub(crate) async fn look_again(&mut self) {
        let Self::Nobody { env, call, events, .. } = self else { return };
        if let Some(tool) = env.registry.arrival(&call.tool_name).await {
            *self = Self::new(Arc::clone(env), Some(tool), call.clone(), Arc::clone(events));
        }
    }

    /// Takes the call to its end. There is always one: a failure, a refusal and a panic are ends too.
    pub(crate) async fn dispatch(&mut self) -> Box<CallEnd> {
        match self {
            Self::Tool(dispatch) => dispatch.run_stages().await,
            Self::Nobody { events, error, .. } => Box::new(lookup::not_dispatched(events, error.clone())),
        }
    }
}

impl Dispatch {
    /// The end is boxed, since it is moved several times on its way out.
    async fn run_stages(&mut self) -> Box<CallEnd> {
        let caught = AssertUnwindSafe(self.stages()).catch_unwind().await;
        // Not taken apart around a wait: every call would carry the room for it.
        let has_panicked = caught.is_err();
        let mut result = caught.unwrap_or_else(|panic| Err(run::panicked(self, panic.as_ref())));
        if has_panicked && !self.looked_at {
            result = Box::pin(self.after_panic(result)).await;
        }
        self.end(result)
    }

    /// The list of stages.
    async fn stages(&mut self) -> Result<AnyToolResult, Stopped> {
        let ran = self.stages_up_to_run().await;
        self.watch_repeats(&ran);
        self.after_hooks(ran).await
    }

    async fn stages_up_to_run(&mut self) -> Result<Box<dyn ToolOutput>, Stopped> {
        self.within_limits()?;
        #[cfg(not(tenon_without_hook_stages))]
        self.before_hooks().await?;
        let prepared = self.tool.prepare(&self.call).await?;
        let prepared = self.approve(prepared).await?;
        self.offer_retry(prepared.effects()).await;
        self.journal_started(prepared.as_ref()).await?;
        self.run(prepared).await
    }

    /// The end of a call that panicked before hooks were asked about it: who hears of failures hears of this one.
    async fn after_panic(
        &mut self,
        result: Result<AnyToolResult, Stopped>,
    ) -> Result<AnyToolResult, Stopped> {
        let ran = result.map(|result| result.output);
        let looked = AssertUnwindSafe(self.after_hooks(ran)).catch_unwind().await;
        looked.unwrap_or_else(|panic| Err(run::panicked(self, panic.as_ref())))
    }

    /// The end of the call, told to everybody exactly once.
    fn end(&mut self, result: Result<AnyToolResult, Stopped>) -> Box<CallEnd> {
        let outcome = self.outcome(&result);
        let result = result.map_err(|stopped| match stopped {
            Stopped::Refused(text) => FunctionCallError::RespondToModel(text),
            Stopped::Failed(error) => error,
        });
        self.finish_item(&result, outcome);
        let ToolInvocation { call_id, tool_name, payload, .. } = &self.call;
        self.env.ended(call_id, tool_name, outcome);
        let (occurrence, contexts) = (self.events.identity().occurrence, std::mem::take(&mut self.contexts));
        Box::new(CallEnd::new(call_id.clone(), payload, occurrence, outcome, result, contexts))
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
                LifecycleOutcome::Failed { handler_executed: self.events.terminal().handler_ran() }
            }
        }
    }

    fn finish_item(&self, result: &Result<AnyToolResult, FunctionCallError>, outcome: LifecycleOutcome) {
        self.events.finish(outcome, || match result {
            Ok(result) => result.output.log_preview(),
            Err(error) => telemetry_preview(error.text()),
        });
    }
}
