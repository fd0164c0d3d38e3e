//! `tenon mcp list` and `tenon mcp tools`.

use serde_json::{Value, json};
use tenon_mcp_client::{RemoteTool, ServerStatus};
use tenon_tools::McpServerState;

use super::{answered, settled, start};
use crate::commands::Surroundings;
use crate::config::Config;
use crate::failure::Failure;
use crate::home::Home;
use crate::output::{first_line, neutral};

/// How many characters of a description stand on a line.
const DESCRIPTION_CHARS: usize = 100;

/// Starts all servers and says how each stands.
pub(super) async fn servers(
    config: Config,
    home: &Home,
    as_json: bool,
    surroundings: &mut Surroundings,
) -> Result<u8, Failure> {
    let (servers, settled) = settled(&config, home, surroundings).await;
    let status = servers.status();
    servers.shutdown().await;
    if !settled {
        return Err(Failure::interrupted());
    }
    let text = if as_json {
        format!("{:#}\n", Value::Array(status.iter().map(json_of).collect()))
    } else {
        lines_of(&status)
    };
    surroundings.print(&text)
}

fn json_of(status: &ServerStatus) -> Value {
    let (state, why) = words_of(&status.state);
    let facts = status.facts.as_ref();
    let own = facts.and_then(|facts| facts.implementation.as_ref());
    json!({
        "name": status.name,
        "transport": status.transport,
        "state": state,
        "error": why,
        "protocol_version": facts.map(|facts| &facts.protocol_version),
        "server": own.map(|(name, version)| json!({ "name": name, "version": version })),
        "tools": status.tools,
    })
}

fn lines_of(status: &[ServerStatus]) -> String {
    if status.is_empty() {
        return "no MCP servers are configured\n".to_owned();
    }
    let width = status.iter().map(|one| one.name.len()).max().unwrap_or_default();
    let line = |one: &ServerStatus| {
        let (state, why) = words_of(&one.state);
        let facts = one.facts.as_ref();
        let tools = match (&one.state, one.tools.len()) {
            (McpServerState::Ready { .. }, 1) => "1 tool".to_owned(),
            (McpServerState::Ready { .. }, tools) => format!("{tools} tools"),
            _ => String::new(),
        };
        let own = facts.map(|facts| match &facts.implementation {
            Some((name, version)) => format!("{name} {version}, protocol {}", facts.protocol_version),
            None => format!("protocol {}", facts.protocol_version),
        });
        let own = own.unwrap_or_default();
        let line = format!("{:width$}  {:10}  {state:6}  {tools:9}  {own}", one.name, one.transport);
        let why: String = why.into_iter().flat_map(str::lines).map(|line| format!("\n    {line}")).collect();
        neutral(&format!("{}{why}\n", line.trim_end())).into_owned()
    };
    status.iter().map(line).collect()
}

/// How a server stands, in a word, and why it is not ready.
fn words_of(state: &McpServerState) -> (&'static str, Option<&str>) {
    match state {
        McpServerState::Starting => ("starts", None),
        McpServerState::Ready { .. } => ("ready", None),
        McpServerState::Failed { message } => ("failed", Some(message)),
        McpServerState::Died { message } => ("died", Some(message)),
        McpServerState::Closed => ("closed", None),
    }
}

/// Lists the tools of one server.
pub(super) async fn tools(
    config: Config,
    home: &Home,
    server: &str,
    as_json: bool,
    surroundings: &mut Surroundings,
) -> Result<u8, Failure> {
    let servers = start(&config, home, surroundings);
    let tools = answered(servers.list_tools(server, &surroundings.cancellation), server, &servers).await?;
    let text = if as_json {
        format!("{:#}\n", Value::Array(tools.iter().map(RemoteTool::to_json).collect()))
    } else {
        let width = tools.iter().map(|tool| tool.name.chars().count()).max().unwrap_or_default();
        tools.iter().map(|tool| line_of_tool(tool, width)).collect()
    };
    surroundings.print(&text)
}

fn line_of_tool(tool: &RemoteTool, width: usize) -> String {
    let words = first_line(&tool.description, DESCRIPTION_CHARS);
    format!("{}\n", neutral(format!("{:width$}  {words}", tool.name).trim_end()))
}
