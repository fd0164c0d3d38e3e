//! From choices to a session with its tools. This is the one place that sees every crate.

mod last_turn;
mod scripts;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tenon_apply_patch::ApplyPatchTool;
use tenon_core::handlers::{RequestUserInput, UpdatePlan, ViewImage};
use tenon_core::{Session, SessionBuilder, SessionOptions, StandardPolicy};
use tenon_exec::{ExecConfig, ExecService};
use tenon_mcp_client::McpServers;
use tenon_responses_client::{ProviderConfig, ProxySettings, ResponsesClient, Secret};
use tenon_tools::{EventSink, ToolExecutor};

use last_turn::EndsWithLastTurn;
pub(crate) use last_turn::GoesOn;
pub(crate) use scripts::Scripts;

use crate::commands::{Plan, Surroundings};
use crate::config::{Config, ConfigMcpStore, McpServer, Provider};
use crate::failure::Failure;
use crate::home::Home;
use crate::invocation::Environment;

/// Where a session is written down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Rollout {
    /// In a new file below this home folder.
    New(PathBuf),
    /// In this file, which it goes on from.
    GoOn(PathBuf),
}

/// A session, and what has to end with it.
pub(crate) struct Wired {
    pub(crate) session: Session,
    services: Services,
}

/// What brings the tools of a session, and outlives none.
pub(crate) struct Services {
    exec: ExecService,
    mcp: Arc<McpServers>,
    scripts: Option<Scripts>,
}

impl Wired {
    /// Puts the session of a plan together.
    ///
    /// # Errors
    /// When there can be none: its file cannot be made or read.
    pub(crate) async fn build(
        plan: Plan,
        environment: &Environment,
        events: Arc<dyn EventSink>,
    ) -> Result<Self, Failure> {
        let (services, builder) = Services::start(plan, environment, events).await?;
        match builder.build().await {
            Ok(session) => Ok(Self { session, services }),
            Err(error) => {
                services.shutdown().await;
                Err(Failure::failed(error))
            }
        }
    }

    /// Ends what still runs, then the session.
    pub(crate) async fn shutdown(self) {
        self.services.shutdown().await;
        self.session.shutdown().await;
    }
}

impl Services {
    /// Starts what a plan needs, and gives what its session is to be built from.
    ///
    /// # Errors
    /// When an MCP server that is required does not start.
    pub(crate) async fn start(
        plan: Plan,
        environment: &Environment,
        events: Arc<dyn EventSink>,
    ) -> Result<(Self, SessionBuilder), Failure> {
        let exec = plan.exec.clone();
        let scripts = Scripts::of(plan.config.tool_mode);
        let mcp = mcp_servers(&plan.config, environment, &plan.cwd, &plan.home, Arc::clone(&events));
        if let Err(missing) = mcp.required().await {
            mcp.shutdown().await;
            return Err(Failure::failed(missing));
        }
        let builder = SessionBuilder::new(options(&plan, &exec), plan.model)
            .tools(tools(&exec, scripts.as_ref()))
            .source(Arc::clone(&mcp) as _)
            // A patch that a command holds is applied by the tool, and not by the command.
            .interceptor(Arc::new(ApplyPatchTool::default()))
            .events(events)
            .commands(exec.command_runner())
            .between_turns(exec.between_turns())
            .between_turns(Arc::new(EndsWithLastTurn {
                exec: exec.clone(),
                code_mode: scripts.as_ref().map(Scripts::code_mode),
                goes_on: plan.goes_on,
            }))
            .configured_hooks(plan.hooks, environment.0.clone())
            .hook_outputs_in(plan.home);
        let builder = builder.approver(plan.approver).ask_again(plan.ask_again);
        let builder = match plan.policy {
            Some(policy) => builder.policy(Arc::new(policy)),
            None => builder,
        };
        let builder = match plan.rollout {
            Rollout::New(home) => builder.rollout_in(home),
            Rollout::GoOn(file) => builder.resume(file),
        };
        let builder = match &scripts {
            Some(scripts) => builder.layer(scripts.layer()),
            None => builder,
        };
        Ok((Self { exec, mcp, scripts }, builder))
    }

    /// Waits until every MCP server has started, or has failed to.
    pub(crate) async fn settled(&self) {
        self.mcp.settled().await;
    }

    /// Ends what still runs.
    pub(crate) async fn shutdown(self) {
        if let Some(scripts) = self.scripts {
            scripts.shutdown().await;
        }
        tokio::join!(self.exec.shutdown(), self.mcp.shutdown());
    }
}

