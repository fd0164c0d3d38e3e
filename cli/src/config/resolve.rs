//! Settles the choices: flags, then `-c`, then the file, then the command's defaults.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tenon_core::policy::{LimitOptions, McpApprovalModes};
use tenon_tools::{ApprovalPolicy, EnvironmentPolicy, SandboxPolicy, TruncationPolicy, WorkspaceWrite};

use super::error::ConfigError;
use super::file::{ConfigFile, EnvironmentFile};
use super::load::Loaded;
use super::mcp::{McpServerFile, approval_modes};
use super::values::{SandboxMode, ToolMode};
use crate::home::Home;

/// The model that is asked when nobody has chosen one.
pub(crate) const DEFAULT_MODEL: &str = "gpt-5.5";

/// What flags choose, over everything else.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flags {
    /// `--model`.
    pub(crate) model: Option<String>,
    /// `--sandbox`.
    pub(crate) sandbox: Option<SandboxMode>,
    /// `--ask-for-approval`.
    pub(crate) approval: Option<ApprovalPolicy>,
    /// `--dangerously-bypass-approvals-and-sandbox`.
    pub(crate) bypass: bool,
    /// `--add-dir`, absolute.
    pub(crate) add_dirs: Vec<PathBuf>,
}

/// What a command does when nothing is chosen.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Defaults {
    /// When a person is asked.
    pub(crate) approval: ApprovalPolicy,
}

impl Defaults {
    /// `exec`: workspace-write and on-request.
    pub(crate) const EXEC: Self = Self { approval: ApprovalPolicy::OnRequest };
    /// `replay`: workspace-write and never.
    pub(crate) const REPLAY: Self = Self { approval: ApprovalPolicy::Never };
}

/// The settled configuration of one run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Config {
    /// The model's name.
    pub(crate) model: String,
    /// When a person is asked.
    pub(crate) approval: ApprovalPolicy,
    /// Whether every call runs, and nobody decides on it.
    pub(crate) bypass: bool,
    /// How long an approval is waited for; none waits as long as it takes.
    pub(crate) approval_timeout: Option<Duration>,
    /// How often something may be called.
    pub(crate) limits: LimitOptions,
    /// What commands and patches may touch.
    pub(crate) sandbox: SandboxPolicy,
    /// What commands inherit.
    pub(crate) environment: EnvironmentPolicy,
    /// How much of an output the model is shown; none leaves it to what is known of the model.
    pub(crate) truncation: Option<TruncationPolicy>,
    /// Whether commands may ask for a login shell.
    pub(crate) allow_login_shell: bool,
    /// The longest that a poll of a running command may wait; none leaves it at the default (runtime.md B1).
    pub(crate) max_poll: Option<Duration>,
    /// How the tools are offered.
    pub(crate) tool_mode: ToolMode,
    /// Whether a session that took in text from outside is marked (core.md 5.7).
    pub(crate) disable_on_external_context: bool,
    /// The MCP servers that are to be started.
    pub(crate) mcp_servers: BTreeMap<String, McpServerFile>,
    /// When a person is asked before one of their tools is called.
    pub(crate) mcp_modes: McpApprovalModes,
    /// For the operator.
    pub(crate) warnings: Vec<String>,
}

/// The model that was chosen.
fn model_of(flag: Option<String>, file: Option<String>) -> Result<String, ConfigError> {
    let key = if flag.is_some() { "--model" } else { "model" };
    match flag.or(file) {
        None => Ok(DEFAULT_MODEL.to_owned()),
        Some(model) if model.trim().is_empty() => Err(ConfigError::invalid(key, "a model has a name")),
        Some(model) => Ok(model),
    }
}

impl Config {
    /// Settles what was loaded. Relative paths in the file start at the home folder, where it lies.
    ///
    /// # Errors
    /// When a choice is unknown, or cannot be honoured.
    pub(crate) fn resolve(
        loaded: Loaded,
        flags: Flags,
        defaults: Defaults,
        home: &Home,
    ) -> Result<Self, ConfigError> {
        let Loaded { mut file, mut warnings } = loaded;
        let mcp_servers = mcp_servers(&mut file)?;
        let mcp_modes = approval_modes(&mcp_servers);
        let mode = flags.sandbox.or(file.sandbox_mode).unwrap_or(SandboxMode::WorkspaceWrite);
        let sandbox = sandbox_of(mode, &file, flags.add_dirs, &mut warnings, home);
        Ok(Self {
            model: model_of(flags.model, file.model)?,
            approval: flags
                .approval
                .or(file.approval_policy.map(|chosen| chosen.0))
                .unwrap_or(defaults.approval),
            bypass: flags.bypass,
            approval_timeout: file.approval_timeout_sec.map(|seconds| Duration::from_secs(seconds.0)),
            limits: file.limits.into(),
            sandbox,
            environment: environment_of(file.shell_environment_policy),
            truncation: file.tool_output_token_limit.map(TruncationPolicy::Tokens),
            allow_login_shell: file.allow_login_shell.unwrap_or(true),
            max_poll: file.background_terminal_max_timeout.map(|ms| Duration::from_millis(ms.0)),
            tool_mode: file.tool_mode.unwrap_or_else(|| file.features.tool_mode()),
            disable_on_external_context: file.memories.disable_on_external_context.unwrap_or(false),
            mcp_servers,
            mcp_modes,
            warnings,
        })
    }
}

/// The servers that are to be started.
fn mcp_servers(file: &mut ConfigFile) -> Result<BTreeMap<String, McpServerFile>, ConfigError> {
    let mut servers = std::mem::take(&mut file.mcp_servers);
    for (name, server) in &servers {
        server.check(name)?;
    }
    servers.retain(|_, server| server.is_enabled());
    Ok(servers)
}

fn sandbox_of(
    mode: SandboxMode,
    file: &ConfigFile,
    add_dirs: Vec<PathBuf>,
    warnings: &mut Vec<String>,
    home: &Home,
) -> SandboxPolicy {
    let policy = match mode {
        SandboxMode::DangerFullAccess => SandboxPolicy::DangerFullAccess,
        SandboxMode::ReadOnly => SandboxPolicy::ReadOnly,
        SandboxMode::WorkspaceWrite => {
            let table = &file.sandbox_workspace_write;
            let configured = table.writable_roots.iter().map(|root| absolute(root, home));
            return SandboxPolicy::WorkspaceWrite(WorkspaceWrite {
                writable_roots: configured.chain(add_dirs).collect(),
                network_access: table.network_access,
                exclude_tmpdir_env_var: table.exclude_tmpdir_env_var,
                exclude_slash_tmp: table.exclude_slash_tmp,
                protected: vec![home.path.clone()],
            });
        }
    };
    if !add_dirs.is_empty() {
        warnings.push(format!("--add-dir means nothing under sandbox mode {}", policy.name()));
    }
    policy
}

fn environment_of(table: EnvironmentFile) -> EnvironmentPolicy {
    EnvironmentPolicy {
        inherit: table.inherit.map(Into::into).unwrap_or_default(),
        ignore_default_excludes: table.ignore_default_excludes,
        exclude: table.exclude,
        set: table.set,
        include_only: table.include_only,
    }
}

/// A path of the file as an absolute one.
fn absolute(path: &Path, home: &Home) -> PathBuf {
    match (path.strip_prefix("~"), &home.user) {
        (Ok(rest), Some(user)) => user.join(rest),
        _ => home.path.join(path),
    }
}

#[cfg(test)]
#[path = "resolve_tests.rs"]
mod tests;
