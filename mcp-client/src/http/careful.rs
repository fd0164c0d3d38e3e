//! Messages over HTTP, with what the library leaves open: stale sessions that are not told as such, errors without an
//! id, servers that never answer `server/discover`.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_core::stream::BoxStream;
use futures_util::StreamExt;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData, JsonRpcMessage, RequestId,
    ServerJsonRpcMessage, ServerResult,
};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
    StreamableHttpResponseLimits,
};
use sse_stream::Sse;

use super::events::{Awaited, readable};

/// How long a server may take to answer `server/discover`, after which it is taken for one of the older era.
pub(crate) const DISCOVER_TIMEOUT: Duration = Duration::from_secs(3);
/// How the library begins the text of an answer with this status that it cannot read.
const BAD_REQUEST: &str = "HTTP 400";

/// A client that knows these cases.
#[derive(Clone)]
pub(crate) struct Careful<C> {
    inner: C,
    discover_timeout: Option<Duration>,
    /// Set when `server/discover` was not answered in time.
    gave_up_discover: Arc<AtomicBool>,
}

impl<C> Careful<C> {
    /// Without `discover_timeout`, `server/discover` is waited for as long as it takes.
    pub(crate) fn new(
        inner: C,
        discover_timeout: Option<Duration>,
        gave_up_discover: Arc<AtomicBool>,
    ) -> Self {
        Self { inner, discover_timeout, gave_up_discover }
    }
}

/// What is known of a message before it is sent.
struct Sent {
    request: Option<Awaited>,
    discover: bool,
    in_session: bool,
}

impl Sent {
    fn new(message: &ClientJsonRpcMessage, in_session: bool) -> Self {
        match message {
            JsonRpcMessage::Request(request) => Self {
                request: Some(Awaited {
                    id: request.id.clone(),
                    method: request.request.method().to_owned(),
                }),
                discover: matches!(request.request, ClientRequest::DiscoverRequest(_)),
                in_session,
            },
            JsonRpcMessage::Response(_) | JsonRpcMessage::Notification(_) | JsonRpcMessage::Error(_) => {
                Self { request: None, discover: false, in_session }
            }
        }
    }

    /// What an answer means.
    fn read<E: std::error::Error + Send + Sync + 'static>(
        self,
        answer: Result<StreamableHttpPostResponse, StreamableHttpError<E>>,
    ) -> Result<StreamableHttpPostResponse, StreamableHttpError<E>> {
        let Some(awaited) = self.request else { return answer };
        match answer {
            // A server that has been restarted knows nothing of the session. The standard has 404 for it, which the
            // library reads; many answer 400 with an error that names no request.
            Ok(StreamableHttpPostResponse::Json(JsonRpcMessage::Error(error), session))
                if error.id.is_none() =>
            {
                if self.in_session {
                    return Err(StreamableHttpError::SessionExpired);
                }
                let error = ServerJsonRpcMessage::error(error.error, Some(awaited.id));
                Ok(StreamableHttpPostResponse::Json(error, session))
            }
            Err(StreamableHttpError::UnexpectedServerResponse(text))
                if self.in_session && text.starts_with(BAD_REQUEST) =>
            {
                Err(StreamableHttpError::SessionExpired)
            }
            Ok(StreamableHttpPostResponse::Json(message, session)) if self.discover => {
                Ok(StreamableHttpPostResponse::Json(discovered(message), session))
            }
            Ok(StreamableHttpPostResponse::Sse(events, session)) if self.discover => {
                let events = readable(events, awaited).map(|event| event.map(discovered_event)).boxed();
                Ok(StreamableHttpPostResponse::Sse(events, session))
            }
            Ok(StreamableHttpPostResponse::Sse(events, session)) => {
                Ok(StreamableHttpPostResponse::Sse(readable(events, awaited), session))
            }
            other => other,
        }
    }
}

/// An answer to `server/discover` that is none comes from a server that answers whatever it is asked: it knows nothing
/// of the newer era.
fn discovered(message: ServerJsonRpcMessage) -> ServerJsonRpcMessage {
    match message {
        JsonRpcMessage::Response(response) if !matches!(response.result, ServerResult::DiscoverResult(_)) => {
            not_discovered(response.id)
        }
        other => other,
    }
}

fn discovered_event(mut event: Sse) -> Sse {
    let message =
        event.data.as_deref().and_then(|data| serde_json::from_str::<ServerJsonRpcMessage>(data).ok());
    if let Some(message) = message {
        event.data = serde_json::to_string(&discovered(message)).ok().or(event.data);
    }
    event
}

impl<C: StreamableHttpClient + Sync> StreamableHttpClient for Careful<C> {
    type Error = C::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, StreamableHttpError<Self::Error>> {
        let limits = StreamableHttpResponseLimits::default();
        self.post_message_with_response_limits(uri, message, session_id, auth_header, custom_headers, limits)
            .await
    }

    async fn post_message_with_response_limits(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
        limits: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, StreamableHttpError<Self::Error>> {
        let sent = Sent::new(&message, session_id.is_some());
        let inner = &self.inner;
        let answer = inner.post_message_with_response_limits(
            uri,
            message,
            session_id,
            auth_header,
            custom_headers,
            limits,
        );
        let limit = self.discover_timeout.filter(|_| sent.discover);
        let answer = match (limit, &sent.request) {
            (Some(limit), Some(Awaited { id, .. })) => match tokio::time::timeout(limit, answer).await {
                Ok(answer) => answer,
                Err(_) => {
                    self.gave_up_discover.store(true, Ordering::Relaxed);
                    return Ok(StreamableHttpPostResponse::Json(not_discovered(id.clone()), None));
                }
            },
            (Some(_) | None, _) => answer.await,
        };
        sent.read(answer)
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), StreamableHttpError<Self::Error>> {
        self.inner.delete_session(uri, session_id, auth_header, custom_headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, StreamableHttpError<Self::Error>> {
        self.inner.get_stream(uri, session_id, last_event_id, auth_header, custom_headers).await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
        max: usize,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, StreamableHttpError<Self::Error>> {
        let inner = &self.inner;
        inner
            .get_stream_with_max_sse_event_size(
                uri,
                session_id,
                last_event_id,
                auth_header,
                custom_headers,
                max,
            )
            .await
    }
}

fn not_discovered(id: RequestId) -> ServerJsonRpcMessage {
    let text = Cow::Borrowed("server/discover is not known");
    ServerJsonRpcMessage::error(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, text, None), Some(id))
}
