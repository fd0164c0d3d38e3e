//! What the command line says after `tenon mcp`.

use clap::{Args, Subcommand};

use super::ConfigArgs;

/// `tenon mcp`.
#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    #[command(subcommand)]
    pub(crate) action: McpAction,
}

/// What is asked of the servers.
#[derive(Debug, Subcommand)]
pub(crate) enum McpAction {
    /// Start the configured servers and say how each stands
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        config: ConfigArgs,
    },
    /// List the tools of one server, as it describes them
    Tools {
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// The server's name in config.toml
        #[arg(value_name = "SERVER")]
        server: String,
        #[command(flatten)]
        config: ConfigArgs,
    },
    /// Call a tool; nobody is asked
    Call {
        /// Print the whole result as JSON
        #[arg(long)]
        json: bool,
        /// The server's name in config.toml
        #[arg(value_name = "SERVER")]
        server: String,
        /// The tool's own name
        #[arg(value_name = "TOOL")]
        tool: String,
        /// The arguments, a JSON object
        #[arg(value_name = "JSON", default_value = "{}", allow_hyphen_values = true)]
        arguments: String,
        #[command(flatten)]
        config: ConfigArgs,
    },
    /// Log in at a server over HTTP that wants it (OAuth)
    Login {
        /// The server's name in config.toml
        #[arg(value_name = "NAME")]
        server: String,
        #[command(flatten)]
        config: ConfigArgs,
    },
}

impl McpAction {
    /// The options that lie over config.toml.
    pub(crate) fn config(&self) -> &ConfigArgs {
        match self {
            Self::List { config, .. }
            | Self::Tools { config, .. }
            | Self::Call { config, .. }
            | Self::Login { config, .. } => config,
        }
    }
}
