//! A connection that the protocol library drives.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use rmcp::RoleClient;
use rmcp::model::{ClientRequest, ProtocolVersion, ServerNotification, SubscriptionFilter};
use rmcp::service::{
    Peer, PeerRequestOptions, RequestHandle, RunningService, RunningServiceCancellationToken,
};
use serde_json::Value;
use tenon_protocol::CallFact;
use tokio::sync::{Mutex, mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::deadline::Deadline;
use super::notices::{Notice, Unsent, Waiting, send_notices};
use super::request::{Continued, addresses_to_open, raw, request, request_error};
use super::{Ask, Asker, Handler, Limits, Link, Questions, ServerFacts, Traffic};
use crate::error::RequestError;

/// How often a server may ask back before it has to answer.
const MAX_ROUNDS: usize = 10;
/// How long it is waited before a server is asked again that only wants to be asked again; longer each time.
const ASK_AGAIN: Duration = Duration::from_millis(100);
const ASK_AGAIN_MAX: Duration = Duration::from_secs(5);
/// How long notices of cancellation may take to leave when a connection is closed.
const LAST_NOTICES: Duration = Duration::from_millis(500);

/// Says, once a connection has ended, why.
pub(crate) type Epitaph = Arc<dyn Fn() -> String + Send + Sync>;

/// A connection that the protocol library drives.
pub(crate) struct RpcLink {
    facts: ServerFacts,
    peer: Peer<RoleClient>,
    questions: Arc<Questions>,
    traffic: Arc<Traffic>,
    stdio: bool,
    /// Requests that nobody waits for any more; their notices are sent in order, by a task of their own.
    abandoned: mpsc::UnboundedSender<Notice>,
    ending: Mutex<Ending>,
    ended: watch::Receiver<bool>,
    epitaph: Epitaph,
}

struct Ending {
    cancel: Option<RunningServiceCancellationToken>,
    tasks: Vec<JoinHandle<()>>,
}

impl RpcLink {
    /// Takes over a connection that has just been made.
    pub(crate) fn new(
        running: RunningService<RoleClient, Handler>,
        stdio: bool,
        epitaph: Epitaph,
    ) -> Arc<Self> {
        let Handler { questions, traffic } = running.service().clone();
        let peer = running.peer().clone();
        let cancel = running.cancellation_token();
        let (told, ended) = watch::channel(false);
        let (abandoned, notices) = mpsc::unbounded_channel();
        let gone = Arc::clone(&traffic);
        let waiter = tokio::spawn(async move {
            // A library task that panicked has ended as well.
            let _ = running.waiting().await;
            gone.gone();
            told.send_replace(true);
        });
        let mut tasks = vec![waiter, tokio::spawn(send_notices(notices))];
        let facts = facts(&peer);
        if speaks_newer_era(&peer) && facts.tools {
            tasks.push(tokio::spawn(subscribe(peer.clone(), Arc::clone(&traffic))));
        }
        Arc::new(Self {
            facts,
            peer,
            questions,
            traffic,
            stdio,
            abandoned,
            ending: Mutex::new(Ending { cancel: Some(cancel), tasks }),
            ended,
            epitaph,
        })
    }

    /// Sends a request, and answers what the server wants to know, until it has its answer.
    async fn rounds(
        &self,
        ask: &Ask,
        clock: &mut Deadline,
        asker: &Asker<'_>,
    ) -> Result<Value, RequestError> {
        let mut continued = Continued::default();
        let mut again = 0;
        for _ in 0..MAX_ROUNDS {
            let answer = self.round(ask, continued, clock, asker).await?;
            if answer.get("resultType").and_then(Value::as_str) != Some("input_required") {
                return Ok(answer);
            }
            continued = self.continued(&answer, &mut again, asker).await?;
        }
        Err(RequestError::Transport(format!("the server asked back {MAX_ROUNDS} times without an answer")))
    }

    /// Whether the server refused because the user is to open addresses first, and they have opened them all.
    ///
    /// # Errors
    /// When nobody waits for it any more.
    async fn sent_user(&self, refused: &RequestError, asker: &Asker<'_>) -> Result<bool, RequestError> {
        let addresses = addresses_to_open(refused);
        let _open = (!addresses.is_empty()).then(|| asker.opens_question());
        for address in addresses {
            let answer = tokio::select! {
                biased;
                () = asker.cancellation.cancelled() => return Err(RequestError::Cancelled),
                answer = self.questions.elicit(address.clone(), self.traffic.wait_gone()) => answer,
            };
            if answer.get("action").and_then(Value::as_str) != Some("accept") {
                return Ok(false);
            }
        }
        Ok(!addresses.is_empty())
    }

    /// Sends one request and waits for its answer.
    async fn round(
        &self,
        ask: &Ask,
        continued: Continued,
        clock: &mut Deadline,
        asker: &Asker<'_>,
    ) -> Result<Value, RequestError> {
        let handle = self.sent(request(ask, continued), ask.method(), clock, asker).await?;
        asker.record(CallFact::Request { server: self.questions.server.clone(), id: handle.id.to_string() });
        let in_flight = self.traffic.begin(&handle.progress_token);
        let mut waiting = Waiting::new(handle, &self.abandoned);
        let mut questions = self.traffic.questions();
        loop {
            let standing_still = *questions.borrow_and_update() > 0;
            let _open = standing_still.then(|| asker.opens_question());
            let left = clock.left();
            let began = Instant::now();
            tokio::select! {
                biased;
                answer = waiting.answer() => {
                    let answer = answer.map_err(|_| RequestError::Closed)?.map_err(|error| self.error(error))?;
                    return raw(answer);
                }
                () = asker.cancellation.cancelled() => return Err(RequestError::Cancelled),
                () = self.traffic.wait_gone() => return Err(RequestError::Closed),
                () = in_flight.progress() => clock.progressed(began, standing_still),
                _ = questions.changed() => clock.spend(began, standing_still),
                () = tokio::time::sleep(left), if !standing_still => {
                    return Err(RequestError::TimedOut { method: ask.method(), limit: clock.limit() });
                }
            }
        }
    }

    /// Sends a request. A server that reads nothing lets it wait; where nobody waits for it any more by then, it is
    /// taken back as soon as it has left.
    async fn sent(
        &self,
        request: ClientRequest,
        method: &'static str,
        clock: &Deadline,
        asker: &Asker<'_>,
    ) -> Result<RequestHandle<RoleClient>, RequestError> {
        let peer = self.peer.clone();
        let options = PeerRequestOptions::no_options();
        let mut sending: Unsent =
            Box::pin(async move { peer.send_cancellable_request(request, options).await });
        let why = tokio::select! {
            biased;
            sent = &mut sending => return sent.map_err(|error| self.error(error)),
            () = asker.cancellation.cancelled() => RequestError::Cancelled,
            () = self.traffic.wait_gone() => return Err(RequestError::Closed),
            () = tokio::time::sleep(clock.left()) => RequestError::TimedOut { method, limit: clock.limit() },
        };
        // A connection that has ended sends nothing any more.
        let _ = self.abandoned.send(Notice::Unsent(sending));
        Err(why)
    }

    fn error(&self, error: rmcp::service::ServiceError) -> RequestError {
        request_error(error, &self.questions.server, self.stdio)
    }

    /// Answers what a server wants to know before it goes on.
    async fn continued(
        &self,
        wanted: &Value,
        again: &mut u32,
        asker: &Asker<'_>,
    ) -> Result<Continued, RequestError> {
        let state = wanted.get("requestState").and_then(Value::as_str).map(str::to_owned);
        let questions = wanted.get("inputRequests").and_then(Value::as_object).filter(|all| !all.is_empty());
        let Some(questions) = questions else {
            if state.is_none() {
                return Err(RequestError::Unexpected);
            }
            let pause = ASK_AGAIN.saturating_mul(1 << (*again).min(6)).min(ASK_AGAIN_MAX);
            *again += 1;
            tokio::select! {
                () = asker.cancellation.cancelled() => return Err(RequestError::Cancelled),
                () = tokio::time::sleep(pause) => {}
            }
            return Ok(Continued { responses: None, state });
        };
        *again = 0;
        let mut responses = BTreeMap::new();
        let _open = asker.opens_question();
        for (key, question) in questions {
            let answer = tokio::select! {
                biased;
                () = asker.cancellation.cancelled() => return Err(RequestError::Cancelled),
                answer = self.questions.answer(question) => answer,
            };
            responses.insert(key.clone(), answer.map_err(RequestError::Transport)?);
        }
        Ok(Continued { responses: Some(responses), state })
    }
}

#[async_trait]
impl Link for RpcLink {
    fn facts(&self) -> &ServerFacts {
        &self.facts
    }

    async fn ask(&self, ask: Ask, limits: Limits, asker: Asker<'_>) -> Result<Value, RequestError> {
        let mut clock = Deadline::new(limits);
        let refused = match self.rounds(&ask, &mut clock, &asker).await {
            Err(refused) => refused,
            answered => return answered,
        };
        // The server has done nothing yet: once the user has been where it sends them, it is asked again, once.
        if self.sent_user(&refused, &asker).await? {
            return self.rounds(&ask, &mut clock, &asker).await;
        }
        Err(refused)
    }

    fn is_closed(&self) -> bool {
        self.traffic.is_gone() || self.peer.is_transport_closed()
    }

    async fn closed(&self) -> String {
        // The sender lives in the task that waits for the end.
        let _ = self.ended.clone().wait_for(|ended| *ended).await;
        (self.epitaph)()
    }

    async fn tools_changed(&self) {
        self.traffic.wait_for_change().await;
    }

    async fn close(&self) {
        let mut ending = self.ending.lock().await;
        let (done, left) = tokio::sync::oneshot::channel();
        if self.abandoned.send(Notice::Done(done)).is_ok() {
            // A server that reads nothing keeps no notice from ending it.
            let _ = tokio::time::timeout(LAST_NOTICES, left).await;
        }
        if let Some(cancel) = ending.cancel.take() {
            cancel.cancel();
        }
        let _ = self.ended.clone().wait_for(|ended| *ended).await;
        for task in ending.tasks.drain(..) {
            task.abort();
        }
    }
}

/// Whether both sides know the version that the server has chosen (the standard: a client disconnects else).
///
/// # Errors
/// Which version it is, and which there are.
pub(crate) fn known_version(peer: &Peer<RoleClient>) -> Result<(), String> {
    let chosen = peer.peer_info().map(|info| info.protocol_version.clone());
    match chosen.filter(|chosen| !ProtocolVersion::KNOWN_VERSIONS.contains(chosen)) {
        None => Ok(()),
        Some(unknown) => {
            let known: Vec<&str> =
                ProtocolVersion::KNOWN_VERSIONS.iter().map(ProtocolVersion::as_str).collect();
            Err(format!("it speaks version {unknown} of the protocol; known are {}", known.join(", ")))
        }
    }
}

fn speaks_newer_era(peer: &Peer<RoleClient>) -> bool {
    peer.peer_info().is_some_and(|info| !info.protocol_version.has_initialize())
}

fn facts(peer: &Peer<RoleClient>) -> ServerFacts {
    let Some(info) = peer.peer_info() else { return ServerFacts::default() };
    ServerFacts {
        implementation: info.server_info.as_ref().map(|own| (own.name.clone(), own.version.clone())),
        instructions: info.instructions.clone().filter(|text| !text.trim().is_empty()),
        protocol_version: info.protocol_version.as_str().to_owned(),
        tools: info.capabilities.tools.is_some(),
        resources: info.capabilities.resources.is_some(),
    }
}

/// Listens for changes of the list of tools, as servers of the newer era tell them.
async fn subscribe(peer: Peer<RoleClient>, traffic: Arc<Traffic>) {
    let filter = SubscriptionFilter::builder().tools_list_changed().build();
    let mut subscription = match peer.listen(filter).await {
        Ok(subscription) => subscription,
        // Not every server tells of changes.
        Err(error) => return tracing::debug!(%error, "changes of an MCP server's tools are not told"),
    };
    while let Ok(Some(notification)) = subscription.next().await {
        if matches!(notification, ServerNotification::ToolListChangedNotification(_)) {
            traffic.tools_changed();
        }
    }
}
