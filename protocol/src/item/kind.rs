//! The kinds of items, as one table: a new kind is one variant, and every match over kinds fails until it answers.

use serde::Serialize;

use super::calls::{CustomToolCall, FunctionCall, LocalShellCall, ToolSearchCall};
use super::hosted::{ImageGenerationCall, WebSearchCall};
use super::message::{AgentMessage, Message};
use super::outputs::{CustomToolCallOutput, FunctionCallOutput, ToolSearchOutputItem};
use super::rare::{
    AdditionalTools, Compaction, CompactionTrigger, ConfigurationUpdate, ContextCompaction, GhostSnapshot,
    UnknownItem,
};
use super::reasoning::Reasoning;

/// What an item is, with its members (core.md 1.1). Written with its `type` first.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ItemKind {
    /// What the user, the developer or the model says.
    Message(Message),
    /// What one agent says to another.
    AgentMessage(AgentMessage),
    /// Tools that were added on the way.
    AdditionalTools(AdditionalTools),
    /// What the model thought.
    Reasoning(Reasoning),
    /// A call of the API's own shell tool.
    LocalShellCall(LocalShellCall),
    /// A call with JSON arguments.
    FunctionCall(FunctionCall),
    /// A search among deferred tools.
    ToolSearchCall(ToolSearchCall),
    /// What a function call gave back.
    FunctionCallOutput(FunctionCallOutput),
    /// A call with free text.
    CustomToolCall(CustomToolCall),
    /// What a custom call gave back.
    CustomToolCallOutput(CustomToolCallOutput),
    /// The tools a search found.
    ToolSearchOutput(ToolSearchOutputItem),
    /// A search that the API ran.
    WebSearchCall(WebSearchCall),
    /// An image that the API made.
    ImageGenerationCall(ImageGenerationCall),
    /// What earlier turns came to.
    Compaction(Compaction),
    /// The mark of a compaction by the API.
    ContextCompaction(ContextCompaction),
    /// Asks the API to compact.
    CompactionTrigger(CompactionTrigger),
    /// How the model thinks from here on.
    ConfigurationUpdate(ConfigurationUpdate),
    /// Of old rollouts only.
    GhostSnapshot(GhostSnapshot),
    /// A kind that we don't know, or members that don't fit.
    #[serde(untagged)]
    Unknown(UnknownItem),
}

/// Runs one expression over whichever kind an item is of.
macro_rules! each_kind {
    ($kind:expr, $item:ident => $body:expr) => {
        match $kind {
            ItemKind::Message($item) => $body,
            ItemKind::AgentMessage($item) => $body,
            ItemKind::AdditionalTools($item) => $body,
            ItemKind::Reasoning($item) => $body,
            ItemKind::LocalShellCall($item) => $body,
            ItemKind::FunctionCall($item) => $body,
            ItemKind::ToolSearchCall($item) => $body,
            ItemKind::FunctionCallOutput($item) => $body,
            ItemKind::CustomToolCall($item) => $body,
            ItemKind::CustomToolCallOutput($item) => $body,
            ItemKind::ToolSearchOutput($item) => $body,
            ItemKind::WebSearchCall($item) => $body,
            ItemKind::ImageGenerationCall($item) => $body,
            ItemKind::Compaction($item) => $body,
            ItemKind::ContextCompaction($item) => $body,
            ItemKind::CompactionTrigger($item) => $body,
            ItemKind::ConfigurationUpdate($item) => $body,
            ItemKind::GhostSnapshot($item) => $body,
            ItemKind::Unknown($item) => $body,
        }
    };
}

impl ItemKind {
    /// The item's `type` as we write it.
    #[must_use]
    pub fn tag(&self) -> &str {
        match self {
            Self::Message(_) => "message",
            Self::AgentMessage(_) => "agent_message",
            Self::AdditionalTools(_) => "additional_tools",
            Self::Reasoning(_) => "reasoning",
            Self::LocalShellCall(_) => "local_shell_call",
            Self::FunctionCall(_) => "function_call",
            Self::ToolSearchCall(_) => "tool_search_call",
            Self::FunctionCallOutput(_) => "function_call_output",
            Self::CustomToolCall(_) => "custom_tool_call",
            Self::CustomToolCallOutput(_) => "custom_tool_call_output",
            Self::ToolSearchOutput(_) => "tool_search_output",
            Self::WebSearchCall(_) => "web_search_call",
            Self::ImageGenerationCall(_) => "image_generation_call",
            Self::Compaction(_) => "compaction",
            Self::ContextCompaction(_) => "context_compaction",
            Self::CompactionTrigger(_) => "compaction_trigger",
            Self::ConfigurationUpdate(_) => "configuration_update",
            Self::GhostSnapshot(_) => "ghost_snapshot",
            Self::Unknown(item) => &item.tag,
        }
    }

    /// The item's id.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        each_kind!(self, item => item.id.as_deref())
    }

    pub(super) fn id_mut(&mut self) -> &mut Option<String> {
        each_kind!(self, item => &mut item.id)
    }

    /// The id of the call that the item is or answers.
    #[must_use]
    pub fn call_id(&self) -> Option<&str> {
        match self {
            Self::LocalShellCall(item) => item.call_id.as_deref(),
            Self::FunctionCall(item) => item.call_id.as_deref(),
            Self::ToolSearchCall(item) => item.call_id.as_deref(),
            Self::FunctionCallOutput(item) => item.call_id.as_deref(),
            Self::CustomToolCall(item) => item.call_id.as_deref(),
            Self::CustomToolCallOutput(item) => Some(&item.call_id),
            Self::ToolSearchOutput(item) => item.call_id.as_deref(),
            Self::Unknown(item) => item.call_id.as_deref(),
            Self::Message(_)
            | Self::AgentMessage(_)
            | Self::AdditionalTools(_)
            | Self::Reasoning(_)
            | Self::WebSearchCall(_)
            | Self::ImageGenerationCall(_)
            | Self::Compaction(_)
            | Self::ContextCompaction(_)
            | Self::CompactionTrigger(_)
            | Self::ConfigurationUpdate(_)
            | Self::GhostSnapshot(_) => None,
        }
    }

    /// What an id that we give begins with (runtime.md D1.4); `None` for kinds that get none.
    #[must_use]
    pub fn id_prefix(&self) -> Option<&'static str> {
        match self {
            Self::Message(_) => Some("msg"),
            Self::AgentMessage(_) => Some("amsg"),
            Self::AdditionalTools(_) => Some("at"),
            Self::Reasoning(_) => Some("rs"),
            Self::LocalShellCall(_) => Some("lsh"),
            Self::FunctionCall(_) => Some("fc"),
            Self::ToolSearchCall(_) => Some("tsc"),
            Self::FunctionCallOutput(_) => Some("fco"),
            Self::CustomToolCall(_) => Some("ctc"),
            Self::CustomToolCallOutput(_) => Some("ctco"),
            Self::ToolSearchOutput(_) => Some("tso"),
            Self::WebSearchCall(_) => Some("ws"),
            Self::ImageGenerationCall(_) => Some("ig"),
            Self::Compaction(_) => Some("cmp"),
            Self::ContextCompaction(_)
            | Self::CompactionTrigger(_)
            | Self::ConfigurationUpdate(_)
            | Self::GhostSnapshot(_)
            | Self::Unknown(_) => None,
        }
    }
}
