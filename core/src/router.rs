//! Is this item a call for us, and whose (core.md 4.1).

use tenon_protocol::{CallId, ItemKind, ResponseItem, SearchToolCallParams, ToolName, UnknownItem};
use tenon_tools::{FunctionCallError, ToolCall, ToolCallSource, ToolPayload};

use crate::handlers::ToolSearch;
use crate::history::{CallFamily, unfit_call};

/// `execution` of a search that is ours to run.
pub(crate) const EXECUTED_BY_CLIENT: &str = "client";
/// Calls that a client could run and that we do not: they are kept, and the turn's end says that nobody answered.
const UNANSWERED_KINDS: [&str; 4] =
    ["apply_patch_call", "shell_call", "computer_call", "mcp_approval_request"];

/// What the turn does with an item.
#[derive(Debug, Clone, PartialEq)]
pub enum Route {
    /// It is a call for this machine.
    Call(ToolCall),
    /// It is a call that can be answered at once, with this text.
    Answered {
        /// The call.
        call_id: CallId,
        /// Its answer.
        text: String,
    },
    /// It is a call whose members don't fit. It goes back as it came, beside this answer.
    Unfit {
        /// What the model reads in place of an output.
        text: String,
    },
    /// It is a call without an id: nothing could be paired with it, so that it is not sent back.
    WithoutCallId {
        /// What the model is told.
        message: String,
    },
    /// It is a call that nobody here answers.
    Unanswered {
        /// Its kind.
        kind: String,
    },
    /// It is something else: kept, recorded, perhaps shown.
    NotACall,
}

/// Turns items into calls. It has no state: names are looked up later, payloads are parsed by their handlers.
#[derive(Debug, Clone, Copy, Default)]
pub struct ToolRouter;

impl ToolRouter {
    /// The call that an item is, if it is one.
    ///
    /// # Errors
    /// `failed to parse tool_search arguments: ...` for a client-side search with arguments that are none.
    pub fn build_tool_call(item: &ResponseItem) -> Result<Option<ToolCall>, FunctionCallError> {
        match Self::route(item)? {
            Route::Call(call) => Ok(Some(call)),
            Route::Answered { .. }
            | Route::Unfit { .. }
            | Route::WithoutCallId { .. }
            | Route::Unanswered { .. }
            | Route::NotACall => Ok(None),
        }
    }

    /// What the turn does with an item.
    ///
    /// # Errors
    /// As [`build_tool_call`](Self::build_tool_call).
    pub fn route(item: &ResponseItem) -> Result<Route, FunctionCallError> {
        match item.kind() {
            ItemKind::FunctionCall(call) => Ok(with_call_id(item, call.call_id.as_deref(), |call_id| {
                Route::Call(ToolCall {
                    tool_name: normalised(call.namespace.as_deref(), &call.name),
                    call_id,
                    payload: ToolPayload::Function { arguments: call.arguments.clone() },
                    encrypted_function_args: call.encrypted_function_args.clone(),
                })
            })),
            ItemKind::CustomToolCall(call) => Ok(with_call_id(item, call.call_id.as_deref(), |call_id| {
                Route::Call(ToolCall {
                    tool_name: normalised(call.namespace.as_deref(), &call.name),
                    call_id,
                    payload: ToolPayload::Custom { input: call.input.clone() },
                    encrypted_function_args: None,
                })
            })),
            ItemKind::ToolSearchCall(call) if call.execution == EXECUTED_BY_CLIENT => {
                // Without an id a search is simply not ours (core.md 0.2): it is kept as what it is.
                let Some(call_id) = call.call_id.as_deref() else {
                    return Ok(Route::NotACall);
                };
                let arguments = search_arguments(call.arguments.get())?;
                Ok(Route::Call(ToolCall {
                    // It carries no namespace: lookup normalises it.
                    tool_name: ToolSearch::plain_name(),
                    call_id: CallId::from(call_id),
                    payload: ToolPayload::ToolSearch { arguments },
                    encrypted_function_args: None,
                }))
            }
            ItemKind::LocalShellCall(call) => Ok(with_call_id(item, call.call_id.as_deref(), |call_id| {
                Route::Answered { call_id, text: "unsupported call: local_shell".to_owned() }
            })),
            ItemKind::Unknown(unknown) if UNANSWERED_KINDS.contains(&unknown.tag.as_str()) => {
                Ok(Route::Unanswered { kind: unknown.tag.clone() })
            }
            ItemKind::Unknown(unknown) => Ok(unfit(item, unknown)),
            ItemKind::ToolSearchCall(_)
            | ItemKind::Message(_)
            | ItemKind::AgentMessage(_)
            | ItemKind::AdditionalTools(_)
            | ItemKind::Reasoning(_)
            | ItemKind::FunctionCallOutput(_)
            | ItemKind::CustomToolCallOutput(_)
            | ItemKind::ToolSearchOutput(_)
            | ItemKind::WebSearchCall(_)
            | ItemKind::ImageGenerationCall(_)
            | ItemKind::Compaction(_)
            | ItemKind::ContextCompaction(_)
            | ItemKind::CompactionTrigger(_)
            | ItemKind::ConfigurationUpdate(_)
            | ItemKind::GhostSnapshot(_) => Ok(Route::NotACall),
        }
    }
}

/// The arguments of a search. A list is none, although serde would take it for the struct's members (core.md 0.2).
fn search_arguments(json: &str) -> Result<SearchToolCallParams, FunctionCallError> {
    let parsed = if json.trim_start().starts_with('[') {
        Err("expected a JSON object, got an array".to_owned())
    } else {
        serde_json::from_str(json).map_err(|error| error.to_string())
    };
    parsed.map_err(|error| {
        FunctionCallError::respond(format!("failed to parse tool_search arguments: {error}"))
    })
}

/// What a log may show of a call: nothing of arguments that are plaintext-private (core.md 4.2).
pub fn tool_log_payload(payload: &ToolPayload, source: &ToolCallSource) -> String {
    source.log_text(payload).into_owned()
}

fn normalised(namespace: Option<&str>, name: &str) -> ToolName {
    ToolName::new(namespace, name).with_default_namespace()
}

fn with_call_id(item: &ResponseItem, call_id: Option<&str>, route: impl FnOnce(CallId) -> Route) -> Route {
    match call_id {
        Some(call_id) => route(CallId::from(call_id)),
        None => without_call_id(item),
    }
}

/// An item of an unknown kind is no call; one of a call's kind whose members don't fit is one that nobody can run.
fn unfit(item: &ResponseItem, unknown: &UnknownItem) -> Route {
    match (unfit_call(unknown), &unknown.call_id, &unknown.reason) {
        (Some(_), Some(_), Some(reason)) => Route::Unfit { text: format!("not run: {reason}") },
        (Some(CallFamily::Function | CallFamily::Custom), None, _) => without_call_id(item),
        (Some(CallFamily::Search), None, _) | (Some(_), _, None) | (None, ..) => Route::NotACall,
    }
}

fn without_call_id(item: &ResponseItem) -> Route {
    Route::WithoutCallId { message: format!("a {} item without call_id was ignored", item.tag()) }
}

#[cfg(test)]
#[path = "router_tests.rs"]
mod tests;
