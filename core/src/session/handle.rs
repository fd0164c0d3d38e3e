//! What may be done to a session from elsewhere while a turn runs.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tenon_protocol::CallId;
use tokio_util::sync::CancellationToken;

/// Reaches into a session while a turn runs. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct SessionHandle(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    calls: Vec<(CallId, CancellationToken)>,
    steering: VecDeque<String>,
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
        self.lock().steering.push_back(text.into());
    }

    pub(super) fn add_call(&self, call_id: CallId, cancellation: CancellationToken) {
        self.lock().calls.push((call_id, cancellation));
    }

    pub(super) fn clear_calls(&self) {
        self.lock().calls.clear();
    }

    pub(super) fn take_steering(&self) -> Vec<String> {
        self.lock().steering.drain(..).collect()
    }

    pub(super) fn has_steering(&self) -> bool {
        !self.lock().steering.is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
