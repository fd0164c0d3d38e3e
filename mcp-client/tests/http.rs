//! Servers over HTTP that forget their sessions, refuse, and are killed.
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "test code")]

mod support;

use std::process::Stdio;
use std::time::{Duration, Instant};

use pretty_assertions::assert_eq;
use serde_json::{Map, Value};
use support::PATIENCE;
use tempfile::TempDir;
use tenon_mcp_client::{HttpConfig, McpServers, RequestError, Secret, ServerConfig, TransportConfig};
use tenon_protocol::CallToolResult;
use tenon_tools::McpServerState;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;

/// A server process, and the file it writes down what it hears in.
struct Remote {
    child: Child,
    port: u16,
    words: Vec<String>,
    folder: TempDir,
}

impl Remote {
    async fn start(words: &[&str]) -> Self {
        let folder = TempDir::new().expect("a folder");
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        let (child, port) = spawn(0, &words, &folder).await;
        Self { child, port, words, folder }
    }

    async fn kill(&mut self) {
        self.child.kill().await.expect("killed");
    }

    /// Another process at the same place: it knows nothing of the sessions of the one before.
    async fn restart(&mut self) {
        self.kill().await;
        let (child, port) = spawn(self.port, &self.words, &self.folder).await;
        assert_eq!(port, self.port);
        self.child = child;
    }

    fn config(&self) -> HttpConfig {
        HttpConfig { url: format!("http://127.0.0.1:{}/mcp", self.port), ..HttpConfig::default() }
    }

    fn connect(http: HttpConfig) -> McpServers {
        let mut config = ServerConfig::new("remote", TransportConfig::Http(http));
        config.tool_timeout = PATIENCE;
        McpServers::builder("/").server(config).start()
    }

    fn heard(&self, start: &str) -> usize {
        let log = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        log.lines().filter(|line| line.starts_with(start)).count()
    }
}

async fn spawn(port: u16, words: &[String], folder: &TempDir) -> (Child, u16) {
    let mut child = Command::new("python3")
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/rogue_http.py"))
        .arg(port.to_string())
        .args(words)
        .env("ROGUE_LOG", folder.path().join("log"))
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("started");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).await.expect("read");
    (child, line.trim().parse().expect("a port"))
}

async fn call(servers: &McpServers, tool: &str) -> Result<String, RequestError> {
    let result = servers.call("remote", tool, Map::new(), &CancellationToken::new()).await?;
    let CallToolResult { content, .. } = result;
    Ok(content[0]["text"].as_str().expect("a text").to_owned())
}

fn ok() -> Result<String, RequestError> {
    Ok("ok".to_owned())
}

#[tokio::test]
async fn a_stale_session_is_opened_again_and_the_call_made_once() {
    for words in [&["answers_404"][..], &[]] {
        let mut remote = Remote::start(words).await;
        let servers = Remote::connect(remote.config());
        assert_eq!(call(&servers, "ok").await, ok());
        remote.restart().await;
        let began = Instant::now();
        assert_eq!(call(&servers, "ok").await, ok(), "{words:?}");
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
        assert_eq!(remote.heard("initialize"), 2);
        // Once refused, once answered: the one that was refused was not delivered.
        assert_eq!(remote.heard("tools/call ok"), 3);
        servers.shutdown().await;
    }
}

#[tokio::test]
async fn a_server_that_is_killed_in_the_middle_of_a_call_is_reported() {
    for tool in ["hang", "hang_sse"] {
        let mut remote = Remote::start(&[]).await;
        let servers = Remote::connect(remote.config());
        servers.settled().await;
        let killed = async {
            while remote.heard(&format!("tools/call {tool}")) == 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            remote.kill().await;
            Instant::now()
        };
        let (answered, killed) = tokio::join!(call(&servers, tool), killed);
        answered.expect_err("nobody answers");
        assert!(killed.elapsed() < Duration::from_secs(3), "{tool}: {:?}", killed.elapsed());
        remote.restart().await;
        assert_eq!(call(&servers, "ok").await, ok(), "it is reached again");
        servers.shutdown().await;
    }
}

#[tokio::test]
async fn an_event_that_cannot_be_read_ends_its_call_with_the_reason() {
    let remote = Remote::start(&[]).await;
    let servers = Remote::connect(remote.config());
    let cases = [
        ("broken", "the answer cannot be read: EOF while parsing a string"),
        ("nan", "the answer cannot be read: expected value at line 1 column"),
        ("deep", "the answer cannot be read: recursion limit exceeded"),
        ("no_text", "the answer cannot be read: invalid utf-8 sequence"),
        ("huge", "the answer was dropped: SSE event exceeded the maximum size of 16777216 bytes"),
    ];
    for (tool, why) in cases {
        let answered = tokio::time::timeout(PATIENCE / 2, call(&servers, tool)).await.expect("in time");
        let Err(RequestError::Rpc { code: -32603, message, .. }) = answered else {
            panic!("{tool}: {answered:?}")
        };
        assert!(message.starts_with(why), "{tool}: {message}");
    }
    // What is no answer is passed over, and the connection has taken no harm.
    assert_eq!(call(&servers, "noise").await, Ok("after noise".to_owned()));
    assert_eq!(call(&servers, "ok").await, ok());
    servers.shutdown().await;
}

#[tokio::test]
async fn tokens_and_headers_are_sent_with_each_request() {
    let remote = Remote::start(&[]).await;
    let mut http = remote.config();
    http.bearer = Some(Secret::new("the-token"));
    http.headers.insert("X-Mine".to_owned(), Secret::new("mine"));
    let servers = Remote::connect(http);
    let headers: Map<String, Value> =
        serde_json::from_str(&call(&servers, "headers").await.expect("headers")).expect("JSON");
    let header = |name: &str| {
        headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.clone())
    };
    assert_eq!(header("authorization"), Some("Bearer the-token".into()));
    assert_eq!(header("x-mine"), Some("mine".into()));
    assert_eq!(header("mcp-protocol-version"), Some("2025-11-25".into()));
    servers.shutdown().await;
}

#[tokio::test]
async fn a_server_that_wants_a_login_says_how() {
    let remote = Remote::start(&["login"]).await;
    let servers = Remote::connect(remote.config());
    servers.settled().await;
    let status = servers.status().remove(0).state;
    let message = "the server wants a login: run `tenon mcp login remote`".to_owned();
    assert_eq!(status, McpServerState::Failed { message });
    let challenge = Some("Bearer realm=\"x\"".to_owned());
    let wanted = RequestError::LoginRequired { server: "remote".to_owned(), challenge };
    assert_eq!(call(&servers, "ok").await, Err(wanted));
    servers.shutdown().await;
}

#[tokio::test]
async fn a_redirect_to_another_place_is_not_followed() {
    let remote = Remote::start(&["redirect"]).await;
    let servers = Remote::connect(remote.config());
    servers.settled().await;
    let McpServerState::Failed { message } = servers.status().remove(0).state else {
        panic!("it is not failed")
    };
    assert!(message.contains("302"), "{message}");
    servers.shutdown().await;
}

#[tokio::test]
async fn nobody_there_is_told_at_once() {
    let mut remote = Remote::start(&[]).await;
    remote.kill().await;
    let servers = Remote::connect(remote.config());
    servers.settled().await;
    let McpServerState::Failed { message } = servers.status().remove(0).state else {
        panic!("it is not failed")
    };
    assert!(message.contains("Connection refused"), "{message}");
    servers.shutdown().await;
}
