//! What a model says and hears: response items, payloads, events, and a decoder without I/O.
//!
//! Nothing the API says is lost: an item keeps its text and goes back byte for byte, an unknown kind is kept as raw
//! JSON, a broken event is reported and skipped. This crate knows no sockets, files, tasks or clocks (but that ids
//! hold the time they were made).
//!
//! # Layout, in the order of a turn
//! - [`EventDecoder`]: bytes to [`ResponseEvent`]s, in chunks of any size.
//! - [`ResponseItem`] and its [`ItemKind`]s: what an event brings, what the history holds.
//! - [`ToolName`], [`CallId`], [`SearchToolCallParams`], [`UpdatePlanArgs`]: what a call says.
//! - [`FunctionCallOutputPayload`], [`CallToolResult`], [`ResponseInputItem`]: what goes back.
//! - [`TurnItem`]: what a client is shown.
//! - [`RolloutLine`]: what is on disk, with the journal of calls.
//!
//! ```
//! use tenon_protocol::{Decoded, EventDecoder, ResponseEvent};
//!
//! let mut texts = Vec::new();
//! let mut sink = |decoded| {
//!     if let Decoded::Event(ResponseEvent::OutputTextDelta { delta, .. }) = decoded {
//!         texts.push(delta);
//!     }
//! };
//! let mut decoder = EventDecoder::new();
//! decoder.feed(b"data: {\"type\":\"response.output_text.delta\",\"del", &mut sink);
//! decoder.feed(b"ta\":\"Hello\"}\n\n", &mut sink);
//! decoder.finish(&mut sink);
//! assert_eq!(texts, ["Hello"]);
//! ```

mod call_id;
mod call_tool_result;
mod content;
mod decode;
mod entry;
mod event;
mod input_item;
mod item;
mod lossy_path;
mod output;
mod peek;
mod plan;
mod raw_json;
mod rollout;
mod search;
mod sse;
mod surrogates;
mod tool_name;
mod turn_item;
mod wire;

pub use call_id::CallId;
pub use call_tool_result::{
    AUDIO_OMITTED, CallToolResult, ENCRYPTED_CONTENT_META, IMAGE_DETAIL_META, IMAGE_OMITTED, MediaAbilities,
};
pub use content::{ContentItem, ImageDetail};
pub use decode::{BrokenEvent, DEFAULT_MAX_EVENT_BYTES, Decoded, EventDecoder, decode_event};
pub use event::{ResponseEvent, ResponseFailure, TokenUsage};
pub use input_item::ResponseInputItem;
pub use item::{
    AdditionalTools, AgentMessage, AgentMessageContent, Compaction, CompactionTrigger, ConfigurationUpdate,
    ContextCompaction, CustomToolCall, CustomToolCallOutput, FunctionCall, FunctionCallOutput, GhostSnapshot,
    ImageGenerationCall, ItemError, ItemKind, LocalShellAction, LocalShellCall, LocalShellExec, Message,
    MessagePhase, Reasoning, ReasoningContent, ReasoningSummary, ResponseItem, ToolSearchCall,
    ToolSearchOutputItem, UnknownItem, WebSearchAction, WebSearchCall,
};
pub use output::{FunctionCallOutputBody, FunctionCallOutputContentItem, FunctionCallOutputPayload};
pub use plan::{PlanItemArg, StepStatus, UpdatePlanArgs};
pub use raw_json::RawJson;
pub use rollout::{
    AgentMessageEvent, AgentReasoningEvent, CallFact, CallFinished, CallOutcome, CallProgress, CallStarted,
    EventMsg, GitInfo, ModelRequest, RenderedLine, RolloutItem, RolloutLine, RolloutLineError, SessionMeta,
    TextAside, TokenCountEvent, TokenUsageInfo, ToolHash, TurnAbortedEvent, TurnCompleteEvent,
    TurnStartedEvent, UnknownEvent, UserMessageEvent, parse_line, parse_line_mended,
};
pub use search::SearchToolCallParams;
pub use surrogates::replace_lone_surrogates;
pub use tool_name::{DEFAULT_NAMESPACE, ToolName};
pub use turn_item::{FileChangeEntry, FileChangeKind, ItemStatus, TodoItem, TurnItem};
