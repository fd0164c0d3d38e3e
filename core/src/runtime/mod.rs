//! Calls in parallel: each takes its place in the gate when it is handed over, then runs in a task of its own.
//!
//! The task is spawned while the model's stream still runs; nothing waits for the end of the response. Cancelling a
//! call leaves its siblings alone. What happens to a cancelled call depends on how far it has come (core.md 6.2).

mod gate;
#[cfg(all(test, feature = "model-check"))]
mod model_check;
mod numbers;
mod told;

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tenon_protocol::{CallFinished, CallId, ResponseItem};
use tenon_tools::{
    Confinement, FunctionCallError, Host, LifecycleOutcome, NoRetries, ToolCall, ToolCallSource,
    ToolInvocation,
};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

pub use gate::{Admitted, Gate, GateMode, Ticket};
pub use numbers::{CallNumber, CallNumbers};

use crate::dispatch::{CallEnd, CallEvents, DispatchEnvironment, Found, Identity, Shown};
#[cfg(feature = "images")]
use crate::pictures::{check_pictures, has_pictures};
use crate::registry::ToolRegistry;
use told::Told;

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
        let task = self.task(call, source, number, cancellation.clone());
        let events = Arc::clone(&task.events);
        // The executor moves a task several times, so it gets a box to move.
        let handle = tokio::spawn(Box::pin(task.run()).instrument(span));
        RunningCall { handle, events, cancellation }
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
        self.task(call, source, number, cancellation).run().instrument(span)
    }

    /// A call that has its place in the gate.
    fn task(
        &self,
        call: ToolCall,
        source: ToolCallSource,
        number: CallNumber,
        cancellation: CancellationToken,
    ) -> Task {
        let call = ToolCall { tool_name: call.tool_name.with_default_namespace(), ..call };
        let tool = self.env.registry.get(&call.tool_name).cloned();
        let parallel = tool.as_deref().is_some_and(ToolRegistry::is_parallel);
        let ticket = self.gate.enter(if parallel { GateMode::Parallel } else { GateMode::Exclusive });
        let CallNumber { occurrence, shown_id, again } = number;
        let identity = Identity::of(&call, occurrence, again);
        let events = Arc::new(CallEvents::new(Arc::clone(&self.env.host.events), identity));
        let told = self.told(&events);
        let call = self.bind(call, source, &events, &told, cancellation);
        Task {
            told,
            ticket,
            waits: tool.as_ref().is_some_and(|tool| tool.waits_for_cancellation()),
            known: tool.is_some(),
            found: Found::new(Arc::clone(&self.env), tool, call, Arc::clone(&events)),
            events,
            shown_id,
            handed_over: self.env.host.clock.now(),
        }
    }

    /// Takes the facts of a call.
    fn told(&self, events: &CallEvents) -> Arc<Told> {
        let identity = events.identity();
        let journal = self.env.journal.progress(&identity.call_id, identity.occurrence);
        Arc::new(Told::new(journal.unwrap_or_else(|| Arc::clone(&self.env.host.progress))))
    }

    /// Binds a call to its step.
    fn bind(
        &self,
        call: ToolCall,
        source: ToolCallSource,
        events: &Arc<CallEvents>,
        told: &Arc<Told>,
        cancellation: CancellationToken,
    ) -> ToolInvocation {
        let env = &self.env;
        let ToolCall { tool_name, call_id, payload, encrypted_function_args: _ } = call;
        let host = Host {
            events: Arc::clone(events) as _,
            progress: Arc::clone(told) as _,
            // Dispatch puts in who asks, where anybody may be.
            retries: Arc::new(NoRetries),
            services: Arc::clone(&env.host.services),
        };
        let (step, tracker) = (Arc::clone(&env.step), env.tracker.clone());
        let confinement = Confinement::default();
        ToolInvocation { call_id, tool_name, payload, source, step, confinement, cancellation, tracker, host }
    }
}

/// A call that is on its way. Dropping it drops the call where it stands.
#[derive(Debug)]
#[must_use = "a dropped call is not answered"]
pub struct RunningCall {
    handle: JoinHandle<Box<CallEnd>>,
    events: Arc<CallEvents>,
    cancellation: CancellationToken,
}

impl RunningCall {
    /// The call's id.
    pub fn call_id(&self) -> &CallId {
        &self.events.identity().call_id
    }

    /// Cancels this call alone.
    pub fn cancellation(&self) -> &CancellationToken {
        &self.cancellation
    }

