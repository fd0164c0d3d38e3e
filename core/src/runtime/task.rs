//! The task of one call: from its place in the gate to its end.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tenon_protocol::{CallFinished, ResponseItem};
use tenon_tools::{
    Confinement, Host, LifecycleOutcome, ToolCall, ToolCallSource, ToolExecutor, ToolInvocation,
};
use tokio_util::sync::CancellationToken;

use super::{CallNumber, Ticket};
use crate::dispatch::{CallEnd, CallEvents, DispatchEnvironment, Found, Identity, Shown, Told};
#[cfg(feature = "images")]
use crate::pictures::{check_pictures, has_pictures};

/// A call that has its place in the gate, and is otherwise as it came.
pub(super) struct Accepted {
    pub(super) env: Arc<DispatchEnvironment>,
    /// Under its normalised name.
    pub(super) call: ToolCall,
    pub(super) source: ToolCallSource,
    pub(super) number: CallNumber,
    pub(super) cancellation: CancellationToken,
    /// The tool of its name.
    pub(super) tool: Option<Arc<dyn ToolExecutor>>,
    pub(super) ticket: Ticket,
    pub(super) handed_over: Instant,
}

impl Accepted {
    /// Who the call is.
    pub(super) fn identity(&self) -> Identity {
        Identity::of(&self.call, self.number.occurrence, self.number.again)
    }

    /// The call, bound to its step.
    pub(super) fn task(self) -> Task {
        let events = Arc::new(self.events());
        let Self { env, call, source, number, cancellation, tool, ticket, handed_over } = self;
        let ToolCall { tool_name, call_id, payload, encrypted_function_args: _ } = call;
        let host = Host {
            events: Arc::clone(&events) as _,
            progress: Arc::clone(&events) as _,
            // Dispatch puts in who asks, where anybody may be.
            retries: Arc::clone(&env.host.retries),
            services: Arc::clone(&env.host.services),
        };
        let (step, tracker) = (Arc::clone(&env.step), env.tracker.clone());
        let confinement = Confinement::default();
        let call = ToolInvocation {
            call_id,
            tool_name,
            payload,
            source,
            step,
            confinement,
            cancellation,
            tracker,
            host,
        };
        Task {
            ticket,
            waits: tool.as_ref().is_some_and(|tool| tool.waits_for_cancellation()),
            known: tool.is_some(),
            found: Found::new(env, tool, call, Arc::clone(&events)),
            events,
            shown_id: number.shown_id,
            handed_over,
        }
    }

    /// Takes what the call tells of itself.
    fn events(&self) -> CallEvents {
        let (env, identity) = (&self.env, self.identity());
        let journal = env.journal.progress(&identity.call_id, identity.occurrence);
        let told = Told::new(journal.unwrap_or_else(|| Arc::clone(&env.host.progress)));
        CallEvents::new(Arc::clone(&env.host.events), told, identity)
    }
}

/// The task of one call.
pub(super) struct Task {
    ticket: Ticket,
    found: Found,
    events: Arc<CallEvents>,
    /// Under which id a client sees the call.
    shown_id: Option<String>,
    /// Whether there is a tool of this name.
    known: bool,
    /// Whether the tool waits for its own teardown.
    waits: bool,
    handed_over: Instant,
}

impl Task {
    /// The end is boxed, since it is moved several times on its way out.
    pub(super) fn run(self) -> impl Future<Output = Box<CallEnd>> {
        // Taken apart out here: what an async function takes apart, it holds twice.
        let Self { mut ticket, mut found, events, shown_id, known, waits, handed_over } = self;
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
                    found.dispatch().await
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
            let mut end = finished.unwrap_or_else(|| abort(env, &events, known, env.since(handed_over)));
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
fn abort(env: &DispatchEnvironment, events: &CallEvents, known: bool, elapsed: Duration) -> Box<CallEnd> {
    tracing::Span::current().record("aborted", true);
    let identity = events.identity();
    let end = identity.aborted(elapsed, events.told().lines());
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

#[cfg(test)]
#[path = "task_tests.rs"]
mod tests;
