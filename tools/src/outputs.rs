//! The outputs that every tool can use (core.md 2.4): one file for each.

mod aborted;
mod apply_patch;
mod exec_command;
mod failure;
mod feedback;
mod function;
mod json;
mod mcp;
mod mcp_result;
mod plan;
mod replaced;
mod tool_search;
mod view_image;

pub use aborted::AbortedToolOutput;
pub use apply_patch::{ApplyPatchToolOutput, freeform_layout};
pub use exec_command::{DEFAULT_MAX_OUTPUT_TOKENS, ExecCommandToolOutput};
pub use failure::failure_response;
pub use feedback::PostToolUseFeedbackOutput;
pub use function::FunctionToolOutput;
pub use json::JsonToolOutput;
pub use mcp::{McpToolOutput, replaced_mcp_result};
pub use mcp_result::{MCP_RESULT_CAP_BYTES, capped_mcp_result};
pub use plan::PlanToolOutput;
pub use replaced::ReplacedToolOutput;
pub use tool_search::ToolSearchOutput;
pub use view_image::ViewImageOutput;

use tenon_protocol::{CallId, FunctionCallOutputPayload, ResponseInputItem};

use crate::ToolPayload;

/// The output item of a call that was answered with `output`: custom for a custom call, else a function's.
fn item_for(payload: &ToolPayload, call_id: &CallId, output: FunctionCallOutputPayload) -> ResponseInputItem {
    match payload {
        ToolPayload::Custom { .. } => {
            ResponseInputItem::CustomToolCallOutput { call_id: call_id.clone(), name: None, output }
        }
        ToolPayload::Function { .. } | ToolPayload::ToolSearch { .. } => function_item(call_id, output),
    }
}

/// The output item of a function call.
fn function_item(call_id: &CallId, output: FunctionCallOutputPayload) -> ResponseInputItem {
    ResponseInputItem::FunctionCallOutput { call_id: call_id.clone(), output }
}

/// The output item of a search of ours.
fn search_item(call_id: &CallId, tools: Vec<serde_json::Value>) -> ResponseInputItem {
    ResponseInputItem::ToolSearchOutput {
        call_id: call_id.clone(),
        status: "completed".to_owned(),
        execution: "client".to_owned(),
        tools,
    }
}

#[cfg(test)]
#[path = "outputs_tests.rs"]
mod tests;
