//! What a turn adds to the conversation: outputs of calls, and messages (core.md 1.4).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::call_id::CallId;
use crate::call_tool_result::{CallToolResult, MediaAbilities};
use crate::content::ContentItem;
use crate::item::{
    CustomToolCallOutput, FunctionCallOutput, ItemKind, Message, MessagePhase, ResponseItem,
    ToolSearchOutputItem,
};
use crate::output::FunctionCallOutputPayload;

/// An item on its way into the conversation, before it is a [`ResponseItem`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ResponseInputItem {
    /// A message.
    Message {
        /// Who speaks: `user`, `developer`, `assistant`, `system`.
        role: String,
        /// What is said.
        content: Vec<ContentItem>,
        /// Which part of an answer it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        phase: Option<MessagePhase>,
    },
    /// The output of a function call.
    FunctionCallOutput {
        /// The call's id.
        call_id: CallId,
        /// What the model reads.
        output: FunctionCallOutputPayload,
    },
    /// The output of a function call that an MCP server answered; not yet projected for the model.
    McpToolCallOutput {
        /// The call's id.
        call_id: CallId,
        /// What the server answered.
        output: CallToolResult,
    },
    /// The output of a custom call.
    CustomToolCallOutput {
        /// The call's id.
        call_id: CallId,
        /// The tool's name, where the output names it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// What the model reads.
        output: FunctionCallOutputPayload,
    },
    /// The output of a `tool_search` call of ours.
    ToolSearchOutput {
        /// The call's id.
        call_id: CallId,
        /// `completed`.
        status: String,
        /// `client`.
        execution: String,
        /// The specs found.
        tools: Vec<Value>,
    },
}

impl ResponseInputItem {
    /// The item an output becomes; `None` for a message.
    #[must_use]
    pub fn output_item(self) -> Option<ResponseItem> {
        match self {
            Self::Message { .. } => None,
            Self::FunctionCallOutput { .. }
            | Self::McpToolCallOutput { .. }
            | Self::CustomToolCallOutput { .. }
            | Self::ToolSearchOutput { .. } => Some(self.into()),
        }
    }
}

/// An MCP result is projected for a model that can read images and hear sound; what a model cannot take is to be
/// replaced before ([`CallToolResult::to_payload`]) or when the request is built (core.md 7.5 C).
impl From<ResponseInputItem> for ResponseItem {
    fn from(item: ResponseInputItem) -> Self {
        Self::new(match item {
            ResponseInputItem::Message { role, content, phase } => {
                ItemKind::Message(Message { role, content, phase, ..Default::default() })
            }
            ResponseInputItem::FunctionCallOutput { call_id, output } => function_output(call_id, output),
            ResponseInputItem::McpToolCallOutput { call_id, output } => {
                function_output(call_id, output.to_payload(MediaAbilities::ALL))
            }
            ResponseInputItem::CustomToolCallOutput { call_id, name, output } => {
                ItemKind::CustomToolCallOutput(CustomToolCallOutput {
                    call_id: call_id.into(),
                    name,
                    output,
                    ..Default::default()
                })
            }
            ResponseInputItem::ToolSearchOutput { call_id, status, execution, tools } => {
                ItemKind::ToolSearchOutput(ToolSearchOutputItem {
                    call_id: Some(call_id.into()),
                    status,
                    execution,
                    tools,
                    ..Default::default()
                })
            }
        })
    }
}

fn function_output(call_id: CallId, output: FunctionCallOutputPayload) -> ItemKind {
    ItemKind::FunctionCallOutput(FunctionCallOutput {
        call_id: Some(call_id.into()),
        output,
        ..Default::default()
    })
}

#[cfg(test)]
#[path = "input_item_tests.rs"]
mod tests;
