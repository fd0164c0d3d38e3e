//! What a handler may do outside its own crate: small traits, bound to the session and not to a step, since nested
//! calls and background sessions outlive one.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tenon_protocol::{CallFact, CallId, ResponseInputItem, ToolName};
use tokio_util::sync::CancellationToken;

use crate::{
    Effects, Event, FirstRun, FunctionCallError, NoRetries, OpenQuestions, PreparedCall, Retries, ToolCall,
    ToolCallSource, ToolExecutor, ToolInvocation,
};

/// Takes what happens, in order. It never waits: a sink that is slow keeps a queue of its own.
pub trait EventSink: Send + Sync {
    /// Takes one event.
    fn emit(&self, event: Event);
}

/// How a turn ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnEnding {
    /// The model has nothing left to do.
    Completed,
    /// It failed, or was refused.
    Failed,
    /// It was cancelled.
    Interrupted,
}

/// Stands between two turns: knows what the model has not been told of, and may have something running.
#[async_trait]
pub trait BetweenTurns: Send + Sync {
    /// What the model is to be told at the start of a turn: each a developer message of its own. What was taken once
    /// does not come again.
    fn take_notes(&self) -> Vec<String>;

    /// A turn is about to end. What is to end with it is ended here: its last events then come before the turn's own,
    /// and its end is in the file before the turn's. Nothing is ended unless this says otherwise.
    async fn turn_ends(&self, _ending: TurnEnding) {}
}

/// What is asked before a call may run: all that it would do, exactly.
#[derive(Debug, Clone)]
pub struct ApprovalRequest {
    /// The call that waits.
    pub call_id: CallId,
    /// Its tool.
    pub tool_name: ToolName,
    /// Where the call came from.
    pub source: ToolCallSource,
    /// What it would do: the exact command and folder, the files with their hashes, the MCP tool. Script files that
    /// the command names are among the files read.
    pub effects: Effects,
    /// What it would change, as a unified diff with absolute paths: for a patch.
    pub diff: Option<String>,
    /// What it is called with: for everything that is neither a command nor a patch.
    pub arguments: Option<Value>,
    /// Why it is asked.
    pub reason: Option<String>,
    /// How far a yes may reach, narrowest first; [`ApprovalScope::Once`] is always among it.
    pub scopes: Vec<ApprovalScope>,
    /// Whether it was approved before, and what it would do has changed since.
    pub changed: bool,
    /// The call has run already, and the sandbox has stopped it: a yes runs it a second time, without the sandbox.
    pub first_run: Option<FirstRun>,
}

/// How far a yes reaches, and when it ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalScope {
    /// This call, as it was shown. It ends with the call.
    Once,
    /// Whatever would do exactly the same: the command in its folder, the files, the MCP tool. It ends with the
    /// session.
    Session,
    /// Every command that begins with these words, in this session and in later ones, without a sandbox. It ends when
    /// the rule is taken out of the file.
    Prefix {
        /// The words. A person may be shown them and change them.
        prefix: Vec<String>,
        /// Where the rule is written to.
        file: PathBuf,
    },
    /// Every call of this tool of this MCP server, whatever its arguments, in this session and in later ones. It ends
    /// when the tool's `approval_mode` is taken out of the file.
    McpTool {
        /// The server's name.
        server: String,
        /// The tool, by the name that the server knows it by.
        tool: String,
        /// Where that is written to.
        file: PathBuf,
    },
}

impl ApprovalScope {
    /// When it ends, in words.
    pub fn ends(&self) -> String {
        match self {
            Self::Once => "with this call".to_owned(),
            Self::Session => "with this session".to_owned(),
            Self::Prefix { prefix: _, file } => {
                format!("when the rule is taken out of {}", file.display())
            }
            Self::McpTool { server: _, tool: _, file } => {
                format!("when the tool's approval_mode is taken out of {}", file.display())
            }
        }
    }
}

/// The answer to an [`ApprovalRequest`] (runtime.md D9.a).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalDecision {
    /// This call may run.
    Approved,
    /// This call, and those that would do the same, for the rest of the session. Where that was not offered, it counts
    /// for this call alone.
    ApprovedForSession,
    /// This call, and from now on every command that begins with these words: those that were offered, or others that
    /// a person has put in their place. Where no prefix was offered, it counts for this call alone.
    ApprovedExecPolicyAmendment {
        /// The words.
        prefix: Vec<String>,
    },
    /// This call, and from now on every call of the MCP tool that was offered. Where none was, it counts for this call
    /// alone.
    ApprovedMcpPolicyAmendment,
    /// It may not; with the words of whoever said so.
    Denied {
        /// Why, for the model.
        reason: Option<String>,
    },
    /// Nobody answered in time.
    TimedOut,
    /// It may not, and the turn is to end.
    Abort,
}

