//! Servers that are values of this program: no process, no transport.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use tenon_protocol::CallToolResult;
use tokio::sync::{Notify, watch};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::catalogue::RemoteTool;
use crate::error::RequestError;
use crate::link::{Ask, Asker, Limits, Link, ServerFacts};

/// A server that is a value of this program. Its tools are offered, searched, approved, bounded and shown as those of
/// any other server.
#[async_trait]
pub trait InProcessServer: Send + Sync {
    /// What it says to the model of its tools.
    fn instructions(&self) -> Option<String> {
        None
    }

    /// Its tools.
    async fn list_tools(&self) -> Vec<RemoteTool>;

    /// Calls one of them. The future is dropped when the call is cancelled or takes too long; `cancellation` fires
    /// first, for what goes on elsewhere.
    ///
    /// # Errors
    /// Why there is no result. A tool that failed gives a result that says so.
    async fn call_tool(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        cancellation: CancellationToken,
    ) -> Result<CallToolResult, String>;
}

/// Tells a client that the tools of an in-process server have changed.
#[derive(Debug, Clone, Default)]
pub struct ToolsChanged(Arc<Notify>);

impl ToolsChanged {
    /// The list is read again.
    pub fn tell(&self) {
        self.0.notify_one();
    }
}

pub(crate) struct InProcessLink {
    facts: ServerFacts,
    server: Arc<dyn InProcessServer>,
    changed: ToolsChanged,
    closed: watch::Sender<bool>,
}

impl InProcessLink {
    pub(crate) fn new(server: Arc<dyn InProcessServer>, changed: ToolsChanged) -> Arc<Self> {
        let facts = ServerFacts {
            instructions: server.instructions().filter(|text| !text.trim().is_empty()),
            protocol_version: "in process".to_owned(),
            tools: true,
            ..ServerFacts::default()
        };
        Arc::new(Self { facts, server, changed, closed: watch::Sender::new(false) })
    }

    async fn answer(&self, ask: Ask, cancellation: CancellationToken) -> Result<Value, RequestError> {
        match ask {
            Ask::ListTools { .. } => {
                let tools: Vec<Value> =
                    self.server.list_tools().await.iter().map(RemoteTool::to_json).collect();
                Ok(json!({ "tools": tools }))
            }
            Ask::CallTool { name, arguments, meta: _ } => {
                let result = self.server.call_tool(&name, arguments, cancellation).await;
                let result = result.map_err(RequestError::Transport)?;
                serde_json::to_value(result).map_err(|error| RequestError::Transport(error.to_string()))
            }
            Ask::ListResources { .. } => Ok(json!({ "resources": [] })),
            Ask::ListResourceTemplates { .. } => Ok(json!({ "resourceTemplates": [] })),
            Ask::ReadResource { uri } => Err(RequestError::Transport(format!("there is no resource {uri}"))),
        }
    }
}

#[async_trait]
impl Link for InProcessLink {
    fn facts(&self) -> &ServerFacts {
        &self.facts
    }

    async fn ask(&self, ask: Ask, limits: Limits, asker: Asker<'_>) -> Result<Value, RequestError> {
        let method = ask.method();
        let cancellation = CancellationToken::new();
        let _ended = cancellation.clone().drop_guard();
        let mut closed = self.closed.subscribe();
        tokio::select! {
            biased;
            () = asker.cancellation.cancelled() => Err(RequestError::Cancelled),
            _ = closed.wait_for(|closed| *closed) => Err(RequestError::Closed),
            answer = timeout(limits.idle, self.answer(ask, cancellation)) => {
                answer.map_err(|_| RequestError::TimedOut { method, limit: limits.idle })?
            }
        }
    }

    fn is_closed(&self) -> bool {
        *self.closed.borrow()
    }

    async fn closed(&self) -> String {
        // The sender lives as long as this.
        let _ = self.closed.subscribe().wait_for(|closed| *closed).await;
        "the server was closed".to_owned()
    }

    async fn tools_changed(&self) {
        self.changed.0.notified().await;
    }

    async fn close(&self) {
        self.closed.send_replace(true);
    }
}
