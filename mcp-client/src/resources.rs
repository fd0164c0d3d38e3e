//! The tools for resources of servers (core.md 9.6).

mod wanted;

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use serde_json::{Map, Value};
use tenon_protocol::{CallToolResult, ToolName, TurnItem};
use tenon_tools::{
    AbortedToolOutput, Effects, Event, FunctionCallError, FunctionToolOutput, JsonSchema, PreparedCall,
    ShownAs, ToolExecutor, ToolInvocation, ToolOutput, ToolPayload, ToolSpec,
};

use crate::catalogue::list_all;
use crate::error::RequestError;
use crate::link::{Ask, Asker, Limits};
use crate::server::Server;
use crate::tool::{begun, completed};
use wanted::{Wanted, parse};

/// The server that a listing of all servers is shown under.
const ALL_SERVERS: &str = "codex";

/// The three tools.
pub(crate) fn resource_tools(servers: &Arc<[Arc<Server>]>) -> Vec<Arc<dyn ToolExecutor>> {
    let tool = |kind| {
        Arc::new(ResourceTool { kind, name: ToolName::plain(kind.name()), servers: Arc::clone(servers) })
            as Arc<dyn ToolExecutor>
    };
    vec![tool(Kind::Resources), tool(Kind::Templates), tool(Kind::Read)]
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Resources,
    Templates,
    Read,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Resources => "list_mcp_resources",
            Self::Templates => "list_mcp_resource_templates",
            Self::Read => "read_mcp_resource",
        }
    }

    /// The member of an answer that holds its entries.
    fn member(self) -> &'static str {
        match self {
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
            Self::Read => "contents",
        }
    }

    fn description(self) -> &'static str {
        match self {
            Self::Resources => {
                "Lists the resources that MCP servers offer: files, database schemas and other context. Prefer \
                 them to a search in the web where they fit."
            }
            Self::Templates => {
                "Lists the templates by which MCP servers make addresses of resources from parameters. Prefer them \
                 to a search in the web where they fit."
            }
            Self::Read => "Reads one resource of an MCP server, by the server's name and the resource's URI.",
        }
    }

    fn parameters(self) -> JsonSchema {
        let server = "Name of the MCP server, as it is configured. Without it, all servers are listed.";
        let cursor = "Where to go on: the nextCursor of an earlier answer of the same server.";
        match self {
            Self::Resources | Self::Templates => JsonSchema::object(
                [("server", JsonSchema::string(server)), ("cursor", JsonSchema::string(cursor))],
                &[],
            ),
            Self::Read => JsonSchema::object(
                [
                    ("server", JsonSchema::string("Name of the MCP server, as it is configured.")),
                    ("uri", JsonSchema::string("The resource's URI, as a listing gave it.")),
                ],
                &["server", "uri"],
            ),
        }
    }
}

struct ResourceTool {
    kind: Kind,
    name: ToolName,
    servers: Arc<[Arc<Server>]>,
}

#[async_trait]
impl ToolExecutor for ResourceTool {
    fn name(&self) -> &ToolName {
        &self.name
    }

    fn spec(&self) -> ToolSpec {
        ToolSpec::function(self.kind.name(), self.kind.description(), self.kind.parameters())
    }

    fn parallel(&self) -> bool {
        true
    }

    fn waits_for_cancellation(&self) -> bool {
        true
    }

    async fn prepare(&self, call: &ToolInvocation) -> Result<Box<dyn PreparedCall>, FunctionCallError> {
        let began = call.host.clock.now();
        let ToolPayload::Function { arguments } = &call.payload else {
            return Err(FunctionCallError::respond("mcp_resource handler received unsupported payload"));
        };
        let raw = parse(arguments)?;
        let wanted = Wanted::new(self.kind, &raw)?;
        let server = wanted.server().unwrap_or(ALL_SERVERS);
        let item = begun(call, server, self.kind.name(), raw.map_or(Value::Null, Value::Object));
        let servers = Arc::clone(&self.servers);
        Ok(Box::new(Prepared { kind: self.kind, wanted, servers, item, began, effects: Effects::none() }))
    }
}

struct Prepared {
    kind: Kind,
    wanted: Wanted,
    servers: Arc<[Arc<Server>]>,
    item: TurnItem,
    began: Instant,
    effects: Effects,
}

#[async_trait]
impl PreparedCall for Prepared {
    fn effects(&self) -> &Effects {
        &self.effects
    }

    fn shown_as(&self) -> ShownAs {
        ShownAs::Item(self.item.clone())
    }

    async fn run(self: Box<Self>, call: &ToolInvocation) -> Result<Box<dyn ToolOutput>, FunctionCallError> {
        let answered = self.answer(call).await;
        let took = call.host.clock.now().saturating_duration_since(self.began);
        call.host.events.emit(Event::ItemCompleted(shown(self.item, &answered, took)));
        if answered.is_err() && call.cancellation.is_cancelled() {
            return Ok(Box::new(AbortedToolOutput::after(took, [])));
        }
        let text = answered.map_err(FunctionCallError::respond)?;
        Ok(Box::new(FunctionToolOutput::from_text(text, Some(true))))
    }
}

