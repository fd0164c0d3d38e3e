//! The one item that a client sees for a call.

use std::sync::{Arc, PoisonError};

use serde_json::Value;
use tenon_protocol::{CallFact, ItemStatus, TurnItem};
use tenon_tools::{
    Event, EventSink, LifecycleOutcome, Progress, ShownAs, TELEMETRY_PREVIEW_MAX_BYTES,
    TELEMETRY_PREVIEW_MAX_LINES, ToolInvocation, telemetry_preview,
};

use super::held::{self, Hold};
use super::{Identity, Terminal, Told};
use crate::sync::{Mutex, MutexGuard};

/// Stands between a call's handler and the session's events, and sees to it that the call is seen exactly once: its
/// item is started at most once and completed exactly once, by the handler or, where it did not, by the registry. A
/// handler's item may be completed long after the call: that of a command which goes on in the background.
pub(crate) struct CallEvents {
    events: Arc<dyn EventSink>,
    told: Told,
    identity: Identity,
    terminal: Terminal,
    state: Mutex<State>,
}

/// How a client sees a call that has no item of its own.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shown {
    /// The call's own id, unless an earlier call had that one already.
    id: String,
    name: String,
    arguments: String,
}

impl Shown {
    pub(crate) fn new(id: Option<String>, call: &ToolInvocation) -> Self {
        let id = id.unwrap_or_else(|| call.call_id.as_str().to_owned());
        let name = match &call.tool_name {
            name if name.is_default_namespace() => name.name().to_owned(),
            name => name.to_string(),
        };
        Self { id, name, arguments: call.source.log_text(&call.payload).into_owned() }
    }

    fn into_item(self, output: Option<String>, status: ItemStatus) -> TurnItem {
        let Self { id, name, arguments } = self;
        TurnItem::ToolCall { id, name, arguments, output, status }
    }
}

struct State {
    shown: Shown,
    /// The handler's own item, once it has started.
    own: Option<Box<TurnItem>>,
    /// Whether nothing is to be shown unless the call fails.
    silent: bool,
    completed: bool,
    /// Whether hooks look at what the handler shows before anybody else does.
    hold: Hold,
}

impl std::fmt::Debug for CallEvents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CallEvents").field("identity", &self.identity).finish_non_exhaustive()
    }
}

impl CallEvents {
    pub(crate) fn new(events: Arc<dyn EventSink>, told: Told, identity: Identity) -> Self {
        let shown = Shown::default();
        let state = State { shown, own: None, silent: false, completed: false, hold: Hold::Off };
        Self { events, told, identity, terminal: Terminal::default(), state: Mutex::new(state) }
    }

    /// How far the call has come.
    pub(crate) fn terminal(&self) -> &Terminal {
        &self.terminal
    }

    /// What the call has told of itself.
    pub(crate) fn told(&self) -> &Told {
        &self.told
    }

    /// From here on the call can be shown.
    pub(crate) fn show(&self, shown: Shown) {
        self.lock().shown = shown;
    }

    /// Who the call is.
    pub(crate) fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Shows the payload as a hook has rewritten it.
    pub(crate) fn show_payload(&self, call: &ToolInvocation) {
        self.lock().shown.arguments = call.source.log_text(&call.payload).into_owned();
    }

    /// The handler begins: its own item, or else the generic one, is in progress.
    pub(crate) fn start(&self, shown: ShownAs) {
        let mut state = self.lock();
        let item = match shown {
            ShownAs::Generic => state.shown.clone().into_item(None, ItemStatus::InProgress),
            ShownAs::Item(own) => {
                state.own = Some(Box::new(own.clone()));
                own.with_id(state.shown.id.clone())
            }
            ShownAs::PartOfAnother => {
                state.silent = true;
                return;
            }
        };
        drop(state);
        self.events.emit(Event::ItemStarted(item));
    }

    /// From now on, nothing of what the handler prints is shown before hooks have looked at it.
    pub(crate) fn hold(&self) {
        self.lock().hold = Hold::On(None);
    }

    /// Hooks have looked: what was held back is shown, with `seen` for its output, or `updated` in its place. What
    /// the handler shows later of its item, no hook will have seen as it is then.
    pub(crate) fn let_go(&self, seen: &Value, updated: Option<&Value>) {
        let mut state = self.lock();
        let Hold::On(item) = std::mem::replace(&mut state.hold, Hold::Off) else { return };
        let Some(item) = item else {
            state.hold = Hold::Outlived;
            return;
        };
        state.completed = true;
        let item = held::looked_at(*item, seen, updated).with_id(state.shown.id.clone());
        drop(state);
        self.events.emit(Event::ItemCompleted(item));
    }

