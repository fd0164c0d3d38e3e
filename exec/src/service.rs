//! All of it behind one handle.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tenon_protocol::CallId;
use tenon_tools::{BetweenTurns, CommandRunner, SandboxPolicy, StepContext, ToolExecutor};

use crate::environment::{Environment, PatternError, command_environment};
use crate::ids::IdSource;
use crate::login::{LoginEnvironments, login_environment};
use crate::notes::EndedSessions;
use crate::runner::ProcessRunner;
use crate::sandbox::Limits;
use crate::shell::{PASSWORD_FILE, Shell, ShellFinder, account_shell};
use crate::spawn::SpawnError;
use crate::store::Store;
use crate::tools::{ExecCommand, WriteStdin};

/// The longest that a poll waits where the configuration says nothing (runtime.md B1).
const DEFAULT_MAX_POLL: Duration = Duration::from_secs(300);

/// What a host decides about commands.
#[derive(Debug, Clone)]
pub struct ExecConfig {
    /// The host's own environment, from which that of commands is made.
    pub environment: Environment,
    /// The user's shell, in place of the one that the password file names for this user.
    pub user_shell: Option<PathBuf>,
    /// Whether the model is offered login shells at all. Whether a call may have one is said by its step.
    pub allow_login_shell: bool,
    /// Where the ids of sessions come from.
    pub ids: IdSource,
    /// The longest that a poll may wait (`background_terminal_max_timeout`); at least five seconds.
    pub max_poll: Duration,
    /// Whether this process may become a subreaper, so that what commands leave behind is found even when it has left
    /// their session by `setsid`. It changes the whole process: orphans of all that it starts become its children. So
    /// only a program that has decided on it says yes; a library does not.
    pub subreaper: bool,
}

impl ExecConfig {
    /// The defaults, on the environment of the host.
    pub fn new(environment: Environment) -> Self {
        Self {
            environment,
            user_shell: None,
            allow_login_shell: true,
            ids: IdSource::default(),
            max_poll: DEFAULT_MAX_POLL,
            subreaper: false,
        }
    }
}

/// What the tools share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) store: Arc<Store>,
    pub(crate) allow_login_shell: bool,
    pub(crate) max_poll: Duration,
    host: Environment,
    shells: ShellFinder,
    user_shell: Shell,
    logins: LoginEnvironments,
}

impl Shared {
    /// The shell that a model asks for, or else the user's.
    pub(crate) fn shell(&self, requested: Option<&str>) -> Shell {
        requested.map_or_else(|| self.user_shell.clone(), |requested| self.shells.requested(requested))
    }

    /// How `command` is run in a login shell: the argument vector and the environment. In the
    /// captured environment where there is one, else by a real login shell.
    pub(crate) async fn as_login(
        &self,
        shell: &Shell,
        command: &str,
        from: Environment,
        step: &StepContext,
        limits: Option<&Limits>,
    ) -> Result<(Vec<String>, Environment), PatternError> {
        match self.logins.of(&self.store, shell, &from, limits).await {
            Some(captured) => {
                let environment = login_environment(&captured, &from, step)?;
                Ok((shell.argv(command, false), environment))
            }
            None => Ok((shell.argv(command, true), from)),
        }
    }

    /// What `policy` holds commands to that work in `cwd`; none where it sets no limit.
    pub(crate) fn limits(&self, policy: &SandboxPolicy, cwd: &Path) -> Option<Limits> {
        let tmpdir = self.host.get(OsStr::new("TMPDIR")).map(Path::new);
        Limits::of(policy, cwd, tmpdir)
    }

    /// The environment of a command of this step.
    pub(crate) fn environment(&self, step: &StepContext) -> Result<Environment, PatternError> {
        command_environment(&self.host, &step.environment, &step.sandbox, &step.session_id)
    }
}

/// A command that was handed over as a session and whose end has not been reported yet.
#[derive(Debug, Clone)]
pub struct RunningSession {
    /// What the model knows it by.
    pub session_id: i32,
    /// The exec_command call that started it.
    pub call_id: CallId,
    /// What the model asked to run.
    pub command: String,
    /// The argument vector.
    pub argv: Vec<String>,
    /// Where it was started.
    pub cwd: PathBuf,
    /// Whether it has a terminal.
    pub tty: bool,
    /// Its process, which leads a group and a session of the same number.
    pub pid: i32,
    /// When it was started.
    pub started: Instant,
    /// How it ended, where it has and no poll has told the model yet.
    pub exit_code: Option<i32>,
}

