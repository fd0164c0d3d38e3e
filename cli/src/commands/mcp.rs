//! `tenon mcp`: what servers are configured, reachable and callable.

mod call;
mod list;
mod login;

use std::sync::Arc;

use tenon_mcp_client::{McpServers, RequestError};
use tenon_tools::Host;

use super::Surroundings;
use crate::args::McpAction;
use crate::config::{Config, Defaults, Flags, load};
use crate::failure::Failure;
use crate::home::Home;
use crate::wiring;

/// Does what is asked of the servers.
///
/// # Errors
/// When it cannot be done, or the configuration cannot be used.
pub(crate) async fn run(action: McpAction, surroundings: &mut Surroundings) -> Result<u8, Failure> {
    let home = Home::find(&surroundings.environment, &surroundings.cwd)?;
    let overrides = &action.config().overrides;
    let loaded = load(&home.config(), overrides).map_err(Failure::usage)?;
    let config = Config::resolve(loaded, Flags::default(), Defaults::EXEC, &home).map_err(Failure::usage)?;
    for warning in &config.warnings {
        surroundings.console.warning(warning);
    }
    match action {
        McpAction::List { json, config: _ } => list::servers(config, &home, json, surroundings).await,
        McpAction::Tools { json, server, config: _ } => {
            let config = only(config, &server, &home)?;
            list::tools(config, &home, &server, json, surroundings).await
        }
        McpAction::Call { json, server, tool, arguments, config: _ } => {
            let config = only(config, &server, &home)?;
            call::run(config, &home, call::Call { server, tool, arguments, json }, surroundings).await
        }
        McpAction::Login { server, config: _ } => {
            let config = only(config, &server, &home)?;
            login::run(&config, &home, &server, surroundings).await
        }
    }
}

/// The configuration with one server alone: nothing else is started.
fn only(mut config: Config, server: &str, home: &Home) -> Result<Config, Failure> {
    if !config.mcp_servers.contains_key(server) {
        let known: Vec<&str> = config.mcp_servers.keys().map(String::as_str).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        let file = home.config();
        return Err(Failure::usage(format!(
            "there is no enabled MCP server `{server}` in {}; known servers: {known}",
            file.display()
        )));
    }
    config.mcp_servers.retain(|name, _| name == server);
    Ok(config)
}

/// Starts the servers of a configuration.
fn start(config: &Config, home: &Home, surroundings: &Surroundings) -> Arc<McpServers> {
    let events = Host::detached().events;
    wiring::mcp_servers(config, &surroundings.environment, &surroundings.cwd, &home.path, events)
}

/// Starts the servers of a configuration, and waits until each has started or has failed to. False: the user wished to
/// end before.
pub(super) async fn settled(
    config: &Config,
    home: &Home,
    surroundings: &mut Surroundings,
) -> (Arc<McpServers>, bool) {
    let servers = start(config, home, surroundings);
    let settled = tokio::select! {
        biased;
        () = surroundings.cancellation.cancelled() => false,
        () = servers.settled() => true,
    };
    (servers, settled)
}

/// Waits for what a server is asked, or for the user's wish to end. Of a server that has died meanwhile, it says how.
async fn answered<T>(
    asked: impl Future<Output = Result<T, RequestError>>,
    server: &str,
    servers: &McpServers,
) -> Result<T, Failure> {
    let answered = asked.await;
    let last_words = match &answered {
        Err(RequestError::Closed) => servers.last_words(server).await,
        Ok(_) | Err(_) => None,
    };
    servers.shutdown().await;
    answered.map_err(|error| match (error, last_words) {
        (RequestError::Cancelled, _) => Failure::interrupted(),
        (error, Some(words)) => {
            let words = words.replacen(":\n", ": ", 1);
            Failure::failed(format!("MCP server `{server}`: {error}; {words}"))
        }
        (error, None) => Failure::failed(error),
    })
}
