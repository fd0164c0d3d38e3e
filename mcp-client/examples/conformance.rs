//! The client that the official conformance suite is run against: `conformance client --command .../conformance`.
//!
//! The suite names the scenario in the environment and gives the server's address as the last argument. What is done
//! is nearly always the same, as a session would: connect, log in where it is wanted, list the tools, call each.
#![allow(clippy::print_stderr, reason = "the suite keeps what is said on standard error")]
#![allow(clippy::indexing_slicing, reason = "of JSON, which gives null")]

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use reqwest::header::LOCATION;
use serde_json::{Map, Value, json};
use tenon_mcp_client::{
    Elicitation, ElicitationAnswer, HttpConfig, Login, LoginRequest, McpHost, McpServers, RemoteTool,
    RequestError, Secret, ServerConfig, TransportConfig,
};
use tenon_tools::{ToolInvocation, ToolPayload, ToolSource};
use tokio_util::sync::CancellationToken;

/// The server's name; it is a configured one like any other.
const SERVER: &str = "conformance";
/// How often it is logged in before the server is given up.
const MAX_LOGINS: usize = 3;
/// Where the browser would come back to. Nobody listens there: the redirect is read and not followed.
const REDIRECT: &str = "http://127.0.0.1:14321/callback";
/// The document that the suite takes for the description of a client.
const CLIENT_METADATA: &str = "https://conformance-test.local/client-metadata.json";
/// How long anything may take.
const LIMIT: Duration = Duration::from_secs(20);

/// Says yes to every form, without a word of its own, and lends a model that only says hello.
struct Obliging;

#[async_trait]
impl McpHost for Obliging {
    fn answers_forms(&self) -> bool {
        true
    }

    fn lends_model(&self) -> bool {
        true
    }

    async fn elicit(&self, _: Elicitation) -> ElicitationAnswer {
        ElicitationAnswer::Accept(Map::new())
    }

    async fn sample(&self, _: &str, _: Value) -> Result<Value, String> {
        Ok(json!({"role": "assistant", "model": "none", "content": {"type": "text", "text": "hello"}}))
    }
}

/// What the suite says of this run.
struct Run {
    scenario: String,
    context: Value,
    config: HttpConfig,
    home: PathBuf,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().next_back().ok_or("no address")?;
    let home = std::env::temp_dir().join(format!("tenon-conformance-{}", std::process::id()));
    let context = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_default();
    let run = Run {
        scenario: std::env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default(),
        context: serde_json::from_str(&context).unwrap_or_default(),
        config: HttpConfig { url, ..HttpConfig::default() },
        home: home.clone(),
    };
    let done = run.through_logins().await;
    // What is left behind does not matter to the suite.
    let _ = std::fs::remove_dir_all(home);
    done
}

impl Run {
    /// Does the scenario, logging in as often as the server wants it, up to the bound.
    async fn through_logins(&self) -> Result<(), Box<dyn Error>> {
        for login in 0.. {
            let servers = self.start();
            let done = self.scenario(&servers).await;
            servers.shutdown().await;
            match done {
                Err(RequestError::LoginRequired { challenge, .. }) if login < MAX_LOGINS => {
                    self.log_in(challenge.filter(|words| !words.is_empty())).await?;
                }
                done => return done.map_err(Into::into),
            }
        }
        Ok(())
    }

    fn start(&self) -> McpServers {
        let mut config = ServerConfig::new(SERVER, TransportConfig::Http(self.config.clone()));
        config.startup_timeout = LIMIT;
        config.tool_timeout = LIMIT;
        McpServers::builder("/")
            .server(config)
            .host(Arc::new(Obliging))
            .roots([PathBuf::from("/")])
            .credentials_in(&self.home)
            .start()
    }

