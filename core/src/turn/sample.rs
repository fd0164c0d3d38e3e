//! One request: events come in, items are recorded as they come, calls start while the stream still runs.

use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::Pin;

use tenon_protocol::{CallId, ItemKind, ResponseEvent, ResponseFailure, ResponseItem};
use tenon_tools::{Event, InputObserver, ModelError, ModelErrorKind, ResponseStream};
use tracing::Instrument;

use super::Turn;
use super::step::Step;
use crate::runtime::{RunningCall, ToolCallRuntime};

/// How one request ended. Its calls are answered and recorded in each case.
pub(super) enum Sampled {
    /// The response is complete.
    Done {
        /// Whether the model waits for something.
        follow_up: bool,
    },
    /// There is no complete response.
    Broken(ModelError),
    /// A broken invariant.
    Fatal(String),
    /// The turn was cancelled.
    Cancelled,
}

/// What has come of a stream so far.
#[derive(Default)]
pub(super) struct Streamed {
    /// The calls that run, in the order they came in.
    pub(super) calls: Vec<RunningCall>,
    /// Whether the model waits for something.
    pub(super) follow_up: bool,
    /// Readers of custom inputs that are still being written, by item id.
    observers: HashMap<String, Box<dyn InputObserver>>,
    /// What the server said went wrong. It is raised when the stream ends.
    failure: Option<ModelError>,
    completed: bool,
    /// How many parts of it could not be read.
    skipped: usize,
}

/// How many unreadable parts of one answer the operator is told of one by one.
const MAX_SKIPPED_TOLD: usize = 5;

