//! What can go wrong, in one place.

use std::time::Duration;

use rmcp::transport::streamable_http_client::StreamableHttpError;

/// Why a request to a server has no answer. The text is what the model reads as the cause (core.md 9.5).
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The connection ended: the server died, or was closed.
    #[error("Transport closed")]
    Closed,
    /// The answer did not come in time. The server was told that nobody waits any more.
    #[error("timed out awaiting {method} after {limit:?}")]
    TimedOut {
        /// What was asked.
        method: &'static str,
        /// How long it was waited for.
        limit: Duration,
    },
    /// The caller went away. The server was told.
    #[error("user cancelled MCP tool call")]
    Cancelled,
    /// The server answered with a protocol error.
    #[error("Mcp error: {code}: {message}{}", data.as_ref().map(|data| format!("({data})")).unwrap_or_default())]
    Rpc {
        /// The JSON-RPC code.
        code: i64,
        /// The server's words.
        message: String,
        /// What it said beside them.
        data: Option<serde_json::Value>,
    },
    /// The request could not be delivered, or its answer could not be read.
    #[error("{0}")]
    Transport(String),
    /// The server wants a login.
    #[error("the server wants a login: run `tenon mcp login {server}`")]
    LoginRequired {
        /// The server.
        server: String,
        /// What it said with it (`WWW-Authenticate`).
        challenge: Option<String>,
    },
    /// The server answered with something that is no answer to this.
    #[error("Unexpected response type")]
    Unexpected,
    /// There is no server to ask.
    #[error("{0}")]
    Unavailable(String),
}

/// Why a server is not connected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct StartError {
    text: String,
    challenge: Option<String>,
}

impl StartError {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), challenge: None }
    }

    pub(crate) fn login(server: &str, challenge: Option<String>) -> Self {
        let text = RequestError::LoginRequired { server: server.to_owned(), challenge: None }.to_string();
        // Without words of its own, the want of a login is all that is known.
        Self { text, challenge: Some(challenge.unwrap_or_default()) }
    }

    /// What a server that wants a login said with it (`WWW-Authenticate`); empty where it said nothing. None: it does
    /// not want one.
    pub fn login_challenge(&self) -> Option<&str> {
        self.challenge.as_deref()
    }
}

/// What went wrong in a transport, without the layers that it went wrong in, and without any address.
pub(crate) fn transport_words(error: &(dyn std::error::Error + 'static)) -> String {
    match error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
        Some(StreamableHttpError::Client(error)) => {
            let mut cause: &dyn std::error::Error = error;
            while let Some(inner) = cause.source() {
                cause = inner;
            }
            cause.to_string()
        }
        Some(_) | None => chain(error),
    }
}

/// An error and its sources, on one line.
pub(crate) fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        let words = inner.to_string();
        // Many errors repeat their source.
        if !text.contains(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        source = inner.source();
    }
    text
}
