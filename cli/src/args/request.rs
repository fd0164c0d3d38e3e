//! What a command line asks for: its parts put together, its contradictions found.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use tenon_tools::ApprovalPolicy;

use super::{
    ApplyPatchArgs, Cli, Command, ExecAction, ExecArgs, McpAction, McpArgs, ReplayArgs, SessionArgs,
    ToolsArgs,
};
use crate::config::{Flags, SandboxMode};

/// What the command line asks for, with its cross-checks done.
#[derive(Debug)]
pub(crate) enum Request {
    /// A prompt to a live model.
    Exec(ExecRequest),
    /// A recorded stream.
    Replay(ReplayArgs),
    /// A patch.
    ApplyPatch(ApplyPatchArgs),
    /// The list of tools.
    Tools(ToolsArgs),
    /// MCP servers.
    Mcp(McpAction),
}

/// One prompt, and where it goes.
#[derive(Debug)]
pub(crate) struct ExecRequest {
    pub(crate) session: SessionArgs,
    /// Whether the person at the terminal is asked.
    pub(crate) interactive: bool,
    pub(crate) start: Start,
    pub(crate) prompt: PromptSource,
}

/// Where a prompt comes from.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PromptSource {
    /// The command line.
    Typed(String),
    /// Standard input; `asked` when the command line says so.
    Stdin { asked: bool },
}

/// Which session a prompt goes to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// A new one.
    Fresh,
    /// The one with this id.
    Resume(String),
    /// The newest of the working folder.
    ResumeLast,
}

/// The command that gives a prompt.
const EXEC: &str = "exec";

/// Reads a command line, the program's name first.
///
/// # Errors
/// clap's own: also for `--help` and `--version`, whose text goes to standard output and which are no failures.
pub(crate) fn parse(args: &[OsString]) -> Result<Request, clap::Error> {
    match Cli::try_parse_from(args)?.command {
        Command::Exec(exec) => exec.settle().map(Request::Exec),
        Command::Replay(replay) => {
            replay.session.check("replay")?;
            Ok(Request::Replay(replay))
        }
        Command::ApplyPatch(patch) => Ok(Request::ApplyPatch(patch)),
        Command::Tools(tools) => Ok(Request::Tools(tools)),
        Command::Mcp(McpArgs { action }) => Ok(Request::Mcp(action)),
    }
}

/// A usage error in clap's form, with the usage of `command`.
fn usage_error(command: &str, kind: ErrorKind, message: impl std::fmt::Display) -> clap::Error {
    let mut cli = Cli::command();
    cli.build();
    match cli.find_subcommand_mut(command) {
        Some(command) => command.error(kind, message),
        None => cli.error(kind, message),
    }
}

impl ExecArgs {
    fn settle(self) -> Result<ExecRequest, clap::Error> {
        let Some(ExecAction::Resume(resume)) = self.action else {
            self.session.check(EXEC)?;
            return Ok(ExecRequest {
                session: self.session,
                interactive: self.asking.interactive,
                start: Start::Fresh,
                prompt: self.prompt.into(),
            });
        };
        if self.prompt.is_some() {
            return Err(usage_error(
                EXEC,
                ErrorKind::ArgumentConflict,
                "a prompt stands after `resume` and its ID, not before",
            ));
        }
        let session = self.session.followed_by(resume.session);
        let interactive = self.asking.interactive || resume.asking.interactive;
        session.check(EXEC)?;
        let (start, prompt) = match (resume.last, resume.first, resume.second) {
            (true, first, None) => (Start::ResumeLast, first),
            (true, _, Some(_)) => {
                let message = "--last takes the newest session: give a prompt, and no ID beside it";
                return Err(usage_error(EXEC, ErrorKind::ArgumentConflict, message));
            }
            (false, Some(id), prompt) => (Start::Resume(id), prompt),
            (false, None, _) => {
                return Err(usage_error(
                    EXEC,
                    ErrorKind::MissingRequiredArgument,
                    "resume needs the session's ID, or --last",
                ));
            }
        };
        Ok(ExecRequest { session, interactive, start, prompt: prompt.into() })
    }
}

impl From<Option<String>> for PromptSource {
    fn from(word: Option<String>) -> Self {
        match word {
            None => Self::Stdin { asked: false },
            Some(dash) if dash == "-" => Self::Stdin { asked: true },
            Some(text) => Self::Typed(text),
        }
    }
}

impl SessionArgs {
    /// These options with `later` ones over them: a single one replaces, a repeatable one adds.
    fn followed_by(mut self, later: Self) -> Self {
        let Self {
            json,
            cd,
            model,
            config,
            sandbox,
            ask_for_approval,
            dangerously_bypass_approvals_and_sandbox,
            add_dir,
            output_last_message,
        } = later;
        self.json |= json;
        self.cd = cd.or(self.cd);
        self.model = model.or(self.model);
        self.config.overrides.extend(config.overrides);
        self.sandbox = sandbox.or(self.sandbox);
        self.ask_for_approval = ask_for_approval.or(self.ask_for_approval);
        self.dangerously_bypass_approvals_and_sandbox |= dangerously_bypass_approvals_and_sandbox;
        self.add_dir.extend(add_dir);
        self.output_last_message = output_last_message.or(self.output_last_message);
        self
    }

    /// The choices that go over the configuration. `cwd` is where a relative `--add-dir` starts.
    pub(crate) fn flags(&self, cwd: &Path) -> Flags {
        let bypass = self.dangerously_bypass_approvals_and_sandbox;
        Flags {
            model: self.model.clone(),
            sandbox: if bypass { Some(SandboxMode::DangerFullAccess) } else { self.sandbox.map(Into::into) },
            approval: if bypass {
                Some(ApprovalPolicy::Never)
            } else {
                self.ask_for_approval.map(Into::into)
            },
            bypass,
            add_dirs: self.add_dir.iter().map(|dir| cwd.join(dir)).collect(),
        }
    }

    /// What `--add-dir` names and is no folder.
    pub(crate) fn missing_folders(&self, cwd: &Path) -> Vec<PathBuf> {
        self.add_dir.iter().map(|dir| cwd.join(dir)).filter(|dir| !dir.is_dir()).collect()
    }

    /// Refuses what contradicts itself, wherever on the line of `command` it stands.
    fn check(&self, command: &str) -> Result<(), clap::Error> {
        let other = if self.sandbox.is_some() {
            "--sandbox <MODE>"
        } else if self.ask_for_approval.is_some() {
            "--ask-for-approval <POLICY>"
        } else {
            return Ok(());
        };
        if self.dangerously_bypass_approvals_and_sandbox {
            let message =
                format!("--dangerously-bypass-approvals-and-sandbox cannot be used with {other}: choose one");
            return Err(usage_error(command, ErrorKind::ArgumentConflict, message));
        }
        Ok(())
    }
}
