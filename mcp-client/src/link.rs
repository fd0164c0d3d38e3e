//! One connection to one server.

mod deadline;
mod handler;
mod notices;
mod questions;
mod request;
mod rpc;
mod traffic;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value};
use tenon_protocol::CallFact;
use tenon_tools::{OpenQuestion, ToolInvocation};
use tokio_util::sync::CancellationToken;

pub(crate) use handler::Handler;
pub(crate) use questions::Questions;
pub(crate) use rpc::{RpcLink, known_version};
pub(crate) use traffic::Traffic;

use crate::error::RequestError;

/// What a server said of itself when it was connected.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerFacts {
    /// Its own name and version.
    pub implementation: Option<(String, String)>,
    /// What it says to the model of its tools.
    pub instructions: Option<String>,
    /// The protocol version that is spoken.
    pub protocol_version: String,
    /// Whether it has tools, and tells when they change.
    pub tools: bool,
    /// Whether it has resources.
    pub resources: bool,
}

/// What a server is asked.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Ask {
    ListTools { cursor: Option<String> },
    CallTool { name: String, arguments: Map<String, Value>, meta: Map<String, Value> },
    ListResources { cursor: Option<String> },
    ListResourceTemplates { cursor: Option<String> },
    ReadResource { uri: String },
}

impl Ask {
    /// The method, as errors name it.
    pub(crate) fn method(&self) -> &'static str {
        match self {
            Self::ListTools { .. } => "tools/list",
            Self::CallTool { .. } => "tools/call",
            Self::ListResources { .. } => "resources/list",
            Self::ListResourceTemplates { .. } => "resources/templates/list",
            Self::ReadResource { .. } => "resources/read",
        }
    }
}

/// How long an answer is waited for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Without a sign of progress.
    pub(crate) idle: Duration,
    /// Whatever progress is told.
    pub(crate) total: Duration,
}

/// How much longer than its time-out a call may take, as long as it tells of progress.
pub(crate) const PROGRESS_FACTOR: u32 = 10;

impl Limits {
    pub(crate) fn of_call(idle: Duration) -> Self {
        Self { idle, total: idle.saturating_mul(PROGRESS_FACTOR) }
    }

    pub(crate) fn fixed(total: Duration) -> Self {
        Self { idle: total, total }
    }
}

/// Who asks.
#[derive(Clone, Copy)]
pub(crate) struct Asker<'a> {
    /// Fires when they go away.
    pub(crate) cancellation: &'a CancellationToken,
    /// The call that they ask for, if it is one.
    call: Option<&'a ToolInvocation>,
    /// Set once the request is on its way.
    is_asked: Option<&'a AtomicBool>,
}

impl<'a> Asker<'a> {
    /// A call of the model's or of a script's.
    pub(crate) fn call(call: &'a ToolInvocation) -> Self {
        Self { cancellation: &call.cancellation, call: Some(call), is_asked: None }
    }

    /// Somebody else.
    pub(crate) fn other(cancellation: &'a CancellationToken) -> Self {
        Self { cancellation, call: None, is_asked: None }
    }

    /// The same, who has this set once the request is on its way.
    pub(crate) fn telling(self, is_asked: &'a AtomicBool) -> Self {
        Self { is_asked: Some(is_asked), ..self }
    }

    /// Writes down which request is the call's.
    pub(crate) fn record(&self, fact: CallFact) {
        if let Some(is_asked) = self.is_asked {
            is_asked.store(true, Ordering::Relaxed);
        }
        if let Some(call) = self.call {
            call.host.progress.record(fact);
        }
    }

    /// Says that the call waits for an answer from outside, as long as what is given back is kept.
    pub(crate) fn opens_question(&self) -> Option<OpenQuestion> {
        self.call.map(|call| call.host.questions.open(&call.source))
    }
}

/// A connection. Requests run side by side; dropping one tells the server that nobody waits any more.
#[async_trait]
pub(crate) trait Link: Send + Sync {
    fn facts(&self) -> &ServerFacts;

    /// One request to its answer, as it came.
    async fn ask(&self, ask: Ask, limits: Limits, asker: Asker<'_>) -> Result<Value, RequestError>;

    /// Whether the other side has gone.
    fn is_closed(&self) -> bool;

    /// Waits until it has; why, for people.
    async fn closed(&self) -> String;

    /// Waits for the next word that the list of tools has changed; never returns where there is none.
    async fn tools_changed(&self);

    /// Ends the connection and everything that belongs to it.
    async fn close(&self);
}

/// A link that others hold.
pub(crate) type SharedLink = Arc<dyn Link>;
