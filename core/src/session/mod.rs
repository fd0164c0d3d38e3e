//! A session: one thread of turns, with its tools, its history and its file.

mod builder;
mod handle;
mod nested;
mod options;
mod sink;

use std::path::Path;
use std::sync::Arc;

use tenon_protocol::{ResponseItem, RolloutItem, TokenUsage};
use tenon_tools::{
    BetweenTurns, Event, Host, ModelClient, Prompt, SpecLayer, StepContext, ToolExecutor, ToolSpec,
    TurnEnding, TurnMode,
};
use tokio_util::sync::CancellationToken;

pub use builder::{BuildError, SessionBuilder};
pub(crate) use handle::Pending;
pub use handle::SessionHandle;
pub use options::{DEFAULT_STREAM_MAX_RETRIES, SessionOptions};

use crate::dispatch::{Approvals, CallJournal, DispatchEnvironment, LifecycleObserver, NoJournal};
use crate::handlers::ToolSearch;
use crate::history::History;
use crate::hooks::{HookChain, HookContext, SessionStart, SessionStartSource};
use crate::policy::{Limits, Policy};
use crate::registry::{DuplicateTool, ToolRegistry, Toolbox};
use crate::rollout::{OpenCall, RolloutRecorder};
use crate::runtime::{CallNumbers, RunningCall};
use crate::search::{LoadedTools, SearchCatalogues};
use crate::turn::{Turn, TurnEnd, TurnInput, environment_context};
use crate::verify::{Fingerprint, Fingerprints};
use nested::NestedCalls;

/// One thread of turns.
pub struct Session {
    id: String,
    options: SessionOptions,
    client: Arc<dyn ModelClient>,
    tools: Arc<Toolbox>,
    catalogues: Arc<SearchCatalogues>,
    loaded: LoadedTools,
    layers: Vec<Arc<dyn SpecLayer>>,
    hooks: HookChain,
    policy: Arc<dyn Policy>,
    approvals: Approvals,
    limits: Arc<Limits>,
    observers: Arc<[Arc<dyn LifecycleObserver>]>,
    between_turns: Vec<Arc<dyn BetweenTurns>>,
    host: Host,
    history: History,
    recorder: RolloutRecorder,
    /// The calls that a runtime before has left open, until they are taken up.
    open: Vec<OpenCall>,
    numbers: Arc<CallNumbers>,
    nested: Arc<NestedCalls>,
    handle: SessionHandle,
    usage: TokenUsage,
    begun: Option<SessionStartSource>,
    /// The environment context that the history holds.
    context_told: Option<String>,
    /// The last request that the file tells of.
    requested: Option<Fingerprint>,
    fingerprints: Fingerprints,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("id", &self.id).field("tools", &self.tools).finish_non_exhaustive()
    }
}

impl Session {
    /// The session's id, a UUID v7.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The session's file, where it has one.
    pub fn rollout_path(&self) -> Option<&Path> {
        self.recorder.path()
    }

    /// What was said and done.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// What may be done to the session from elsewhere while a turn runs.
    pub fn handle(&self) -> SessionHandle {
        self.handle.clone()
    }

    /// What the session has used so far.
    pub fn usage(&self) -> TokenUsage {
        self.usage
    }

    /// The options the session was built with.
    pub fn options(&self) -> &SessionOptions {
        &self.options
    }

    /// The tools a model would be shown now, and those it would not, in order.
    pub fn tools(&self) -> Vec<Arc<dyn ToolExecutor>> {
        self.registry().0.tools().to_vec()
    }

    /// Runs one turn. Cancelling ends it after its calls have been torn down and answered.
    pub async fn run_turn(
        &mut self,
        input: impl Into<TurnInput>,
        cancellation: &CancellationToken,
    ) -> TurnEnd {
        Turn::run(self, input.into(), cancellation).await
    }

    /// Ends the session: what is recorded is on disk when this returns. Processes and connections belong to the
    /// services that brought the tools.
    pub async fn shutdown(self) {
        self.nested.forget_step();
        if let Err(error) = self.recorder.shutdown().await {
            tracing::error!(%error, "the rollout could not be completed");
        }
    }
}

/// What a turn does with its session.
impl Session {
    pub(crate) fn step_context(&self, turn_id: String, mode: TurnMode) -> StepContext {
        let options = &self.options;
        StepContext {
            session_id: self.id.clone(),
            turn_id,
            model: options.model.clone(),
            cwd: options.cwd.clone(),
            environment: options.environment.clone(),
            sandbox: options.sandbox.clone(),
            approval: options.approval,
            truncation: options.truncation,
            abilities: options.abilities,
            mode,
            allow_login_shell: options.allow_login_shell,
            max_runtime: options.max_runtime,
            rollout_path: self.recorder.path().map(Path::to_owned),
        }
    }

    /// What comes before the first prompt: hooks of the session's start, and where the model works.
    ///
    /// # Errors
    /// The turn's end where a hook does not let the session begin, or the turn is cancelled before it has answered.
    /// The next turn asks again.
    pub(crate) async fn begin(
        &mut self,
        step: &StepContext,
        cancellation: &CancellationToken,
    ) -> Result<(), TurnEnd> {
        if let Some(source) = self.begun.filter(|_| !self.hooks.is_empty()) {
            let event = SessionStart { context: HookContext::from(step), source };
            let hooks = self.hooks.clone();
            let (stop, contexts) = tokio::select! {
                biased;
                () = cancellation.cancelled() => return Err(TurnEnd::Interrupted),
                answer = hooks.session_start(&event) => answer,
            };
            self.record_contexts(contexts).await;
            if let Some(reason) = stop {
                return Err(TurnEnd::Refused { reason });
            }
        }
        self.begun = None;
        let context = environment_context(step, self.options.shell.as_deref());
        if self.context_told.as_ref() != Some(&context) {
            self.record(ResponseItem::message("user", &context)).await;
            self.context_told = Some(context);
        }
        Ok(())
    }