/// Asks a person, or whoever decides in their place.
///
/// Several calls may wait at the same time. A question is asked once and answered once: the future's end is the answer.
#[async_trait]
pub trait Approver: Send + Sync {
    /// Asks, and waits for the answer. Dropping the future withdraws the question: the call was cancelled, its time was
    /// up, or another answer has settled it.
    async fn approve(&self, request: ApprovalRequest) -> ApprovalDecision;
}

/// Lets a tool call other tools, through every stage that a direct call passes, with the newest step.
#[async_trait]
pub trait ToolCaller: Send + Sync {
    /// Calls another tool and gives its value for a script.
    ///
    /// # Errors
    /// The text that a direct call would have shown the model.
    async fn call(
        &self,
        call: ToolCall,
        source: ToolCallSource,
        cancellation: CancellationToken,
    ) -> Result<Value, FunctionCallError>;

    /// Waits for tools that were on their way when the newest step began: then all there are. None where nothing was,
    /// and the model was shown all there is.
    async fn late_tools(&self) -> Option<Vec<Arc<dyn ToolExecutor>>> {
        None
    }
}

/// Why an item did not become part of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PendingInputError {
    /// No turn runs.
    #[error("no active turn")]
    NoActiveTurn,
    /// More items wait already than a request should be made to carry.
    #[error("too many items wait for the next request")]
    Full,
}

/// Adds to what the running turn sends the model next, beside the outputs of its calls.
pub trait PendingInput: Send + Sync {
    /// Adds one item. It is recorded after the outputs of the request that runs, and the model is asked once more.
    ///
    /// # Errors
    /// When no turn runs, or too much waits already.
    fn add(&self, item: ResponseInputItem) -> Result<(), PendingInputError>;
}

/// Takes facts of a running call for the journal: what a crash must not make us forget.
pub trait Progress: Send + Sync {
    /// Writes one fact. It is on its way to the file when this returns, in the order of the calls.
    fn record(&self, fact: CallFact);
}

/// One choice of a [`UserQuestion`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserChoice {
    /// What is chosen.
    pub label: String,
    /// What it means.
    pub description: String,
}

/// One question to the user (core.md 9.9).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserQuestion {
    /// The model's id of the question.
    pub id: String,
    /// A few words above it.
    pub header: String,
    /// The question.
    pub question: String,
    /// Whether an answer in the user's own words is offered as well.
    #[serde(rename = "isOther", default)]
    pub is_other: bool,
    /// Whether the answer is to be hidden while it is typed.
    #[serde(rename = "isSecret", default)]
    pub is_secret: bool,
    /// What can be chosen.
    #[serde(default)]
    pub options: Option<Vec<UserChoice>>,
}

/// The answer to one question.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct UserAnswer {
    /// What was chosen or written.
    pub answers: Vec<String>,
}

/// Asks the user something that is no approval.
#[async_trait]
pub trait Elicitor: Send + Sync {
    /// Whether anybody can be asked. Without, the tool that asks is not offered in this mode.
    fn available(&self) -> bool {
        true
    }

    /// Asks; none when the user closed the question. Dropping the future takes it back.
    async fn ask(
        &self,
        call_id: &CallId,
        questions: Vec<UserQuestion>,
    ) -> Option<BTreeMap<String, UserAnswer>>;
}

/// Where time comes from.
pub trait Clock: Send + Sync {
    /// For durations.
    fn now(&self) -> Instant;
    /// For time stamps.
    fn wall(&self) -> SystemTime;
}

/// A command that somebody other than the model wants run: a hook, for one.
#[derive(Debug, Clone)]
pub struct CommandRequest {
    /// Program and arguments.
    pub argv: Vec<OsString>,
    /// Where.
    pub cwd: PathBuf,
    /// The whole environment.
    pub environment: BTreeMap<OsString, OsString>,
    /// What it is given to read.
    pub stdin: Vec<u8>,
    /// How long it may take.
    pub timeout: Duration,
    /// How much of each stream is kept.
    pub max_output_bytes: usize,
}

/// How a [`CommandRequest`] ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandOutcome {
    /// The exit code; none for a death by signal.
    pub exit_code: Option<i32>,
    /// What it printed, up to the bound.
    pub stdout: Vec<u8>,
    /// What it complained of, up to the bound.
    pub stderr: Vec<u8>,
    /// Bytes that were dropped over the bound, of both streams.
    pub dropped_bytes: u64,
}

/// Why a [`CommandRequest`] has no outcome.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// It could not be started.
    #[error("{0}")]
    Spawn(String),
    /// Its input could not be written.
    #[error("{0}")]
    Stdin(String),
    /// It took too long, and its process group was killed.
    #[error("timed out after {}s", .0.as_secs())]
    TimedOut(Duration),
    /// There is nobody here who runs commands.
    #[error("commands cannot be run here")]
    Unavailable,
}

