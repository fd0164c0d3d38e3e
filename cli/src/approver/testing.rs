//! What the tests of this folder share.

use tenon_protocol::{CallId, ToolName};
use tenon_tools::{ApprovalRequest, ApprovalScope, Effects, ToolCallSource};

/// A question about a call that would do this.
pub(super) fn request(effects: Effects) -> ApprovalRequest {
    ApprovalRequest {
        call_id: CallId::from("c"),
        tool_name: ToolName::plain("tool"),
        source: ToolCallSource::Direct,
        effects,
        diff: None,
        arguments: None,
        reason: None,
        scopes: vec![ApprovalScope::Once],
        changed: false,
        first_run: None,
    }
}
