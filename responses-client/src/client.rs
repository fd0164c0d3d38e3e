//! A prompt out, attempt by attempt, until a stream has come of it.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use reqwest::header::{CONTENT_TYPE, HeaderMap, LOCATION};
use reqwest::{Method, Request, Response};
use tenon_tools::{ModelClient, ModelError, ModelErrorKind, Prompt, ResponseStream};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::back_off;
use crate::body::body;
use crate::config::{ConfigError, MAX_IDLE_TIMEOUT, MAX_REQUEST_RETRIES, ProviderConfig};
use crate::endpoint::Endpoint;
use crate::redact::Redactor;
use crate::status::{Failed, Refusal};
use crate::stream::EventStream;
use crate::transport::{self, Transport};

/// The most of an error's body that is read, in bytes.
const ERROR_BODY_LIMIT: usize = 64 * 1024;
/// How long an error's body may take; what came until then has to do.
const ERROR_BODY_TIME: Duration = Duration::from_secs(10);
/// The content type of a stream of events.
const EVENT_STREAM: &str = "text/event-stream";
/// The longest wait that is done for a server. One that asks for more gets no further attempt.
const LONGEST_ASKED: Duration = Duration::from_secs(10 * 60);

/// Headers that providers take a key in.
const KEY_HEADERS: [&str; 3] = ["authorization", "api-key", "x-api-key"];

/// A live provider of the Responses API. Connections are kept between requests.
pub struct ResponsesClient {
    transport: Transport,
    endpoint: Endpoint,
    headers: HeaderMap,
    redactor: Redactor,
    request_max_retries: u32,
    idle_timeout: Duration,
    encrypted_reasoning: bool,
    env_key: Option<String>,
    has_key: bool,
}

impl ResponsesClient {
    /// A client for this provider. Dials nobody yet.
    ///
    /// # Errors
    /// When the configuration can't be used; the message says which key of it, and what is wanted.
    pub fn new(config: &ProviderConfig) -> Result<Self, ConfigError> {
        if config.idle_timeout.is_zero() {
            return Err(ConfigError::IdleTimeout);
        }
        let endpoint = Endpoint::new(config)?;
        let headers = transport::headers(config)?;
        Ok(Self {
            has_key: KEY_HEADERS.iter().any(|name| headers.contains_key(*name)),
            headers,
            transport: transport::connect(config, &endpoint)?,
            endpoint,
            redactor: Redactor::new(config),
            request_max_retries: config.request_max_retries.min(MAX_REQUEST_RETRIES),
            idle_timeout: config.idle_timeout.min(MAX_IDLE_TIMEOUT),
            encrypted_reasoning: config.encrypted_reasoning,
            env_key: config.env_key.clone(),
        })
    }

    /// Attempts until an answer with a stream has come, at most `1 + request_max_retries` of them.
    async fn send(&self, body: Vec<u8>) -> Result<Response, ModelError> {
        let mut request = Request::new(Method::POST, self.endpoint.url().clone());
        *request.headers_mut() = self.headers.clone();
        *request.body_mut() = Some(body.into());
        let mut retries = 0;
        loop {
            let failed = match self.attempt(&request).await {
                Ok(response) => return Ok(response),
                Err(failed) => failed,
            };
            let delay = failed.error.delay;
            let too_long = delay.is_some_and(|delay| delay > LONGEST_ASKED);
            if !failed.again || too_long || retries == self.request_max_retries {
                return Err(self.cleaned(failed.error));
            }
            retries += 1;
            let delay = delay.unwrap_or_else(|| back_off::before_retry(retries));
            tracing::warn!(
                error = self.redactor.clean(failed.error.message),
                retries,
                max = self.request_max_retries,
                ?delay,
                "sending the request again"
            );
            sleep(delay).await;
        }
    }

    async fn attempt(&self, request: &Request) -> Result<Response, Failed> {
        // A body in memory is shared by the clones, and there is always one.
        let Some(request) = request.try_clone() else {
            let error =
                ModelError::fatal(ModelErrorKind::InvalidRequest, "the request's body can't be sent again");
            return Err(Failed { error, again: false });
        };
        let answered = timeout(self.idle_timeout, self.transport.http.execute(request)).await;
        let response = match answered {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(self.unreachable(&transport::cause(&error))),
            Err(_) => return Err(self.silent()),
        };
        if response.status().is_success() {
            return Ok(response);
        }
        Err(self.refused(response).await)
    }

