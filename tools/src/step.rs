//! The snapshot one request was built from.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use tenon_protocol::MediaAbilities;

use crate::TruncationPolicy;

/// When a person is asked (runtime.md D9.a).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ApprovalPolicy {
    /// Everything that is not known to be safe is asked for.
    UnlessTrusted,
    /// The model may ask.
    #[default]
    OnRequest,
    /// Each kind of question has a switch of its own.
    Granular(GranularApproval),
    /// Nobody is asked: what would need it is refused.
    Never,
}

/// The switches of [`ApprovalPolicy::Granular`]: what may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(clippy::struct_excessive_bools, reason = "five independent switches of the configuration")]
pub struct GranularApproval {
    /// Leaving the sandbox.
    pub sandbox_approval: bool,
    /// What a rule marks as `prompt`.
    pub rules: bool,
    /// Skills.
    pub skill_approval: bool,
    /// The request_permissions tool.
    pub request_permissions: bool,
    /// Questions of MCP servers.
    pub mcp_elicitations: bool,
}

/// What commands and patches may touch (runtime.md D9.a).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SandboxPolicy {
    /// Everything the user may touch.
    DangerFullAccess,
    /// Another sandbox stands around this process.
    ExternalSandbox,
    /// Nothing is written, nothing is dialled.
    ReadOnly,
    /// The working folder and some roots are writable.
    WorkspaceWrite(WorkspaceWrite),
}

impl SandboxPolicy {
    /// The mode's name in configuration and rollout.
    pub fn name(&self) -> &'static str {
        match self {
            Self::DangerFullAccess => "danger-full-access",
            Self::ExternalSandbox => "external-sandbox",
            Self::ReadOnly => "read-only",
            Self::WorkspaceWrite(_) => "workspace-write",
        }
    }

    /// Whether the whole disk is writable as far as we are concerned.
    pub fn is_unrestricted(&self) -> bool {
        match self {
            Self::DangerFullAccess | Self::ExternalSandbox => true,
            Self::ReadOnly | Self::WorkspaceWrite(_) => false,
        }
    }
}

/// The members of `[sandbox_workspace_write]`, and what the host keeps from commands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[allow(clippy::struct_excessive_bools, reason = "the configuration's own switches")]
pub struct WorkspaceWrite {
    /// Writable beside the working folder.
    pub writable_roots: Vec<PathBuf>,
    /// Whether commands may dial.
    pub network_access: bool,
    /// Whether `$TMPDIR` stays read-only.
    pub exclude_tmpdir_env_var: bool,
    /// Whether `/tmp` stays read-only.
    pub exclude_slash_tmp: bool,
    /// Stay read-only wherever in a writable folder they lie: where the host keeps its own settings, since who may
    /// change these has what he likes run without a sandbox the next time.
    pub protected: Vec<PathBuf>,
}

/// Which of the host's variables a command inherits (runtime.md B5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EnvironmentInherit {
    /// All.
    #[default]
    All,
    /// PATH, HOME and the like.
    Core,
    /// None.
    None,
}

/// `[shell_environment_policy]` (runtime.md B5).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EnvironmentPolicy {
    /// What is inherited to begin with.
    pub inherit: EnvironmentInherit,
    /// Whether names like KEY, SECRET and TOKEN are kept. None: by the sandbox mode (kept only without a sandbox).
    pub ignore_default_excludes: Option<bool>,
    /// Globs of names to drop.
    pub exclude: Vec<String>,
    /// Variables to set.
    pub set: BTreeMap<String, String>,
    /// Where not empty: globs of the only names to keep.
    pub include_only: Vec<String>,
}

/// What the model can take (core.md 0.2). The default is that of a model nothing is known of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "independent abilities")]
pub struct ModelAbilities {
    /// Images as input.
    pub image_input: bool,
    /// Audio as input.
    pub audio_input: bool,
    /// Images with detail `original`.
    pub original_image_detail: bool,
    /// apply_patch as a custom tool.
    pub apply_patch: bool,
    /// Deferred tools and tool_search.
    pub tool_search: bool,
}

impl Default for ModelAbilities {
    fn default() -> Self {
        Self {
            image_input: true,
            audio_input: false,
            original_image_detail: true,
            apply_patch: true,
            tool_search: true,
        }
    }
}

impl From<ModelAbilities> for MediaAbilities {
    fn from(abilities: ModelAbilities) -> Self {
        Self {
            image_input: abilities.image_input,
            audio_input: abilities.audio_input,
            original_image_detail: abilities.original_image_detail,
        }
    }
}

/// The mode of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TurnMode {
    /// Work.
    #[default]
    Default,
    /// Plan, don't work.
    Plan,
}

impl TurnMode {
    /// The mode's name in texts for the model.
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "Default",
            Self::Plan => "Plan",
        }
    }
}

/// The snapshot that one request and its tool list were built from. A call sees the step it was made in, even when it
/// runs later.
#[derive(Debug, Clone)]
pub struct StepContext {
    /// The session (thread), a UUID v7.
    pub session_id: String,
    /// The turn, a UUID v7.
    pub turn_id: String,
    /// The model's name.
    pub model: String,
    /// The working folder, absolute.
    pub cwd: PathBuf,
    /// What commands inherit.
    pub environment: EnvironmentPolicy,
    /// What commands and patches may touch.
    pub sandbox: SandboxPolicy,
    /// When a person is asked.
    pub approval: ApprovalPolicy,
    /// How much of an output the model is shown.
    pub truncation: TruncationPolicy,
    /// What the model can take.
    pub abilities: ModelAbilities,
    /// The turn's mode.
    pub mode: TurnMode,
    /// Whether commands may ask for a login shell (configuration `allow_login_shell`).
    pub allow_login_shell: bool,
    /// The longest a command may run; none sets no limit.
    pub max_runtime: Option<Duration>,
    /// The rollout file of the session, where there is one.
    pub rollout_path: Option<PathBuf>,
}

impl Default for StepContext {
    fn default() -> Self {
        Self {
            session_id: "00000000-0000-7000-8000-000000000000".to_owned(),
            turn_id: "00000000-0000-7000-8000-000000000001".to_owned(),
            model: String::new(),
            cwd: PathBuf::from("/"),
            environment: EnvironmentPolicy::default(),
            sandbox: SandboxPolicy::DangerFullAccess,
            approval: ApprovalPolicy::Never,
            truncation: TruncationPolicy::default(),
            abilities: ModelAbilities::default(),
            mode: TurnMode::Default,
            allow_login_shell: true,
            max_runtime: None,
            rollout_path: None,
        }
    }
}
