//! `[mcp_servers.NAME]`: the reference's keys, checked, and made into what the client takes.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use tenon_core::policy::{McpApprovalMode, McpApprovalModes};
use tenon_mcp_client::{HttpConfig, ProxyConfig, Secret, ServerConfig, StdioConfig, TransportConfig};
use toml::Table;

use super::error::ConfigError;
use super::values::{AtLeastOne, HeaderName, HeaderValue, VariableName};
use crate::invocation::Environment;

/// What a server over standard streams inherits of the environment, beside what `env_vars` and `env` name.
const INHERITED: [&str; 10] =
    ["HOME", "LOGNAME", "PATH", "SHELL", "USER", "LANG", "LC_ALL", "TERM", "TMPDIR", "TZ"];

/// `[mcp_servers.NAME]`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(crate) struct McpServerFile {
    command: Option<String>,
    args: Option<Vec<String>>,
    env: Option<BTreeMap<VariableName, String>>,
    env_vars: Option<Vec<PassedVariable>>,
    cwd: Option<PathBuf>,
    url: Option<String>,
    bearer_token: Option<toml::Value>,
    bearer_token_env_var: Option<VariableName>,
    http_headers: Option<BTreeMap<HeaderName, HeaderValue>>,
    env_http_headers: Option<BTreeMap<HeaderName, VariableName>>,
    /// Known, without effect: see [`idle_keys`](Self::idle_keys).
    oauth_resource: Option<String>,
    scopes: Option<Vec<String>>,
    enabled: Option<bool>,
    required: Option<bool>,
    startup_timeout_sec: Option<Seconds>,
    startup_timeout_ms: Option<AtLeastOne>,
    tool_timeout_sec: Option<Seconds>,
    enabled_tools: Option<BTreeSet<String>>,
    disabled_tools: Option<BTreeSet<String>>,
    supports_parallel_tool_calls: Option<bool>,
    default_tools_approval_mode: Option<McpApprovalMode>,
    #[serde(default)]
    tools: BTreeMap<String, ToolFile>,
    /// Known, without effect.
    experimental_environment: Option<toml::Value>,
    #[serde(flatten)]
    pub(super) unknown: Table,
}

/// `[mcp_servers.NAME.tools.TOOL]`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
struct ToolFile {
    approval_mode: Option<McpApprovalMode>,
}

/// One entry of `env_vars`: a name, or a name and the machine that it is taken from.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
enum PassedVariable {
    Name(String),
    From { name: String, source: Option<VariableSource> },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum VariableSource {
    Local,
    Remote,
}

impl PassedVariable {
    /// The name, if the variable is taken from this machine.
    fn local(&self) -> Option<&str> {
        match self {
            Self::Name(name) | Self::From { name, source: None | Some(VariableSource::Local) } => Some(name),
            Self::From { name: _, source: Some(VariableSource::Remote) } => None,
        }
    }
}

/// A time in seconds, with a fraction.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "f64")]
struct Seconds(Duration);

impl TryFrom<f64> for Seconds {
    type Error = String;

    fn try_from(seconds: f64) -> Result<Self, String> {
        let duration = Duration::try_from_secs_f64(seconds).ok().filter(|duration| !duration.is_zero());
        duration.map(Self).ok_or_else(|| format!("{seconds} is no number of seconds above 0"))
    }
}

/// A server, or why it cannot be started. It is told where the others are.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum McpServer {
    /// What the client takes.
    Usable(Box<ServerConfig>),
    /// Something that it needs is not in the environment.
    Broken { name: String, required: bool, why: String },
}

