//! How a server stands, for whoever looks.

use tenon_tools::McpServerState;

use super::{Life, Server, State};
use crate::config::TransportConfig;
use crate::connect::Origin;
use crate::link::ServerFacts;

/// How a server stands.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerStatus {
    /// Its configured name.
    pub name: String,
    /// `stdio`, `http`, `in process`, or `none` where the configuration cannot be used.
    pub transport: &'static str,
    /// How it stands.
    pub state: McpServerState,
    /// What it said of itself.
    pub facts: Option<ServerFacts>,
    /// Its tools, by the names that the model knows them by.
    pub tools: Vec<String>,
}

impl Server {
    /// How it stands.
    pub(crate) fn status(&self) -> ServerStatus {
        let Life { state, tools, .. } = self.life.borrow().clone();
        let facts = match &state {
            State::Ready(link) => Some(link.facts().clone()),
            State::Starting | State::Dead(_) | State::Failed(_) | State::Closed => None,
        };
        let state = match state {
            State::Starting => McpServerState::Starting,
            State::Ready(_) => McpServerState::Ready { tools: tools.len() },
            State::Dead(why) => McpServerState::Died { message: why.to_string() },
            State::Failed(why) => McpServerState::Failed { message: why.to_string() },
            State::Closed => McpServerState::Closed,
        };
        let transport = match (&self.origin, &self.config.transport) {
            (Origin::InProcess(..), _) => "in process",
            (Origin::Broken(_), _) => "none",
            (Origin::Configured, TransportConfig::Stdio(_)) => "stdio",
            (Origin::Configured, TransportConfig::Http(_)) => "http",
        };
        let tools = tools.iter().map(|tool| tool.name().to_string()).collect();
        ServerStatus { name: self.config.name.clone(), transport, state, facts, tools }
    }
}