    /// Keeps an item, in memory and in the file.
    pub(crate) async fn record(&mut self, item: ResponseItem) {
        let item = item.with_id_if_absent();
        self.loaded.note(&item);
        self.history.record(item.clone());
        if item.is_recorded() {
            self.write_down(RolloutItem::ResponseItem(item)).await;
        }
    }

    /// Records what hooks have to tell the model: each its own developer message, word for word (core.md 8.10).
    pub(crate) async fn record_contexts(&mut self, contexts: Vec<String>) {
        for context in contexts {
            self.record(ResponseItem::message("developer", &context)).await;
        }
    }

    /// Tells the model what has happened since the last turn.
    pub(crate) async fn record_notes(&mut self) {
        let notes = self.between_turns.iter().flat_map(|source| source.take_notes()).collect();
        self.record_contexts(notes).await;
    }

    /// Lets what is to end with the turn end before it.
    pub(crate) async fn turn_ends(&self, ending: TurnEnding) {
        for between in &self.between_turns {
            between.turn_ends(ending).await;
        }
    }

    /// Writes down what the model is asked, by its hashes.
    pub(crate) async fn note_request(&mut self, prompt: &Prompt) {
        if !self.recorder.is_enabled() {
            return;
        }
        let asked = self.fingerprints.of(prompt);
        let line = asked.line(self.requested.as_ref());
        self.requested = Some(asked);
        self.write_down(RolloutItem::ModelRequest(line)).await;
    }

    /// Puts another history in place of what was said so far.
    pub(crate) fn go_on_from(&mut self, items: Vec<ResponseItem>, loaded: LoadedTools) {
        self.history = History::new(self.options.truncation);
        self.history.extend(items);
        self.loaded = loaded;
    }

    pub(crate) async fn write_down(&self, line: RolloutItem) {
        self.recorder.record(line).await;
    }

    /// Waits until all that was recorded is on disk.
    pub(crate) async fn barrier(&self) {
        // What could not be made durable is kept and tried again; the recorder has told the operator.
        if let Err(error) = self.recorder.sync().await {
            tracing::error!(%error, "the rollout is not durable");
        }
    }

    /// The tools of a step, and those whose name was taken.
    pub(crate) fn registry(&self) -> (ToolRegistry, Vec<DuplicateTool>) {
        let (mut registry, mut left_out) = self.tools.registry();
        if self.options.abilities.tool_search {
            let search = ToolSearch::over(&self.tools, &self.catalogues, &registry);
            left_out.extend(search.and_then(|search| registry.add(Arc::new(search)).err()));
        }
        (registry, left_out)
    }

    /// What the model is shown of a step's tools.
    pub(crate) fn specs(&self, registry: &ToolRegistry) -> Vec<ToolSpec> {
        registry.specs(&self.loaded, &self.layers)
    }

    pub(crate) fn instructions(&self) -> &str {
        &self.options.instructions
    }

    pub(crate) fn client(&self) -> Arc<dyn ModelClient> {
        Arc::clone(&self.client)
    }

    pub(crate) fn hooks(&self) -> &HookChain {
        &self.hooks
    }

    pub(crate) fn policy(&self) -> Arc<dyn Policy> {
        Arc::clone(&self.policy)
    }

    pub(crate) fn approvals(&self) -> Approvals {
        self.approvals.clone()
    }

    pub(crate) fn limits(&self) -> Arc<Limits> {
        Arc::clone(&self.limits)
    }

    pub(crate) fn observers(&self) -> Arc<[Arc<dyn LifecycleObserver>]> {
        Arc::clone(&self.observers)
    }

    pub(crate) fn journal(&self) -> Arc<dyn CallJournal> {
        if self.recorder.is_enabled() { Arc::new(self.recorder.clone()) } else { Arc::new(NoJournal) }
    }

    pub(crate) fn host(&self) -> &Host {
        &self.host
    }

    pub(crate) fn numbers(&self) -> Arc<CallNumbers> {
        Arc::clone(&self.numbers)
    }

    /// Nested calls go by this step from now on.
    pub(crate) fn newest_step(&self, env: &Arc<DispatchEnvironment>) {
        self.nested.go_by(env);
    }

    /// What hooks of nested calls have to tell the model.
    pub(crate) fn take_told(&self) -> Vec<String> {
        self.nested.take_told()
    }

    pub(crate) fn emit(&self, event: Event) {
        self.host.events.emit(event);
    }

    pub(crate) fn add_usage(&mut self, usage: TokenUsage) {
        self.usage += usage;
    }

    pub(crate) fn running(&self, call: &RunningCall) {
        self.handle.add_call(call.call_id().clone(), call.cancellation().clone());
    }

    pub(crate) fn none_running(&self) {
        self.handle.clear_calls();
    }

    /// Whether a turn runs that takes up what is pending.
    pub(crate) fn set_turn_runs(&self, runs: bool) {
        self.handle.set_turn_runs(runs);
    }

    pub(crate) fn take_pending(&self) -> Vec<Pending> {
        self.handle.take_pending()
    }

    /// What comes beside the outputs of calls, without what the user said.
    pub(crate) fn take_beside(&self) -> Vec<ResponseItem> {
        self.handle.take_beside()
    }

    /// The calls that a runtime before has left open.
    pub(crate) fn take_open(&mut self) -> Vec<OpenCall> {
        std::mem::take(&mut self.open)
    }

    pub(crate) fn has_pending(&self) -> bool {
        self.handle.has_pending()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // The newest step holds the host, and the host holds the caller that holds the step.
        self.nested.forget_step();
    }
}