/// The item, with the text for one entry.
fn shown(item: TurnItem, answered: &Result<String, String>, took: Duration) -> TurnItem {
    let result = answered.as_ref().map_err(Clone::clone).map(|text| CallToolResult {
        content: vec![serde_json::json!({ "type": "text", "text": text })],
        is_error: Some(false),
        ..CallToolResult::default()
    });
    completed(item, &result, took)
}

impl Prepared {
    async fn answer(&self, call: &ToolInvocation) -> Result<String, String> {
        let members = match &self.wanted {
            Wanted::All => self.of_all(call).await?,
            Wanted::OfServer { server, cursor } => self.of_server(call, server, cursor.clone()).await?,
            Wanted::Resource { server, uri } => self.read(call, server, uri).await?,
        };
        serde_json::to_string(&members)
            .map_err(|error| format!("failed to serialize MCP resource response: {error}"))
    }

    fn find(&self, name: &str) -> Result<&Arc<Server>, String> {
        let found = self.servers.iter().find(|server| server.config().name == name);
        found.ok_or_else(|| format!("unknown MCP server '{name}' for the selected environment"))
    }

    fn list(&self, cursor: Option<String>) -> Ask {
        match self.kind {
            Kind::Templates => Ask::ListResourceTemplates { cursor },
            Kind::Resources | Kind::Read => Ask::ListResources { cursor },
        }
    }

    async fn ask(&self, call: &ToolInvocation, server: &Arc<Server>, ask: Ask) -> Result<Value, String> {
        let limits = Limits::of_call(server.config().tool_timeout);
        let method = ask.method();
        let answered = async {
            let link = server.connected(&call.cancellation).await?;
            link.ask(ask, limits, Asker::call(call)).await
        };
        answered.await.map_err(|error: RequestError| format!("{method} failed: {error}"))
    }

    /// One page of one server.
    async fn of_server(
        &self,
        call: &ToolInvocation,
        name: &str,
        cursor: Option<String>,
    ) -> Result<Map<String, Value>, String> {
        let server = self.find(name)?;
        let mut answer = self.ask(call, server, self.list(cursor)).await?;
        let member = self.kind.member();
        let entries = answer.get_mut(member).and_then(Value::as_array_mut).map(std::mem::take);
        let mut members = Map::new();
        members.insert("server".to_owned(), name.into());
        members.insert(member.to_owned(), entries_of(name, entries.unwrap_or_default()).into());
        if let Some(next @ Value::String(_)) = answer.get("nextCursor") {
            members.insert("nextCursor".to_owned(), next.clone());
        }
        Ok(members)
    }

    /// All pages of all servers that have resources, by name. A server that fails is left out.
    async fn of_all(&self, call: &ToolInvocation) -> Result<Map<String, Value>, String> {
        let mut servers: Vec<&Arc<Server>> = self.servers.iter().collect();
        servers.sort_by(|a, b| a.config().name.cmp(&b.config().name));
        let member = self.kind.member();
        let mut all = Vec::new();
        for server in servers {
            let Ok(link) = server.connected(&call.cancellation).await else { continue };
            if !link.facts().resources {
                continue;
            }
            let limits = Limits::of_call(server.config().tool_timeout);
            let listed =
                list_all(link.as_ref(), |cursor| self.list(cursor), member, limits, &call.cancellation).await;
            match listed {
                Ok((entries, _)) => all.extend(entries_of(&server.config().name, entries)),
                Err(error) => {
                    tracing::warn!(server = %server.config().name, %error, "resources could not be listed");
                }
            }
        }
        Ok(Map::from_iter([(member.to_owned(), all.into())]))
    }

    async fn read(&self, call: &ToolInvocation, name: &str, uri: &str) -> Result<Map<String, Value>, String> {
        let server = self.find(name)?;
        let answer = self.ask(call, server, Ask::ReadResource { uri: uri.to_owned() }).await?;
        let mut members = Map::new();
        members.insert("server".to_owned(), name.into());
        members.insert("uri".to_owned(), uri.into());
        if let Value::Object(answer) = answer {
            members
                .extend(answer.into_iter().filter(|(member, _)| member != "_meta" && member != "resultType"));
        }
        Ok(members)
    }
}

/// Entries of a listing, each with its server before its own members; `_meta` is for the host.
fn entries_of(server: &str, entries: Vec<Value>) -> Vec<Value> {
    let entry = |entry: Value| {
        let mut members = Map::new();
        members.insert("server".to_owned(), server.into());
        if let Value::Object(own) = entry {
            members.extend(own.into_iter().filter(|(member, _)| member != "_meta" && member != "server"));
        }
        Value::Object(members)
    };
    entries.into_iter().map(entry).collect()
}

#[cfg(test)]
#[path = "resources_tests.rs"]
mod tests;
