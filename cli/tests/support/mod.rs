//! Runs the program itself, with a home and a working folder of its own.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "test code")]

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

/// A place of its own for one test: home, working folder, scratch folders.
pub struct Place {
    root: TempDir,
}

impl Place {
    pub fn new() -> Self {
        let root = TempDir::new().expect("a folder");
        for folder in ["home", "work", "tmp"] {
            std::fs::create_dir(root.path().join(folder)).expect("made");
        }
        Self { root }
    }

    pub fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    /// Without links, as the program tells it.
    pub fn work(&self) -> PathBuf {
        self.root.path().join("work").canonicalize().expect("it is there")
    }

    /// Puts a file into the working folder.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.work().join(name);
        std::fs::write(&path, content).expect("written");
        path
    }

    pub fn config(&self, text: &str) {
        std::fs::write(self.home().join("config.toml"), text).expect("written");
    }

    pub fn command(&self, args: &[&str]) -> Command {
        self.command_of(env!("CARGO_BIN_EXE_tenon"), args)
    }

    pub fn command_of(&self, program: impl AsRef<OsStr>, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(args)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.root.path())
            .env("TENON_HOME", self.home())
            .env("TMPDIR", self.root.path().join("tmp"))
            .current_dir(self.work())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn run(&self, args: &[&str]) -> Ran {
        Ran::from(self.command(args).output().expect("the program starts"))
    }

    /// Plays a recording with full access, and tells it in JSON.
    pub fn replay(&self, file: &Path, more: &[&str]) -> Ran {
        let file = file.to_str().expect("text");
        self.run(&[&["replay", "--json", "-s", "danger-full-access"], more, &[file]].concat())
    }

    /// Every rollout of the home folder.
    pub fn rollouts(&self) -> Vec<PathBuf> {
        fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                if entry.path().is_dir() { collect(&entry.path(), found) } else { found.push(entry.path()) }
            }
        }
        let mut found = Vec::new();
        collect(&self.home().join("sessions"), &mut found);
        found.sort();
        found
    }
}

/// What came of a run.
#[derive(Debug)]
pub struct Ran {
    pub status: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            status: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("text"),
            stderr: String::from_utf8(output.stderr).expect("text"),
        }
    }
}

impl Ran {
    /// The lines of standard output, each of which is JSON.
    pub fn events(&self) -> Vec<Value> {
        let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        self.stdout.lines().map(parse).collect()
    }

    /// The completed items of one type.
    pub fn completed(&self, kind: &str) -> Vec<Value> {
        let events = self.events().into_iter();
        let items =
            events.filter(|event| event["type"] == "item.completed").map(|event| event["item"].clone());
        items.filter(|item| item["type"] == kind).collect()
    }
}

/// A program that runs, whose lines can be read as they come.
pub struct Running {
    pub child: Child,
    lines: BufReader<std::process::ChildStdout>,
}

impl Running {
    pub fn start(mut command: Command) -> Self {
        let mut child = command.spawn().expect("the program starts");
        let lines = BufReader::new(child.stdout.take().expect("a pipe"));
        Self { child, lines }
    }

    /// Reads up to the first line that holds `text`. That line.
    pub fn wait_for(&mut self, text: &str) -> String {
        loop {
            let mut line = String::new();
            let read = self.lines.read_line(&mut line).expect("a line");
            assert!(read > 0, "the output ended before {text:?}");
            if line.contains(text) {
                return line;
            }
        }
    }

    pub fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).expect("sent");
    }

    /// Sends a signal again and again until the program has ended: two that come at once may count as one. Its status.
    pub fn signal_until_it_ends(&mut self, signal: rustix::process::Signal) -> Option<i32> {
        for _ in 0..1000 {
            if let Some(status) = self.child.try_wait().expect("it is our child") {
                return status.code();
            }
            self.signal(signal);
            thread::sleep(Duration::from_millis(20));
        }
        panic!("it does not end");
    }

    /// Closes the reading end of standard output.
    pub fn stop_reading(self) -> (Option<i32>, String) {
        let Self { mut child, lines } = self;
        drop(lines);
        let mut stderr = String::new();
        child.stderr.take().expect("a pipe").read_to_string(&mut stderr).expect("text");
        (child.wait().expect("it ends").code(), stderr)
    }

    /// Reads the rest, and waits for the end.
    pub fn finish(mut self) -> Ran {
        let mut stdout = String::new();
        self.lines.read_to_string(&mut stdout).expect("text");
        let mut stderr = String::new();
        self.child.stderr.take().expect("a pipe").read_to_string(&mut stderr).expect("text");
        Ran { status: self.child.wait().expect("it ends").code(), stdout, stderr }
    }
}

/// A server of the Responses API that says `answers`, one a request, and keeps the requests.
pub struct Server {
    pub port: u16,
    requests: Arc<Mutex<Vec<Value>>>,
}

impl Server {
    pub fn start(answers: Vec<Vec<Value>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&requests);
        // Ends with the test's process.
        thread::spawn(move || {
            for items in answers {
                let (mut stream, _) = listener.accept().expect("a connection");
                kept.lock().expect("no panic").push(body_of(&mut stream));
                answer(&mut stream, &items);
            }
        });
        Self { port, requests }
    }

    pub fn requests(&self) -> Vec<Value> {
        self.requests.lock().expect("no panic").clone()
    }

    /// A configuration that names the server and nothing else.
    pub fn config(&self) -> String {
        let port = self.port;
        format!(
            "model_provider = \"local\"\n[model_providers.local]\nbase_url = \"http://127.0.0.1:{port}/v1\"\n"
        )
    }
}

fn body_of(stream: &mut TcpStream) -> Value {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a header");
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().expect("a length");
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("a body");
    serde_json::from_slice(&body).expect("JSON")
}

fn answer(stream: &mut TcpStream, items: &[Value]) {
    let mut events = vec![json!({"type": "response.created", "response": {"id": "r"}})];
    events.extend(items.iter().map(|item| json!({"type": "response.output_item.done", "item": item})));
    let usage = json!({"input_tokens": 7, "output_tokens": 3, "total_tokens": 10});
    events.push(json!({"type": "response.completed", "response": {"id": "r", "usage": usage}}));
    let body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    stream.write_all(format!("{head}{body}").as_bytes()).expect("sent");
}

pub fn message(text: &str) -> Value {
    json!({"type": "message", "role": "assistant", "id": "m", "content": [{"type": "output_text", "text": text}]})
}

pub fn shell(call_id: &str, command: &str) -> Value {
    let arguments = json!({"cmd": command}).to_string();
    json!({"type": "function_call", "name": "exec_command", "call_id": call_id, "arguments": arguments})
}

/// JSON Lines of response items: a blank line between answers.
pub fn lines(answers: &[Vec<Value>]) -> String {
    let answer = |items: &Vec<Value>| items.iter().map(|item| format!("{item}\n")).collect::<String>();
    answers.iter().map(answer).collect::<Vec<_>>().join("\n")
}
