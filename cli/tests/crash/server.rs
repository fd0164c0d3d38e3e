//! A model that says what it is told to say, one answer a request, and survives a client that dies while it speaks.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use serde_json::{Value, json};

/// The server; it ends when it is dropped.
pub struct Model {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Value>>>,
    ends: Arc<AtomicBool>,
    serving: Option<JoinHandle<()>>,
}

impl Model {
    /// Answers the nth request with the nth of `answers`, those beyond with a closing message.
    pub fn start(answers: Vec<Vec<Value>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let (requests, ends) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let (kept, ended) = (Arc::clone(&requests), Arc::clone(&ends));
        let serving = thread::spawn(move || {
            for stream in listener.incoming() {
                if ended.load(Ordering::Acquire) {
                    return;
                }
                // A client that was killed is no matter of the server's.
                let _ = serve(stream, &kept, &answers);
            }
        });
        Self { address, requests, ends, serving: Some(serving) }
    }

    /// The requests that were read whole.
    pub fn requests(&self) -> Vec<Value> {
        self.requests.lock().expect("no panic").clone()
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

fn serve(
    stream: std::io::Result<TcpStream>,
    requests: &Mutex<Vec<Value>>,
    answers: &[Vec<Value>],
) -> std::io::Result<()> {
    let mut stream = stream?;
    let body = body_of(&mut stream)?;
    let number = {
        let mut requests = requests.lock().expect("no panic");
        requests.push(body);
        requests.len() - 1
    };
    let closing = vec![message("done")];
    stream.write_all(answer(answers.get(number).unwrap_or(&closing)).as_bytes())
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