    /// The call ended. What the handler has not completed is completed here, unless it is an item of its own that
    /// outlives the call. `text` is what a generic item shows of the end; it is asked for where there is one.
    pub(crate) fn finish(&self, outcome: LifecycleOutcome, text: impl FnOnce() -> String) {
        let mut state = self.lock();
        let status = match outcome {
            LifecycleOutcome::Blocked => ItemStatus::Declined,
            LifecycleOutcome::Completed { success: true } => ItemStatus::Completed,
            LifecycleOutcome::Completed { success: false }
            | LifecycleOutcome::Failed { .. }
            | LifecycleOutcome::Aborted => ItemStatus::Failed,
        };
        let unseen = state.hold.take();
        let done_elsewhere = state.own.is_some() || state.silent;
        let ended = matches!(outcome, LifecycleOutcome::Completed { .. });
        if state.completed || (ended && done_elsewhere && unseen.is_none()) {
            return;
        }
        state.completed = true;
        // It stays known: what its handler says of it later must not show it twice.
        let own = match (unseen, state.own.clone()) {
            (Some(unseen), _) => Some(held::withheld(*unseen)),
            (None, own) => own.map(|own| own.with_status(status)),
        };
        let item = match own {
            Some(own) => Ok(own.with_id(state.shown.id.clone())),
            // Nothing is shown of a generic item after its end.
            None => Err(std::mem::take(&mut state.shown)),
        };
        drop(state);
        let item = item.unwrap_or_else(|shown| shown.into_item(Some(bounded(text())), status));
        self.events.emit(Event::ItemCompleted(item));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A text as an item shows it: bounded, whatever the tool's output made of it.
fn bounded(text: String) -> String {
    let fits =
        text.len() <= TELEMETRY_PREVIEW_MAX_BYTES && text.lines().nth(TELEMETRY_PREVIEW_MAX_LINES).is_none();
    if fits { text } else { telemetry_preview(&text) }
}

impl EventSink for CallEvents {
    fn emit(&self, event: Event) {
        let event = match event {
            Event::ItemStarted(item) => self.own_started(item).map(Event::ItemStarted),
            Event::ItemUpdated(item) => self.own_updated(item).map(Event::ItemUpdated),
            Event::ItemCompleted(item) => self.own_completed(item).map(Event::ItemCompleted),
            Event::ExecOutputDelta { .. } if !self.lock().hold.is_off() => None,
            other => Some(other),
        };
        if let Some(event) = event {
            self.events.emit(event);
        }
    }
}

/// Facts go the way of events: one place takes all that a call's handler says.
impl Progress for CallEvents {
    fn record(&self, fact: CallFact) {
        self.told.record(fact);
    }
}

/// What is let through of a handler's words on items: those on other items as they are, those on the call's own item
/// under the id it is shown by, and none that would show it twice.
impl CallEvents {
    fn is_own(&self, state: &State, item: &TurnItem) -> bool {
        item.id() == self.identity.call_id.as_str() && state.own.is_some()
    }

    fn own_started(&self, item: TurnItem) -> Option<TurnItem> {
        (!self.is_own(&self.lock(), &item)).then_some(item)
    }

    fn own_updated(&self, item: TurnItem) -> Option<TurnItem> {
        let mut state = self.lock();
        if !self.is_own(&state, &item) {
            return Some(item);
        }
        if !state.hold.is_off() {
            return None;
        }
        state.own = Some(Box::new(item.clone()));
        (!state.completed).then(|| item.with_id(state.shown.id.clone()))
    }

    fn own_completed(&self, item: TurnItem) -> Option<TurnItem> {
        let mut state = self.lock();
        if !self.is_own(&state, &item) {
            return Some(item);
        }
        if let Hold::On(held) = &mut state.hold {
            held.get_or_insert(Box::new(item));
            return None;
        }
        let again = std::mem::replace(&mut state.completed, true);
        let item = if state.hold.is_off() { item } else { held::withheld(item) };
        (!again).then(|| item.with_id(state.shown.id.clone()))
    }
}

#[cfg(test)]
#[path = "call_events_tests.rs"]
mod tests;
