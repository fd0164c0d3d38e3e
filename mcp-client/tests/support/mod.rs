//! Servers that misbehave, and what is needed to watch them.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "test code")]

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tenon_mcp_client::{
    McpServers, McpServersBuilder, RequestError, ServerConfig, StdioConfig, TransportConfig,
};
use tenon_protocol::{CallToolResult, ToolName};
use tenon_tools::{ToolExecutor, ToolInvocation, ToolOutput, ToolPayload, ToolSource};
use tokio_util::sync::CancellationToken;

/// How long anything may take before a test gives up: far more than it ever does.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// One rogue server, and the file it writes down what it hears in.
pub struct Rogue {
    pub folder: TempDir,
    pub config: ServerConfig,
}

impl Rogue {
    /// A server with these start-up faults.
    pub fn new(words: &[&str]) -> Self {
        let folder = TempDir::new().expect("a folder");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/rogue.py");
        let mut args = vec![script.into()];
        args.extend(words.iter().map(Into::into));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let log = folder.path().join("log").into_os_string();
        let environment = [("PATH".into(), path), ("ROGUE_LOG".into(), log)].into_iter().collect();
        let stdio = StdioConfig { command: "python3".into(), args, environment, cwd: None };
        let mut config = ServerConfig::new("rogue", TransportConfig::Stdio(stdio));
        config.tool_timeout = PATIENCE;
        config.startup_timeout = PATIENCE;
        Self { folder, config }
    }

    pub fn builder(&self) -> McpServersBuilder {
        McpServers::builder(self.folder.path()).server(self.config.clone())
    }

    pub fn start(&self) -> McpServers {
        self.builder().start()
    }

    /// The lines of its log that begin with this.
    pub fn heard(&self, start: &str) -> Vec<String> {
        let log = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        log.lines().filter(|line| line.starts_with(start)).map(str::to_owned).collect()
    }

    /// The process that it started, which is deaf to SIGTERM.
    pub fn child(&self) -> u32 {
        let line = self.heard("child ").pop().expect("it has a child");
        line.trim_start_matches("child ").parse().expect("a pid")
    }

    /// Waits until its log has that many such lines.
    pub async fn hears(&self, start: &str, count: usize) {
        let heard = async {
            while self.heard(start).len() < count {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(PATIENCE, heard).await.expect("the server hears it");
    }
}

/// A rogue server that is being started. It is to outlive its connection: its folder goes with it.
pub fn started(words: &[&str]) -> (Rogue, McpServers) {
    let rogue = Rogue::new(words);
    let servers = rogue.start();
    (rogue, servers)
}

pub async fn call(
    servers: &McpServers,
    tool: &str,
    arguments: Value,
) -> Result<CallToolResult, RequestError> {
    let Value::Object(arguments) = arguments else { panic!("an object") };
    servers.call("rogue", tool, arguments, &CancellationToken::new()).await
}

/// The first text of a result.
pub fn text(result: &CallToolResult) -> &str {
    result.content.first().and_then(|block| block["text"].as_str()).unwrap_or_default()
}

pub async fn call_text(servers: &McpServers, tool: &str) -> String {
    let result = call(servers, tool, json!({})).await.expect("a result");
    text(&result).to_owned()
}

/// The tool of this name in what a step would be given now.
pub fn find(servers: &McpServers, name: &str) -> Option<Arc<dyn ToolExecutor>> {
    servers.snapshot().into_iter().find(|tool| tool.name().name() == name)
}

pub fn names(servers: &McpServers) -> Vec<String> {
    let tools = servers.snapshot().into_iter();
    tools.filter(|tool| !tool.name().is_default_namespace()).map(|tool| tool.name().to_string()).collect()
}

/// A call of a tool that belongs to no session.
pub fn detached(tool: &Arc<dyn ToolExecutor>, arguments: &str) -> ToolInvocation {
    let payload = ToolPayload::Function { arguments: arguments.to_owned() };
    ToolInvocation::detached(ToolName::clone(tool.name()), payload)
}

/// Calls a tool as a session would.
pub async fn invoke(tool: &Arc<dyn ToolExecutor>, arguments: &str) -> (Box<dyn ToolOutput>, ToolInvocation) {
    let call = detached(tool, arguments);
    let prepared = tool.prepare(&call).await.expect("prepared");
    (prepared.run(&call).await.expect("an output"), call)
}

/// What the model reads of an output, as JSON.
pub fn shown(output: &dyn ToolOutput, call: &ToolInvocation) -> Value {
    let item = output.to_response_item(&call.call_id, &call.payload);
    let item = serde_json::to_value(item).expect("JSON");
    item["output"].clone()
}

/// Whether a process lives; one that nobody has reaped yet does not.
pub fn alive(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['Z', 'X'])))
}
