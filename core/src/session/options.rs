//! What a session goes by.

use std::path::PathBuf;
use std::time::Duration;

use tenon_tools::{ApprovalPolicy, EnvironmentPolicy, ModelAbilities, SandboxPolicy, TruncationPolicy};

use crate::policy::LimitOptions;
use crate::turn::BASE_INSTRUCTIONS;

/// How often a broken stream is tried again, unless the options say otherwise (runtime.md D2.2).
pub const DEFAULT_STREAM_MAX_RETRIES: u32 = 5;

/// What a session goes by.
#[derive(Debug, Clone)]
pub struct SessionOptions {
    /// The model's name.
    pub model: String,
    /// The name of whoever serves it, for the record.
    pub model_provider: String,
    /// The base instructions.
    pub instructions: String,
    /// The working folder, absolute.
    pub cwd: PathBuf,
    /// What commands inherit.
    pub environment: EnvironmentPolicy,
    /// What commands and patches may touch.
    pub sandbox: SandboxPolicy,
    /// When a person is asked.
    pub approval: ApprovalPolicy,
    /// How long an approval is waited for; none waits as long as it takes.
    pub approval_timeout: Option<Duration>,
    /// How often something may be called; nothing is limited unless it is set.
    pub limits: LimitOptions,
    /// How much of an output the model is shown.
    pub truncation: TruncationPolicy,
    /// What the model can take.
    pub abilities: ModelAbilities,
    /// Whether commands may ask for a login shell.
    pub allow_login_shell: bool,
    /// The longest a command may run; none sets no limit.
    pub max_runtime: Option<Duration>,
    /// The name of the user's shell, which the model is told.
    pub shell: Option<String>,
    /// How often a broken stream is tried again.
    pub stream_max_retries: u32,
    /// Whether output from outside this machine marks the thread (`memories.disable_on_external_context`).
    pub mark_external_context: bool,
    /// Who started the session, for the record.
    pub originator: String,
}

impl SessionOptions {
    /// The defaults for a model and a folder: no sandbox, nobody asked, output as a model nothing is known of takes it.
    pub fn new(model: impl Into<String>, cwd: impl Into<PathBuf>) -> Self {
        Self {
            model: model.into(),
            model_provider: String::new(),
            instructions: BASE_INSTRUCTIONS.to_owned(),
            cwd: cwd.into(),
            environment: EnvironmentPolicy::default(),
            sandbox: SandboxPolicy::DangerFullAccess,
            approval: ApprovalPolicy::Never,
            approval_timeout: None,
            limits: LimitOptions::default(),
            truncation: TruncationPolicy::default(),
            abilities: ModelAbilities::default(),
            allow_login_shell: true,
            max_runtime: None,
            shell: None,
            stream_max_retries: DEFAULT_STREAM_MAX_RETRIES,
            mark_external_context: false,
            originator: "tenon".to_owned(),
        }
    }
}
