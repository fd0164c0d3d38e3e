//! A script as a stream.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use tenon_protocol::ResponseEvent;
use tokio_util::sync::CancellationToken;

use super::turn::Step;
use crate::{ModelError, ModelErrorKind, ResponseStream};

/// Plays the steps. A cancelled request ends with [`ModelErrorKind::Cancelled`], as a real one does.
pub(super) fn play(steps: VecDeque<Step>, cancellation: CancellationToken) -> ResponseStream {
    Box::pin(Script { steps, cancellation, waiting: None })
}

struct Script {
    steps: VecDeque<Step>,
    cancellation: CancellationToken,
    /// At a gate.
    waiting: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl Script {
    /// Says its last word.
    fn end(&mut self, error: ModelError) -> Poll<Option<Result<ResponseEvent, ModelError>>> {
        self.steps.clear();
        self.waiting = None;
        Poll::Ready(Some(Err(error)))
    }
}

impl Stream for Script {
    type Item = Result<ResponseEvent, ModelError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let script = self.get_mut();
        loop {
            if let Some(waiting) = &mut script.waiting {
                if waiting.as_mut().poll(cx).is_pending() {
                    return Poll::Pending;
                }
                script.waiting = None;
            }
            if script.cancellation.is_cancelled() && !script.steps.is_empty() {
                return script.end(ModelError::fatal(ModelErrorKind::Cancelled, "the request was cancelled"));
            }
            match script.steps.pop_front() {
                Some(Step::Event(event)) => return Poll::Ready(Some(Ok(event))),
                Some(Step::Break(error)) => return script.end(error),
                Some(Step::End) => script.steps.clear(),
                Some(Step::Wait(gate)) => script.waiting = Some(wait(gate, script.cancellation.clone())),
                None => return Poll::Ready(None),
            }
        }
    }
}

fn wait(gate: super::Gate, cancellation: CancellationToken) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        tokio::select! {
            () = gate.pass() => {}
            () = cancellation.cancelled() => {}
        }
    })
}
