//! A tool of a server, as the model calls it (core.md 9.5).

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use serde_json::{Map, Value};
use tenon_protocol::{CallToolResult, ItemStatus, ToolName, TurnItem};
use tenon_tools::facts::request_line;
use tenon_tools::outputs::capped_mcp_result;
use tenon_tools::{
    AbortedToolOutput, Effects, Event, FunctionCallError, FunctionSpec, HookIdentity, HookInputForm,
    McpEffect, McpToolOutput, PreparedCall, SearchInfo, SearchSource, ShownAs, ToolExecutor, ToolExposure,
    ToolInvocation, ToolOutput, ToolPayload, ToolSpec,
};

use crate::catalogue::RemoteTool;
use crate::error::RequestError;
use crate::link::Asker;
use crate::names::{CallableName, hook_name};
use crate::result::read_result;
use crate::server::Server;

/// Where the id of the session stands in a request's `_meta`.
const THREAD_ID: &str = "threadId";

/// A tool of a server.
pub(crate) struct McpTool {
    name: ToolName,
    spec: ToolSpec,
    search: Option<SearchInfo>,
    hooks: HookIdentity,
    parallel: bool,
    target: Arc<Target>,
}

/// What a call needs of its tool.
struct Target {
    server: Weak<Server>,
    effects: Effects,
    server_name: String,
    tool: String,
}

impl McpTool {
    /// The tool, under this name.
    ///
    /// # Errors
    /// When its arguments cannot be described to a model.
    pub(crate) fn new(
        server: &Arc<Server>,
        instructions: Option<&str>,
        remote: &RemoteTool,
        callable: &CallableName,
    ) -> Result<Self, String> {
        let config = server.config();
        let function = FunctionSpec::new(&callable.name, &remote.description, remote.parameters()?)
            .with_output_schema(remote.result_schema());
        let name = ToolName::new(Some(&callable.namespace), &callable.name);
        let spec = ToolSpec::in_namespace(&callable.namespace, instructions.unwrap_or_default(), function);
        let annotations = remote.annotations;
        let effect = McpEffect {
            server: config.name.clone(),
            tool: remote.name.clone(),
            read_only: annotations.read_only,
            destructive: annotations.destructive,
            open_world: annotations.open_world,
        };
        Ok(Self {
            search: SearchInfo::from_spec(&name, &spec).map(|found| {
                let source =
                    SearchSource { name: config.name.clone(), description: instructions.map(str::to_owned) };
                found.with_text(search_text(&config.name, instructions, remote, callable)).from_source(source)
            }),
            hooks: HookIdentity::named(hook_name(callable).into(), HookInputForm::McpArguments),
            parallel: config.parallel || annotations.read_only == Some(true),
            target: Arc::new(Target {
                server: Arc::downgrade(server),
                effects: Effects { mcp: Some(effect), ..Effects::none() },
                server_name: config.name.clone(),
                tool: remote.name.clone(),
            }),
            name,
            spec,
        })
    }
}

/// The words that a search finds the tool by (core.md 2.10).
fn search_text(
    server: &str,
    instructions: Option<&str>,
    remote: &RemoteTool,
    callable: &CallableName,
) -> String {
    let flat = format!("{}{}", callable.namespace, callable.name);
    let properties = remote.input_schema.get("properties").and_then(Value::as_object);
    let mut properties: Vec<&str> = properties.into_iter().flat_map(Map::keys).map(String::as_str).collect();
    properties.sort_unstable();
    let mut parts = vec![flat.as_str(), &callable.name, &remote.name, server];
    parts.extend(remote.title.as_deref());
    parts.push(&remote.description);
    parts.extend(instructions);
    parts.extend(properties);
    parts.retain(|part| !part.trim().is_empty());
    parts.join(" ")
}

#[async_trait]
impl ToolExecutor for McpTool {
    fn name(&self) -> &ToolName {
        &self.name
    }

    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    fn exposure(&self) -> ToolExposure {
        ToolExposure::Deferred
    }

    fn parallel(&self) -> bool {
        self.parallel
    }

    /// A call that is cancelled answers itself: whether its server was asked at all is for the model to know.
    fn waits_for_cancellation(&self) -> bool {
        true
    }

    fn search_info(&self) -> Option<SearchInfo> {
        self.search.clone()
    }

    fn hook_identity(&self) -> Option<HookIdentity> {
        Some(self.hooks.clone())
    }