    /// Waits for the call's end. There is always one.
    pub async fn end(mut self) -> CallEnd {
        match (&mut self.handle).await {
            Ok(end) => *end,
            // Dispatch catches panics; this is the executor shutting down, or a fault of ours outside of dispatch.
            Err(error) => {
                let identity = self.events.identity();
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

/// The task of one call.
struct Task {
    ticket: Ticket,
    found: Found,
    events: Arc<CallEvents>,
    /// What the call tells of itself.
    told: Arc<Told>,
    /// Under which id a client sees the call.
    shown_id: String,
    /// Whether there is a tool of this name.
    known: bool,
    /// Whether the tool waits for its own teardown.
    waits: bool,
    handed_over: Instant,
}

impl Task {
    /// The end is boxed, since it is moved several times on its way out.
    fn run(self) -> impl Future<Output = Box<CallEnd>> {
        // Taken apart out here: what an async function takes apart, it holds twice.
        let Self { mut ticket, mut found, events, told, shown_id, known, waits, handed_over } = self;
        let cancellation = found.call().cancellation.clone();
        async move {
            events.show(Shown::new(shown_id, found.call()));
            let (mut known, mut waits, mut given_up) = (known, waits, false);
            if !known && found.may_come() {
                given_up = !Box::pin(has_looked_again(&mut ticket, &mut found, &cancellation)).await;
                (known, waits) =
                    found.tool().map_or((false, false), |tool| (true, tool.waits_for_cancellation()));
            }
            let finished = {
                let mut work = pin!(async {
                    ticket.admitted().await;
                    Box::new(found.dispatch().await)
                });
                let first = tokio::select! {
                    biased;
                    () = std::future::ready(()), if given_up => None,
                    end = &mut work => Some(end),
                    () = cancellation.cancelled() => None,
                };
                // With a real result there is nothing to abort; a tool that waits for its teardown answers itself.
                let terminal = events.terminal();
                match first {
                    None if terminal.is_reached() || (waits && terminal.handler_ran()) => Some(work.await),
                    first => first,
                }
            };
            let env = found.env();
            #[cfg_attr(not(feature = "images"), expect(unused_mut))]
            let mut end =
                finished.unwrap_or_else(|| abort(env, &events, known, env.since(handed_over), &told));
            #[cfg(feature = "images")]
            look_at_pictures(&mut end, found.call()).await;
            write_down(env, &end, &found.call().source).await;
            drop(ticket);
            if !found.call().source.is_nested() {
                log_timing(&end, env, handed_over);
            }
            end
        }
    }
}

/// Looks again for a tool that was not there, once whatever is still starting could have brought it. False where the
/// call was cancelled before that.
async fn has_looked_again(ticket: &mut Ticket, found: &mut Found, cancellation: &CancellationToken) -> bool {
    let looking = async {
        ticket.admitted().await;
        found.look_again().await;
    };
    cancellation.run_until_cancelled(looking).await.is_some()
}

/// The end of a call that was cut short, told to everybody who would have heard of another end.
fn abort(
    env: &DispatchEnvironment,
    events: &CallEvents,
    known: bool,
    elapsed: Duration,
    told: &Told,
) -> Box<CallEnd> {
    tracing::Span::current().record("aborted", true);
    let identity = events.identity();
    let end = identity.aborted(elapsed, told.lines());
    events.finish(LifecycleOutcome::Aborted, || end.preview());
    // Nobody hears of a call whose tool is unknown, cancelled or not.
    if known {
        env.ended(&identity.call_id, &identity.tool_name, LifecycleOutcome::Aborted);
    }
    Box::new(end)
}

/// Looks at the pictures that the model would see. A script gets what its tools gave, and what it shows is looked at when
/// it does.
#[cfg(feature = "images")]
async fn look_at_pictures(end: &mut CallEnd, call: &ToolInvocation) {
    if call.source.is_nested() || end.result.as_ref().is_ok_and(|result| result.output.pictures_are_checked())
    {
        return;
    }
    if let Ok(response) = &mut end.response
        && has_pictures(response)
    {
        Box::pin(check_pictures(response, &call.cancellation)).await;
    }
}

/// Writes the end of a call to the journal, with the output the model will read, before anybody else can see it.
async fn write_down(env: &DispatchEnvironment, end: &CallEnd, source: &ToolCallSource) {
    if !env.journal.is_kept() {
        return;
    }
    let Ok(response) = &end.response else { return };
    let line = CallFinished {
        call_id: end.call_id.clone(),
        occurrence: end.occurrence,
        outcome: end.journal_outcome(),
        output: ResponseItem::from(response.clone()),
        aside: Vec::new(),
        at: env.timestamp(),
    };
    env.journal.finished(line, source).await;
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

fn log_timing(end: &CallEnd, env: &DispatchEnvironment, handed_over: Instant) {
    if !tracing::enabled!(target: "tenon.tool_call", tracing::Level::INFO) {
        return;
    }
    let duration_ms = u64::try_from(env.since(handed_over).as_millis()).unwrap_or(u64::MAX);
    let span = tracing::Span::current();
    span.record("duration_ms", duration_ms);
    span.record("outcome", tracing::field::debug(end.outcome));
    let preview = end.preview();
    tracing::info!(target: "tenon.tool_call", call_id = %end.call_id, duration_ms, outcome = ?end.outcome, preview);
}
