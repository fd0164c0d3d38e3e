//! What the command line says. The words of `cli.md`; nothing here reads the process or a file. [`request`] makes of
//! the words what they ask for.

mod mcp;
mod request;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use tenon_tools::ApprovalPolicy;

use crate::config::{ConfigOverride, SandboxMode};
pub(crate) use mcp::{McpAction, McpArgs};
pub(crate) use request::{ExecRequest, PromptSource, Request, Start, parse};

/// `resume` stands between options, which clap would not show.
const EXEC_USAGE: &str =
    "tenon exec [OPTIONS] [PROMPT]\n       tenon exec [OPTIONS] resume [OPTIONS] <ID|--last> [PROMPT]";

/// The whole command line.
#[derive(Debug, Parser)]
#[command(name = "tenon", version, about = "Joins a language model to its tools.")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What the program is asked to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Give one prompt to a live model and follow its turns to the end
    // `help` is a prompt like any other.
    #[command(override_usage = EXEC_USAGE, disable_help_subcommand = true)]
    Exec(ExecArgs),
    /// Play a recorded model stream through the real runtime, offline
    Replay(ReplayArgs),
    /// Apply a patch from the argument or from standard input
    #[command(name = "apply-patch")]
    ApplyPatch(ApplyPatchArgs),
    /// List the tools a model would be shown
    Tools(ToolsArgs),
    /// Show what MCP servers are configured, reachable and callable
    Mcp(McpArgs),
}

/// `tenon exec`.
#[derive(Debug, Args)]
pub(crate) struct ExecArgs {
    #[command(flatten)]
    pub(crate) session: SessionArgs,
    #[command(flatten)]
    pub(crate) asking: AskingArgs,
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
    #[command(flatten)]
    pub(crate) asking: AskingArgs,
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
    /// Play a rollout with its recorded results, run nothing, and compare what the model would be asked
    #[arg(long)]
    pub(crate) verify: bool,
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

/// Whom `exec` asks.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct AskingArgs {
    /// Ask at the terminal for what needs approval; without, it is refused
    #[arg(long)]
    pub(crate) interactive: bool,
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

#[cfg(test)]
#[path = "args_tests.rs"]
mod tests;
