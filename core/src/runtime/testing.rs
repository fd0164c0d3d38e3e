//! What the tests of this folder share.

use std::sync::Arc;

use tenon_tools::{Host, SharedTurnDiff, StepContext, ToolExecutor};
use tokio_util::sync::CancellationToken;

use super::{CallNumbers, Gate, ToolCallRuntime};
use crate::dispatch::{Approvals, DispatchEnvironment, NoJournal};
use crate::hooks::HookChain;
use crate::policy::{AllowAll, Limits};
use crate::registry::ToolRegistry;

/// Runs calls of one tool: no hooks, no limits, nothing written down.
pub(super) fn runtime_of(tool: Arc<dyn ToolExecutor>, host: Host) -> ToolCallRuntime {
    let env = DispatchEnvironment {
        registry: Arc::new(ToolRegistry::new([tool]).unwrap()),
        step: Arc::new(StepContext::default()),
        hooks: HookChain::default(),
        policy: Arc::new(AllowAll),
        approvals: Approvals::default(),
        limits: Arc::new(Limits::default()),
        journal: Arc::new(NoJournal),
        observers: Arc::new([]),
        host,
        tracker: SharedTurnDiff::default(),
        interrupt: CancellationToken::new(),
        mark_external_context: false,
    };
    ToolCallRuntime::new(Arc::new(env), Gate::default(), Arc::new(CallNumbers::default()))
}
