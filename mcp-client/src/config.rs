//! What is configured of a server: the reference's keys, read and checked by whoever reads the configuration.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// How long a server may take to start, and again to list its tools.
pub const DEFAULT_STARTUP_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a call may take without a sign of progress.
pub const DEFAULT_TOOL_TIMEOUT: Duration = Duration::from_secs(120);

/// A secret: it is not shown by `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Hides a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TransportConfig {
    /// A program that speaks over its standard streams.
    Stdio(StdioConfig),
    /// Streamable HTTP.
    Http(HttpConfig),
}

/// A program that speaks over its standard streams.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StdioConfig {
    /// The program: a path, or a name that is looked up on the server's `PATH`.
    pub command: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// The whole environment it gets.
    pub environment: BTreeMap<OsString, OsString>,
    /// Its working folder; none takes the session's.
    pub cwd: Option<PathBuf>,
}

/// A server over HTTP.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HttpConfig {
    /// Where it is.
    pub url: String,
    /// A bearer token.
    pub bearer: Option<Secret>,
    /// Further headers of each request, by name.
    pub headers: BTreeMap<String, Secret>,
    /// The proxy for https hosts other than loopback.
    pub proxy: Option<ProxyConfig>,
    /// The scopes that a login asks for; none leaves it to the server.
    pub scopes: Option<Vec<String>>,
}

/// A proxy for https hosts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProxyConfig {
    /// Its address, which may hold a password.
    pub url: Secret,
    /// The hosts that are dialled directly, as `NO_PROXY` has them.
    pub no_proxy: Option<String>,
}

/// One server.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerConfig {
    /// Its name: letters, digits, `_` and `-`.
    pub name: String,
    /// How it is reached.
    pub transport: TransportConfig,
    /// Whether a session cannot do without it.
    pub required: bool,
    /// How long it may take to start, and again to list its tools.
    pub startup_timeout: Duration,
    /// How long a call may take without a sign of progress.
    pub tool_timeout: Duration,
    /// The only tools that are offered; none offers all.
    pub enabled_tools: Option<BTreeSet<String>>,
    /// Tools that are not offered, even where they are enabled.
    pub disabled_tools: BTreeSet<String>,
    /// Whether its tools may run beside other calls.
    pub parallel: bool,
}

impl ServerConfig {
    /// A server with the defaults of the reference.
    pub fn new(name: impl Into<String>, transport: TransportConfig) -> Self {
        Self {
            name: name.into(),
            transport,
            required: false,
            startup_timeout: DEFAULT_STARTUP_TIMEOUT,
            tool_timeout: DEFAULT_TOOL_TIMEOUT,
            enabled_tools: None,
            disabled_tools: BTreeSet::new(),
            parallel: false,
        }
    }

    /// Whether a tool is offered: it must be enabled, and not be disabled.
    pub fn offers(&self, tool: &str) -> bool {
        self.enabled_tools.as_ref().is_none_or(|enabled| enabled.contains(tool))
            && !self.disabled_tools.contains(tool)
    }
}
