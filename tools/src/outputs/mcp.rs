//! What an MCP server answered, on its way to the model.

use std::time::Duration;

use serde_json::{Value, json};
use tenon_protocol::{
    CallId, CallToolResult, FunctionCallOutputBody, FunctionCallOutputContentItem, FunctionCallOutputPayload,
    ImageDetail, MediaAbilities, ResponseInputItem,
};

use super::{capped_mcp_result, function_item};
use crate::{
    ResponseFacts, SERIALISATION_ALLOWANCE, ToolOutput, ToolPayload, TruncationPolicy, telemetry_preview,
    truncate_payload,
};

/// The result of an MCP call. The model reads it under a header and within bounds; hooks and scripts get it raw, a
/// script without `_meta`.
#[derive(Debug, Clone, PartialEq)]
pub struct McpToolOutput {
    /// What the server answered.
    pub result: CallToolResult,
    /// The arguments as they were sent, for hooks.
    pub tool_input: Value,
    /// From the handler's entry, so that waiting for an approval counts.
    pub wall_time: Duration,
    /// What media the model can take.
    pub abilities: MediaAbilities,
    /// The turn's policy. The model's view is cut by 1.2 times of it.
    pub truncation_policy: TruncationPolicy,
}

impl McpToolOutput {
    fn header(&self) -> String {
        format!("Wall time: {:.4} seconds\nOutput:", self.wall_time.as_secs_f64())
    }

    fn payload(&self) -> FunctionCallOutputPayload {
        let mut payload = self.result.to_payload(self.abilities);
        if !self.abilities.original_image_detail {
            lower_original_detail(&mut payload.body);
        }
        add_header(&mut payload.body, self.header());
        truncate_payload(payload, self.truncation_policy.scaled(SERIALISATION_ALLOWANCE))
    }
}

/// A result that a hook has put in place of another. Whether the call failed is not the hook's to say.
pub fn replaced_mcp_result(original: &CallToolResult, updated: &Value) -> CallToolResult {
    let result = serde_json::from_value(updated.clone()).ok().filter(|_| updated.get("content").is_some());
    let result = result.unwrap_or_else(|| {
        let text = updated.as_str().map_or_else(|| updated.to_string(), str::to_owned);
        CallToolResult { content: vec![json!({ "type": "text", "text": text })], ..CallToolResult::default() }
    });
    CallToolResult { is_error: original.is_error, ..result }
}

/// A server may ask for a detail that this model does not know.
fn lower_original_detail(body: &mut FunctionCallOutputBody) {
    let FunctionCallOutputBody::ContentItems(items) = body else { return };
    for item in items {
        if let FunctionCallOutputContentItem::InputImage { detail, .. } = item
            && *detail == Some(ImageDetail::Original)
        {
            *detail = Some(ImageDetail::High);
        }
    }
}

fn add_header(body: &mut FunctionCallOutputBody, header: String) {
    match body {
        FunctionCallOutputBody::Text(text) if text.is_empty() => *text = header,
        FunctionCallOutputBody::Text(text) => *text = format!("{header}\n{text}"),
        FunctionCallOutputBody::ContentItems(items) => {
            items.insert(0, FunctionCallOutputContentItem::text(header));
        }
    }
}

impl ToolOutput for McpToolOutput {
    fn log_preview(&self) -> String {
        let body = self.result.to_payload(self.abilities).body;
        telemetry_preview(&body.to_text().unwrap_or_default())
    }

    fn success_for_logging(&self) -> bool {
        self.result.success()
    }

    /// Always a function's output, whatever the payload.
    fn to_response_item(&self, call_id: &CallId, _payload: &ToolPayload) -> ResponseInputItem {
        function_item(call_id, self.payload())
    }

    fn post_tool_use_input(&self, _payload: &ToolPayload) -> Option<Value> {
        Some(self.tool_input.clone())
    }

    fn post_tool_use_response(&self, _call_id: &CallId, _payload: &ToolPayload) -> Option<Value> {
        serde_json::to_value(capped_mcp_result(&self.result)).ok()
    }

    /// The whole result, without the bound for other hooks: nothing that the model or a script gets is kept from it.
    fn response_facts(&self) -> ResponseFacts {
        ResponseFacts { whole: serde_json::to_value(&self.result).ok(), ..ResponseFacts::default() }
    }

    /// A result stays a result, if what the hook gives is one; anything else is one text of it.
    fn with_response(&self, updated: &Value) -> Option<Box<dyn ToolOutput>> {
        Some(Box::new(Self { result: replaced_mcp_result(&self.result, updated), ..self.clone() }))
    }

    fn code_mode_result(&self, _payload: &ToolPayload) -> Value {
        self.result.without_meta_json()
    }
}

#[cfg(test)]
#[path = "mcp_tests.rs"]
mod tests;
