//! What the user has chosen: `config.toml` of the home folder, `-c` over it, flags over both.
//!
//! [`file`] is the file's shape, [`overrides`] the `-c` options, [`load`] reads and merges, [`resolve`] settles the
//! choices with their defaults. [`mcp_store`] writes one thing back. A broken file is one error with path, line and
//! column; an unknown key is a warning.

mod approve_tool;
mod error;
mod features;
mod file;
mod limits;
mod load;
mod mcp;
mod mcp_store;
mod overrides;
mod provider;
mod resolve;
mod values;

pub(crate) use load::load;
pub(crate) use mcp::McpServer;
pub(crate) use mcp_store::ConfigMcpStore;
pub(crate) use overrides::ConfigOverride;
pub(crate) use provider::Provider;
pub(crate) use resolve::{Config, Defaults, Flags};
pub(crate) use values::{SandboxMode, ToolMode};