impl Turn<'_> {
    pub(super) async fn sample(&mut self) -> Sampled {
        let step = self.step();
        let span = tracing::info_span!("step", model = %step.prompt.model, items = step.prompt.input.len());
        self.sample_step(step).instrument(span).await
    }

    async fn sample_step(&mut self, step: Step) -> Sampled {
        let Step { runtime, prompt } = step;
        self.session.note_request(&prompt).await;
        let client = self.session.client();
        let asked = tokio::select! {
            biased;
            () = self.cancellation.cancelled() => return Sampled::Cancelled,
            asked = client.stream(prompt, self.cancellation.clone()) => asked,
        };
        let mut streamed = Streamed::default();
        let broken = match asked {
            Ok(stream) => self.read(stream, &runtime, &mut streamed).await.err(),
            Err(error) => Some(error),
        };
        let Streamed { calls, follow_up, .. } = streamed;
        let fatal = self.drain(calls).await.into_iter().next().map(|(_, text)| text);
        self.session.barrier().await;
        if self.cancellation.is_cancelled() {
            return Sampled::Cancelled;
        }
        self.show_diff();
        match (fatal, broken) {
            (Some(message), _) => Sampled::Fatal(message),
            (None, Some(error)) => Sampled::Broken(error),
            (None, None) => Sampled::Done { follow_up },
        }
    }

    /// Reads a stream to its end, or to the cancellation of the turn.
    async fn read(
        &mut self,
        mut stream: ResponseStream,
        runtime: &ToolCallRuntime,
        streamed: &mut Streamed,
    ) -> Result<(), ModelError> {
        while !streamed.completed {
            let event = tokio::select! {
                biased;
                () = self.cancellation.cancelled() => return Ok(()),
                event = next(&mut stream) => event,
            };
            match event {
                Some(Ok(event)) => self.take(event, runtime, streamed).await,
                Some(Err(error)) => return Err(streamed.failure.take().unwrap_or(error)),
                None => break,
            }
        }
        match streamed.failure.take() {
            Some(error) => Err(error),
            None if streamed.completed => Ok(()),
            None => {
                Err(ModelError::retryable(ModelErrorKind::Stream, "stream closed before response.completed"))
            }
        }
    }

    async fn take(&mut self, event: ResponseEvent, runtime: &ToolCallRuntime, streamed: &mut Streamed) {
        match event {
            ResponseEvent::OutputItemAdded { item } => observe(&item, runtime, streamed),
            ResponseEvent::OutputItemDone { item } => {
                self.finish_observer(&item, streamed);
                self.take_item(*item, runtime, streamed).await;
            }
            ResponseEvent::OutputTextDelta { item_id, delta } => {
                self.session.emit(Event::AgentMessageDelta { item_id, delta });
            }
            ResponseEvent::ReasoningSummaryTextDelta { item_id, delta, .. }
            | ResponseEvent::ReasoningTextDelta { item_id, delta, .. } => {
                self.session.emit(Event::ReasoningDelta { item_id, delta });
            }
            ResponseEvent::CustomToolCallInputDelta { item_id, delta, .. } => {
                let observer = item_id.and_then(|id| streamed.observers.get_mut(&id));
                if let Some(observer) = observer {
                    observer.delta(&delta, self.session.host().events.as_ref());
                }
            }
            ResponseEvent::Completed { usage, end_turn, response_id: _ } => {
                streamed.completed = true;
                streamed.follow_up |= end_turn == Some(false);
                self.count_tokens(usage.unwrap_or_default()).await;
            }
            ResponseEvent::Failed(failure) => streamed.failure = Some(failure_error(&failure)),
            ResponseEvent::Incomplete { reason } => {
                let message = format!("Incomplete response returned, reason: {reason}");
                streamed.failure = Some(ModelError::retryable(ModelErrorKind::Stream, message));
            }
            ResponseEvent::Skipped { reason } => self.warn_of_skipped(&reason, streamed),
            ResponseEvent::Created { .. }
            | ResponseEvent::ReasoningSummaryTextDone { .. }
            | ResponseEvent::ReasoningSummaryPartAdded { .. }
            | ResponseEvent::FunctionCallArgumentsDelta { .. }
            | ResponseEvent::Other { .. } => {}
        }
    }

    /// Tells the operator of what could not be read; of an answer that is full of it, not of every part.
    fn warn_of_skipped(&self, reason: &str, streamed: &mut Streamed) {
        streamed.skipped += 1;
        let message = match streamed.skipped.checked_sub(MAX_SKIPPED_TOLD) {
            None | Some(0) => {
                format!("a part of the model's answer could not be read and was skipped: {reason}")
            }
            Some(1) => "more parts of the model's answer could not be read and were skipped".to_owned(),
            Some(_) => return,
        };
        self.session.emit(Event::Warning { message });
    }

    fn finish_observer(&self, item: &ResponseItem, streamed: &mut Streamed) {
        let observer = item.id().and_then(|id| streamed.observers.remove(id));
        if let (Some(mut observer), Some(call_id)) = (observer, item.call_id()) {
            observer.done(&CallId::from(call_id), self.session.host().events.as_ref());
        }
    }
}

/// Lets a tool read a custom input that is about to stream in.
fn observe(item: &ResponseItem, runtime: &ToolCallRuntime, streamed: &mut Streamed) {
    let ItemKind::CustomToolCall(call) = item.kind() else { return };
    let name = tenon_protocol::ToolName::new(call.namespace.as_deref(), &call.name).with_default_namespace();
    let tool = runtime.environment().registry.get(&name);
    let observer = tool.and_then(|tool| tool.input_observer(call.call_id.as_deref().map(CallId::from)));
    if let (Some(id), Some(observer)) = (&call.id, observer) {
        streamed.observers.insert(id.clone(), observer);
    }
}

/// What a client that does not map failures itself leaves to us: they may be tried again.
fn failure_error(failure: &ResponseFailure) -> ModelError {
    ModelError::retryable(ModelErrorKind::Stream, failure.to_string())
}

async fn next(stream: &mut ResponseStream) -> Option<Result<ResponseEvent, ModelError>> {
    poll_fn(|cx| Pin::as_mut(stream).poll_next(cx)).await
}
