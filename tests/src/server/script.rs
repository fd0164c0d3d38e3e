//! What the scripted server is to answer, request by request.

use serde_json::{Value, json};
use tokio::sync::watch;

/// The answer to one request.
#[derive(Debug, Clone)]
pub enum Answer {
    /// A model's turn: `response.created`, one `response.output_item.done` an item, `response.completed`. The marks
    /// `$SESSION` and `$CELL` in the items are replaced by the newest session or cell id in the request.
    Turn(Vec<Value>),
    /// A stream of server-sent events, step by step.
    Stream(Framing, Vec<Step>),
    /// A whole answer with a status of its own.
    Status {
        /// The status code.
        status: u16,
        /// Headers beside `content-length` and `connection`.
        headers: Vec<(String, String)>,
        /// The body.
        body: String,
    },
    /// The start of an answer that announces more bytes than it sends, and then nothing.
    HalfBody {
        /// The status code.
        status: u16,
        /// What is sent of the body.
        body: String,
    },
    /// Nothing, not even a head, until the peer hangs up.
    Silence,
    /// The connection is closed without an answer.
    HangUp,
}

/// How the end of a stream is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// The connection ends with the stream.
    Close,
    /// Chunked transfer encoding; the connection stays for the next request.
    Chunked,
}

/// One step of a stream.
#[derive(Debug, Clone)]
pub enum Step {
    /// These bytes, flushed; with [`Framing::Chunked`] one chunk.
    Bytes(Vec<u8>),
    /// Goes on when the gate opens.
    Wait(Gate),
    /// Sends nothing more until the peer hangs up.
    Stall,
    /// Closes the connection in the middle of what was announced.
    Cut,
}

impl Answer {
    /// A stream that ends with its connection.
    pub fn stream(steps: impl IntoIterator<Item = Step>) -> Self {
        Self::Stream(Framing::Close, steps.into_iter().collect())
    }

    /// A stream in chunks on a connection that stays.
    pub fn chunked(steps: impl IntoIterator<Item = Step>) -> Self {
        Self::Stream(Framing::Chunked, steps.into_iter().collect())
    }

    /// A whole answer without headers of its own.
    pub fn status(status: u16, body: impl Into<String>) -> Self {
        Self::Status { status, headers: Vec::new(), body: body.into() }
    }

    /// The same answer with one more header; answers without headers of their own stay as they are.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        if let Self::Status { headers, .. } = &mut self {
            headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }
}

impl Step {
    /// One event as the API writes it.
    pub fn event(event: &Value) -> Self {
        Self::Bytes(sse(event).into_bytes())
    }

    /// `response.output_item.done` with this item.
    pub fn item(item: &Value) -> Self {
        Self::event(&json!({"type": "response.output_item.done", "output_index": 0, "item": item}))
    }

    /// `response.completed` with this id.
    pub fn completed(id: &str) -> Self {
        Self::event(&completed(id))
    }
}

/// An event in the form of server-sent events: its kind, its data, a blank line.
pub fn sse(event: &Value) -> String {
    let kind = event.get("type").and_then(Value::as_str).unwrap_or("message");
    format!("event: {kind}\ndata: {event}\n\n")
}

/// The event that ends a response, with a usage of one token each way.
pub fn completed(id: &str) -> Value {
    json!({"type": "response.completed", "response": {"id": id, "usage": {
        "input_tokens": 1, "input_tokens_details": null,
        "output_tokens": 1, "output_tokens_details": null, "total_tokens": 2,
    }}})
}

/// Holds a stream back until the test opens it. Clones are the same gate.
#[derive(Debug, Clone)]
pub struct Gate(watch::Sender<bool>);

impl Gate {
    /// A closed gate.
    pub fn new() -> Self {
        Self(watch::Sender::new(false))
    }

    /// Opens it for good.
    pub fn open(&self) {
        self.0.send_replace(true);
    }

    pub(super) async fn opened(&self) {
        // The sender lives in self, so the wait can only end by the gate's opening.
        let _ = self.0.subscribe().wait_for(|open| *open).await;
    }
}

impl Default for Gate {
    fn default() -> Self {
        Self::new()
    }
}