/// Runs commands for hooks and the like.
#[async_trait]
pub trait CommandRunner: Send + Sync {
    /// Runs one to its end. Dropping the future kills its process group.
    ///
    /// # Errors
    /// When there is no exit status to tell of.
    async fn run(&self, request: CommandRequest) -> Result<CommandOutcome, CommandError>;
}

/// Lets one tool take over what another was asked to run (a patch inside a shell command). Verified, not run.
#[async_trait]
pub trait CommandInterceptor: Send + Sync {
    /// None when the command is not this tool's.
    async fn intercept(
        &self,
        argv: &[String],
        cwd: &Path,
        call: &ToolInvocation,
    ) -> Option<Result<Box<dyn PreparedCall>, FunctionCallError>>;
}

/// All that a handler may do outside its own crate. Events, facts and retries belong to one call; the rest is the
/// session's, and is reached through [`Deref`]: `call.host.elicitor`.
#[derive(Clone)]
pub struct Host {
    /// Where events go.
    pub events: Arc<dyn EventSink>,
    /// Takes the call's facts for the journal.
    pub progress: Arc<dyn Progress>,
    /// Asks whether the call may be run again without the sandbox.
    pub retries: Arc<dyn Retries>,
    /// What all calls of a session share.
    pub services: Arc<HostServices>,
}

/// What all calls of a session may use.
#[derive(Clone)]
pub struct HostServices {
    /// Who approves.
    pub approver: Arc<dyn Approver>,
    /// Calls other tools.
    pub tools: Arc<dyn ToolCaller>,
    /// Adds to what the running turn sends.
    pub pending_input: Arc<dyn PendingInput>,
    /// Asks the user.
    pub elicitor: Arc<dyn Elicitor>,
    /// The questions that calls wait for.
    pub questions: OpenQuestions,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Runs commands that are not the model's.
    pub commands: Arc<dyn CommandRunner>,
    /// Tools that take over commands, asked in order.
    pub interceptors: Arc<[Arc<dyn CommandInterceptor>]>,
}

impl Deref for Host {
    type Target = HostServices;

    fn deref(&self) -> &HostServices {
        &self.services
    }
}

/// Changes the services of this host alone: others that shared them keep what they had.
impl DerefMut for Host {
    fn deref_mut(&mut self) -> &mut HostServices {
        Arc::make_mut(&mut self.services)
    }
}

impl fmt::Debug for HostServices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostServices").field("interceptors", &self.interceptors.len()).finish_non_exhaustive()
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").field("interceptors", &self.interceptors.len()).finish_non_exhaustive()
    }
}

impl Host {
    /// A host that says no to everything and hears nothing: for the tests of a handler.
    pub fn detached() -> Self {
        let services = HostServices {
            approver: Arc::new(Detached),
            tools: Arc::new(Detached),
            pending_input: Arc::new(Detached),
            elicitor: Arc::new(Detached),
            questions: OpenQuestions::default(),
            clock: Arc::new(SystemClock),
            commands: Arc::new(Detached),
            interceptors: Arc::new([]),
        };
        let (events, progress, retries) = (Arc::new(Detached), Arc::new(Detached), Arc::new(NoRetries));
        Self { events, progress, retries, services: Arc::new(services) }
    }
}

/// The machine's own clocks.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Instant {
        Instant::now()
    }

    fn wall(&self) -> SystemTime {
        SystemTime::now()
    }
}

/// Nobody is there.
#[derive(Debug, Clone, Copy)]
struct Detached;

impl EventSink for Detached {
    fn emit(&self, _: Event) {}
}

impl Progress for Detached {
    fn record(&self, _: CallFact) {}
}

#[async_trait]
impl Approver for Detached {
    async fn approve(&self, _: ApprovalRequest) -> ApprovalDecision {
        ApprovalDecision::Denied { reason: Some("nobody can be asked here".to_owned()) }
    }
}

#[async_trait]
impl ToolCaller for Detached {
    async fn call(
        &self,
        _: ToolCall,
        _: ToolCallSource,
        _: CancellationToken,
    ) -> Result<Value, FunctionCallError> {
        Err(FunctionCallError::respond("no other tool can be called here"))
    }
}

impl PendingInput for Detached {
    fn add(&self, _: ResponseInputItem) -> Result<(), PendingInputError> {
        Err(PendingInputError::NoActiveTurn)
    }
}

#[async_trait]
impl Elicitor for Detached {
    fn available(&self) -> bool {
        false
    }

    async fn ask(&self, _: &CallId, _: Vec<UserQuestion>) -> Option<BTreeMap<String, UserAnswer>> {
        None
    }
}

#[async_trait]
impl CommandRunner for Detached {
    async fn run(&self, _: CommandRequest) -> Result<CommandOutcome, CommandError> {
        Err(CommandError::Unavailable)
    }
}