    async fn prepare(&self, call: &ToolInvocation) -> Result<Box<dyn PreparedCall>, FunctionCallError> {
        let began = call.host.clock.now();
        let ToolPayload::Function { arguments } = &call.payload else {
            return Err(FunctionCallError::respond("mcp handler received unsupported payload"));
        };
        let target = Arc::clone(&self.target);
        let (shown, input, work) = match parse(arguments) {
            Err(text) => (ShownAs::Generic, Value::String(arguments.clone()), Work::Answered(text)),
            Ok(value) => {
                let shown = ShownAs::Item(begun(call, &target.server_name, &target.tool, value.clone()));
                let work = match &value {
                    Value::Object(arguments) => Work::Call(arguments.clone()),
                    other => Work::Answered(
                        target.failed(&format!("MCP tool arguments must be a JSON object, got {other}")),
                    ),
                };
                (shown, value, work)
            }
        };
        let effects = match &work {
            Work::Call(_) => target.effects.clone(),
            Work::Answered(_) => Effects::none(),
        };
        Ok(Box::new(Prepared { target, began, shown, input, work, effects }))
    }
}

/// The arguments; blank ones are `{}`.
///
/// # Errors
/// What the model reads of arguments that are no JSON.
fn parse(arguments: &str) -> Result<Value, String> {
    if arguments.trim().is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    serde_json::from_str(arguments).map_err(|error| format!("failed to parse function arguments: {error}"))
}

impl Target {
    /// What the model reads of a call that has no result.
    fn failed(&self, cause: &str) -> String {
        let cause = cause.replace('\n', "\n    ");
        let (server, tool) = (&self.server_name, &self.tool);
        format!("tool call error: tool call failed for `{server}/{tool}`\n\nCaused by:\n    {cause}")
    }

    async fn call(
        &self,
        call: &ToolInvocation,
        arguments: Map<String, Value>,
        is_asked: &AtomicBool,
    ) -> Result<CallToolResult, RequestError> {
        let server = self.server.upgrade();
        let server = server.ok_or_else(|| RequestError::Unavailable("the session has ended".to_owned()))?;
        let meta = [(THREAD_ID.to_owned(), Value::String(call.step.session_id.clone()))];
        let asker = Asker::call(call).telling(is_asked);
        let answer = server.call(&self.tool, arguments, meta.into_iter().collect(), asker).await?;
        Ok(read_result(answer))
    }
}

enum Work {
    Call(Map<String, Value>),
    /// There is nothing to ask a server: the call failed with this text.
    Answered(String),
}

struct Prepared {
    target: Arc<Target>,
    /// When the handler began: waiting for an approval counts.
    began: Instant,
    shown: ShownAs,
    /// What hooks are told of the arguments.
    input: Value,
    work: Work,
    effects: Effects,
}

#[async_trait]
impl PreparedCall for Prepared {
    fn effects(&self) -> &Effects {
        &self.effects
    }

    fn shown_as(&self) -> ShownAs {
        self.shown.clone()
    }

    async fn run(self: Box<Self>, call: &ToolInvocation) -> Result<Box<dyn ToolOutput>, FunctionCallError> {
        let Self { target, began, shown, input, work, effects: _ } = *self;
        let (is_asked, mut cancelled) = (AtomicBool::new(false), false);
        let answered = match work {
            Work::Call(arguments) => target.call(call, arguments, &is_asked).await.map_err(|error| {
                cancelled = matches!(error, RequestError::Cancelled);
                target.failed(&error.to_string())
            }),
            Work::Answered(text) => Err(text),
        };
        let wall_time = call.host.clock.now().saturating_duration_since(began);
        if let ShownAs::Item(item) = shown {
            let item = completed(item, &answered, wall_time);
            call.host.events.emit(Event::ItemCompleted(item));
        }
        if cancelled {
            let asked = is_asked.into_inner().then(|| request_line(&target.server_name));
            return Ok(Box::new(AbortedToolOutput::after(wall_time, asked)));
        }
        Ok(Box::new(McpToolOutput {
            result: CallToolResult::from_result(answered),
            tool_input: input,
            wall_time,
            abilities: call.step.abilities.into(),
            truncation_policy: call.step.truncation,
        }))
    }
}

/// The item of a call that begins.
pub(crate) fn begun(call: &ToolInvocation, server: &str, tool: &str, arguments: Value) -> TurnItem {
    TurnItem::McpToolCall {
        id: call.call_id.to_string(),
        server: server.to_owned(),
        tool: tool.to_owned(),
        arguments,
        result: None,
        error: None,
        status: ItemStatus::InProgress,
        duration: None,
    }
}

/// The item with the call's end in it, within the bound for clients.
pub(crate) fn completed(
    item: TurnItem,
    answered: &Result<CallToolResult, String>,
    took: Duration,
) -> TurnItem {
    match item {
        TurnItem::McpToolCall { id, server, tool, arguments, .. } => {
            let success = answered.as_ref().is_ok_and(CallToolResult::success);
            TurnItem::McpToolCall {
                id,
                server,
                tool,
                arguments,
                result: answered.as_ref().ok().map(|result| capped_mcp_result(result).into_owned()),
                error: answered.as_ref().err().cloned(),
                status: if success { ItemStatus::Completed } else { ItemStatus::Failed },
                duration: Some(took),
            }
        }
        other => other,
    }
}

#[cfg(test)]
#[path = "tool_tests.rs"]
mod tests;
