//! One configured server through its lives: starting, ready, dead, started again.

mod status;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tenon_tools::{Event, McpServerState, ToolExecutor};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::catalogue::{Listed, list_tools};
use crate::config::ServerConfig;
use crate::connect::{Origin, Surroundings, connect};
use crate::error::{RequestError, StartError};
use crate::link::{Ask, Asker, Limits, SharedLink};
use crate::names::callable_names;
use crate::tool::McpTool;
pub use status::ServerStatus;

/// How long it is waited for further words that the tools have changed: some servers send one for each tool.
const CHANGES_SETTLE: Duration = Duration::from_millis(50);

/// A server's tools, as the model is to see them.
pub(crate) type Tools = Arc<[Arc<dyn ToolExecutor>]>;

/// One configured server.
pub(crate) struct Server {
    config: ServerConfig,
    namespace: String,
    origin: Origin,
    around: Arc<Surroundings>,
    life: watch::Sender<Life>,
}

/// Which life it is, and how it goes.
#[derive(Clone)]
struct Life {
    /// Counted, so that the end of an earlier life does not end a later one.
    number: u64,
    state: State,
    /// The tools of this life, or of the one before it.
    tools: Tools,
}

#[derive(Clone)]
enum State {
    Starting,
    Ready(SharedLink),
    /// It was ready and has gone. The next call starts it again.
    Dead(StartError),
    /// It never was ready.
    Failed(StartError),
    Closed,
}

impl Server {
    /// A server that starts with [`start`](Self::start).
    pub(crate) fn new(
        config: ServerConfig,
        namespace: String,
        origin: Origin,
        around: Arc<Surroundings>,
    ) -> Arc<Self> {
        let life = Life { number: 0, state: State::Starting, tools: Arc::new([]) };
        Arc::new(Self { config, namespace, origin, around, life: watch::Sender::new(life) })
    }

    pub(crate) fn config(&self) -> &ServerConfig {
        &self.config
    }

    pub(crate) fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Its tools now.
    pub(crate) fn tools(&self) -> Tools {
        Arc::clone(&self.life.borrow().tools)
    }

    pub(crate) fn is_starting(&self) -> bool {
        matches!(self.life.borrow().state, State::Starting)
    }

    /// Waits until it has started, or has failed to.
    ///
    /// # Errors
    /// Why it is not ready.
    pub(crate) async fn started(&self) -> Result<(), StartError> {
        let mut life = self.life.subscribe();
        let life = life.wait_for(|life| !matches!(life.state, State::Starting)).await;
        let Ok(life) = life else { return Err(StartError::new("the session has ended")) };
        match &life.state {
            State::Ready(_) => Ok(()),
            State::Dead(why) | State::Failed(why) => Err(why.clone()),
            State::Starting | State::Closed => Err(StartError::new("the session has ended")),
        }
    }

    /// Lets its first life begin.
    pub(crate) fn start(self: &Arc<Self>) {
        self.spawn(0);
    }

    fn spawn(self: &Arc<Self>, number: u64) {
        self.tell(McpServerState::Starting);
        let server = Arc::clone(self);
        self.around.tasks.spawn(async move { server.live(number).await });
    }

    /// One life.
    async fn live(self: Arc<Self>, number: u64) {
        let shutdown = self.around.shutdown.clone();
        let born = tokio::select! {
            biased;
            () = shutdown.cancelled() => return self.become_state(number, State::Closed, None),
            born = self.be_born() => born,
        };
        let (link, tools) = match born {
            Ok(born) => born,
            Err(error) => {
                self.tell(McpServerState::Failed { message: error.to_string() });
                let state = if number == 0 { State::Failed } else { State::Dead };
                return self.become_state(number, state(error), None);
            }
        };
        self.tell(McpServerState::Ready { tools: tools.len() });
        self.become_state(number, State::Ready(Arc::clone(&link)), Some(tools));
        loop {
            tokio::select! {
                biased;
                () = shutdown.cancelled() => {
                    link.close().await;
                    return self.become_state(number, State::Closed, None);
                }
                why = link.closed() => {
                    tracing::warn!(server = %self.config.name, why, "an MCP server has gone");
                    self.tell(McpServerState::Died { message: why.clone() });
                    return self.become_state(number, State::Dead(StartError::new(why)), None);
                }
                () = link.tools_changed() => self.refresh(number, &link).await,
            }
        }
    }

    async fn be_born(self: &Arc<Self>) -> Result<(SharedLink, Tools), StartError> {
        let link = connect(&self.origin, &self.config, &self.around).await?;
        match self.list(&link).await {
            Ok(tools) => Ok((link, tools)),
            Err(RequestError::LoginRequired { server, challenge }) => {
                link.close().await;
                Err(StartError::login(&server, challenge))
            }
            Err(error) => {
                let closed = link.is_closed();
                link.close().await;
                let why = if closed { format!("; {}", link.closed().await) } else { String::new() };
                Err(StartError::new(format!("its tools could not be listed: {error}{why}")))
            }
        }
    }

