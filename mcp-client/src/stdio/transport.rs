//! The protocol's messages over a process's standard streams.
//!
//! It differs from the library's own in what it does with what should not happen: see [`wire`](super::wire).

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{ErrorCode, ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::holder::Holder;
use super::lines::{Lines, MAX_MESSAGE_BYTES};
use super::process::Streams;
use super::wire::{self, Pending, Received};
use crate::link::Traffic;

/// How long a server may take to answer `server/discover`. One that knows nothing of it may just be silent: then it is
/// taken for one of the older era.
pub(crate) const DISCOVER_TIMEOUT: Duration = Duration::from_secs(2);
/// How long what a process wrote before its end may take to arrive, where somebody else still holds its output open.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// Messages that lie ready. More are not read before these are taken.
const MESSAGES: usize = 64;

/// A connection over standard streams. Its process group ends with it.
pub(crate) struct StdioTransport {
    holder: Arc<Holder>,
    traffic: Arc<Traffic>,
    writer: Option<mpsc::UnboundedSender<Outgoing>>,
    messages: mpsc::Receiver<RxJsonRpcMessage<RoleClient>>,
    pending: Arc<Mutex<Pending>>,
    /// The `server/discover` that is not answered yet, and when it is given up.
    discover: Option<(RequestId, Instant)>,
    discover_timeout: Option<Duration>,
    given_up: Option<RequestId>,
    initialize: Option<RequestId>,
    tasks: [JoinHandle<()>; 2],
}

struct Outgoing {
    line: Vec<u8>,
    done: oneshot::Sender<std::io::Result<()>>,
}

impl StdioTransport {
    /// A connection to a process. Without `discover_timeout`, `server/discover` is waited for as long as it takes.
    pub(crate) fn new(
        holder: Arc<Holder>,
        streams: Streams,
        discover_timeout: Option<Duration>,
        traffic: Arc<Traffic>,
    ) -> Self {
        let pending = Arc::new(Mutex::new(Pending::default()));
        let (writer, outgoing) = mpsc::unbounded_channel();
        let (incoming, messages) = mpsc::channel(MESSAGES);
        let reader = Reader {
            lines: Lines::new(BufReader::new(streams.stdout), MAX_MESSAGE_BYTES),
            pending: Arc::clone(&pending),
            incoming,
            // Weak: the reader must not keep the process's input open.
            writer: writer.downgrade(),
        };
        let tasks = [tokio::spawn(write(streams.stdin, outgoing)), tokio::spawn(reader.run(holder.exited()))];
        Self {
            holder,
            traffic,
            writer: Some(writer),
            messages,
            pending,
            discover: None,
            discover_timeout,
            given_up: None,
            initialize: None,
            tasks,
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a request, so that its answer is known for what it is.
    fn note(&mut self, message: &TxJsonRpcMessage<RoleClient>) {
        if let Some(id) = wire::cancelled_request(message) {
            self.lock().forget(id);
        }
        let Some((id, request)) = wire::request_of(message) else { return };
        let method = request.method();
        self.lock().sent(id.clone(), method);
        if method == "initialize" {
            self.initialize = Some(id.clone());
        }
        if method == "server/discover" {
            self.discover = self.discover_timeout.map(|limit| (id.clone(), Instant::now() + limit));
        }
    }

    /// Answers the `server/discover` that the server does not answer.
    fn give_up_discover(&mut self, id: RequestId) -> RxJsonRpcMessage<RoleClient> {
        self.discover = None;
        self.given_up = Some(id.clone());
        self.holder.give_up_discover();
        let error = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "server/discover was not answered", None);
        ServerJsonRpcMessage::error(error, Some(id))
    }

    /// What is passed on of a message: not the answer to a `server/discover` that was given up.
    fn pass(&mut self, message: RxJsonRpcMessage<RoleClient>) -> Option<RxJsonRpcMessage<RoleClient>> {
        let answered = match &message {
            ServerJsonRpcMessage::Response(response) => Some((&response.id, true)),
            ServerJsonRpcMessage::Error(error) => error.id.as_ref().map(|id| (id, false)),
            ServerJsonRpcMessage::Request(_) | ServerJsonRpcMessage::Notification(_) => None,
        };
        let Some((id, well)) = answered else { return Some(message) };
        if self.given_up.as_ref() == Some(id) {
            self.given_up = None;
            if !well {
                return None;
            }
            // Whatever it makes of the `initialize` that it was sent meanwhile: it will be started anew.
            let id = self.initialize.take().filter(|id| self.lock().forget(id))?;
            let error = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "the server is of the newer era", None);
            return Some(ServerJsonRpcMessage::error(error, Some(id)));
        }
        if self.discover.as_ref().is_some_and(|(discover, _)| discover == id) {
            self.discover = None;
        }
        Some(message)
    }
}

impl Transport<RoleClient> for StdioTransport {
    type Error = std::io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.note(&item);
        // Queued here and not in the future: messages leave in the order in which they are given.
        let sent = serde_json::to_vec(&item).map_err(std::io::Error::other).and_then(|mut line| {
            line.push(b'\n');
            let (done, written) = oneshot::channel();
            let writer = self.writer.as_ref().ok_or_else(closed)?;
            writer.send(Outgoing { line, done }).map_err(|_| closed())?;
            Ok(written)
        });
        async move { sent?.await.map_err(|_| closed())? }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let message = match self.discover.clone() {
                None => self.messages.recv().await,
                Some((id, until)) => tokio::select! {
                    biased;
                    message = self.messages.recv() => message,
                    () = tokio::time::sleep_until(until) => return Some(self.give_up_discover(id)),
                },
            };
            let Some(message) = message else {
                // Told at once: what waits for an answer does not wait for the end of the process as well.
                self.traffic.gone();
                return None;
            };
            if let Some(message) = self.pass(message) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        // What is queued is written first; then the process's input ends.
        self.writer = None;
        self.holder.end().await;
        Ok(())
    }
}

