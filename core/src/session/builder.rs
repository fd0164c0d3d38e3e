//! Puts a session together.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;
use tenon_protocol::{ResponseItem, SessionMeta, TokenUsage, ToolName};
use tenon_tools::{
    Approver, BetweenTurns, Clock, CommandInterceptor, CommandRunner, CutOffCall, Elicitor, EventSink, Host,
    ModelClient, Recovery, SpecLayer, ToolExecutor, ToolSource,
};

use super::nested::NestedCalls;
use super::sink::SessionEvents;
use super::{Session, SessionHandle, SessionOptions};
use crate::dispatch::{Approvals, LifecycleObserver};
use crate::history::History;
use crate::hooks::{
    Handler, Hook, HookChain, HookConfig, HookServices, InProcess, SessionStartSource, Spill, command_hooks,
};
use crate::policy::{AllowAll, Limits, Policy};
use crate::registry::{DuplicateTool, ToolRegistry, Toolbox};
use crate::rollout::{
    MayRecover, OpenCall, RecorderHost, Recovering, Resumed, RolloutError, RolloutRecorder,
};
use crate::router::ToolRouter;
use crate::runtime::CallNumbers;
use crate::search::LoadedTools;
use crate::verify::Fingerprints;

/// Why there is no session.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// Two tools claim one name.
    #[error(transparent)]
    Tools(#[from] DuplicateTool),
    /// The session's file could not be made, or not be read.
    #[error(transparent)]
    Rollout(#[from] RolloutError),
}

/// Where a session is written down.
#[derive(Debug, Clone, Default)]
enum RolloutTarget {
    #[default]
    Nowhere,
    New(PathBuf),
    Existing(PathBuf),
}

/// Hooks in the order in which they were added.
enum AddedHooks {
    InProcess(Arc<dyn Hook>),
    Configured(HookConfig, BTreeMap<OsString, OsString>),
}

/// Puts a session together: a model, tools, and whatever else there is to bring.
pub struct SessionBuilder {
    options: SessionOptions,
    client: Arc<dyn ModelClient>,
    tools: Vec<Arc<dyn ToolExecutor>>,
    sources: Vec<Arc<dyn ToolSource>>,
    layers: Vec<Arc<dyn SpecLayer>>,
    hooks: Vec<AddedHooks>,
    hook_outputs: Option<PathBuf>,
    policy: Arc<dyn Policy>,
    observers: Vec<Arc<dyn LifecycleObserver>>,
    interceptors: Vec<Arc<dyn CommandInterceptor>>,
    between_turns: Vec<Arc<dyn BetweenTurns>>,
    host: Host,
    rollout: RolloutTarget,
    ask_again: bool,
    may_recover: Option<MayRecover>,
}

impl std::fmt::Debug for SessionBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionBuilder").field("options", &self.options).finish_non_exhaustive()
    }
}

impl SessionBuilder {
    /// A session with this model and no tools, no hooks, no file, that lets every call run and hears no answer to its
    /// questions.
    pub fn new(options: SessionOptions, client: Arc<dyn ModelClient>) -> Self {
        Self {
            options,
            client,
            tools: Vec::new(),
            sources: Vec::new(),
            layers: Vec::new(),
            hooks: Vec::new(),
            hook_outputs: None,
            policy: Arc::new(AllowAll),
            observers: Vec::new(),
            interceptors: Vec::new(),
            between_turns: Vec::new(),
            host: Host::detached(),
            rollout: RolloutTarget::Nowhere,
            ask_again: true,
            may_recover: None,
        }
    }

    /// Adds a tool.
    #[must_use]
    pub fn tool(mut self, tool: impl ToolExecutor + 'static) -> Self {
        self.tools.push(Arc::new(tool));
        self
    }

    /// Adds tools.
    #[must_use]
    pub fn tools(mut self, tools: impl IntoIterator<Item = Arc<dyn ToolExecutor>>) -> Self {
        self.tools.extend(tools);
        self
    }

    /// Adds a source of tools that come and go.
    #[must_use]
    pub fn source(mut self, source: Arc<dyn ToolSource>) -> Self {
        self.sources.push(source);
        self
    }

    /// Adds a layer that rewrites the list of tools shown to the model.
    #[must_use]
    pub fn layer(mut self, layer: Arc<dyn SpecLayer>) -> Self {
        self.layers.push(layer);
        self
    }

    /// Adds a hook. Hooks are asked in the order they were added.
    #[must_use]
    pub fn hook(mut self, hook: Arc<dyn Hook>) -> Self {
        self.hooks.push(AddedHooks::InProcess(hook));
        self
    }

    /// Adds the hooks of a file. They are run by whoever runs [`commands`](Self::commands), in this environment, which
    /// is the host's own. What cannot be used of the file is told as warnings once the session has begun.
    #[must_use]
    pub fn configured_hooks(mut self, config: HookConfig, environment: BTreeMap<OsString, OsString>) -> Self {
        self.hooks.push(AddedHooks::Configured(config, environment));
        self
    }

