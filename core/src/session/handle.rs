//! What may be done to a session from elsewhere while a turn runs.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tenon_protocol::{CallId, ResponseInputItem, ResponseItem};
use tenon_tools::{PendingInput, PendingInputError};
use tokio_util::sync::CancellationToken;

/// Items that may wait beside what the user says (scripts' notifications).
pub(crate) const MAX_PENDING_ITEMS: usize = 256;

/// What the running turn is to take up before its next request.
#[derive(Debug)]
pub(crate) enum Pending {
    /// The user said it.
    Said(String),
    /// It comes beside the outputs of calls.
    Beside(ResponseItem),
}

/// Reaches into a session while a turn runs. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct SessionHandle(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    calls: Vec<(CallId, CancellationToken)>,
    pending: VecDeque<Pending>,
    turn_runs: bool,
}

impl SessionHandle {
    /// Cancels the running calls of this id; its siblings and the turn go on. Says whether there was one.
    pub fn cancel_call(&self, call_id: &CallId) -> bool {
        let state = self.lock();
        let mut found = false;
        for (_, cancellation) in state.calls.iter().filter(|(id, _)| id == call_id) {
            cancellation.cancel();
            found = true;
        }
        found
    }

    /// Adds to what the user said. The running turn takes it up before its next request; without one, the next turn
    /// does. It is kept when a turn is interrupted.
    pub fn steer(&self, text: impl Into<String>) {
        self.lock().pending.push_back(Pending::Said(text.into()));
    }

    pub(super) fn add_call(&self, call_id: CallId, cancellation: CancellationToken) {
        self.lock().calls.push((call_id, cancellation));
    }

    pub(super) fn clear_calls(&self) {
        self.lock().calls.clear();
    }

    /// Whether a turn runs that takes up what is pending.
    pub(super) fn set_turn_runs(&self, runs: bool) {
        self.lock().turn_runs = runs;
    }

    pub(super) fn take_pending(&self) -> Vec<Pending> {
        self.lock().pending.drain(..).collect()
    }

    /// Takes what comes beside the outputs of calls, and leaves what the user said.
    pub(super) fn take_beside(&self) -> Vec<ResponseItem> {
        let mut state = self.lock();
        let mut items = Vec::new();
        for pending in std::mem::take(&mut state.pending) {
            match pending {
                Pending::Beside(item) => items.push(item),
                said @ Pending::Said(_) => state.pending.push_back(said),
            }
        }
        items
    }

    pub(super) fn has_pending(&self) -> bool {
        !self.lock().pending.is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PendingInput for SessionHandle {
    fn add(&self, item: ResponseInputItem) -> Result<(), PendingInputError> {
        let mut state = self.lock();
        if !state.turn_runs {
            return Err(PendingInputError::NoActiveTurn);
        }
        let waiting = state.pending.iter().filter(|pending| matches!(pending, Pending::Beside(_))).count();
        if waiting >= MAX_PENDING_ITEMS {
            return Err(PendingInputError::Full);
        }
        state.pending.push_back(Pending::Beside(ResponseItem::from(item)));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use tenon_protocol::FunctionCallOutputPayload;

    use super::*;

    fn item() -> ResponseInputItem {
        ResponseInputItem::CustomToolCallOutput {
            call_id: "c1".into(),
            name: Some("exec".to_owned()),
            output: FunctionCallOutputPayload::text("news".to_owned()),
        }
    }

    #[test]
    fn items_are_taken_only_while_a_turn_runs_and_up_to_a_bound() {
        let handle = SessionHandle::default();
        assert_eq!(handle.add(item()), Err(PendingInputError::NoActiveTurn));
        handle.set_turn_runs(true);
        handle.steer("said");
        for _ in 0..MAX_PENDING_ITEMS {
            assert_eq!(handle.add(item()), Ok(()));
        }
        assert_eq!(handle.add(item()), Err(PendingInputError::Full));
        assert_eq!(handle.take_beside().len(), MAX_PENDING_ITEMS);
        assert_eq!(handle.add(item()), Ok(()));
        handle.set_turn_runs(false);
        assert_eq!(handle.add(item()), Err(PendingInputError::NoActiveTurn));
        assert_eq!(handle.take_pending().len(), 2);
        assert!(!handle.has_pending());
    }
}
