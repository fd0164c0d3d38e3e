//! Calls in parallel: each takes its place in the gate when it is handed over, then runs in a task of its own.
//!
//! The task is spawned while the model's stream still runs; nothing waits for the end of the response. Cancelling a
//! call leaves its siblings alone. What happens to a cancelled call depends on how far it has come (core.md 6.2).

mod gate;
mod numbers;

use std::sync::Arc;
use std::time::{Duration, Instant};

use tenon_protocol::{CallFinished, CallId, ResponseItem, ToolName};
use tenon_tools::{AbortedToolOutput, LifecycleOutcome, ToolCall, ToolCallSource, ToolOutput, ToolPayload};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

pub use gate::{Admitted, Gate, GateMode, Ticket};
pub use numbers::{CallNumber, CallNumbers};

use crate::dispatch::{AnyToolResult, CallEnd, CallEvents, DispatchEnvironment, Order, Terminal, dispatch};

/// The least time that an aborted call is said to have taken.
const SHORTEST_ABORT: Duration = Duration::from_millis(100);

/// Runs the calls of one step.
#[derive(Debug, Clone)]
pub struct ToolCallRuntime {
    env: Arc<DispatchEnvironment>,
    gate: Gate,
    numbers: Arc<CallNumbers>,
}

impl ToolCallRuntime {
    /// A runtime for the calls of a step. `gate` is shared by all calls that must keep their order among each other:
    /// those of a request, or those of scripts.
    pub fn new(env: Arc<DispatchEnvironment>, gate: Gate, numbers: Arc<CallNumbers>) -> Self {
        Self { env, gate, numbers }
    }

    /// What the calls share.
    pub fn environment(&self) -> &Arc<DispatchEnvironment> {
        &self.env
    }

    /// Hands a call over: it takes its place in the gate now, and its task starts. `cancellation` cancels this call.
    pub fn hand_over(
        &self,
        call: ToolCall,
        source: ToolCallSource,
        cancellation: CancellationToken,
    ) -> RunningCall {
        let number = self.numbers.next(&call.call_id, &call.payload);
        self.hand_over_as(call, source, number, cancellation)
    }

    /// As [`hand_over`](Self::hand_over), for a call that has been counted already.
    pub fn hand_over_as(
        &self,
        call: ToolCall,
        source: ToolCallSource,
        number: CallNumber,
        cancellation: CancellationToken,
    ) -> RunningCall {
        let name = call.tool_name.clone().with_default_namespace();
        let mode = if self.env.registry.parallel(&name) { GateMode::Parallel } else { GateMode::Exclusive };
        let ticket = self.gate.enter(mode);
        let span = call_span(&name, &call, &source);
        let identity = Identity {
            call_id: call.call_id.clone(),
            tool_name: name,
            kind: kind_only(&call.payload),
            occurrence: number.occurrence,
        };
        let order = Order {
            call,
            source,
            occurrence: number.occurrence,
            shown_id: number.shown_id,
            cancellation: cancellation.clone(),
        };
        let task = Task {
            env: Arc::clone(&self.env),
            ticket,
            order,
            identity: identity.clone(),
            handed_over: self.env.host.clock.now(),
        };
        let handle = tokio::spawn(task.run().instrument(span));
        RunningCall { handle, identity, cancellation }
    }
}

/// Who a call is, for when nothing else is left of it.
#[derive(Debug, Clone)]
struct Identity {
    call_id: CallId,
    tool_name: ToolName,
    /// A payload of the call's kind, without its content.
    kind: ToolPayload,
    occurrence: u32,
}

impl Identity {
    fn end_with(
        self,
        result: Result<AnyToolResult, tenon_tools::FunctionCallError>,
        outcome: LifecycleOutcome,
    ) -> CallEnd {
        CallEnd::new(self.call_id, &self.kind, self.occurrence, outcome, result, Vec::new())
    }

    fn aborted(self, elapsed: Duration) -> CallEnd {
        let seconds = elapsed.max(SHORTEST_ABORT).as_secs_f64();
        let output: Box<dyn ToolOutput> =
            Box::new(AbortedToolOutput { message: format!("aborted by user after {seconds:.1}s") });
        let (call_id, payload) = (self.call_id.clone(), self.kind.clone());
        let result = AnyToolResult { call_id, payload, output, feedback: None };
        self.end_with(Ok(result), LifecycleOutcome::Aborted)
    }
}

/// A call that is on its way. Dropping it drops the call where it stands.
#[derive(Debug)]
#[must_use = "a dropped call is not answered"]
pub struct RunningCall {
    handle: JoinHandle<CallEnd>,
    identity: Identity,
    cancellation: CancellationToken,
}

impl RunningCall {
    /// The call's id.
    pub fn call_id(&self) -> &CallId {
        &self.identity.call_id
    }

    /// Cancels this call alone.
    pub fn cancellation(&self) -> &CancellationToken {
        &self.cancellation
    }

