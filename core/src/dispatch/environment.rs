//! What all calls of a step share.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tenon_protocol::{CallId, ToolName};
use tenon_tools::{Event, Host, LifecycleOutcome, SharedTurnDiff, StepContext};

use super::{Approvals, CallJournal};
use crate::hooks::HookChain;
use crate::policy::{Limits, Policy};
use crate::registry::ToolRegistry;

/// Hears how calls end, once for each.
pub trait LifecycleObserver: Send + Sync {
    /// A call ended.
    fn call_ended(&self, call_id: &CallId, tool_name: &ToolName, outcome: LifecycleOutcome);
}

/// What all calls of a step share.
#[derive(Clone)]
pub struct DispatchEnvironment {
    /// The tools of the step.
    pub registry: Arc<ToolRegistry>,
    /// The step.
    pub step: Arc<StepContext>,
    /// Who hears of calls before and after.
    pub hooks: HookChain,
    /// Who decides on prepared calls.
    pub policy: Arc<dyn Policy>,
    /// How long answers are waited for, and which reach further than their call.
    pub approvals: Approvals,
    /// How often something may be called; the session's.
    pub limits: Arc<Limits>,
    /// Where calls are written down.
    pub journal: Arc<dyn CallJournal>,
    /// Who hears of ends.
    pub observers: Arc<[Arc<dyn LifecycleObserver>]>,
    /// What handlers may do.
    pub host: Host,
    /// What the turn's patches changed.
    pub tracker: SharedTurnDiff,
    /// Ends the turn that the calls belong to.
    pub interrupt: tokio_util::sync::CancellationToken,
    /// Whether an output from outside marks the thread (configuration `memories.disable_on_external_context`).
    pub mark_external_context: bool,
}

impl fmt::Debug for DispatchEnvironment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DispatchEnvironment")
            .field("registry", &self.registry)
            .field("step", &self.step)
            .field("hooks", &self.hooks)
            .finish_non_exhaustive()
    }
}

impl DispatchEnvironment {
    /// The time, as rollout lines write it.
    pub(crate) fn timestamp(&self) -> String {
        crate::rollout::timestamp(self.host.clock.wall())
    }

    /// How long ago that was.
    pub(crate) fn since(&self, then: Instant) -> Duration {
        self.host.clock.now().saturating_duration_since(then)
    }

    /// Tells everybody how a call ended.
    pub(crate) fn ended(&self, call_id: &CallId, tool_name: &ToolName, outcome: LifecycleOutcome) {
        for observer in self.observers.iter() {
            observer.call_ended(call_id, tool_name, outcome);
        }
        self.host.events.emit(Event::CallEnded {
            call_id: call_id.clone(),
            tool_name: tool_name.clone(),
            outcome,
        });
    }
}
