//! A scripted Responses API server on loopback.
//!
//! It answers the nth `POST .../responses` with the nth [`Answer`] of its script, byte by byte as the script says, and
//! keeps every request. A script that has ended answers with a closing message, so that a client's turn comes to its
//! end. Any other request gets `{}`. It needs nothing but tokio and serde_json.
//!
//! # Layout
//! [`http`]: one request off the wire. [`script`]: what to answer. [`marks`]: ids that only the client knows.
//! `play`: an answer onto the wire.

pub mod http;
pub mod marks;
mod play;
pub mod script;

use std::collections::VecDeque;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::json;
use tokio::io::BufReader;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

pub use self::http::RecordedRequest;
use self::play::{After, Connection};
pub use self::script::{Answer, Framing, Gate, Step};

/// The server; it stops, with all its connections, when it is dropped.
#[derive(Debug)]
pub struct ScriptedServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
}

/// What happened at the server so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Connections accepted.
    pub connections: usize,
    /// Requests to `/responses`.
    pub requests: usize,
    /// Connections that the client closed while an answer had more to come.
    pub hang_ups: usize,
}

#[derive(Debug)]
struct Shared {
    script: Mutex<VecDeque<Answer>>,
    requests: Mutex<Vec<RecordedRequest>>,
    others: Mutex<Vec<RecordedRequest>>,
    counts: watch::Sender<Counts>,
}

impl ScriptedServer {
    /// Listens on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// When no port can be had.
    pub async fn start(script: impl IntoIterator<Item = Answer>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            script: Mutex::new(script.into_iter().collect()),
            requests: Mutex::default(),
            others: Mutex::default(),
            counts: watch::Sender::default(),
        });
        let accepting = tokio::spawn(accept(listener, shared.clone()));
        Ok(Self { address, shared, accepting })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The base URL for a provider's configuration, without a slash at its end.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The requests to `/responses` so far, in their order.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        lock(&self.shared.requests).clone()
    }

    /// Every other request so far.
    pub fn others(&self) -> Vec<RecordedRequest> {
        lock(&self.shared.others).clone()
    }

    /// What happened so far, in numbers.
    pub fn counts(&self) -> Counts {
        *self.shared.counts.borrow()
    }

    /// Waits until what happened satisfies `wanted`.
    pub async fn until(&self, wanted: impl FnMut(&Counts) -> bool) {
        // The sender lives as long as self.
        let _ = self.shared.counts.subscribe().wait_for(wanted).await;
    }
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        // The task owns the connections' tasks: they end with it.
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        shared.counts.send_modify(|counts| counts.connections += 1);
        connections.spawn(serve(stream, shared.clone()));
        while connections.try_join_next().is_some() {}
    }
}

/// A client that breaks off ends its connection, not the server: the script says what the test expects of it.
async fn serve(stream: TcpStream, shared: Arc<Shared>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let (reader, writer) = stream.into_split();
    let mut connection = Connection { reader: BufReader::new(reader), writer };
    while let Some(request) = http::read_request(&mut connection.reader).await? {
        let (index, answer) = shared.next(&request);
        match connection.play(index, &request, answer).await? {
            After::Keep => {}
            After::Close => break,
            After::HungUp => {
                shared.counts.send_modify(|counts| counts.hang_ups += 1);
                break;
            }
        }
    }
    Ok(())
}

impl Shared {
    fn next(&self, request: &RecordedRequest) -> (usize, Answer) {
        if request.method != "POST" || !request.path().ends_with("/responses") {
            lock(&self.others).push(request.clone());
            return (0, Answer::status(200, "{}"));
        }
        let index = {
            let mut requests = lock(&self.requests);
            requests.push(request.clone());
            requests.len() - 1
        };
        let answer = lock(&self.script).pop_front().unwrap_or_else(closing_turn);
        self.counts.send_modify(|counts| counts.requests += 1);
        (index, answer)
    }
}

fn closing_turn() -> Answer {
    Answer::Turn(vec![json!({
        "type": "message", "role": "assistant", "id": "m_end",
        "content": [{"type": "output_text", "text": "done"}],
    })])
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "mod_tests.rs"]
mod tests;
