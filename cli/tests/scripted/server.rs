//! A model that says what it is told to say, one answer a request, and survives a client that dies while it speaks.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};

/// How long a client is waited for that says nothing, or does not read.
const PATIENCE: Duration = Duration::from_secs(60);

/// The server; it ends when it is dropped.
pub struct Model {
    address: SocketAddr,
    talk: Arc<Talk>,
    ends: Arc<AtomicBool>,
    serving: Option<JoinHandle<()>>,
}

/// What is said, and what was asked.
struct Talk {
    answers: Vec<Vec<Value>>,
    requests: Mutex<Vec<Value>>,
}

/// One connection. A client may open one more than it uses: none keeps the others waiting.
struct Connection {
    stream: Option<TcpStream>,
    serving: JoinHandle<()>,
}

impl Model {
    /// Answers the nth request with the nth of `answers`, those beyond with a closing message.
    pub fn start(answers: Vec<Vec<Value>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let talk = Arc::new(Talk { answers, requests: Mutex::default() });
        let ends = Arc::new(AtomicBool::new(false));
        let (heard, ended) = (Arc::clone(&talk), Arc::clone(&ends));
        let serving = thread::spawn(move || {
            let mut connections = Vec::new();
            for stream in listener.incoming() {
                if ended.load(Ordering::Acquire) {
                    break;
                }
                connections.extend(stream.ok().map(|stream| Connection::serve(stream, &heard)));
            }
            connections.into_iter().for_each(Connection::end);
        });
        Self { address, talk, ends, serving: Some(serving) }
    }

    /// The requests that were read whole.
    pub fn requests(&self) -> Vec<Value> {
        self.talk.requests.lock().expect("no panic").clone()
    }

    /// What the first request shows of the conversation.
    pub fn first_input(&self) -> Option<Vec<Value>> {
        self.requests().into_iter().next().and_then(|request| request["input"].as_array().cloned())
    }

    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Release);
        // Wakes the server, which waits for a connection.
        let _ = TcpStream::connect(self.address);
        if let Some(serving) = self.serving.take() {
            let _ = serving.join();
        }
    }
}

impl Connection {
    fn serve(stream: TcpStream, talk: &Arc<Talk>) -> Self {
        let (kept, talk) = (stream.try_clone().ok(), Arc::clone(talk));
        // A client that was killed is no matter of the server's.
        Self { stream: kept, serving: thread::spawn(move || drop(talk.answer(stream))) }
    }

    fn end(self) {
        if let Some(stream) = &self.stream {
            let _ = stream.shutdown(Shutdown::Both);
        }
        let _ = self.serving.join();
    }
}

impl Talk {
    fn answer(&self, mut stream: TcpStream) -> std::io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let body = body_of(&mut stream)?;
        let number = {
            let mut requests = self.requests.lock().expect("no panic");
            requests.push(body);
            requests.len() - 1
        };
        let closing = vec![message("done")];
        stream.write_all(answer(self.answers.get(number).unwrap_or(&closing)).as_bytes())?;
        stream.shutdown(Shutdown::Write)
    }
}

fn body_of(stream: &mut TcpStream) -> std::io::Result<Value> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().map_err(std::io::Error::other)?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    serde_json::from_slice(&body).map_err(std::io::Error::other)
}

fn answer(items: &[Value]) -> String {
    let mut events = vec![json!({"type": "response.created", "response": {"id": "r"}})];
    events.extend(items.iter().map(|item| json!({"type": "response.output_item.done", "item": item})));
    let usage = json!({"input_tokens": 7, "output_tokens": 3, "total_tokens": 10});
    events.push(json!({"type": "response.completed", "response": {"id": "r", "usage": usage}}));
    let body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{body}")
}

pub fn message(text: &str) -> Value {
    json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]})
}