    /// Waits for the call's end. There is always one.
    pub async fn end(mut self) -> CallEnd {
        match (&mut self.handle).await {
            Ok(end) => end,
            // Dispatch catches panics; this is the executor shutting down, or a fault of ours outside of dispatch.
            Err(error) => {
                tracing::error!(call_id = %self.identity.call_id, %error, "the task of a call was lost");
                let name = &self.identity.tool_name;
                let text = format!("tool {name} failed unexpectedly");
                let outcome = LifecycleOutcome::Failed { handler_executed: true };
                self.identity.clone().end_with(Err(tenon_tools::FunctionCallError::respond(text)), outcome)
            }
        }
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        self.handle.abort();
    }
}

/// The task of one call.
struct Task {
    env: Arc<DispatchEnvironment>,
    ticket: Ticket,
    order: Order,
    identity: Identity,
    handed_over: Instant,
}

impl Task {
    async fn run(self) -> CallEnd {
        let Self { env, mut ticket, order, identity, handed_over } = self;
        let cancellation = order.cancellation.clone();
        let waits = env.registry.get(&identity.tool_name).is_some_and(|tool| tool.waits_for_cancellation());
        let direct = !order.source.is_nested();
        let tool_name = identity.tool_name.clone();
        let events = Arc::new(CallEvents::new(Arc::clone(&env.host.events), &order));
        let terminal = Terminal::default();
        let finished = {
            let work = async {
                ticket.admitted().await;
                dispatch(&env, order, &events, &terminal).await
            };
            tokio::pin!(work);
            tokio::select! {
                biased;
                end = &mut work => Some(end),
                () = cancellation.cancelled() => {
                    // With a real result there is nothing to abort; a tool that waits for its teardown answers itself.
                    if terminal.is_reached() || (waits && terminal.handler_ran()) { Some(work.await) } else { None }
                }
            }
        };
        let end = finished.unwrap_or_else(|| {
            tracing::Span::current().record("aborted", true);
            let end = identity.aborted(env.since(handed_over));
            events.finish(&end.preview(), LifecycleOutcome::Aborted);
            // Nobody hears of a call whose tool is unknown, cancelled or not.
            if env.registry.get(&tool_name).is_some() {
                env.ended(&end.call_id, &tool_name, LifecycleOutcome::Aborted);
            }
            end
        });
        write_down(&env, &end).await;
        drop(ticket);
        if direct {
            log_timing(&end, env.since(handed_over));
        }
        end
    }
}

/// Writes the end of a call to the journal, with the output the model will read, before anybody else can see it.
async fn write_down(env: &DispatchEnvironment, end: &CallEnd) {
    if !env.journal.is_kept() {
        return;
    }
    let Ok(response) = &end.response else { return };
    let line = CallFinished {
        call_id: end.call_id.clone(),
        occurrence: end.occurrence,
        outcome: end.journal_outcome(),
        output: ResponseItem::from(response.clone()),
        at: env.timestamp(),
    };
    env.journal.finished(line).await;
}

fn call_span(name: &ToolName, call: &ToolCall, source: &ToolCallSource) -> tracing::Span {
    let span = tracing::info_span!(
        "dispatch_tool_call_with_code_mode_result",
        otel.name = tracing::field::Empty,
        tool_name = tracing::field::Empty,
        call_id = tracing::field::Empty,
        cell_id = tracing::field::Empty,
        runtime_tool_call_id = tracing::field::Empty,
        outcome = tracing::field::Empty,
        duration_ms = tracing::field::Empty,
        aborted = false,
    );
    if span.is_disabled() {
        return span;
    }
    span.record("otel.name", tracing::field::display(name));
    span.record("tool_name", tracing::field::display(name));
    span.record("call_id", call.call_id.as_str());
    if let ToolCallSource::CodeMode { cell_id, runtime_tool_call_id } = source {
        span.record("cell_id", cell_id.as_str());
        span.record("runtime_tool_call_id", runtime_tool_call_id.as_str());
    }
    span
}

fn log_timing(end: &CallEnd, elapsed: Duration) {
    if !tracing::enabled!(target: "tenon.tool_call", tracing::Level::INFO) {
        return;
    }
    let duration_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
    let span = tracing::Span::current();
    span.record("duration_ms", duration_ms);
    span.record("outcome", tracing::field::debug(end.outcome));
    let preview = end.preview();
    tracing::info!(target: "tenon.tool_call", call_id = %end.call_id, duration_ms, outcome = ?end.outcome, preview);
}

/// A payload of the same kind, without content: the kind alone decides the variant of an answer.
fn kind_only(payload: &ToolPayload) -> ToolPayload {
    match payload {
        ToolPayload::Function { .. } => ToolPayload::Function { arguments: String::new() },
        ToolPayload::Custom { .. } => ToolPayload::Custom { input: String::new() },
        ToolPayload::ToolSearch { .. } => ToolPayload::ToolSearch {
            arguments: tenon_protocol::SearchToolCallParams { query: String::new(), limit: None },
        },
    }
}
