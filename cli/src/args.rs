//! What the command line says. The words of `cli.md`; nothing here reads the process or a file.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

use tenon_tools::ApprovalPolicy;

use crate::config::{ConfigOverride, Flags, SandboxMode};

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "tenon",
    version,
    about = "Joins a language model to its tools.",
    disable_help_subcommand = true
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What the program is asked to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Give one prompt to a live model and follow its turns to the end
    Exec(ExecArgs),
    /// Play a recorded model stream through the real runtime, offline
    Replay(ReplayArgs),
    /// Apply a patch from the argument or from standard input
    #[command(name = "apply-patch")]
    ApplyPatch(ApplyPatchArgs),
    /// List the tools a model would be shown
    Tools(ToolsArgs),
    /// Show what MCP servers are configured, reachable and callable
    #[command(hide = true, disable_help_flag = true)]
    Mcp(McpArgs),
}

/// `tenon exec`.
#[derive(Debug, Args)]
pub(crate) struct ExecArgs {
    #[command(flatten)]
    pub(crate) session: SessionArgs,
    #[command(subcommand)]
    pub(crate) action: Option<ExecAction>,
    /// What to ask; `-` or none reads standard input
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: Option<String>,
}

/// What `tenon exec` does instead of starting a new session.
#[derive(Debug, Subcommand)]
pub(crate) enum ExecAction {
    /// Go on from an earlier session, in its own file
    #[command(override_usage = "tenon exec [OPTIONS] resume [OPTIONS] <ID|--last> [PROMPT]")]
    Resume(ResumeArgs),
}

/// `tenon exec resume`.
#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    #[command(flatten)]
    pub(crate) session: SessionArgs,
    /// Take the newest session of this folder
    #[arg(long)]
    pub(crate) last: bool,
    /// The session's id (not with --last)
    #[arg(value_name = "ID")]
    pub(crate) first: Option<String>,
    /// What to ask; `-` or none reads standard input
    #[arg(value_name = "PROMPT")]
    pub(crate) second: Option<String>,
}

/// `tenon replay`.
#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    #[command(flatten)]
    pub(crate) session: SessionArgs,
    /// Use the user's hooks and MCP servers
    #[arg(long)]
    pub(crate) with_config: bool,
    /// A scenario, JSON Lines of response items, a rollout, or raw API events (JSON Lines or SSE)
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

/// `tenon apply-patch`.
#[derive(Debug, Args)]
pub(crate) struct ApplyPatchArgs {
    /// The patch; none reads standard input
    #[arg(value_name = "PATCH", allow_hyphen_values = true)]
    pub(crate) patch: Option<OsString>,
}

/// `tenon tools`.
#[derive(Debug, Args)]
pub(crate) struct ToolsArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
}

/// `tenon mcp`, whose words are taken as they are until there is something that understands them.
#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, num_args = 0.., hide = true)]
    pub(crate) words: Vec<OsString>,
}

/// The options that every command which reads the configuration shares.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ConfigArgs {
    /// Set a key of config.toml for this run: a dotted key, a TOML value (a bare string when it is none)
    #[arg(short = 'c', long = "config", value_name = "KEY=VALUE", value_parser = ConfigOverride::parse)]
    pub(crate) overrides: Vec<ConfigOverride>,
}

/// The options of `exec` and `replay`.
#[derive(Debug, Clone, Default, Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct SessionArgs {
    /// Print one JSON object a line on standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// The working folder
    #[arg(short = 'C', long = "cd", value_name = "DIR")]
    pub(crate) cd: Option<PathBuf>,
    /// The model's name
    #[arg(short = 'm', long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
    /// What commands and patches may touch
    #[arg(short = 's', long, value_enum, value_name = "MODE")]
    pub(crate) sandbox: Option<SandboxFlag>,
    /// When a person is asked
    #[arg(short = 'a', long, value_enum, value_name = "POLICY")]
    pub(crate) ask_for_approval: Option<ApprovalFlag>,
    /// Ask nobody and confine nothing
    #[arg(long)]
    pub(crate) dangerously_bypass_approvals_and_sandbox: bool,
    /// One more folder that may be written under workspace-write (repeatable)
    #[arg(long, value_name = "DIR")]
    pub(crate) add_dir: Vec<PathBuf>,
    /// Write the model's last message to this file
    #[arg(short = 'o', long, value_name = "FILE")]
    pub(crate) output_last_message: Option<PathBuf>,
}

