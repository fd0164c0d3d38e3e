//! A response's events, from its bytes (runtime.md D1).

use std::collections::VecDeque;
use std::error::Error;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_core::Stream;
use tenon_protocol::{Decoded, EventDecoder, ResponseEvent};
use tenon_tools::{ModelError, ModelErrorKind};
use tokio::time::{Instant, Sleep, sleep};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use crate::client::cancelled;
use crate::failure::{incomplete, model_error};
use crate::redact::Redactor;
use crate::transport::cause;

/// How long the end of the body is waited for behind the last event: with it the connection can serve the next request.
const END_GRACE: Duration = Duration::from_millis(50);
/// The server said nothing for the idle time (runtime.md D1.1).
const IDLE: &str = "idle timeout waiting for SSE";
/// The body ended before the response did (runtime.md D1.1).
const CLOSED: &str = "stream closed before response.completed";

/// The events of one response. It ends after `response.completed`, or with one error.
///
/// Nothing runs beside it: bytes are read when it is polled, and dropping it closes the connection.
pub(crate) struct EventStream<B> {
    /// None once the stream has ended.
    body: Option<Pin<Box<B>>>,
    decoder: EventDecoder,
    /// What the bytes so far have brought.
    ready: VecDeque<ResponseEvent>,
    state: State,
    /// What is raised when the stream ends: what `response.failed` said, before anything else.
    failure: Option<ModelError>,
    timer: Pin<Box<Sleep>>,
    idle_timeout: Duration,
    cancelled: Pin<Box<WaitForCancellationFutureOwned>>,
    redactor: Redactor,
}

enum State {
    /// More bytes may come.
    Open,
    /// No more bytes will come.
    Closed,
    /// The response is complete; the body's end is waited for.
    Completed(Box<ResponseEvent>),
    /// All is said.
    Ended,
}