/// Who decides on calls: nobody, where everything is bypassed.
///
/// # Errors
/// When a rule file holds anything else than rules.
pub(crate) fn policy(
    config: &Config,
    home: &Home,
    surroundings: &mut Surroundings,
) -> Result<Option<StandardPolicy>, Failure> {
    if config.bypass {
        return Ok(None);
    }
    let temporary = surroundings.environment.get("TMPDIR").map(PathBuf::from);
    let policy = StandardPolicy::new()
        .with_rules_of(&home.path)
        .map_err(Failure::usage)?
        .with_mcp_modes(config.mcp_modes.clone())
        .with_mcp_store(Arc::new(ConfigMcpStore::of(home.config())))
        .with_temporary_folder(temporary);
    if policy.has_network_rules() {
        let message = "rules: a network_rule is read and holds nothing back: there is no network proxy";
        surroundings.console.warning(message);
    }
    Ok(Some(policy))
}

/// What runs commands.
pub(crate) fn exec_service(config: &Config, environment: &Environment) -> ExecService {
    let mut exec = ExecConfig::new(environment.0.clone());
    exec.allow_login_shell = config.allow_login_shell;
    // This is a program of its own: what commands leave behind is its to find.
    exec.subreaper = true;
    exec.max_poll = config.max_poll.unwrap_or(exec.max_poll);
    ExecService::new(exec)
}

/// Refuses a sandbox mode that this machine cannot enforce (cli.md, Defaults): before anything else is done.
///
/// # Errors
/// With the reason, and what can be chosen instead.
pub(crate) async fn check_sandbox(exec: &ExecService, config: &Config, cwd: &Path) -> Result<(), Failure> {
    let mode = config.sandbox.name();
    exec.check_sandbox(&config.sandbox, cwd).await.map_err(|reason| {
        Failure::usage(format!(
            "sandbox mode {mode}: {reason}; to run without one, choose `-s danger-full-access` or set sandbox_mode = \
             \"danger-full-access\" in config.toml"
        ))
    })
}

/// Starts the configured MCP servers.
pub(crate) fn mcp_servers(
    config: &Config,
    environment: &Environment,
    cwd: &Path,
    home: &Path,
    events: Arc<dyn EventSink>,
) -> Arc<McpServers> {
    let mut builder = McpServers::builder(cwd).events(events).credentials_in(home);
    for (name, server) in &config.mcp_servers {
        builder = match server.settle(name, environment) {
            McpServer::Usable(config) => builder.server(*config),
            McpServer::Broken { name, required, why } => builder.broken(name, required, why),
        };
    }
    Arc::new(builder.start())
}

/// All tools, in the order in which a model is shown them (core.md 4.4).
pub(crate) fn tools(exec: &ExecService, scripts: Option<&Scripts>) -> Vec<Arc<dyn ToolExecutor>> {
    let mut tools = exec.tools();
    tools.push(Arc::new(UpdatePlan::default()));
    tools.push(Arc::new(RequestUserInput::default()));
    tools.push(Arc::new(ApplyPatchTool::default()));
    tools.push(Arc::new(ViewImage::default()));
    match scripts {
        Some(scripts) => scripts.with_tools(tools),
        None => tools,
    }
}

fn options(plan: &Plan, exec: &ExecService) -> SessionOptions {
    let Config {
        model,
        approval,
        bypass: _,
        approval_timeout,
        limits,
        sandbox,
        environment,
        truncation,
        allow_login_shell,
        max_poll: _,
        tool_mode: _,
        disable_on_external_context,
        mcp_servers: _,
        mcp_modes: _,
        warnings: _,
    } = plan.config.clone();
    let mut options = SessionOptions::new(model, &plan.cwd);
    options.model_provider = plan.provider.clone();
    options.environment = environment;
    options.sandbox = sandbox;
    options.approval = approval;
    options.approval_timeout = approval_timeout;
    options.limits = limits;
    options.truncation = truncation.unwrap_or(options.truncation);
    options.allow_login_shell = allow_login_shell;
    options.shell = exec.user_shell().path.file_name().map(|name| name.to_string_lossy().into_owned());
    options.stream_max_retries = plan.stream_max_retries;
    options.mark_external_context = disable_on_external_context;
    options
}

/// The client of a provider, with its key from the environment.
///
/// # Errors
/// When the key is not there, or the provider cannot be reached as it is configured.
pub(crate) fn client(provider: &Provider, environment: &Environment) -> Result<ResponsesClient, Failure> {
    let mut config = ProviderConfig::new(&provider.base_url);
    if let Some(name) = &provider.env_key {
        let Some(key) = environment.text(name) else {
            return Err(Failure::usage(format!(
                "the provider {} wants a key in the environment variable {name}, which is not set",
                provider.name
            )));
        };
        config.api_key = Some(Secret::new(key));
    }
    config.env_key = provider.env_key.clone();
    config.headers = provider.http_headers.clone();
    config.query_params = provider.query_params.clone();
    config.request_max_retries = provider.request_max_retries;
    config.idle_timeout = provider.stream_idle_timeout;
    config.proxy = ProxySettings::from_environment(|name| environment.text(name).map(str::to_owned));
    let name = &provider.id;
    ResponsesClient::new(&config).map_err(|error| Failure::usage(format!("model_providers.{name}: {error}")))
}
