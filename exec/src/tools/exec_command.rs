//! exec_command: runs a command in a shell, and hands over a session where it takes longer.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use serde::Deserialize;
use serde::de::IgnoredAny;
use tenon_protocol::ToolName;
use tenon_tools::{
    CommandEffect, Effects, FunctionCallError, HookIdentity, JsonSchema, LeftBehind, LeftProcess,
    PreparedCall, StepContext, ToolExecutor, ToolInvocation, ToolSpec, parse_arguments,
};

use super::command::{Command, failed};
use super::intercepted::Intercepted;
use super::permissions::{AskedPermissions, PermissionArguments};
use super::{MAX_YIELD, MIN_YIELD, bash_identity, output_schema};
use crate::service::Shared;
use crate::shell::Shell;
use crate::spawn::{boot_id, check_folder};

/// How long a call waits for its command where it does not say (runtime.md B1).
const DEFAULT_YIELD: Duration = Duration::from_secs(10);

const DESCRIPTION: &str = "Runs a command in a shell on this machine. The answer comes when the command has ended, or \
    else after yield_time_ms, with a session id: the command then goes on, and write_stdin reads what it prints and \
    interrupts or feeds it. Standard output and standard error come as one text.";

/// The tool.
pub(crate) struct ExecCommand {
    name: ToolName,
    shared: Arc<Shared>,
}

/// Its arguments (runtime.md B2). Members that are not known are passed over.
#[derive(Debug, Deserialize)]
struct Arguments {
    cmd: String,
    workdir: Option<String>,
    shell: Option<String>,
    login: Option<bool>,
    tty: Option<bool>,
    yield_time_ms: Option<u64>,
    max_output_tokens: Option<usize>,
    sandbox_permissions: Option<AskedPermissions>,
    additional_permissions: Option<IgnoredAny>,
    justification: Option<String>,
    prefix_rule: Option<Vec<String>>,
}

impl ExecCommand {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { name: ToolName::plain("exec_command"), shared }
    }

    /// The shell, the one that is asked for or the user's, and whether it is a login shell (runtime.md B4).
    fn shell(&self, arguments: &Arguments, step: &StepContext) -> Result<(Shell, bool), FunctionCallError> {
        let allowed = step.allow_login_shell;
        if arguments.login == Some(true) && !allowed {
            return Err(FunctionCallError::respond(
                "login shell is disabled by config; omit `login` or set it to false.",
            ));
        }
        Ok((self.shared.shell(arguments.shell.as_deref()), arguments.login.unwrap_or(allowed)))
    }
}

#[async_trait]
impl ToolExecutor for ExecCommand {
    fn name(&self) -> &ToolName {
        &self.name
    }

    fn spec(&self) -> ToolSpec {
        let parameters = parameters(self.shared.allow_login_shell);
        ToolSpec::function(self.name.name(), DESCRIPTION, parameters).with_output_schema(output_schema())
    }

    fn parallel(&self) -> bool {
        true
    }

    fn waits_for_cancellation(&self) -> bool {
        true
    }

    /// Ends the commands that a runtime before has left behind. The helper that watches over its death does so at once,
    /// unless it was killed as well.
    async fn tidy_up(&self, left: &LeftBehind) {
        let boot = boot_id();
        // A number tells nothing of a process before this start of the machine, nor without the time when it began.
        let is_of_now = |process: &&LeftProcess| process.started_at > 0 && process.boot_id == boot;
        let processes = left.processes.iter().filter(|_| boot.is_some()).filter(is_of_now);
        let session = |process: &LeftProcess| Some((i32::try_from(process.pid).ok()?, process.started_at));
        let sessions = processes.filter_map(session).collect();
        self.shared.store.keeper.end_left(sessions, left.session_id.clone().into()).await;
    }

    fn hook_identity(&self) -> Option<HookIdentity> {
        Some(bash_identity())
    }