    /// Lists the tools and makes them callable.
    async fn list(self: &Arc<Self>, link: &SharedLink) -> Result<Tools, RequestError> {
        let limits = Limits::fixed(self.config.startup_timeout);
        let listed = list_tools(link.as_ref(), limits, &self.around.shutdown).await;
        let Listed { tools, warnings } = match listed {
            // It did not say that it has tools, and it has none.
            Err(RequestError::Rpc { .. }) if !link.facts().tools => return Ok(Arc::new([])),
            listed => listed?,
        };
        for warning in warnings {
            self.warn(&warning);
        }
        let offered: Vec<_> = tools.into_iter().filter(|tool| self.config.offers(&tool.name)).collect();
        let names: Vec<&str> = offered.iter().map(|tool| tool.name.as_str()).collect();
        let names = callable_names(&self.config.name, &self.namespace, &names);
        let instructions = link.facts().instructions.as_deref();
        let mut made: Vec<Arc<dyn ToolExecutor>> = Vec::with_capacity(offered.len());
        for (tool, name) in offered.iter().zip(&names) {
            match McpTool::new(self, instructions, tool, name) {
                Ok(tool) => made.push(Arc::new(tool)),
                Err(wrong) => self.warn(&wrong),
            }
        }
        Ok(made.into())
    }

    /// Lists the tools again.
    async fn refresh(self: &Arc<Self>, number: u64, link: &SharedLink) {
        tokio::time::sleep(CHANGES_SETTLE).await;
        match self.list(link).await {
            Ok(tools) => {
                self.tell(McpServerState::Ready { tools: tools.len() });
                self.become_state(number, State::Ready(Arc::clone(link)), Some(tools));
            }
            // What is known stays. If the server has gone, that is seen next.
            Err(error) => self.warn(&format!("its changed tools could not be listed: {error}")),
        }
    }

    fn become_state(&self, number: u64, state: State, tools: Option<Tools>) {
        self.life.send_if_modified(|life| {
            let current = life.number == number;
            if current {
                life.state = state;
                if let Some(tools) = tools {
                    life.tools = tools;
                }
            }
            current
        });
    }

    /// A connection that lives: waits for one that is starting, and starts one anew, once, where it has died.
    pub(crate) async fn connected(
        self: &Arc<Self>,
        cancellation: &CancellationToken,
    ) -> Result<SharedLink, RequestError> {
        let mut may_restart = true;
        let mut life = self.life.subscribe();
        loop {
            let Life { number, state, .. } = life.borrow_and_update().clone();
            let why = match state {
                State::Ready(link) if !link.is_closed() => return Ok(link),
                State::Ready(_) => StartError::new("the connection was lost"),
                State::Dead(why) => why,
                State::Failed(why) => return Err(self.unavailable(&why)),
                State::Closed => return Err(RequestError::Closed),
                State::Starting => {
                    tokio::select! {
                        biased;
                        () = cancellation.cancelled() => return Err(RequestError::Cancelled),
                        changed = life.changed() => changed.map_err(|_| RequestError::Closed)?,
                    }
                    continue;
                }
            };
            if !may_restart {
                return Err(self.unavailable(&why));
            }
            may_restart = false;
            self.restart(number);
        }
    }

    /// How this life has ended; waits for that where its connection is closed already.
    pub(crate) async fn last_words(&self) -> Option<String> {
        let mut life = self.life.subscribe();
        let ends = |life: &Life| !matches!(&life.state, State::Ready(link) if link.is_closed());
        let life = life.wait_for(ends).await.ok()?;
        match &life.state {
            State::Dead(why) => Some(why.to_string()),
            State::Starting | State::Ready(_) | State::Failed(_) | State::Closed => None,
        }
    }

    /// What is told of a call to a server that is not there.
    fn unavailable(&self, why: &StartError) -> RequestError {
        match why.login_challenge() {
            Some(challenge) => RequestError::LoginRequired {
                server: self.config.name.clone(),
                challenge: Some(challenge.to_owned()),
            },
            None => RequestError::Unavailable(why.to_string()),
        }
    }

    /// Begins the next life, if nobody else has.
    fn restart(self: &Arc<Self>, after: u64) {
        let begun = self.life.send_if_modified(|life| {
            let first = life.number == after;
            if first {
                life.number += 1;
                life.state = State::Starting;
            }
            first
        });
        if begun {
            self.spawn(after + 1);
        }
    }

    /// Calls a tool.
    pub(crate) async fn call(
        self: &Arc<Self>,
        tool: &str,
        arguments: Map<String, Value>,
        meta: Map<String, Value>,
        asker: Asker<'_>,
    ) -> Result<Value, RequestError> {
        let ask = Ask::CallTool { name: tool.to_owned(), arguments, meta };
        let link = self.connected(asker.cancellation).await?;
        link.ask(ask, Limits::of_call(self.config.tool_timeout), asker).await
    }

    fn tell(&self, state: McpServerState) {
        self.around.events.emit(Event::McpServer { server: self.config.name.clone(), state });
    }

    fn warn(&self, message: &str) {
        tracing::warn!(server = %self.config.name, message, "MCP server");
        let message = format!("MCP server {}: {message}", self.config.name);
        self.around.events.emit(Event::Warning { message });
    }
}