/// `--sandbox`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SandboxFlag {
    /// Nothing is written, nothing is dialled
    ReadOnly,
    /// The working folder is writable
    WorkspaceWrite,
    /// Everything the user may touch
    DangerFullAccess,
}

/// `--ask-for-approval`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ApprovalFlag {
    /// Everything that is not known to be safe
    Untrusted,
    /// Where the model asks for it
    #[value(alias = "on-failure")]
    OnRequest,
    /// Nobody is asked
    Never,
}

impl From<SandboxFlag> for SandboxMode {
    fn from(flag: SandboxFlag) -> Self {
        match flag {
            SandboxFlag::ReadOnly => Self::ReadOnly,
            SandboxFlag::WorkspaceWrite => Self::WorkspaceWrite,
            SandboxFlag::DangerFullAccess => Self::DangerFullAccess,
        }
    }
}

impl From<ApprovalFlag> for ApprovalPolicy {
    fn from(flag: ApprovalFlag) -> Self {
        match flag {
            ApprovalFlag::Untrusted => Self::UnlessTrusted,
            ApprovalFlag::OnRequest => Self::OnRequest,
            ApprovalFlag::Never => Self::Never,
        }
    }
}

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
    Mcp,
}

/// One prompt, and where it goes.
#[derive(Debug)]
pub(crate) struct ExecRequest {
    pub(crate) session: SessionArgs,
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

/// Reads a command line, the program's name first.
///
/// # Errors
/// clap's own: also for `--help` and `--version`, whose text goes to standard output and which are no failures.
pub(crate) fn parse(args: &[OsString]) -> Result<Request, clap::Error> {
    match Cli::try_parse_from(args)?.command {
        Command::Exec(exec) => exec.settle().map(Request::Exec),
        Command::Replay(replay) => {
            replay.session.check()?;
            Ok(Request::Replay(replay))
        }
        Command::ApplyPatch(patch) => Ok(Request::ApplyPatch(patch)),
        Command::Tools(tools) => Ok(Request::Tools(tools)),
        Command::Mcp(McpArgs { words: _ }) => Ok(Request::Mcp),
    }
}

/// A usage error in clap's form.
pub(crate) fn usage_error(kind: clap::error::ErrorKind, message: impl std::fmt::Display) -> clap::Error {
    Cli::command().error(kind, message)
}

impl ExecArgs {
    fn settle(self) -> Result<ExecRequest, clap::Error> {
        use clap::error::ErrorKind::{ArgumentConflict, MissingRequiredArgument};
        let Some(ExecAction::Resume(resume)) = self.action else {
            self.session.check()?;
            return Ok(ExecRequest {
                session: self.session,
                start: Start::Fresh,
                prompt: self.prompt.into(),
            });
        };
        if self.prompt.is_some() {
            return Err(usage_error(
                ArgumentConflict,
                "a prompt stands after `resume` and its ID, not before",
            ));
        }
        let session = self.session.followed_by(resume.session);
        session.check()?;
        let (start, prompt) = match (resume.last, resume.first, resume.second) {
            (true, first, None) => (Start::ResumeLast, first),
            (true, _, Some(_)) => {
                let message = "--last takes the newest session: give a prompt, and no ID beside it";
                return Err(usage_error(ArgumentConflict, message));
            }
            (false, Some(id), prompt) => (Start::Resume(id), prompt),
            (false, None, _) => {
                return Err(usage_error(MissingRequiredArgument, "resume needs the session's ID, or --last"));
            }
        };
        Ok(ExecRequest { session, start, prompt: prompt.into() })
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
            add_dirs: self.add_dir.iter().map(|dir| cwd.join(dir)).collect(),
        }
    }

    /// Refuses what contradicts itself, wherever on the line it stands.
    fn check(&self) -> Result<(), clap::Error> {
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
            return Err(usage_error(clap::error::ErrorKind::ArgumentConflict, message));
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "args_tests.rs"]
mod tests;