    async fn prepare(&self, call: &ToolInvocation) -> Result<Box<dyn PreparedCall>, FunctionCallError> {
        let asked_at = Instant::now();
        let arguments: Arguments = parse_arguments(call.function_arguments("exec_command")?)?;
        let (shell, login) = self.shell(&arguments, &call.step)?;
        let argv = shell.argv(&arguments.cmd, login);
        let permissions = PermissionArguments {
            asked: arguments.sandbox_permissions,
            additional: arguments.additional_permissions.is_some(),
            justification: arguments.justification,
            prefix_rule: arguments.prefix_rule,
        }
        .check(&call.step)?;
        let folder = folder(arguments.workdir.as_deref(), &call.step.cwd);
        for interceptor in call.host.interceptors.iter() {
            if let Some(taken) = interceptor.intercept(&argv, &folder, call).await {
                return Ok(Box::new(Intercepted {
                    inner: taken?,
                    max_output_tokens: arguments.max_output_tokens,
                }));
            }
        }
        let tty = arguments.tty.unwrap_or(false);
        // Nobody should be asked about a command that cannot run.
        check_folder(&folder).map_err(|error| failed(&error))?;
        let environment = self.shared.environment(&call.step).map_err(|error| failed(&error))?;
        let effect = CommandEffect {
            argv,
            cwd: folder,
            tty,
            sandbox_permissions: permissions.asked,
            justification: permissions.justification,
            prefix_rule: permissions.prefix_rule,
        };
        Ok(Box::new(Command {
            shared: Arc::clone(&self.shared),
            call_id: call.call_id.clone(),
            effects: Effects { command: Some(effect.clone()), ..Effects::none() },
            effect,
            shell,
            login,
            environment,
            command: arguments.cmd,
            wait: wait(arguments.yield_time_ms),
            max_output_tokens: arguments.max_output_tokens,
            asked_at,
        }))
    }
}

/// Empty is absent; a relative path starts from the step's folder.
fn folder(workdir: Option<&str>, cwd: &Path) -> PathBuf {
    match workdir {
        None | Some("") => cwd.to_owned(),
        Some(workdir) => cwd.join(workdir),
    }
}

fn wait(yield_time_ms: Option<u64>) -> Duration {
    yield_time_ms.map_or(DEFAULT_YIELD, Duration::from_millis).clamp(MIN_YIELD, MAX_YIELD)
}

fn parameters(allow_login_shell: bool) -> JsonSchema {
    let mut members = vec![
        ("cmd", JsonSchema::string("Shell command to execute.")),
        (
            "justification",
            JsonSchema::string(
                "Only with sandbox_permissions \"require_escalated\": one sentence that tells the user why the \
                 command has to run without the sandbox.",
            ),
        ),
        (
            "max_output_tokens",
            JsonSchema::number(
                "How much of the output to return, in tokens; the middle of a longer one is cut out.",
            ),
        ),
        (
            "prefix_rule",
            JsonSchema::array(
                JsonSchema::string(""),
                "Only with sandbox_permissions \"require_escalated\": the first words of the command, proposed to \
                 the user as a rule that allows such commands from now on.",
            ),
        ),
        (
            "sandbox_permissions",
            JsonSchema::string_enum(
                &["use_default", "require_escalated"],
                "\"require_escalated\" asks the user to let the command run without the sandbox; the default is \
                 \"use_default\".",
            ),
        ),
        ("shell", JsonSchema::string("Which shell to use: bash, zsh or sh. The default is the user's.")),
        (
            "tty",
            JsonSchema::boolean(
                "Whether the command gets a terminal, through which write_stdin can also type. Without, which is the \
                 default, it has nothing to read.",
            ),
        ),
        ("workdir", JsonSchema::string("Where to run it. The default is the turn's working directory.")),
        (
            "yield_time_ms",
            JsonSchema::number(
                "How long to wait for the end of the command before the session is handed over, in milliseconds.",
            ),
        ),
    ];
    if allow_login_shell {
        members.push((
            "login",
            JsonSchema::boolean("Whether the shell reads the login profile; the default is true."),
        ));
    }
    JsonSchema::object(members, &["cmd"])
}

#[cfg(test)]
#[path = "exec_command_tests.rs"]
mod tests;
