//! The shape of `config.toml`. Every key is optional; a key that is not here is unknown, which is a warning.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use toml::Table;

use super::features::FeaturesFile;
use super::limits::LimitsFile;
use super::mcp::McpServerFile;
use super::values::{
    Approval, AtLeastOne, BaseUrl, HeaderName, HeaderValue, Inherit, SandboxMode, ToolMode, VariableName,
    WireApi,
};

/// The whole file.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct ConfigFile {
    pub(crate) model: Option<String>,
    pub(crate) model_provider: Option<String>,
    #[serde(default)]
    pub(crate) model_providers: BTreeMap<String, ProviderFile>,
    pub(crate) approval_policy: Option<Approval>,
    pub(crate) approval_timeout_sec: Option<AtLeastOne>,
    pub(crate) sandbox_mode: Option<SandboxMode>,
    #[serde(default)]
    pub(crate) limits: LimitsFile,
    #[serde(default)]
    pub(crate) sandbox_workspace_write: WorkspaceWriteFile,
    #[serde(default)]
    pub(crate) shell_environment_policy: EnvironmentFile,
    pub(crate) tool_output_token_limit: Option<usize>,
    pub(crate) allow_login_shell: Option<bool>,
    /// In milliseconds.
    pub(crate) background_terminal_max_timeout: Option<AtLeastOne>,
    #[serde(default)]
    pub(crate) memories: MemoriesFile,
    pub(crate) tool_mode: Option<ToolMode>,
    #[serde(default)]
    pub(crate) features: FeaturesFile,
    #[serde(default)]
    pub(crate) mcp_servers: BTreeMap<String, McpServerFile>,
    #[serde(flatten)]
    unknown: Table,
}

/// `[model_providers.NAME]`.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct ProviderFile {
    pub(crate) name: Option<String>,
    pub(crate) base_url: Option<BaseUrl>,
    pub(crate) env_key: Option<VariableName>,
    #[allow(dead_code, reason = "read so that another wire is refused; there is only this one")]
    pub(crate) wire_api: Option<WireApi>,
    #[serde(default)]
    pub(crate) http_headers: BTreeMap<HeaderName, HeaderValue>,
    #[serde(default)]
    pub(crate) query_params: BTreeMap<String, String>,
    pub(crate) request_max_retries: Option<u32>,
    pub(crate) stream_max_retries: Option<u32>,
    pub(crate) stream_idle_timeout_ms: Option<AtLeastOne>,
    #[serde(flatten)]
    unknown: Table,
}

/// `[sandbox_workspace_write]`.
#[derive(Debug, Clone, Default, Deserialize)]
#[allow(clippy::struct_excessive_bools, reason = "the configuration's own switches")]
pub(crate) struct WorkspaceWriteFile {
    #[serde(default)]
    pub(crate) writable_roots: Vec<PathBuf>,
    #[serde(default)]
    pub(crate) network_access: bool,
    #[serde(default)]
    pub(crate) exclude_tmpdir_env_var: bool,
    #[serde(default)]
    pub(crate) exclude_slash_tmp: bool,
    #[serde(flatten)]
    unknown: Table,
}

/// `[shell_environment_policy]`.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct EnvironmentFile {
    pub(crate) inherit: Option<Inherit>,
    pub(crate) ignore_default_excludes: Option<bool>,
    #[serde(default)]
    pub(crate) exclude: Vec<String>,
    #[serde(default)]
    pub(crate) set: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) include_only: Vec<String>,
    #[serde(flatten)]
    unknown: Table,
}

/// `[memories]`.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct MemoriesFile {
    pub(crate) disable_on_external_context: Option<bool>,
    #[serde(flatten)]
    unknown: Table,
}

impl ConfigFile {
    /// The dotted names of all keys that mean nothing here, sorted by table.
    pub(crate) fn unknown_keys(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut note =
            |prefix: &str, table: &Table| found.extend(table.keys().map(|key| format!("{prefix}{key}")));
        note("", &self.unknown);
        note("sandbox_workspace_write.", &self.sandbox_workspace_write.unknown);
        note("shell_environment_policy.", &self.shell_environment_policy.unknown);
        note("memories.", &self.memories.unknown);
        note("limits.", &self.limits.unknown);
        for (name, tool) in &self.limits.tools {
            note(&format!("limits.tools.{name}."), &tool.unknown);
        }
        for (name, provider) in &self.model_providers {
            note(&format!("model_providers.{name}."), &provider.unknown);
        }
        for (name, server) in &self.mcp_servers {
            note(&format!("mcp_servers.{name}."), &server.unknown);
        }
        found.extend(self.features.unknown_keys());
        found
    }

    /// The keys that are known and have no effect here: their dotted names, each with the reason.
    pub(crate) fn idle_keys(&self) -> Vec<String> {
        let of_server = |(name, server): (&String, &McpServerFile)| {
            let idle = server.idle_keys();
            idle.map(|(key, why)| format!("`mcp_servers.{name}.{key}` has no effect: {why}"))
                .collect::<Vec<_>>()
        };
        self.mcp_servers.iter().flat_map(of_server).collect()
    }
}