    async fn scenario(&self, servers: &McpServers) -> Result<(), RequestError> {
        let tools = servers.list_tools(SERVER, &CancellationToken::new()).await?;
        match self.scenario.as_str() {
            "http-custom-headers" => {
                for wanted in self.context["toolCalls"].as_array().into_iter().flatten() {
                    let arguments = wanted["arguments"].as_object().cloned().unwrap_or_default();
                    self.call(servers, wanted["name"].as_str().unwrap_or_default(), arguments).await?;
                }
            }
            "json-schema-2020-12-preservation" => {
                let focal = tools.iter().find(|tool| tool.name != "json_schema_echo");
                let schema = focal.map(|tool| tool.input_schema.clone()).unwrap_or_default();
                self.call(servers, "json_schema_echo", Map::from_iter([("schema".to_owned(), schema)]))
                    .await?;
            }
            _ => {
                let calls = tools.iter().map(|tool| self.call(servers, &tool.name, arguments(tool)));
                for call in calls {
                    call.await?;
                }
                if self.scenario == "http-standard-headers" {
                    read_resources(servers).await;
                }
            }
        }
        Ok(())
    }

    /// A call. Only the want of a login is a failure: what else a server answers is its own matter.
    async fn call(
        &self,
        servers: &McpServers,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<(), RequestError> {
        match servers.call(SERVER, tool, arguments, &CancellationToken::new()).await {
            Err(error @ RequestError::LoginRequired { .. }) => Err(error),
            answered => {
                eprintln!("{tool}: {answered:?}");
                Ok(())
            }
        }
    }

    /// Logs in as a browser would that consents to everything.
    async fn log_in(&self, challenge: Option<String>) -> Result<(), Box<dyn Error>> {
        eprintln!("logging in: {challenge:?}");
        let text = |name: &str| self.context[name].as_str().map(str::to_owned);
        let request = LoginRequest {
            redirect_uri: REDIRECT.to_owned(),
            client_id: text("client_id"),
            client_secret: text("client_secret").map(Secret::new),
            client_metadata_url: Some(CLIENT_METADATA.to_owned()),
            challenge,
        };
        let login = Login::begin(SERVER, &self.config, &self.home, request).await?;
        let browser = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build()?;
        let sent_back = browser.get(login.url()).send().await?;
        let target = sent_back.headers().get(LOCATION).ok_or("the browser was not sent back")?.to_str()?;
        login.finish(target).await?;
        Ok(())
    }
}

/// Arguments that fit a tool's schema: what is required, with its default where it has one.
fn arguments(tool: &RemoteTool) -> Map<String, Value> {
    let properties = tool.input_schema["properties"].as_object();
    let value = |schema: &Value| {
        if let Some(default) = schema.get("default") {
            return default.clone();
        }
        match schema["type"].as_str() {
            Some("integer" | "number") => json!(2),
            Some("boolean") => json!(true),
            Some("object") => json!({}),
            Some("array") => json!([]),
            _ => json!("text"),
        }
    };
    properties.into_iter().flatten().map(|(name, schema)| (name.clone(), value(schema))).collect()
}

/// Lists and reads resources as a model would: by the tools for them.
async fn read_resources(servers: &McpServers) {
    let listed = use_tool(servers, "list_mcp_resources", &json!({ "server": SERVER })).await;
    let listed: Value = serde_json::from_str(&listed).unwrap_or_default();
    for resource in listed["resources"].as_array().into_iter().flatten() {
        let wanted = json!({ "server": SERVER, "uri": resource["uri"] });
        eprintln!("{}", use_tool(servers, "read_mcp_resource", &wanted).await);
    }
}

async fn use_tool(servers: &McpServers, name: &str, arguments: &Value) -> String {
    let Some(tool) = servers.snapshot().into_iter().find(|tool| tool.name().name() == name) else {
        return String::new();
    };
    let payload = ToolPayload::Function { arguments: arguments.to_string() };
    let call = ToolInvocation::detached(tool.name().clone(), payload);
    let output = async { tool.prepare(&call).await?.run(&call).await };
    match output.await {
        Ok(output) => {
            let item = output.to_response_item(&call.call_id, &call.payload);
            let item = serde_json::to_value(item).unwrap_or_default();
            item["output"].as_str().unwrap_or_default().to_owned()
        }
        Err(error) => error.text().to_owned(),
    }
}
