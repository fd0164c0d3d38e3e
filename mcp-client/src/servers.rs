//! All servers of a session.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value};
use tenon_protocol::{CallToolResult, ToolName};
use tenon_tools::{EventSink, Host, ToolExecutor, ToolSource, Wanted};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::catalogue::{RemoteTool, list_tools};
use crate::config::{ServerConfig, StdioConfig, TransportConfig};
use crate::connect::{Origin, Surroundings};
use crate::error::{RequestError, StartError};
use crate::host::{McpHost, NoHost};
use crate::in_process::{InProcessServer, ToolsChanged};
use crate::link::{Asker, Limits};
use crate::names::{belongs_to, namespaces};
use crate::resources::resource_tools;
use crate::result::read_result;
use crate::server::{Server, ServerStatus};

/// Puts the servers of a session together.
pub struct McpServersBuilder {
    servers: Vec<(ServerConfig, Origin)>,
    cwd: PathBuf,
    roots: Vec<PathBuf>,
    host: Arc<dyn McpHost>,
    events: Arc<dyn EventSink>,
    home: Option<PathBuf>,
}

impl std::fmt::Debug for McpServersBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.servers.iter().map(|(config, _)| &config.name);
        f.debug_list().entries(names).finish()
    }
}

impl McpServersBuilder {
    /// Adds a server.
    #[must_use]
    pub fn server(mut self, config: ServerConfig) -> Self {
        self.servers.push((config, Origin::Configured));
        self
    }

    /// Adds servers.
    #[must_use]
    pub fn servers(self, configs: impl IntoIterator<Item = ServerConfig>) -> Self {
        configs.into_iter().fold(self, Self::server)
    }

    /// Adds a server that cannot be started as it is configured: it is listed with the others, with why.
    #[must_use]
    pub fn broken(mut self, name: impl Into<String>, required: bool, why: impl Into<String>) -> Self {
        let mut config = ServerConfig::new(name, TransportConfig::Stdio(StdioConfig::default()));
        config.required = required;
        self.servers.push((config, Origin::Broken(why.into())));
        self
    }

    /// Adds a server that is a value of this program, under a name of its own.
    #[must_use]
    pub fn in_process(self, name: impl Into<String>, server: Arc<dyn InProcessServer>) -> Self {
        self.in_process_changing(name, server, ToolsChanged::default())
    }

    /// The same, for a server whose tools change.
    #[must_use]
    pub fn in_process_changing(
        mut self,
        name: impl Into<String>,
        server: Arc<dyn InProcessServer>,
        changed: ToolsChanged,
    ) -> Self {
        let config = ServerConfig::new(name, TransportConfig::Stdio(StdioConfig::default()));
        self.servers.push((config, Origin::InProcess(server, changed)));
        self
    }

    /// Tells servers that these folders are the ones to work in. Some take them for all that they may touch.
    #[must_use]
    pub fn roots(mut self, roots: impl IntoIterator<Item = PathBuf>) -> Self {
        self.roots.extend(roots);
        self
    }

    /// Answers what servers ask.
    #[must_use]
    pub fn host(mut self, host: Arc<dyn McpHost>) -> Self {
        self.host = host;
        self
    }

    /// Hears how servers fare.
    #[must_use]
    pub fn events(mut self, events: Arc<dyn EventSink>) -> Self {
        self.events = events;
        self
    }

    /// Keeps tokens below this home folder. Without, a login is forgotten with the session.
    #[must_use]
    pub fn credentials_in(mut self, home: impl Into<PathBuf>) -> Self {
        self.home = Some(home.into());
        self
    }

    /// Starts all servers, side by side, and returns at once. Must be called within a tokio runtime.
    pub fn start(self) -> McpServers {
        let around = Arc::new(Surroundings {
            cwd: self.cwd,
            roots: self.roots,
            host: self.host,
            events: self.events,
            home: self.home,
            shutdown: CancellationToken::new(),
            tasks: TaskTracker::new(),
        });
        let names: Vec<&str> = self.servers.iter().map(|(config, _)| config.name.as_str()).collect();
        let namespaces = namespaces(&names);
        let servers =
            self.servers.into_iter().zip(namespaces).map(|((config, origin), namespace)| {
                Server::new(config, namespace, origin, Arc::clone(&around))
            });
        let servers: Arc<[Arc<Server>]> = servers.collect();
        for server in servers.iter() {
            server.start();
        }
        let resources = if servers.is_empty() { Vec::new() } else { resource_tools(&servers) };
        McpServers { servers, resources, around }
    }
}