/// Runs commands for a session of the host's: the tools, the runner for hooks, and all the processes behind them.
///
/// Cloning is cheap. When [`shutdown`](Self::shutdown) is called, or the last of the clones, tools and runners is
/// dropped, every process that was started is killed, with all that it has started, and reaped. Tools and runners
/// need a tokio runtime with time and I/O enabled.
#[derive(Debug, Clone)]
pub struct ExecService {
    shared: Arc<Shared>,
}

impl ExecService {
    /// A service without any process yet.
    pub fn new(config: ExecConfig) -> Self {
        let ExecConfig { environment, user_shell, allow_login_shell, ids, max_poll, subreaper } = config;
        let account = user_shell.or_else(own_shell);
        let given = account.as_ref().filter(|path| path.is_absolute());
        let shells =
            ShellFinder::new(given.cloned(), environment.get(OsStr::new("PATH")).map(OsString::as_os_str));
        let user_shell = shells.user_shell();
        let store = Arc::new(Store::new(ids, subreaper));
        Self {
            shared: Arc::new(Shared {
                store,
                allow_login_shell,
                max_poll,
                host: environment,
                shells,
                user_shell,
                logins: LoginEnvironments::default(),
            }),
        }
    }

    /// exec_command and write_stdin.
    pub fn tools(&self) -> Vec<Arc<dyn ToolExecutor>> {
        vec![
            Arc::new(ExecCommand::new(Arc::clone(&self.shared))),
            Arc::new(WriteStdin::new(Arc::clone(&self.shared))),
        ]
    }

    /// Runs commands that are not the model's: hooks.
    pub fn command_runner(&self) -> Arc<dyn CommandRunner> {
        Arc::new(ProcessRunner::new(Arc::clone(&self.shared.store)))
    }

    /// Tells the model, at the start of a turn, which sessions have ended since and were not polled.
    pub fn between_turns(&self) -> Arc<dyn BetweenTurns> {
        Arc::new(EndedSessions::new(Arc::clone(&self.shared.store)))
    }

    /// The user's shell.
    pub fn user_shell(&self) -> Shell {
        self.shared.user_shell.clone()
    }

    /// The commands whose end has not been reported to the model, by id. Also those of calls that have not yielded.
    pub fn running(&self) -> Vec<RunningSession> {
        let sessions = self.shared.store.sessions();
        let running = sessions.iter().map(|session| RunningSession {
            session_id: session.id,
            call_id: session.report.call_id().clone(),
            command: session.command.clone(),
            argv: session.report.command().to_vec(),
            cwd: session.folder.clone(),
            tty: session.keyboard.is_some(),
            pid: session.process.pid(),
            started: session.started,
            exit_code: session.process.exited().map(crate::spawn::Exit::code),
        });
        running.collect()
    }

    /// Whether this machine can hold commands to `policy` when they work in `cwd`: tried on one that does nothing.
    ///
    /// # Errors
    /// The reason, which is a [`SpawnError::Sandbox`] where it is the sandbox's.
    pub async fn check_sandbox(&self, policy: &SandboxPolicy, cwd: &Path) -> Result<(), SpawnError> {
        let Some(limits) = self.shared.limits(policy, cwd) else { return Ok(()) };
        ProcessRunner::new(Arc::clone(&self.shared.store)).try_limits(limits, cwd).await
    }

    /// Kills every process, with all that it has started, reaps it, and ends every item. Nothing can be started
    /// afterwards.
    pub async fn shutdown(&self) {
        self.shared.store.shutdown().await;
    }
}

/// The shell of this user in the password file.
fn own_shell() -> Option<PathBuf> {
    let file = std::fs::read(PASSWORD_FILE).ok()?;
    account_shell(&file, rustix::process::getuid().as_raw())
}

#[cfg(test)]
#[path = "service_tests.rs"]
mod tests;
