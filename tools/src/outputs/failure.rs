//! A call that failed.

use tenon_protocol::{CallId, FunctionCallOutputPayload, ResponseInputItem};

use super::{item_for, search_item};
use crate::ToolPayload;

/// What the model reads of a call that failed with `text`, in the kind of its payload (core.md 6.4). A search answers
/// an empty list, which loses the text.
pub fn failure_response(payload: &ToolPayload, call_id: &CallId, text: &str) -> ResponseInputItem {
    match payload {
        ToolPayload::ToolSearch { .. } => search_item(call_id, Vec::new()),
        ToolPayload::Function { .. } | ToolPayload::Custom { .. } => {
            item_for(payload, call_id, FunctionCallOutputPayload::text(text).with_success(false))
        }
    }
}
