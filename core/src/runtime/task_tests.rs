use tenon_protocol::{CallId, ToolName};
use tenon_tools::{FnTool, NoArguments, SharedTurnDiff, StepContext, ToolPayload};

use super::*;
use crate::dispatch::{Approvals, NoJournal};
use crate::hooks::HookChain;
use crate::policy::{AllowAll, Limits};
use crate::registry::ToolRegistry;
use crate::runtime::{CallNumbers, Gate, ToolCallRuntime};

/// How large a call may be on its way, in bytes. Up to here a thread keeps memory that was given back for the next one;
/// what is larger is taken from, and given back to, memory that all threads share.
const MAX_TASK_BYTES: usize = 1000;

fn runtime() -> ToolCallRuntime {
    let tool = FnTool::new("tool", "", |_: NoArguments, _: ToolInvocation| async { Ok::<_, String>("done") });
    let env = DispatchEnvironment {
        registry: Arc::new(ToolRegistry::new([Arc::new(tool) as Arc<dyn ToolExecutor>]).unwrap()),
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
    };
    ToolCallRuntime::new(Arc::new(env), Gate::default(), Arc::new(CallNumbers::default()))
}

#[test]
fn a_call_on_its_way_is_small() {
    let call = ToolCall {
        tool_name: ToolName::plain("tool"),
        call_id: CallId::from("c"),
        payload: ToolPayload::Function { arguments: "{}".to_owned() },
        encrypted_function_args: None,
    };
    let runtime = runtime();
    let on_its_way = runtime.run_in_place(call, ToolCallSource::Direct, CancellationToken::new());
    let bytes = size_of_val(&on_its_way);
    assert!(bytes <= MAX_TASK_BYTES, "{bytes} bytes");
}