    /// Saves long words of hooks for the model below this home folder. Without, it is that of
    /// [`rollout_in`](Self::rollout_in); where there is none either, such words are cut and not saved.
    #[must_use]
    pub fn hook_outputs_in(mut self, home: impl Into<PathBuf>) -> Self {
        self.hook_outputs = Some(home.into());
        self
    }

    /// Decides on prepared calls.
    #[must_use]
    pub fn policy(mut self, policy: Arc<dyn Policy>) -> Self {
        self.policy = policy;
        self
    }

    /// Hears how calls end.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn LifecycleObserver>) -> Self {
        self.observers.push(observer);
        self
    }

    /// Adds a tool's claim on commands.
    #[must_use]
    pub fn interceptor(mut self, interceptor: Arc<dyn CommandInterceptor>) -> Self {
        self.interceptors.push(interceptor);
        self
    }

    /// Hears what happens.
    #[must_use]
    pub fn events(mut self, events: Arc<dyn EventSink>) -> Self {
        self.host.events = events;
        self
    }

    /// Approves calls.
    #[must_use]
    pub fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.host.approver = approver;
        self
    }

    /// Asks the user.
    #[must_use]
    pub fn elicitor(mut self, elicitor: Arc<dyn Elicitor>) -> Self {
        self.host.elicitor = elicitor;
        self
    }

    /// Runs commands that are not the model's.
    #[must_use]
    pub fn commands(mut self, commands: Arc<dyn CommandRunner>) -> Self {
        self.host.commands = commands;
        self
    }

    /// Adds who knows what has happened between turns. The model is told at the start of each turn.
    #[must_use]
    pub fn between_turns(mut self, source: Arc<dyn BetweenTurns>) -> Self {
        self.between_turns.push(source);
        self
    }

    /// Tells the time.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.host.clock = clock;
        self
    }

    /// Writes the session down in a new file below this home folder.
    #[must_use]
    pub fn rollout_in(mut self, home: impl Into<PathBuf>) -> Self {
        self.rollout = RolloutTarget::New(home.into());
        self
    }

    /// Goes on from this file, and writes on in it.
    #[must_use]
    pub fn resume(mut self, rollout: impl Into<PathBuf>) -> Self {
        self.rollout = RolloutTarget::Existing(rollout.into());
        self
    }

    /// Whether calls that wait for an answer when a session ends are asked about again, under the same id, when it goes
    /// on. They are unless this says no; then the model is told that they were not run.
    #[must_use]
    pub fn ask_again(mut self, ask_again: bool) -> Self {
        self.ask_again = ask_again;
        self
    }

    /// Asks the host before a call that was cut off is run again, or its tool asked for its outcome, as the tool's
    /// [`recovery`](ToolExecutor::recovery) would have it. Where the host says no, the model is told what is known.
    #[must_use]
    pub fn may_recover(
        mut self,
        may: impl Fn(&CutOffCall, Recovery) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.may_recover = Some(Arc::new(may));
        self
    }

    /// The same session without a file, hooks and anybody who is told or asked: to play a recording with.
    #[must_use]
    pub(crate) fn for_playback(mut self) -> Self {
        self.rollout = RolloutTarget::Nowhere;
        self.hooks.clear();
        self.observers.clear();
        self.between_turns.clear();
        self.host = Host::detached();
        self
    }

    /// Puts the session together. Its file exists when this returns.
    ///
    /// # Errors
    /// When two tools claim one name, or the file cannot be made, read or locked.
    pub async fn build(self) -> Result<Session, BuildError> {
        let tools = ToolRegistry::new(self.tools)?;
        let recovering = Recovering {
            tools: tools.tools().to_vec(),
            ask_again: self.ask_again,
            may_recover: self.may_recover,
        };
        let opened = open(&self.rollout, &self.options, &self.host, &recovering).await?;
        let Opened { id, recorder, items, calls, loaded, open, begun } = opened;
        let mut history = History::new(self.options.truncation);
        history.extend(items);
        let numbers = Arc::new(CallNumbers::default());
        numbers.count_all(calls.iter());
        tell_of_earlier(&calls, tools.tools());
        let nested = Arc::new(NestedCalls::new(Arc::clone(&numbers)));
        let watcher = Arc::clone(&self.host.events);
        let mut host = self.host;
        host.events = Arc::new(SessionEvents { watcher, recorder: recorder.clone() });
        host.tools = Arc::clone(&nested) as _;
        let handle = SessionHandle::default();
        host.pending_input = Arc::new(handle.clone());
        host.interceptors = self.interceptors.into();
        let home = self.hook_outputs.as_deref().or_else(|| self.rollout.home());
        let services = HookServices::new(&host, Spill::new(home, &id));
        let (hooks, warnings) = handlers(self.hooks, &host);
        let (approval_timeout, limits) = (self.options.approval_timeout, self.options.limits.clone());
        let session = Session {
            id,
            options: self.options,
            client: self.client,
            tools: Arc::new(Toolbox::new(tools, self.sources)),
            catalogues: Arc::default(),
            loaded,
            layers: self.layers,
            hooks: HookChain::of(hooks, services),
            policy: self.policy,
            approvals: Approvals::within(approval_timeout),
            limits: Arc::new(Limits::new(limits)),
            observers: self.observers.into(),
            between_turns: self.between_turns,
            host,
            history,
            recorder,
            open,
            numbers,
            nested,
            handle,
            usage: TokenUsage::default(),
            begun: Some(begun),
            context_told: None,
            requested: None,
            fingerprints: Fingerprints::default(),
        };
        session.emit(tenon_tools::Event::SessionStarted {
            session_id: session.id.clone(),
            rollout_path: session.rollout_path().map(ToOwned::to_owned),
        });
        for message in warnings {
            session.emit(tenon_tools::Event::Warning { message });
        }
        Ok(session)
    }
}

