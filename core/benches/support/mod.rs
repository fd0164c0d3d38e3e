//! The tool whose calls are measured, and what its calls share.
#![allow(unreachable_pub, reason = "a module of a benchmark is its own")]

use std::sync::Arc;

use async_trait::async_trait;
use tenon_core::dispatch::{Approvals, NoJournal};
use tenon_core::hooks::HookChain;
use tenon_core::policy::Limits;
use tenon_core::{AllowAll, CallNumbers, DispatchEnvironment, Gate, ToolCallRuntime, ToolRegistry};
use tenon_protocol::ToolName;
use tenon_tools::{
    Effects, FunctionCallError, FunctionToolOutput, Host, JsonSchema, PreparedCall, SharedTurnDiff,
    StepContext, ToolExecutor, ToolInvocation, ToolOutput, ToolSpec,
};
use tokio_util::sync::CancellationToken;

struct Noop {
    name: ToolName,
    effects: Effects,
}

/// A tool called `noop` that says that it would do this, and does nothing.
fn noop(effects: Effects) -> Arc<dyn ToolExecutor> {
    Arc::new(Noop { name: ToolName::plain("noop"), effects })
}

/// What its calls share: no hooks, no limits, nothing written down.
pub fn environment(effects: Effects) -> DispatchEnvironment {
    DispatchEnvironment {
        registry: Arc::new(ToolRegistry::new([noop(effects)]).unwrap()),
        step: Arc::new(StepContext::default()),
        hooks: HookChain::default(),
        policy: Arc::new(AllowAll),
        approvals: Approvals::default(),
        limits: Arc::new(Limits::default()),
        journal: Arc::new(NoJournal),
        observers: Arc::new([]),
        host: Host::detached(),
        tracker: SharedTurnDiff::default(),
        interrupt: CancellationToken::new(),
        mark_external_context: false,
    }
}

/// Runs them.
pub fn runtime(environment: DispatchEnvironment) -> ToolCallRuntime {
    ToolCallRuntime::new(Arc::new(environment), Gate::default(), Arc::new(CallNumbers::default()))
}

/// What a call of it comes to.
pub fn output() -> Box<dyn ToolOutput> {
    Box::new(FunctionToolOutput::from_text("ok", Some(true)))
}

#[async_trait]
impl ToolExecutor for Noop {
    fn name(&self) -> &ToolName {
        &self.name
    }

    fn spec(&self) -> ToolSpec {
        ToolSpec::function(self.name.name(), "Does nothing.", JsonSchema::object([], &[]))
    }

    fn parallel(&self) -> bool {
        true
    }

    async fn prepare(&self, _: &ToolInvocation) -> Result<Box<dyn PreparedCall>, FunctionCallError> {
        Ok(Box::new(Prepared(self.effects.clone())))
    }
}

struct Prepared(Effects);

#[async_trait]
impl PreparedCall for Prepared {
    fn effects(&self) -> &Effects {
        &self.0
    }

    async fn run(self: Box<Self>, _: &ToolInvocation) -> Result<Box<dyn ToolOutput>, FunctionCallError> {
        Ok(output())
    }
}
