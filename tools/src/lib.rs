//! What a tool is to Tenon.
//!
//! A tool is one type that implements [`ToolExecutor`]: it names itself, describes itself ([`ToolSpec`]), and
//! prepares calls. A call comes as a [`ToolInvocation`], is prepared without any side effect, and is run when nothing
//! has refused it. It ends as a [`ToolOutput`], which is projected for five readers that never see each other's view.
//!
//! The quickest way to one is [`FnTool`]: a struct for the arguments and an async function.
//!
//! # Layout, in the order of a call
//! - [`ToolPayload`], [`ToolCall`], [`ToolCallSource`]: what the router made of the model's item.
//! - [`ToolInvocation`], [`StepContext`], [`Host`]: where the call stands, what a handler sees, what it may do.
//! - [`ToolExecutor`], [`PreparedCall`], [`Effects`], [`HookIdentity`]: how it is prepared, what it would do, how hooks
//!   see it. [`FnTool`] is one for functions, [`ToolSource`] brings several.
//! - [`ToolSpec`], [`JsonSchema`], [`SearchInfo`]: what the model is shown of a tool, and how a search finds it.
//! - [`parse_arguments`]: from the model's text to a struct.
//! - [`ToolOutput`], and in [`outputs`] those that every tool can use: what a call gives back.
//! - [`TruncationPolicy`], [`telemetry_preview`]: how much of it is shown.
//! - [`ModelClient`], [`ScriptedModel`]: the model on the other side, and one for tests.

mod arguments;
mod call;
mod code_mode;
mod effects;
mod error;
mod event;
mod executor;
pub mod facts;
mod fn_tool;
mod hook_identity;
mod hook_run;
mod host;
mod invocation;
mod model;
mod open_questions;
mod output;
pub mod outputs;
mod payload;
mod preview;
mod recovery;
mod retry;
mod schema;
mod scripted;
mod source;
mod spec;
mod step;
mod truncation;
mod turn_diff;
mod writable;

pub use arguments::{json_kind, parse_arguments};
pub use call::{PLAINTEXT_ARGUMENTS, ToolCall, ToolCallSource, direct_source};
pub use effects::{
    CommandEffect, ContentHash, Effects, FileEffect, InputEffect, McpEffect, SandboxPermissions,
};
pub use error::FunctionCallError;
pub use event::{AbortReason, Event, LifecycleOutcome, McpServerState};
pub use executor::{InputObserver, PreparedCall, ShownAs, ToolExecutor, ToolExposure};
pub use fn_tool::{FnTool, IntoToolOutput, Json, NoArguments};
pub use hook_identity::{HookIdentity, HookInputForm};
pub use hook_run::{
    HookEntry, HookEntryKind, HookEventName, HookExecutionMode, HookHandlerType, HookRunStatus,
    HookRunSummary, HookScope, HookSource,
};
pub use host::{
    ApprovalDecision, ApprovalRequest, ApprovalScope, Approver, BetweenTurns, Clock, CommandError,
    CommandInterceptor, CommandOutcome, CommandRequest, CommandRunner, Elicitor, EventSink, Host,
    HostServices, PendingInput, PendingInputError, Progress, SystemClock, ToolCaller, TurnEnding, UserAnswer,
    UserChoice, UserQuestion,
};
pub use invocation::{Confinement, ToolInvocation};
pub use model::{ModelClient, ModelError, ModelErrorKind, Prompt, ResponseStream};
pub use open_questions::{OpenQuestion, OpenQuestions};
pub use output::{ResponseFacts, ToolOutput};
pub use outputs::{
    AbortedToolOutput, ApplyPatchToolOutput, ExecCommandToolOutput, FunctionToolOutput, JsonToolOutput,
    McpToolOutput, PlanToolOutput, PostToolUseFeedbackOutput, ReplacedToolOutput, ToolSearchOutput,
    ViewImageOutput, failure_response, replaced_mcp_result,
};
pub use payload::ToolPayload;
pub use preview::{
    TELEMETRY_PREVIEW_MAX_BYTES, TELEMETRY_PREVIEW_MAX_LINES, TELEMETRY_PREVIEW_NOTICE, telemetry_preview,
};
pub use recovery::{CutOffCall, LeftBehind, LeftProcess, Recovery};
pub use retry::{FirstRun, NoRetries, Retries, Retry};
pub use schema::{
    AdditionalProperties, JsonSchema, MAX_SCHEMA_BYTES, MAX_SCHEMA_DEPTH, PrimitiveType, SchemaError,
    SchemaType, mcp_input_schema, mcp_output_schema,
};
pub use scripted::{Gate, ScriptedModel, ScriptedTurn};
pub use source::{SpecLayer, ToolSource, Wanted};
pub use spec::{
    CustomFormat, CustomSpec, FunctionSpec, LoadableToolSpec, NamespaceSpec, NamespaceTool, SearchInfo,
    SearchSource, ToolSearchSpec, ToolSpec, WebSearchContent, WebSearchFilters, WebSearchLocation,
    WebSearchMode, WebSearchSpec, coalesce_loadable, default_namespace_description, merge_namespaces,
    responses_lite,
};
pub use step::{
    ApprovalPolicy, EnvironmentInherit, EnvironmentPolicy, GranularApproval, ModelAbilities, SandboxPolicy,
    StepContext, TurnMode, WorkspaceWrite,
};
pub use truncation::{
    SERIALISATION_ALLOWANCE, TruncationPolicy, approx_token_count, formatted_truncate_items,
    formatted_truncate_text, omission_marker, truncate_captured, truncate_payload, truncate_text,
};
pub use turn_diff::{FileVersions, SharedTurnDiff, TurnChanges};
pub use writable::WritableRoot;
