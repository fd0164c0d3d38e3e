//! The events that answer a request: one that cannot be read ends the request with the reason, as it does over standard
//! streams. The library passes such an event over, and whoever waits for it waits until their time is up.

use futures_core::stream::BoxStream;
use futures_util::{StreamExt, stream};
use rmcp::model::{ErrorCode, ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::SseError;
use sse_stream::Sse;

use crate::stdio::{Pending, Received, receive_whole};

/// How the library's text of an event begins that is larger than it takes.
const TOO_LARGE: &str = "SSE event exceeded";

/// A request whose answer is awaited.
pub(super) struct Awaited {
    pub(super) id: RequestId,
    pub(super) method: String,
}

/// The events of a request's answer, in which one that cannot be read is an error that answers the request.
pub(super) fn readable(
    events: BoxStream<'static, Result<Sse, SseError>>,
    awaited: Awaited,
) -> BoxStream<'static, Result<Sse, SseError>> {
    events.flat_map(move |event| stream::iter(mended(event, &awaited))).boxed()
}

fn mended(event: Result<Sse, SseError>, awaited: &Awaited) -> Vec<Result<Sse, SseError>> {
    match event {
        Ok(event) => mended_event(event, awaited).into_iter().map(Ok).collect(),
        Err(error) => match why_unreadable(&error) {
            Some(why) => vec![Ok(with_message(Sse::default(), &failure(awaited, &why)))],
            // The connection broke: what it was about is asked for again.
            None => vec![Err(error)],
        },
    }
}

/// The event as it is, where it can be read or is no message.
fn mended_event(event: Sse, awaited: &Awaited) -> Vec<Sse> {
    let is_message = matches!(event.event.as_deref(), None | Some("" | "message"));
    let data = event.data.as_deref().filter(|data| is_message && !data.trim().is_empty());
    let Some(data) = data.filter(|data| serde_json::from_str::<ServerJsonRpcMessage>(data).is_err()) else {
        return vec![event];
    };
    let mut pending = Pending::default();
    pending.sent(awaited.id.clone(), &awaited.method);
    let received = receive_whole(data.as_bytes(), &mut pending);
    let messages = received.into_iter().filter_map(|received| match received {
        Received::Message(message) => Some(with_message(event.clone(), &message)),
        Received::Answer(answer) => {
            tracing::warn!(%answer, "a request of an MCP server that cannot be read is not answered");
            None
        }
    });
    messages.collect()
}

/// What is wrong with an event that came whole, or would have.
fn why_unreadable(error: &SseError) -> Option<String> {
    match error {
        SseError::Body(cause) => {
            let text = cause.to_string();
            text.starts_with(TOO_LARGE).then(|| format!("the answer was dropped: {text}"))
        }
        SseError::Utf8Parse(error) => Some(format!("the answer cannot be read: {error}")),
        SseError::InvalidLine
        | SseError::DuplicatedEventLine
        | SseError::DuplicatedIdLine
        | SseError::DuplicatedRetry
        | SseError::IntParse(_) => Some(format!("the answer cannot be read: {error}")),
    }
}

fn failure(awaited: &Awaited, why: &str) -> ServerJsonRpcMessage {
    tracing::warn!("a message of an MCP server: {why}");
    let error = ErrorData::new(ErrorCode::INTERNAL_ERROR, why.to_owned(), None);
    ServerJsonRpcMessage::error(error, Some(awaited.id.clone()))
}

fn with_message(event: Sse, message: &ServerJsonRpcMessage) -> Sse {
    match serde_json::to_string(message) {
        Ok(data) => event.data(data),
        // It was made of JSON, or of text: this cannot be.
        Err(_) => event,
    }
}
