use tenon_protocol::{CallId, ToolName};
use tenon_tools::{FnTool, NoArguments, ToolPayload};

use super::*;
use crate::runtime::testing::runtime_of;

/// How large a call may be on its way, in bytes. Up to here a thread keeps memory that was given back for the next one;
/// what is larger is taken from, and given back to, memory that all threads share.
const MAX_TASK_BYTES: usize = 1000;

#[test]
fn a_call_on_its_way_is_small() {
    let call = ToolCall {
        tool_name: ToolName::plain("tool"),
        call_id: CallId::from("c"),
        payload: ToolPayload::Function { arguments: "{}".to_owned() },
        encrypted_function_args: None,
    };
    let tool = FnTool::new("tool", "", |_: NoArguments, _: ToolInvocation| async { Ok::<_, String>("done") });
    let runtime = runtime_of(Arc::new(tool), Host::detached());
    let on_its_way = runtime.run_in_place(call, ToolCallSource::Direct, CancellationToken::new());
    let bytes = size_of_val(&on_its_way);
    assert!(bytes <= MAX_TASK_BYTES, "{bytes} bytes");
}