/// All servers of a session, a source of tools. They end with [`shutdown`](Self::shutdown), in good order; dropped
/// without it, their processes are killed.
pub struct McpServers {
    servers: Arc<[Arc<Server>]>,
    resources: Vec<Arc<dyn ToolExecutor>>,
    around: Arc<Surroundings>,
}

impl std::fmt::Debug for McpServers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.servers.iter().map(|server| &server.config().name)).finish()
    }
}

impl McpServers {
    /// No servers yet, in this working folder.
    pub fn builder(cwd: impl Into<PathBuf>) -> McpServersBuilder {
        McpServersBuilder {
            servers: Vec::new(),
            cwd: cwd.into(),
            roots: Vec::new(),
            host: Arc::new(NoHost),
            events: Host::detached().events,
            home: None,
        }
    }

    /// Waits for the servers that a session cannot do without.
    ///
    /// # Errors
    /// The first of them that did not start, and why.
    pub async fn required(&self) -> Result<(), StartError> {
        for server in self.servers.iter().filter(|server| server.config().required) {
            let name = &server.config().name;
            server.started().await.map_err(|why| {
                StartError::new(format!("the required MCP server {name} is not there: {why}"))
            })?;
        }
        Ok(())
    }

    /// Waits until every server has started or has failed to.
    pub async fn settled(&self) {
        for server in self.servers.iter() {
            // Why one failed is in its status.
            let _ = server.started().await;
        }
    }

    /// How the servers stand.
    pub fn status(&self) -> Vec<ServerStatus> {
        self.servers.iter().map(|server| server.status()).collect()
    }

    /// Asks a server for its tools, as it describes them, those that are not offered included.
    ///
    /// # Errors
    /// When there is no such server, or it does not answer.
    pub async fn list_tools(
        &self,
        server: &str,
        cancellation: &CancellationToken,
    ) -> Result<Vec<RemoteTool>, RequestError> {
        let server = self.find(server)?;
        let link = server.connected(cancellation).await?;
        let limits = Limits::fixed(server.config().startup_timeout);
        Ok(list_tools(link.as_ref(), limits, cancellation).await?.tools)
    }

    /// Calls a tool by the name that its server knows it by. Nobody is asked.
    ///
    /// # Errors
    /// When there is no such server, or it does not answer. A tool that failed gives a result that says so.
    pub async fn call(
        &self,
        server: &str,
        tool: &str,
        arguments: Map<String, Value>,
        cancellation: &CancellationToken,
    ) -> Result<CallToolResult, RequestError> {
        let found = self.find(server)?;
        if !found.config().offers(tool) {
            let text = format!("tool '{tool}' is disabled for MCP server '{server}'");
            return Err(RequestError::Unavailable(text));
        }
        let asker = Asker::other(cancellation);
        found.call(tool, arguments, Map::new(), asker).await.map(read_result)
    }

    /// How a server has ended that a request found gone: its exit status and last words, for people. None where it has
    /// not ended.
    pub async fn last_words(&self, server: &str) -> Option<String> {
        self.find(server).ok()?.last_words().await
    }

    /// Ends all servers, side by side: connections are closed, process groups ended down to the last process.
    pub async fn shutdown(&self) {
        self.around.shutdown.cancel();
        self.around.tasks.close();
        self.around.tasks.wait().await;
    }

    fn find(&self, name: &str) -> Result<&Arc<Server>, RequestError> {
        let found = self.servers.iter().find(|server| server.config().name == name);
        found.ok_or_else(|| RequestError::Unavailable(format!("there is no MCP server `{name}`")))
    }

    /// The servers that could bring what is wanted.
    fn concerned<'a>(&'a self, wanted: Wanted<'a>) -> impl Iterator<Item = &'a Arc<Server>> {
        self.servers.iter().filter(move |server| match wanted {
            Wanted::Anything => true,
            Wanted::Tool(name) => brings(server, name),
        })
    }
}

fn brings(server: &Server, name: &ToolName) -> bool {
    name.namespace().is_some_and(|namespace| belongs_to(namespace, server.namespace()))
}

impl Drop for McpServers {
    fn drop(&mut self) {
        self.around.shutdown.cancel();
    }
}

#[async_trait]
impl ToolSource for McpServers {
    fn snapshot(&self) -> Vec<Arc<dyn ToolExecutor>> {
        let found = self.servers.iter().flat_map(|server| server.tools().to_vec());
        self.resources.iter().cloned().chain(found).collect()
    }

    fn is_starting(&self, wanted: Wanted<'_>) -> bool {
        self.concerned(wanted).any(|server| server.is_starting())
    }

    async fn started(&self, wanted: Wanted<'_>) {
        for server in self.concerned(wanted) {
            // Why one failed is in its status, and was told when it did.
            let _ = server.started().await;
        }
    }
}
