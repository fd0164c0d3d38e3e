//! Connections to MCP servers, their catalogue, and the tools found there.
//!
//! # Layout, in the order of a server's life
//! [`ServerConfig`]: what is configured of it. `connect`, `stdio`, `http`: how it is reached; a server may also be a
//! value of this program ([`InProcessServer`]). `link`: one connection, its requests, deadlines, cancellations and
//! what the server asks back ([`McpHost`]). `catalogue` and `names`: its tools, and what the model calls them.
//! `server`: its lives. [`McpServers`]: all of them, a source of tools for a session. `tool` and `resources`: what the
//! model calls.
//!
//! No type of the protocol library that is used underneath appears here.

mod catalogue;
mod config;
mod connect;
mod error;
mod host;
mod http;
mod in_process;
mod link;
mod names;
mod resources;
mod result;
mod server;
mod servers;
mod stdio;
mod tool;

pub use catalogue::{RemoteTool, ToolAnnotations};
pub use config::{
    DEFAULT_STARTUP_TIMEOUT, DEFAULT_TOOL_TIMEOUT, HttpConfig, ProxyConfig, Secret, ServerConfig,
    StdioConfig, TransportConfig,
};
pub use error::{RequestError, StartError};
pub use host::{Elicitation, ElicitationAnswer, ElicitationKind, McpHost, NoHost};
pub use http::{Login, LoginError, LoginRequest};
pub use in_process::{InProcessServer, ToolsChanged};
pub use link::ServerFacts;
pub use server::ServerStatus;
pub use servers::{McpServers, McpServersBuilder};