impl RolloutTarget {
    /// The home folder that is named by it.
    fn home(&self) -> Option<&Path> {
        match self {
            Self::New(home) => Some(home),
            Self::Nowhere | Self::Existing(_) => None,
        }
    }
}

/// All hooks in order, and what the operator should know of those that are not among them.
fn handlers(added: Vec<AddedHooks>, host: &Host) -> (Vec<Box<dyn Handler>>, Vec<String>) {
    let (mut handlers, mut warnings) = (Vec::<Box<dyn Handler>>::new(), Vec::new());
    for hooks in added {
        match hooks {
            AddedHooks::InProcess(hook) => handlers.push(Box::new(InProcess(hook))),
            AddedHooks::Configured(config, environment) => {
                warnings.extend(config.warnings);
                handlers.extend(command_hooks(config.hooks, &host.commands, environment));
            }
        }
    }
    (handlers, warnings)
}

/// A session's file, or none, and what was in it.
struct Opened {
    id: String,
    recorder: RolloutRecorder,
    items: Vec<ResponseItem>,
    /// Every call that the file ever held: a later one of the same id is told from them.
    calls: Vec<ResponseItem>,
    loaded: LoadedTools,
    open: Vec<OpenCall>,
    begun: SessionStartSource,
}

/// Opens the session's file.
async fn open(
    target: &RolloutTarget,
    options: &SessionOptions,
    host: &Host,
    recovering: &Recovering,
) -> Result<Opened, BuildError> {
    let host = RecorderHost::from(host);
    match target {
        RolloutTarget::Nowhere => Ok(Opened::new(new_id(), RolloutRecorder::disabled())),
        RolloutTarget::New(home) => {
            let id = new_id();
            let recorder = RolloutRecorder::create(home, meta(&id, options), host)?;
            Ok(Opened::new(id, recorder))
        }
        RolloutTarget::Existing(path) => {
            Ok(Opened::from(RolloutRecorder::resume_with(path, host, recovering).await?))
        }
    }
}

impl Opened {
    fn new(id: String, recorder: RolloutRecorder) -> Self {
        let (items, calls, loaded) = (Vec::new(), Vec::new(), LoadedTools::default());
        Self { id, recorder, items, calls, loaded, open: Vec::new(), begun: SessionStartSource::Startup }
    }
}

impl From<Resumed> for Opened {
    fn from(resumed: Resumed) -> Self {
        let Resumed { recorder, meta, items, calls, loaded, open, .. } = resumed;
        Self { id: meta.id, recorder, items, calls, loaded, open, begun: SessionStartSource::Resume }
    }
}

/// Tells each tool how often it was called before the session went on.
fn tell_of_earlier(calls: &[ResponseItem], tools: &[Arc<dyn ToolExecutor>]) {
    let mut times: HashMap<ToolName, u64> = HashMap::new();
    for call in calls.iter().filter_map(|item| ToolRouter::build_tool_call(item).ok().flatten()) {
        *times.entry(call.tool_name.with_default_namespace()).or_default() += 1;
    }
    for tool in tools {
        if let Some(times) = times.get(&tool.name().clone().with_default_namespace()) {
            tool.was_called_before(*times);
        }
    }
}

fn new_id() -> String {
    uuid::Uuid::now_v7().to_string()
}

fn meta(id: &str, options: &SessionOptions) -> SessionMeta {
    SessionMeta {
        session_id: Some(id.to_owned()),
        id: id.to_owned(),
        cwd: options.cwd.clone(),
        originator: options.originator.clone(),
        cli_version: env!("CARGO_PKG_VERSION").to_owned(),
        source: "exec".into(),
        model_provider: Some(options.model_provider.clone()),
        base_instructions: Some(json!({ "text": options.instructions })),
        history_mode: Some("legacy".to_owned()),
        ..SessionMeta::default()
    }
}