    fn unreachable(&self, cause: &str) -> Failed {
        let through = self.transport.proxy.as_ref().map(|proxy| format!(" through the proxy {proxy}"));
        let place = self.endpoint.shown();
        let message = format!("could not reach {place}{}: {cause}", through.unwrap_or_default());
        Failed { error: ModelError::retryable(ModelErrorKind::Connection, message), again: true }
    }

    fn silent(&self) -> Failed {
        let message = format!("no answer from {} within {:?}", self.endpoint.shown(), self.idle_timeout);
        Failed { error: ModelError::retryable(ModelErrorKind::Connection, message), again: true }
    }

    async fn refused(&self, mut response: Response) -> Failed {
        let status = response.status();
        let asked = back_off::asked_for(response.headers(), Timestamp::now());
        let location = response.headers().get(LOCATION).and_then(|target| target.to_str().ok());
        let target = location.and_then(|target| self.endpoint.origin_of(target));
        let body = beginning(&mut response).await;
        let refusal = Refusal {
            status,
            url: self.endpoint.shown(),
            asked,
            target,
            env_key: self.env_key.as_deref(),
            has_key: self.has_key,
            body: &body,
        };
        refusal.failed()
    }

    fn cleaned(&self, mut error: ModelError) -> ModelError {
        error.message = self.redactor.clean(error.message);
        error
    }
}

#[async_trait]
impl ModelClient for ResponsesClient {
    async fn stream(
        &self,
        prompt: Prompt,
        cancellation: CancellationToken,
    ) -> Result<ResponseStream, ModelError> {
        let body = body(&prompt, self.encrypted_reasoning).map_err(|error| {
            let message = format!("the request could not be written as JSON: {error}");
            ModelError::fatal(ModelErrorKind::InvalidRequest, message)
        })?;
        drop(prompt);
        // Whatever an attempt waits for, dropping it breaks it off, its connection included.
        let response = tokio::select! {
            biased;
            () = cancellation.cancelled() => return Err(cancelled()),
            response = self.send(body) => response?,
        };
        warn_of_other_content(&response);
        let events =
            EventStream::new(response.bytes_stream(), self.idle_timeout, cancellation, self.redactor.clone());
        Ok(Box::pin(events))
    }
}

/// The error of a caller who cancelled.
pub(crate) fn cancelled() -> ModelError {
    ModelError::fatal(ModelErrorKind::Cancelled, "cancelled")
}

/// Some servers answer well and with something else: a page, or one JSON for the whole response. No event will come of it.
fn warn_of_other_content(response: &Response) {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    if let Some(kind) = kind.filter(|kind| !kind.trim_start().starts_with(EVENT_STREAM)) {
        tracing::warn!(content_type = kind, "the answer is no stream of events");
    }
}

/// An error body's first bytes as text, with a note of what was left out.
async fn beginning(response: &mut Response) -> String {
    let mut bytes = Vec::new();
    let reading = async {
        while bytes.len() <= ERROR_BODY_LIMIT {
            match response.chunk().await {
                Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
                Ok(None) | Err(_) => break,
            }
        }
    };
    // A body that breaks off or does not come to its end is still worth showing.
    let _ = timeout(ERROR_BODY_TIME, reading).await;
    let cut = bytes.len() > ERROR_BODY_LIMIT;
    bytes.truncate(ERROR_BODY_LIMIT);
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    if cut {
        text.push_str(&format!("… [only the first {ERROR_BODY_LIMIT} bytes are shown]"));
    }
    text
}

/// No key, no headers' values, no parameters.
impl fmt::Debug for ResponsesClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponsesClient")
            .field("url", &self.endpoint.shown())
            .field("has_key", &self.has_key)
            .field("request_max_retries", &self.request_max_retries)
            .field("idle_timeout", &self.idle_timeout)
            .finish_non_exhaustive()
    }
}
