//! What goes on over one connection: calls in flight, their progress, questions that are open.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rmcp::model::ProgressToken;
use tokio::sync::{Notify, watch};

/// Shared by a connection and those who hear the server.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    /// The requests in flight, and who waits for their progress.
    calls: watch::Sender<BTreeMap<String, Arc<Notify>>>,
    questions: watch::Sender<usize>,
    changed: Notify,
    gone: watch::Sender<bool>,
}

/// A request in flight, until it is dropped.
#[derive(Debug)]
pub(crate) struct InFlight {
    traffic: Arc<Traffic>,
    token: String,
    progress: Arc<Notify>,
}

/// A question that is open, until it is dropped.
#[derive(Debug)]
pub(crate) struct OpenQuestion<'a>(&'a Traffic);

impl Traffic {
    pub(crate) fn begin(self: &Arc<Self>, token: &ProgressToken) -> InFlight {
        let (token, progress) = (key(token), Arc::new(Notify::new()));
        self.calls.send_modify(|calls| {
            calls.insert(token.clone(), Arc::clone(&progress));
        });
        InFlight { traffic: Arc::clone(self), token, progress }
    }

    /// A server told of progress.
    pub(crate) fn progressed(&self, token: &ProgressToken) {
        if let Some(progress) = self.calls.borrow().get(&key(token)) {
            progress.notify_one();
        }
    }

    /// Opens a question: as long as one is open, no time runs.
    pub(crate) fn question(&self) -> OpenQuestion<'_> {
        self.questions.send_modify(|open| *open += 1);
        OpenQuestion(self)
    }

    /// How many questions are open.
    pub(crate) fn questions(&self) -> watch::Receiver<usize> {
        self.questions.subscribe()
    }

    /// Fires when all requests that are in flight now have ended. Never, if there are none.
    pub(crate) fn all_ended(&self) -> impl Future<Output = ()> + use<> {
        let mut calls = self.calls.subscribe();
        let now: BTreeSet<String> = calls.borrow().keys().cloned().collect();
        async move {
            let ended = |calls: &BTreeMap<_, _>| !calls.keys().any(|call| now.contains(call));
            if now.is_empty() || calls.wait_for(ended).await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    pub(crate) fn tools_changed(&self) {
        self.changed.notify_one();
    }

    pub(crate) async fn wait_for_change(&self) {
        self.changed.notified().await;
    }

    /// The other side has gone: nothing will be answered any more.
    pub(crate) fn gone(&self) {
        self.gone.send_replace(true);
    }

    pub(crate) fn is_gone(&self) -> bool {
        *self.gone.borrow()
    }

    pub(crate) async fn wait_gone(&self) {
        // The sender lives as long as this.
        let _ = self.gone.subscribe().wait_for(|gone| *gone).await;
    }
}

impl InFlight {
    /// Waits for the next sign of progress.
    pub(crate) async fn progress(&self) {
        self.progress.notified().await;
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.traffic.calls.send_modify(|calls| {
            calls.remove(&self.token);
        });
    }
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        self.0.questions.send_modify(|open| *open -= 1);
    }
}

/// Servers may give a number back as a text.
fn key(token: &ProgressToken) -> String {
    token.0.to_string()
}
