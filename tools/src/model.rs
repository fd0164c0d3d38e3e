//! What a model is to us: a prompt in, a stream of events out.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_core::Stream;
use tenon_protocol::{ResponseEvent, ResponseItem};
use tokio_util::sync::CancellationToken;

use crate::ToolSpec;

/// One request to a model.
#[derive(Debug, Clone, Default)]
pub struct Prompt {
    /// The model's name.
    pub model: String,
    /// The base instructions.
    pub instructions: String,
    /// The history, normalised: every call has its output.
    pub input: Vec<Arc<ResponseItem>>,
    /// The tools that are offered.
    pub tools: Arc<Vec<ToolSpec>>,
    /// The session's id, for the provider's cache.
    pub session_id: String,
}

/// The events of one response. It ends after [`ResponseEvent::Completed`], or with an error.
pub type ResponseStream = Pin<Box<dyn Stream<Item = Result<ResponseEvent, ModelError>> + Send>>;

/// What kind of failure a [`ModelError`] is (runtime.md D1.a).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelErrorKind {
    /// The stream broke, or the server failed in passing.
    Stream,
    /// The server could not be reached.
    Connection,
    /// The prompt is longer than the model's window.
    ContextWindowExceeded,
    /// The account's quota is used up.
    QuotaExceeded,
    /// The plan does not include this use.
    UsageNotIncluded,
    /// The server is overloaded.
    Overloaded,
    /// The request is not what the server takes.
    InvalidRequest,
    /// An image in the request is none.
    InvalidImage,
    /// The provider's policy forbids it.
    Policy,
    /// The key is missing or wrong.
    Authentication,
    /// The server failed for good.
    Server,
    /// The caller cancelled.
    Cancelled,
}

/// Why a response did not come to its end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// What kind of failure.
    pub kind: ModelErrorKind,
    /// In words for the operator.
    pub message: String,
    /// Whether the same history may be sent again.
    pub retryable: bool,
    /// How long the server asks to wait before that.
    pub delay: Option<Duration>,
}

impl ModelError {
    /// A failure that may be tried again.
    pub fn retryable(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), retryable: true, delay: None }
    }

    /// A failure that is final.
    pub fn fatal(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), retryable: false, delay: None }
    }
}

/// Sends prompts and streams answers. A client retries a request before its first byte; a stream that breaks later is
/// retried by the turn loop, since a retry is built from the new history.
#[async_trait]
pub trait ModelClient: Send + Sync {
    /// Sends one request.
    ///
    /// # Errors
    /// When no stream comes of it.
    async fn stream(
        &self,
        prompt: Prompt,
        cancellation: CancellationToken,
    ) -> Result<ResponseStream, ModelError>;
}
