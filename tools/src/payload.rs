//! What a call carries, by the kind of item it came in.

use tenon_protocol::SearchToolCallParams;

/// What the model handed to a tool (core.md 2.1). The kind of payload decides the kind of the answer: whatever
/// happens to a call, its output has the variant that belongs to its payload.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolPayload {
    /// A `function_call`: its arguments as the raw text the model wrote. Parsing is the handler's.
    Function {
        /// The raw arguments, byte for byte.
        arguments: String,
    },
    /// A client-side `tool_search_call`: its arguments are parsed by the router.
    ToolSearch {
        /// What to search for.
        arguments: SearchToolCallParams,
    },
    /// A `custom_tool_call`: free text in the tool's own grammar, which the router never checks.
    Custom {
        /// The raw text.
        input: String,
    },
}

impl ToolPayload {
    /// The text a log shows: the arguments, the query alone, or the input. Whether it may be shown at all is the
    /// matter of [`ToolCallSource::log_text`](crate::ToolCallSource::log_text).
    pub fn log_payload(&self) -> &str {
        match self {
            Self::Function { arguments } => arguments,
            Self::ToolSearch { arguments } => &arguments.query,
            Self::Custom { input } => input,
        }
    }
}
