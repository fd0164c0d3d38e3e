//! A command that was started for a call, as long as the call waits for it.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::OwnedMutexGuard;

use crate::pump::Source;
use crate::service::Shared;
use crate::session::Session;

/// Sees to it that a call which is dropped before it has answered leaves no command behind: nobody would know its id.
pub(super) struct Running {
    shared: Arc<Shared>,
    pub(super) session: Arc<Session>,
    /// So that nobody else collects what belongs to this call, and its watcher does not end its item.
    _turn: OwnedMutexGuard<()>,
    settled: bool,
}

impl Running {
    /// Lets a command that has just been started be read and watched.
    pub(super) async fn new(shared: &Arc<Shared>, session: Arc<Session>, source: Source) -> Self {
        // Before it can be found.
        let turn = Arc::clone(&session.interaction).lock_owned().await;
        shared.store.insert(&session, source);
        Self { shared: Arc::clone(shared), session, _turn: turn, settled: false }
    }

    /// The call has its answer. A command that has ended is over with it, another goes on as a session.
    pub(super) fn answered(mut self, has_ended: bool) {
        self.settled = true;
        if has_ended {
            self.session.end_item();
            self.shared.store.remove(&self.session);
        }
    }

    /// It has ended, and another run of the same command goes on with its item.
    pub(super) fn replaced(mut self) {
        self.settled = true;
        self.let_go();
    }

    /// The item is ended elsewhere.
    fn let_go(&self) {
        self.session.report.silence();
        self.shared.store.remove(&self.session);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.settled {
            // The registry ends the item of a call that was dropped.
            self.let_go();
            drop(self.shared.store.keeper.end(&self.session.process, Duration::ZERO));
        }
    }
}