impl<B, C, E> EventStream<B>
where
    B: Stream<Item = Result<C, E>>,
    C: AsRef<[u8]>,
    E: Error + 'static,
{
    pub(crate) fn new(
        body: B,
        idle_timeout: Duration,
        cancellation: CancellationToken,
        redactor: Redactor,
    ) -> Self {
        Self {
            body: Some(Box::pin(body)),
            decoder: EventDecoder::new(),
            ready: VecDeque::new(),
            state: State::Open,
            failure: None,
            timer: Box::pin(sleep(idle_timeout)),
            idle_timeout,
            cancelled: Box::pin(cancellation.cancelled_owned()),
            redactor,
        }
    }

    /// Reads once: bytes, the end, or the idle time-out.
    fn poll_body(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let next = match &mut self.body {
            Some(body) => body.as_mut().poll_next(context),
            None => Poll::Ready(None),
        };
        match next {
            Poll::Ready(Some(Ok(chunk))) => {
                self.timer.as_mut().reset(Instant::now() + self.idle_timeout);
                self.decode(Some(chunk.as_ref()));
            }
            Poll::Ready(Some(Err(error))) => {
                tracing::warn!(cause = self.redactor.clean(cause(&error)), "the stream broke");
                self.decode(None);
                self.state = State::Closed;
            }
            Poll::Ready(None) => {
                self.decode(None);
                self.state = State::Closed;
            }
            Poll::Pending => {
                ready!(self.timer.as_mut().poll(context));
                self.failure.get_or_insert_with(|| ModelError::retryable(ModelErrorKind::Stream, IDLE));
                self.state = State::Closed;
            }
        }
        Poll::Ready(())
    }

    /// Decodes a chunk, or the end. Where an item is lost, the stream ends with what came before it: what comes after
    /// it may rest on it, and a call that nobody hears of would never be answered. What is cut off by the end of all
    /// is not told: the stream has failed as it is.
    fn decode(&mut self, chunk: Option<&[u8]>) {
        let Self { decoder, ready, redactor, .. } = self;
        let mut lost = None;
        let mut sink = |decoded| match decoded {
            _ if lost.is_some() => {}
            Decoded::Event(event) => ready.push_back(event),
            Decoded::Broken(broken) => {
                // The reason alone: the event's text is the model's, and no log's.
                let reason = redactor.clean(broken.reason);
                tracing::warn!(reason, "skipped a broken event");
                match (chunk, broken.may_be_item) {
                    (Some(_), true) => lost = Some(reason),
                    (Some(_), false) => ready.push_back(ResponseEvent::Skipped { reason }),
                    (None, _) => {}
                }
            }
        };
        match chunk {
            Some(chunk) => decoder.feed(chunk, &mut sink),
            None => decoder.finish(&mut sink),
        }
        if let Some(reason) = lost {
            let message = format!("an item of the answer could not be read: {reason}");
            self.failure.get_or_insert_with(|| ModelError::retryable(ModelErrorKind::Stream, message));
            self.state = State::Closed;
        }
    }

    /// The event, if the reader is to have it; else what follows from it.
    fn sort(&mut self, event: ResponseEvent) -> Option<ResponseEvent> {
        match event {
            ResponseEvent::Failed(failure) => {
                // `error` and `response.failed` may tell of one failure, and only one of them its code.
                if failure.code.is_some() || self.failure.is_none() {
                    self.failure = Some(model_error(&failure));
                }
                None
            }
            ResponseEvent::Incomplete { reason } => {
                self.failure = Some(incomplete(&reason));
                self.ready.clear();
                self.state = State::Closed;
                None
            }
            ResponseEvent::Completed { .. } => {
                self.timer.as_mut().reset(Instant::now() + END_GRACE);
                self.state = State::Completed(Box::new(event));
                None
            }
            ResponseEvent::Created { .. }
            | ResponseEvent::OutputItemAdded { .. }
            | ResponseEvent::OutputItemDone { .. }
            | ResponseEvent::OutputTextDelta { .. }
            | ResponseEvent::ReasoningSummaryTextDelta { .. }
            | ResponseEvent::ReasoningSummaryTextDone { .. }
            | ResponseEvent::ReasoningSummaryPartAdded { .. }
            | ResponseEvent::ReasoningTextDelta { .. }
            | ResponseEvent::CustomToolCallInputDelta { .. }
            | ResponseEvent::FunctionCallArgumentsDelta { .. }
            | ResponseEvent::Skipped { .. }
            | ResponseEvent::Other { .. } => Some(event),
        }
    }

    /// Waits for the body's end, for a moment; a cancellation must not lose a response that is complete.
    fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<()> {
        while let Some(body) = &mut self.body {
            if self.timer.as_mut().poll(context).is_ready()
                || self.cancelled.as_mut().poll(context).is_ready()
            {
                break;
            }
            if !matches!(ready!(body.as_mut().poll_next(context)), Some(Ok(_))) {
                break;
            }
        }
        Poll::Ready(())
    }

    /// Closes the connection: nothing comes after this.
    fn end(&mut self, error: Option<ModelError>) -> ModelError {
        self.state = State::Ended;
        self.body = None;
        self.ready.clear();
        let closed = || ModelError::retryable(ModelErrorKind::Stream, CLOSED);
        let mut error = error.or_else(|| self.failure.take()).unwrap_or_else(closed);
        error.message = self.redactor.clean(error.message);
        error
    }
}

impl<B, C, E> Stream for EventStream<B>
where
    B: Stream<Item = Result<C, E>>,
    C: AsRef<[u8]>,
    E: Error + 'static,
{
    type Item = Result<ResponseEvent, ModelError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            match &this.state {
                State::Ended => return Poll::Ready(None),
                State::Completed(_) => {
                    ready!(this.poll_end(context));
                    this.body = None;
                    let State::Completed(event) = std::mem::replace(&mut this.state, State::Ended) else {
                        continue;
                    };
                    return Poll::Ready(Some(Ok(*event)));
                }
                State::Open | State::Closed => {}
            }
            if this.cancelled.as_mut().poll(context).is_ready() {
                return Poll::Ready(Some(Err(this.end(Some(cancelled())))));
            }
            if let Some(event) = this.ready.pop_front() {
                if let Some(event) = this.sort(event) {
                    return Poll::Ready(Some(Ok(event)));
                }
            } else if matches!(this.state, State::Closed) {
                return Poll::Ready(Some(Err(this.end(None))));
            } else {
                ready!(this.poll_body(context));
            }
        }
    }
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
