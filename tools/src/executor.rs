//! What a tool is.

use async_trait::async_trait;
use tenon_protocol::{CallId, ToolName, TurnItem};

use crate::{
    CutOffCall, Effects, EventSink, FunctionCallError, HookIdentity, LeftBehind, Recovery, SearchInfo,
    ToolInvocation, ToolOutput, ToolPayload, ToolSpec,
};

/// Who may see and call a tool (core.md 2.9, runtime.md C2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolExposure {
    /// In the model's list, callable by the model and by scripts.
    #[default]
    Direct,
    /// Found by a tool search; callable by its full name all the same.
    Deferred,
    /// In the model's list, not callable by scripts.
    DirectModelOnly,
    /// Found by a tool search, not callable by scripts.
    DeferredModelOnly,
    /// In no list of the model's; for scripts.
    CodeModeOnly,
    /// In no list; callable, and never in parallel.
    Hidden,
}

/// One tool: what it is called, what it offers, how a call of it is prepared.
///
/// Everything that is known of a tool lives on this one type: spec, exposure, parallel support, hook identity. A call
/// goes through two phases: [`prepare`](Self::prepare) parses and verifies and changes nothing;
/// [`PreparedCall::run`] does what was prepared. Whatever may refuse the call stands between the two.
#[async_trait]
pub trait ToolExecutor: Send + Sync {
    /// The name the tool is registered under.
    fn name(&self) -> &ToolName;

    /// What the model is shown.
    fn spec(&self) -> ToolSpec;

    /// Who may see and call it.
    fn exposure(&self) -> ToolExposure {
        ToolExposure::Direct
    }

    /// Whether the tool takes this kind of payload. Another kind is a broken invariant, not a mistake of the model's:
    /// it ends the turn (core.md 5.1).
    fn accepts(&self, payload: &ToolPayload) -> bool {
        match payload {
            ToolPayload::Function { .. } | ToolPayload::ToolSearch { .. } => true,
            ToolPayload::Custom { .. } => false,
        }
    }

    /// Whether calls may run beside others. An exclusive call sees all that the calls before it did and nothing of
    /// those after it.
    fn parallel(&self) -> bool {
        false
    }

    /// Whether a cancelled call waits for its own teardown and answers itself. Other calls are dropped where they
    /// stand and answered by the runtime (core.md 6.2).
    fn waits_for_cancellation(&self) -> bool {
        false
    }

    /// How a tool search finds the tool; by default by its spec. None: no search finds it.
    fn search_info(&self) -> Option<SearchInfo> {
        SearchInfo::from_spec(self.name(), &self.spec())
    }

    /// How hooks see and rewrite calls; none keeps hooks away. By default that of a function tool (core.md 5.3).
    fn hook_identity(&self) -> Option<HookIdentity> {
        Some(HookIdentity::function(self.name()))
    }

    /// Somebody who reads a custom call's input while the model still writes it, for progress that a client can be
    /// shown. Nothing that they make of it decides anything.
    fn input_observer(&self, _call_id: Option<CallId>) -> Option<Box<dyn InputObserver>> {
        None
    }

    /// Tidies up behind calls that another runtime had started and did not live to end, when their session goes on:
    /// temporary files, say, or processes. It must not do what the calls were to do; nothing that fails here fails the
    /// session.
    async fn tidy_up(&self, _left: &LeftBehind) {}

    /// What may be done about a call that another runtime had started and did not live to end, when its session goes
    /// on. The host may say no to it.
    fn recovery(&self) -> Recovery {
        Recovery::Tell
    }

    /// How a call came out that was cut off, of a tool whose [`recovery`](Self::recovery) is to check. It must not do
    /// what the call was to do. None where it cannot be known: then the model is told what the journal knows.
    async fn outcome_of(&self, _call: &CutOffCall) -> Option<Result<Box<dyn ToolOutput>, FunctionCallError>> {
        None
    }

    /// Its session goes on from a file that holds this many calls of the tool already.
    fn was_called_before(&self, _times: u64) {}

    /// Parses and verifies. Reads files, changes nothing, asks nobody.
    ///
    /// # Errors
    /// What is wrong with the call, in words for the model.
    async fn prepare(&self, call: &ToolInvocation) -> Result<Box<dyn PreparedCall>, FunctionCallError>;
}

/// Reads the input of a custom call as it streams in. See [`ToolExecutor::input_observer`].
pub trait InputObserver: Send {
    /// The next piece.
    fn delta(&mut self, delta: &str, events: &dyn EventSink);

    /// The item is complete: what was held back is shown now.
    fn done(&mut self, call_id: &CallId, events: &dyn EventSink);
}

/// What a client sees of a call. Each call is seen exactly once, whatever becomes of it: one that fails before it has
/// an item of its own, or that has none, is shown as a generic item that failed.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "one for each call, taken apart at once")]
pub enum ShownAs {
    /// A generic item of the call's name and arguments, which the registry starts and completes.
    Generic,
    /// An item of the tool's own, in progress. The registry starts it. The tool completes it, through
    /// `call.host.events` and under the same id (the call's id), since it may end long after the call: that of a
    /// command which goes on in the background. Where the run fails, panics or is dropped first, the registry does.
    Item(TurnItem),
    /// Nothing, unless the call is refused or fails: it is part of what is shown already, as a poll is of its command.
    PartOfAnother,
}

/// A verified call that has not happened yet.
#[async_trait]
pub trait PreparedCall: Send + Sync {
    /// What running it would do.
    fn effects(&self) -> &Effects;

    /// What running it would change, as a unified diff, for whoever is asked to approve it. None where it would change
    /// no file, or nobody knows how.
    fn diff(&self) -> Option<String> {
        None
    }

    /// What the client sees of the call while it runs.
    fn shown_as(&self) -> ShownAs {
        ShownAs::Generic
    }

    /// Does it.
    ///
    /// # Errors
    /// What went wrong, in words for the model, and what stands all the same.
    async fn run(self: Box<Self>, call: &ToolInvocation) -> Result<Box<dyn ToolOutput>, FunctionCallError>;
}
