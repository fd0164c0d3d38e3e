//! Items that are held back until hooks have looked at what is in them.

use serde_json::Value;
use tenon_protocol::TurnItem;
use tenon_tools::{replaced_mcp_result, telemetry_preview};

/// What a client reads in place of an output that no hook has looked at.
const WITHHELD: &str = "[withheld: no hook has looked at all of this output]";

/// Whether items are held back.
#[derive(Debug)]
pub(super) enum Hold {
    /// They are shown as they come.
    Off,
    /// They are held back; this one is, if it has come.
    On(Option<Box<TurnItem>>),
    /// The call has ended, and what the command printed so far was looked at; what it prints on its own from then on
    /// is not. Its item is shown without output.
    Outlived,
}

impl Hold {
    pub(super) fn is_off(&self) -> bool {
        match self {
            Self::Off => true,
            Self::On(_) | Self::Outlived => false,
        }
    }

    /// Takes what is still held back.
    pub(super) fn take(&mut self) -> Option<Box<TurnItem>> {
        match self {
            Self::Off | Self::Outlived => None,
            Self::On(held) => held.take(),
        }
    }
}

/// The item with the output that hooks have seen, or with what they have put in its place.
pub(super) fn looked_at(item: TurnItem, seen: &Value, updated: Option<&Value>) -> TurnItem {
    match item {
        TurnItem::CommandExecution { id, command, aggregated_output: _, exit_code, status } => {
            let aggregated_output = text_of(updated.unwrap_or(seen));
            TurnItem::CommandExecution { id, command, aggregated_output, exit_code, status }
        }
        TurnItem::McpToolCall { id, server, tool, arguments, result, error, status, duration } => {
            let (result, error) = match updated {
                Some(updated) => (
                    result.map(|result| replaced_mcp_result(&result, updated)),
                    error.map(|_| text_of(updated)),
                ),
                None => (result, error),
            };
            TurnItem::McpToolCall { id, server, tool, arguments, result, error, status, duration }
        }
        TurnItem::ToolCall { id, name, arguments, output, status } => {
            let output =
                output.map(|output| updated.map_or(output, |updated| telemetry_preview(&text_of(updated))));
            TurnItem::ToolCall { id, name, arguments, output, status }
        }
        // These show no output of a tool.
        TurnItem::UserMessage { .. }
        | TurnItem::AgentMessage { .. }
        | TurnItem::Reasoning { .. }
        | TurnItem::WebSearch { .. }
        | TurnItem::ImageGeneration { .. }
        | TurnItem::FileChange { .. }
        | TurnItem::TodoList { .. }
        | TurnItem::Error { .. } => item,
    }
}

/// The item without its output.
pub(super) fn withheld(item: TurnItem) -> TurnItem {
    let is_empty =
        matches!(&item, TurnItem::CommandExecution { aggregated_output, .. } if aggregated_output.is_empty());
    let notice = Value::String(WITHHELD.to_owned());
    if is_empty { item } else { looked_at(item, &notice, Some(&notice)) }
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
