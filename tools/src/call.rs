//! A call as the router makes it, and where it came from.

use std::borrow::Cow;

use tenon_protocol::{CallId, ToolName};

use crate::ToolPayload;

/// What a log shows in place of arguments that are plaintext-private (core.md 4.2).
pub const PLAINTEXT_ARGUMENTS: &str = "[plaintext arguments]";

/// A model's call for this machine (core.md 2.2). It knows no session, no lock and no cancellation: it is bound to
/// its step only as a [`ToolInvocation`](crate::ToolInvocation).
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// Whom the call is for, as the item names it. Lookup is by the normalised name.
    pub tool_name: ToolName,
    /// The model's id of the call. Not unique: a model may use one id twice.
    pub call_id: CallId,
    /// What the call carries.
    pub payload: ToolPayload,
    /// The item's list of encrypted arguments. Absent and present-but-empty differ: see [`direct_source`].
    pub encrypted_function_args: Option<Vec<String>>,
}

/// Where a call came from (core.md 4.2). The source changes neither payload nor registry key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolCallSource {
    /// The model's own item.
    Direct,
    /// The model's own item, whose arguments are private to handler, hooks and history: no log shows them.
    DirectPlaintextMessage,
    /// A script of code mode.
    CodeMode {
        /// The cell that runs the script.
        cell_id: String,
        /// The script's own id of the call, unique only inside its cell.
        runtime_tool_call_id: String,
    },
}

impl ToolCallSource {
    /// The text a log may show for `payload`: [`PLAINTEXT_ARGUMENTS`] for private arguments, else the payload's own.
    pub fn log_text<'a>(&self, payload: &'a ToolPayload) -> Cow<'a, str> {
        match self {
            Self::DirectPlaintextMessage => Cow::Borrowed(PLAINTEXT_ARGUMENTS),
            Self::Direct | Self::CodeMode { .. } => Cow::Borrowed(payload.log_payload()),
        }
    }

    /// Whether the call came from a script.
    pub fn is_nested(&self) -> bool {
        matches!(self, Self::CodeMode { .. })
    }

    /// A short word for journal lines and spans: `direct` or `code_mode`.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Direct | Self::DirectPlaintextMessage => "direct",
            Self::CodeMode { .. } => "code_mode",
        }
    }
}

/// The source of a model's own call: [`ToolCallSource::DirectPlaintextMessage`] only for the agent-message tools of
/// the `collaboration` namespace whose list of encrypted arguments is present and empty (core.md 4.2).
pub fn direct_source(call: &ToolCall) -> ToolCallSource {
    const NAMESPACE: &str = "collaboration";
    const TOOLS: [&str; 3] = ["spawn_agent", "send_message", "followup_task"];
    let plaintext = call.encrypted_function_args.as_ref().is_some_and(Vec::is_empty);
    if plaintext && call.tool_name.namespace() == Some(NAMESPACE) && TOOLS.contains(&call.tool_name.name()) {
        ToolCallSource::DirectPlaintextMessage
    } else {
        ToolCallSource::Direct
    }
}

#[cfg(test)]
#[path = "call_tests.rs"]
mod tests;
