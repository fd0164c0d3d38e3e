//! Messages over HTTP, with what the library leaves open: stale sessions that are not told as such, errors without an
//! id, servers that never answer `server/discover`.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_core::stream::BoxStream;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData, JsonRpcMessage, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
    StreamableHttpResponseLimits,
};
use sse_stream::Sse;

/// How long a server may take to answer `server/discover`, after which it is taken for one of the older era.
pub(crate) const DISCOVER_TIMEOUT: Duration = Duration::from_secs(3);
/// How the library begins the text of an answer with this status that it cannot read.
const BAD_REQUEST: &str = "HTTP 400";

/// A client that knows these cases.
#[derive(Clone)]
pub(crate) struct Careful<C>(pub(crate) C);

/// What is known of a message before it is sent.
struct Sent {
    request: Option<RequestId>,
    discover: bool,
    in_session: bool,
}

impl Sent {
    fn new(message: &ClientJsonRpcMessage, in_session: bool) -> Self {
        match message {
            JsonRpcMessage::Request(request) => Self {
                request: Some(request.id.clone()),
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
        let Some(id) = self.request else { return answer };
        match answer {
            // A server that has been restarted knows nothing of the session. The standard has 404 for it, which the
            // library reads; many answer 400 with an error that names no request.
            Ok(StreamableHttpPostResponse::Json(JsonRpcMessage::Error(error), session))
                if error.id.is_none() =>
            {
                if self.in_session {
                    return Err(StreamableHttpError::SessionExpired);
                }
                let error = ServerJsonRpcMessage::error(error.error, Some(id));
                Ok(StreamableHttpPostResponse::Json(error, session))
            }
            Err(StreamableHttpError::UnexpectedServerResponse(text))
                if self.in_session && text.starts_with(BAD_REQUEST) =>
            {
                Err(StreamableHttpError::SessionExpired)
            }
            other => other,
        }
    }
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
        let inner = &self.0;
        let answer = inner.post_message_with_response_limits(
            uri,
            message,
            session_id,
            auth_header,
            custom_headers,
            limits,
        );
        let answer = match (sent.discover, &sent.request) {
            (true, Some(id)) => match tokio::time::timeout(DISCOVER_TIMEOUT, answer).await {
                Ok(answer) => answer,
                Err(_) => return Ok(StreamableHttpPostResponse::Json(not_answered(id.clone()), None)),
            },
            (true | false, _) => answer.await,
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
        self.0.delete_session(uri, session_id, auth_header, custom_headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, StreamableHttpError<Self::Error>> {
        self.0.get_stream(uri, session_id, last_event_id, auth_header, custom_headers).await
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
        let inner = &self.0;
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

fn not_answered(id: RequestId) -> ServerJsonRpcMessage {
    let text = Cow::Borrowed("server/discover was not answered");
    ServerJsonRpcMessage::error(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, text, None), Some(id))
}