impl Drop for StdioTransport {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

fn closed() -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::NotConnected, "Transport closed")
}

async fn write(mut stdin: ChildStdin, mut outgoing: mpsc::UnboundedReceiver<Outgoing>) {
    while let Some(Outgoing { line, done }) = outgoing.recv().await {
        let written = async {
            stdin.write_all(&line).await?;
            stdin.flush().await
        };
        // Nobody may wait for it any more: then nobody is told.
        let _ = done.send(written.await);
    }
}

struct Reader {
    lines: Lines<BufReader<ChildStdout>>,
    pending: Arc<Mutex<Pending>>,
    incoming: mpsc::Sender<RxJsonRpcMessage<RoleClient>>,
    writer: mpsc::WeakUnboundedSender<Outgoing>,
}

impl Reader {
    /// Reads until the output ends, or the process has and says nothing more.
    async fn run(mut self, mut exited: watch::Receiver<Option<std::process::ExitStatus>>) {
        loop {
            let gone = async {
                let _ = exited.wait_for(Option::is_some).await;
                tokio::time::sleep(LAST_WORDS).await;
            };
            let line = tokio::select! {
                biased;
                line = self.lines.next() => line,
                () = gone => return,
            };
            let Ok(Some(line)) = line else { return };
            let received = {
                let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
                wire::receive(line, &mut pending)
            };
            for received in received {
                match received {
                    Received::Message(message) => {
                        if self.incoming.send(*message).await.is_err() {
                            return;
                        }
                    }
                    Received::Answer(answer) => self.answer(&answer),
                }
            }
        }
    }

    fn answer(&self, answer: &Value) {
        let Some(writer) = self.writer.upgrade() else { return };
        let mut line = answer.to_string().into_bytes();
        line.push(b'\n');
        let (done, _) = oneshot::channel();
        // A connection that is being closed answers nothing.
        let _ = writer.send(Outgoing { line, done });
    }
}
