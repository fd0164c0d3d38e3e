//! Calls in parallel: each takes its place in the gate when it is handed over, then runs in a task of its own.
//!
//! The task is spawned while the model's stream still runs; nothing waits for the end of the response. Cancelling a
//! call leaves its siblings alone. What happens to a cancelled call depends on how far it has come (core.md 6.2).

mod gate;
#[cfg(all(test, feature = "model-check"))]
mod model_check;
mod numbers;
mod task;
#[cfg(test)]
mod testing;

use std::sync::Arc;

use tenon_protocol::CallId;
use tenon_tools::{FunctionCallError, LifecycleOutcome, ToolCall, ToolCallSource};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

pub use gate::{Admitted, Gate, GateMode, Ticket};
pub use numbers::{CallNumber, CallNumbers};

use crate::dispatch::{CallEnd, DispatchEnvironment, Identity};
use crate::registry::ToolRegistry;
use task::Accepted;

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
        let span = call_span(&call, &source);
        let accepted = self.accept(call, source, number, cancellation.clone());
        let identity = accepted.identity();
        // What is large is made and given back where the call runs: memory that goes from thread to thread is dear.
        let run = async move { *Box::pin(accepted.task().run()).await };
        let handle = tokio::spawn(run.instrument(span));
        RunningCall { handle, identity, cancellation }
    }

    /// As [`hand_over`](Self::hand_over), but the call has no task of its own: it runs where the future is polled, and
    /// is dropped with it. A call that never has to wait is over when the future was polled once.
    pub(crate) fn run_in_place(
        &self,
        call: ToolCall,
        source: ToolCallSource,
        cancellation: CancellationToken,
    ) -> impl Future<Output = Box<CallEnd>> + Send + use<> {
        let number = self.numbers.next(&call.call_id, &call.payload);
        let span = call_span(&call, &source);
        self.accept(call, source, number, cancellation).task().run().instrument(span)
    }

    /// Takes a place in the gate for a call.
    fn accept(
        &self,
        call: ToolCall,
        source: ToolCallSource,
        number: CallNumber,
        cancellation: CancellationToken,
    ) -> Accepted {
        let env = Arc::clone(&self.env);
        let call = ToolCall { tool_name: call.tool_name.with_default_namespace(), ..call };
        let tool = env.registry.get(&call.tool_name).cloned();
        let parallel = tool.as_deref().is_some_and(ToolRegistry::is_parallel);
        let ticket = self.gate.enter(if parallel { GateMode::Parallel } else { GateMode::Exclusive });
        let handed_over = env.host.clock.now();
        Accepted { env, call, source, number, cancellation, tool, ticket, handed_over }
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
                let identity = &self.identity;
                tracing::error!(call_id = %identity.call_id, %error, "the task of a call was lost");
                let text = format!("tool {} failed unexpectedly", identity.tool_name);
                let outcome = LifecycleOutcome::Failed { handler_executed: true };
                identity.end_with(Err(FunctionCallError::respond(text)), outcome)
            }
        }
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        self.handle.abort();
    }
}

fn call_span(call: &ToolCall, source: &ToolCallSource) -> tracing::Span {
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
    span.record("otel.name", tracing::field::display(&call.tool_name));
    span.record("tool_name", tracing::field::display(&call.tool_name));
    span.record("call_id", call.call_id.as_str());
    if let ToolCallSource::CodeMode { cell_id, runtime_tool_call_id } = source {
        span.record("cell_id", cell_id.as_str());
        span.record("runtime_tool_call_id", runtime_tool_call_id.as_str());
    }
    span
}