impl McpServerFile {
    /// Refuses what contradicts itself.
    ///
    /// # Errors
    /// When the name or the keys are not those of a server.
    pub(crate) fn check(&self, name: &str) -> Result<(), ConfigError> {
        let invalid = |key: &str, message: &str| {
            let key = if key.is_empty() { String::new() } else { format!(".{key}") };
            Err(ConfigError::invalid(format!("mcp_servers.{name}{key}"), message))
        };
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-') {
            return invalid("", "a server's name is made of letters, digits, `_` and `-`");
        }
        if self.bearer_token.is_some() {
            return invalid(
                "bearer_token",
                "a token does not belong in a file; name a variable in bearer_token_env_var",
            );
        }
        let of_stdio = [
            ("args", self.args.is_some()),
            ("env", self.env.is_some()),
            ("env_vars", self.env_vars.is_some()),
            ("cwd", self.cwd.is_some()),
        ];
        let of_http = [
            ("bearer_token_env_var", self.bearer_token_env_var.is_some()),
            ("http_headers", self.http_headers.is_some()),
            ("env_http_headers", self.env_http_headers.is_some()),
            ("oauth_resource", self.oauth_resource.is_some()),
        ];
        let (foreign, means) = match (&self.command, &self.url) {
            (Some(_), Some(_)) => return invalid("url", "a server has either a command or a url"),
            (None, None) => return invalid("", "a server needs a command or a url"),
            (Some(_), None) => (of_http, "is for servers with a url"),
            (None, Some(_)) => (of_stdio, "is for servers with a command"),
        };
        if let Some((key, _)) = foreign.into_iter().find(|(_, given)| *given) {
            return invalid(key, means);
        }
        if self.startup_timeout_sec.is_some() && self.startup_timeout_ms.is_some() {
            return invalid("startup_timeout_ms", "startup_timeout_sec says it already");
        }
        let url = self.url.as_deref().unwrap_or("http://");
        if !url.starts_with("http://") && !url.starts_with("https://") {
            return invalid("url", "must begin with http:// or https://");
        }
        Ok(())
    }

    /// Keys of the reference that have no effect here, and why.
    pub(super) fn idle_keys(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let resource = self.oauth_resource.as_ref().map(|_| {
            (
                "oauth_resource",
                "a login asks for the resource that the server itself publishes, else for its url",
            )
        });
        let environment = self.experimental_environment.as_ref();
        let environment =
            environment.map(|_| ("experimental_environment", "servers are started on this machine"));
        resource.into_iter().chain(environment)
    }

    pub(crate) fn is_enabled(&self) -> bool {
        self.enabled.unwrap_or(true)
    }

    /// What the client takes, with what is in the environment. A relative `cwd` starts at the session's.
    pub(crate) fn settle(&self, name: &str, environment: &Environment) -> McpServer {
        let transport = match &self.command {
            Some(command) => Ok(TransportConfig::Stdio(self.stdio(command, environment))),
            None => self.http(environment).map(TransportConfig::Http),
        };
        let transport = match transport {
            Ok(transport) => transport,
            Err(why) => {
                let required = self.required.unwrap_or(false);
                return McpServer::Broken { name: name.to_owned(), required, why };
            }
        };
        let mut config = ServerConfig::new(name, transport);
        config.required = self.required.unwrap_or(config.required);
        let startup = self.startup_timeout_sec.map(|seconds| seconds.0);
        let startup = startup.or_else(|| self.startup_timeout_ms.map(|ms| Duration::from_millis(ms.0)));
        config.startup_timeout = startup.unwrap_or(config.startup_timeout);
        config.tool_timeout = self.tool_timeout_sec.map_or(config.tool_timeout, |seconds| seconds.0);
        config.enabled_tools.clone_from(&self.enabled_tools);
        config.disabled_tools = self.disabled_tools.clone().unwrap_or_default();
        config.parallel = self.supports_parallel_tool_calls.unwrap_or(config.parallel);
        McpServer::Usable(Box::new(config))
    }

    fn stdio(&self, command: &str, environment: &Environment) -> StdioConfig {
        let passed = self.env_vars.iter().flatten().filter_map(PassedVariable::local);
        let inherited = INHERITED.into_iter().chain(passed);
        let mut variables: BTreeMap<OsString, OsString> =
            inherited.filter_map(|name| Some((name.into(), environment.get(name)?.to_owned()))).collect();
        variables
            .extend(self.env.iter().flatten().map(|(name, value)| (name.0.clone().into(), value.into())));
        StdioConfig {
            command: command.into(),
            args: self.args.iter().flatten().map(OsString::from).collect(),
            environment: variables,
            cwd: self.cwd.clone(),
        }
    }

    fn http(&self, environment: &Environment) -> Result<HttpConfig, String> {
        let variable = |name: &VariableName| {
            let value = environment.text(&name.0).filter(|value| !value.trim().is_empty());
            value.ok_or_else(|| format!("the environment variable {} is not set, or is empty", name.0))
        };
        let bearer = self.bearer_token_env_var.as_ref().map(variable).transpose()?.map(Secret::new);
        let mut headers = BTreeMap::new();
        for (name, value) in self.http_headers.iter().flatten() {
            headers.insert(name.0.clone(), Secret::new(&value.0));
        }
        // A header whose variable is not set is left out.
        for (name, value) in self.env_http_headers.iter().flatten() {
            if let Ok(value) = variable(value) {
                headers.insert(name.0.clone(), Secret::new(value));
            }
        }
        Ok(HttpConfig {
            url: self.url.clone().unwrap_or_default(),
            bearer,
            headers,
            proxy: proxy(environment),
            scopes: self.scopes.clone(),
        })
    }
}

/// When a person is asked, for the tools of all servers.
pub(crate) fn approval_modes(servers: &BTreeMap<String, McpServerFile>) -> McpApprovalModes {
    let mut modes = McpApprovalModes::default();
    for (name, server) in servers {
        if let Some(mode) = server.default_tools_approval_mode {
            modes = modes.with_default(name, mode);
        }
        for (tool, file) in &server.tools {
            if let Some(mode) = file.approval_mode {
                modes = modes.with_tool(name, tool, mode);
            }
        }
    }
    modes
}

/// The proxy for https hosts, as the usual variables say it.
fn proxy(environment: &Environment) -> Option<ProxyConfig> {
    let first = |names: [&str; 2]| names.into_iter().find_map(|name| environment.text(name));
    let url = first(["HTTPS_PROXY", "https_proxy"]).or_else(|| first(["ALL_PROXY", "all_proxy"]))?;
    let no_proxy = first(["NO_PROXY", "no_proxy"]).map(str::to_owned);
    Some(ProxyConfig { url: Secret::new(url), no_proxy })
}

#[cfg(test)]
#[path = "mcp_tests.rs"]
mod tests;
