//! Requests that are waited for, and the word to a server that nobody waits any more.

use std::pin::Pin;

use rmcp::RoleClient;
use rmcp::model::ServerResult;
use rmcp::service::{RequestHandle, ServiceError};
use tokio::sync::{mpsc, oneshot};

/// What a server is told of a request that nobody waits for any more.
const NOBODY_WAITS: &str = "the client no longer waits for an answer";

/// A request on its way out.
pub(super) type Unsent =
    Pin<Box<dyn Future<Output = Result<RequestHandle<RoleClient>, ServiceError>> + Send>>;

/// What the task that tells servers is told.
pub(super) enum Notice {
    /// Nobody waits for this one.
    Abandoned(Box<RequestHandle<RoleClient>>),
    /// Nobody waits for this one, which may not have left yet.
    Unsent(Unsent),
    /// All notices before this one have left.
    Done(oneshot::Sender<()>),
}

/// A request that is waited for. Dropped without an answer, its server is told, once.
pub(super) struct Waiting<'a> {
    handle: Option<Box<RequestHandle<RoleClient>>>,
    abandoned: &'a mpsc::UnboundedSender<Notice>,
}

impl<'a> Waiting<'a> {
    pub(super) fn new(
        handle: RequestHandle<RoleClient>,
        abandoned: &'a mpsc::UnboundedSender<Notice>,
    ) -> Self {
        Self { handle: Some(Box::new(handle)), abandoned }
    }

    /// Waits for the answer.
    pub(super) async fn answer(
        &mut self,
    ) -> Result<Result<ServerResult, ServiceError>, oneshot::error::RecvError> {
        let Some(handle) = &mut self.handle else { return std::future::pending().await };
        let answer = (&mut handle.rx).await;
        // There is nothing to cancel any more.
        self.handle = None;
        answer
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if let Some(handle) = self.handle.take() {
            // A connection that has ended needs no notice.
            let _ = self.abandoned.send(Notice::Abandoned(handle));
        }
    }
}

/// Tells servers, in order.
pub(super) async fn send_notices(mut notices: mpsc::UnboundedReceiver<Notice>) {
    while let Some(notice) = notices.recv().await {
        match notice {
            Notice::Abandoned(handle) => take_back(*handle).await,
            Notice::Unsent(sending) => {
                // What could not be sent need not be taken back.
                if let Ok(handle) = sending.await {
                    take_back(handle).await;
                }
            }
            Notice::Done(done) => {
                let _ = done.send(());
            }
        }
    }
}

async fn take_back(handle: RequestHandle<RoleClient>) {
    let id = handle.id.clone();
    if let Err(error) = handle.cancel(Some(NOBODY_WAITS.to_owned())).await {
        tracing::debug!(%id, %error, "a cancellation could not be told");
    }
}
