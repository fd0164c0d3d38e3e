//! Servers that start late, die, change their tools, and end.
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "test code")]

mod support;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use pretty_assertions::assert_eq;
use serde_json::{Map, Value, json};
use support::{PATIENCE, Rogue, alive, call, call_text, detached, find, invoke, names, shown, started, text};
use tenon_mcp_client::{
    Elicitation, ElicitationAnswer, ElicitationKind, InProcessServer, McpHost, McpServers, RemoteTool,
    RequestError, ToolsChanged,
};
use tenon_protocol::{CallFact, CallToolResult, ToolName};
use tenon_tools::{
    Event, EventSink, McpServerState, Progress, ToolCallSource, ToolInvocation, ToolPayload, ToolSource,
    Wanted,
};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

#[derive(Default)]
struct Seen(Mutex<Vec<(String, McpServerState)>>, Notify);

impl EventSink for Seen {
    fn emit(&self, event: Event) {
        if let Event::McpServer { server, state } = event {
            self.0.lock().expect("a lock").push((server, state));
            self.1.notify_one();
        }
    }
}

impl Seen {
    fn states(&self) -> Vec<McpServerState> {
        self.0.lock().expect("a lock").iter().map(|(_, state)| state.clone()).collect()
    }

    async fn until(&self, wanted: impl Fn(&[McpServerState]) -> bool) {
        let seen = async {
            while !wanted(&self.states()) {
                self.1.notified().await;
            }
        };
        tokio::time::timeout(PATIENCE, seen).await.expect("it is seen");
    }
}

#[tokio::test]
async fn a_step_does_not_wait_and_a_call_does() {
    let (_rogue, servers) = started(&["late"]);
    assert_eq!(names(&servers), Vec::<String>::new(), "nothing is there yet, and nobody has waited");
    let name = ToolName::new(Some("mcp__rogue"), "ok");
    let other = ToolName::new(Some("mcp__other"), "ok");
    assert!(servers.is_starting(Wanted::Tool(&name)) && servers.is_starting(Wanted::Anything));
    assert!(!servers.is_starting(Wanted::Tool(&other)));
    servers.started(Wanted::Tool(&other)).await;
    assert!(servers.is_starting(Wanted::Tool(&name)), "another server's tool is not waited for");
    servers.started(Wanted::Tool(&name)).await;
    assert!(find(&servers, "ok").is_some());
    servers.shutdown().await;
}

#[tokio::test]
async fn a_server_that_never_answers_fails_at_its_limit() {
    let mut rogue = Rogue::new(&["mute", "child"]);
    rogue.config.startup_timeout = Duration::from_millis(700);
    let servers = rogue.start();
    servers.settled().await;
    let McpServerState::Failed { message } = servers.status().remove(0).state else {
        panic!("it is not failed")
    };
    assert!(message.starts_with("it did not answer within 700ms; the server "), "{message}");
    let error = call(&servers, "ok", json!({})).await.expect_err("no server");
    assert_eq!(error, RequestError::Unavailable(message));
    let child = rogue.child();
    assert!(!alive(child), "a grandchild that is deaf to SIGTERM is left");
    servers.shutdown().await;
}

#[tokio::test]
async fn a_server_that_dies_at_its_start_says_with_what_words() {
    for (word, told) in [
        ("die_at_start", "the server exited with code 7; its last words:\ncannot start"),
        ("die_at_list", "the server exited with code 8"),
    ] {
        let (_rogue, servers) = started(&[word]);
        servers.settled().await;
        let McpServerState::Failed { message } = servers.status().remove(0).state else {
            panic!("it is not failed")
        };
        assert!(message.ends_with(told), "{message}");
        servers.shutdown().await;
    }
}

#[tokio::test]
async fn a_server_that_dies_fails_the_call_at_once_and_is_started_once_for_the_next() {
    let seen = Arc::new(Seen::default());
    let rogue = Rogue::new(&[]);
    let servers = rogue.builder().events(Arc::clone(&seen) as _).start();
    servers.settled().await;
    let tools = names(&servers);
    let (never, died) = tokio::join!(call(&servers, "never", json!({})), async {
        rogue.hears("tools/call \"never\"", 1).await;
        call(&servers, "die", json!({"code": 9})).await
    });
    assert_eq!((never, died), (Err(RequestError::Closed), Err(RequestError::Closed)));
    seen.until(|states| states.iter().any(|state| matches!(state, McpServerState::Died { .. }))).await;
    let died = seen.states().into_iter().find_map(|state| match state {
        McpServerState::Died { message } => Some(message),
        _ => None,
    });
    assert_eq!(
        died.as_deref(),
        Some("the server exited with code 9; its last words:\nfirst words\nlast words")
    );
    assert_eq!(names(&servers), tools, "what it can do is not forgotten");
    let both = tokio::join!(call_text(&servers, "ok"), call_text(&servers, "ok"));
    assert_eq!(both, ("ok".to_owned(), "ok".to_owned()));
    assert_eq!(rogue.heard("started").len(), 2, "one restart for both");
    servers.shutdown().await;
}

#[tokio::test]
async fn changes_of_the_list_reach_the_next_step() {
    let seen = Arc::new(Seen::default());
    let rogue = Rogue::new(&[]);
    let servers = rogue.builder().events(Arc::clone(&seen) as _).start();
    servers.settled().await;
    assert!(find(&servers, "grown").is_none());
    let ready = |states: &[McpServerState]| {
        states.iter().filter(|state| matches!(state, McpServerState::Ready { .. })).count()
    };
    call_text(&servers, "grow").await;
    seen.until(|states| ready(states) == 2).await;
    let grown = find(&servers, "grown").expect("it is there now");
    call_text(&servers, "shrink").await;
    seen.until(|states| ready(states) == 3).await;
    assert!(find(&servers, "grown").is_none());
    let (output, call) = invoke(&grown, "{}").await;
    assert_eq!(shown(output.as_ref(), &call)[1]["text"], "no such tool: grown");
    servers.shutdown().await;
}

#[tokio::test]
async fn a_cancelled_call_sends_one_notice() {
    let rogue = Rogue::new(&[]);
    let servers = rogue.start();
    let cancellation = CancellationToken::new();
    let call = servers.call("rogue", "never", Map::new(), &cancellation);
    let cancel = async {
        rogue.hears("tools/call \"never\"", 1).await;
        cancellation.cancel();
    };
    assert_eq!(tokio::join!(call, cancel).0, Err(RequestError::Cancelled));
    // A dropped call is a cancelled one.
    let dropped = call_text(&servers, "never");
    tokio::select! {
        _ = dropped => panic!("it is never answered"),
        () = rogue.hears("tools/call \"never\"", 2) => {}
    }
    assert_eq!(call_text(&servers, "ok").await, "ok");
    rogue.hears("notifications/cancelled", 2).await;
    servers.shutdown().await;
    assert_eq!(rogue.heard("notifications/cancelled").len(), 2);
}

#[tokio::test]
async fn a_call_has_a_deadline_that_progress_extends_up_to_a_cap() {
    let mut rogue = Rogue::new(&[]);
    rogue.config.tool_timeout = Duration::from_millis(400);
    let servers = rogue.start();
    servers.settled().await;
    let limit = Duration::from_millis(400);
    let timed_out = |limit| Err(RequestError::TimedOut { method: "tools/call", limit });
    assert_eq!(call(&servers, "never", json!({})).await, timed_out(limit));
    let steady = call(&servers, "progress", json!({"steps": 8, "every": 0.15})).await.expect("in time");
    assert_eq!(text(&steady), "done");
    let endless = call(&servers, "progress", json!({"steps": 1000, "every": 0.1})).await;
    assert_eq!(endless, timed_out(limit * 10));
    rogue.hears("notifications/cancelled", 2).await;
    servers.shutdown().await;
}

#[tokio::test]
async fn servers_end_with_all_that_they_started() {
    let rogue = Rogue::new(&["child", "deaf"]);
    let servers = rogue.start();
    assert_eq!(call_text(&servers, "ok").await, "ok");
    let child = rogue.child();
    assert!(alive(child));
    servers.shutdown().await;
    assert!(!alive(child), "a deaf grandchild is left");
}

#[tokio::test]
async fn servers_that_are_only_dropped_are_killed() {
    let rogue = Rogue::new(&["child"]);
    let servers = rogue.start();
    assert_eq!(call_text(&servers, "ok").await, "ok");
    let child = rogue.child();
    drop(servers);
    let gone = async {
        while alive(child) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, gone).await.expect("it is killed");
}

/// Answers forms once it is let go on; opens no address.
#[derive(Default)]
struct Human {
    asked: Mutex<Vec<Elicitation>>,
    came: Notify,
    go_on: Notify,
    dismissed: Arc<Notify>,
}

struct TellsDrop(Arc<Notify>);

impl Drop for TellsDrop {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

#[async_trait]
impl McpHost for Human {
    fn answers_forms(&self) -> bool {
        true
    }

    fn lends_model(&self) -> bool {
        true
    }

    async fn elicit(&self, question: Elicitation) -> ElicitationAnswer {
        let _taken_back = TellsDrop(Arc::clone(&self.dismissed));
        self.asked.lock().expect("a lock").push(question);
        self.came.notify_one();
        self.go_on.notified().await;
        ElicitationAnswer::Accept(Map::from_iter([("name".to_owned(), "Ann".into())]))
    }

    async fn sample(&self, _: &str, _: Value) -> Result<Value, String> {
        Ok(json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "hello"}}))
    }
}

#[tokio::test]
async fn a_question_goes_to_the_host_and_no_time_runs_meanwhile() {
    let mut rogue = Rogue::new(&[]);
    rogue.config.tool_timeout = Duration::from_millis(600);
    let human = Arc::new(Human::default());
    let servers = rogue.builder().host(Arc::clone(&human) as _).start();
    servers.settled().await;
    let answer = async {
        human.came.notified().await;
        // Longer than the call may take.
        tokio::time::sleep(Duration::from_millis(900)).await;
        human.go_on.notify_one();
    };
    let (answered, ()) = tokio::join!(call_text(&servers, "elicit"), answer);
    let answered: Value = serde_json::from_str(&answered).expect("JSON");
    assert_eq!(answered, json!({"action": "accept", "content": {"name": "Ann"}}));
    let asked = human.asked.lock().expect("a lock").remove(0);
    assert_eq!((asked.server.as_str(), asked.message.as_str()), ("rogue", "who?"));
    assert!(matches!(asked.wanted, ElicitationKind::Form { .. }));
    let sampled: Value = serde_json::from_str(&call_text(&servers, "sample").await).expect("JSON");
    assert_eq!(sampled["content"]["text"], "hello");
    let declined: Value = serde_json::from_str(&call_text(&servers, "url").await).expect("JSON");
    assert_eq!(declined, json!({"action": "decline"}), "this host opens no addresses");
    servers.shutdown().await;
}

/// C8.14: `exec` and `wait` hold their reply meanwhile.
#[tokio::test]
async fn a_question_in_a_call_of_a_script_is_known_to_be_open() {
    let rogue = Rogue::new(&[]);
    let human = Arc::new(Human::default());
    let servers = rogue.builder().host(Arc::clone(&human) as _).start();
    servers.settled().await;
    let tool = find(&servers, "elicit").expect("the tool");
    let mut call = detached(&tool, "{}");
    call.source = ToolCallSource::CodeMode { cell_id: "1".into(), runtime_tool_call_id: "tool-1".into() };
    let prepared = tool.prepare(&call).await.expect("prepared");
    assert!(!call.host.questions.are_open("1"));
    let answer = async {
        human.came.notified().await;
        let questions = &call.host.questions;
        let open = async {
            while !questions.are_open("1") {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(PATIENCE, open).await.expect("it is open");
        human.go_on.notify_one();
    };
    let (answered, ()) = tokio::join!(prepared.run(&call), answer);
    assert!(answered.expect("an output").success_for_logging());
    assert!(!call.host.questions.are_open("1"));
    servers.shutdown().await;
}

/// Opens addresses, as often as it is willing to.
struct Opens {
    willing: usize,
    asked: Mutex<Vec<Elicitation>>,
}

#[async_trait]
impl McpHost for Opens {
    fn opens_urls(&self) -> bool {
        true
    }

    async fn elicit(&self, question: Elicitation) -> ElicitationAnswer {
        let mut asked = self.asked.lock().expect("a lock");
        asked.push(question);
        if asked.len() <= self.willing {
            ElicitationAnswer::Accept(Map::new())
        } else {
            ElicitationAnswer::Decline
        }
    }
}

#[tokio::test]
async fn a_call_that_is_refused_until_the_user_has_opened_addresses_is_made_again_once_they_have() {
    let rogue = Rogue::new(&[]);
    let host = Arc::new(Opens { willing: 3, asked: Mutex::default() });
    let servers = rogue.builder().host(Arc::clone(&host) as _).start();
    assert_eq!(call_text(&servers, "needs_url").await, "the user was there");
    assert_eq!(call_text(&servers, "needs_two_urls").await, "the user was there");
    assert_eq!(rogue.heard("tools/call \"needs_url\"").len(), 2);
    let asked: Vec<ElicitationKind> =
        host.asked.lock().expect("a lock").iter().map(|question| question.wanted.clone()).collect();
    let address =
        |id: &str| ElicitationKind::Url { url: format!("http://h/{id}"), elicitation_id: id.to_owned() };
    assert_eq!(asked, [address("one"), address("first"), address("second")]);
    servers.shutdown().await;
}

#[tokio::test]
async fn a_refusal_stays_one_where_the_user_does_not_or_is_asked_for_something_else() {
    let cases = [("needs_url", 0, 1), ("needs_two_urls", 1, 2), ("needs_form", 9, 0)];
    for (tool, willing, questions) in cases {
        let rogue = Rogue::new(&[]);
        let host = Arc::new(Opens { willing, asked: Mutex::default() });
        let servers = rogue.builder().host(Arc::clone(&host) as _).start();
        let refused = call(&servers, tool, json!({})).await.expect_err("it is refused");
        assert!(matches!(refused, RequestError::Rpc { code: -32042, .. }), "{tool}: {refused}");
        assert_eq!(host.asked.lock().expect("a lock").len(), questions, "{tool}");
        assert_eq!(rogue.heard(&format!("tools/call \"{tool}\"")).len(), 1, "{tool}");
        servers.shutdown().await;
    }
}

#[tokio::test]
async fn a_server_of_an_unknown_version_is_not_connected() {
    let (_rogue, servers) = started(&["odd_version"]);
    servers.settled().await;
    let McpServerState::Failed { message } = servers.status().remove(0).state else {
        panic!("it is not failed")
    };
    let known = "2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28";
    assert_eq!(message, format!("it speaks version 1999-01-01 of the protocol; known are {known}"));
    servers.shutdown().await;
}

#[tokio::test]
async fn a_question_is_taken_back_with_its_call() {
    let rogue = Rogue::new(&[]);
    let human = Arc::new(Human::default());
    let servers = rogue.builder().host(Arc::clone(&human) as _).start();
    let cancellation = CancellationToken::new();
    let call = servers.call("rogue", "elicit", Map::new(), &cancellation);
    let cancel = async {
        human.came.notified().await;
        cancellation.cancel();
    };
    assert_eq!(tokio::join!(call, cancel).0, Err(RequestError::Cancelled));
    tokio::time::timeout(PATIENCE, human.dismissed.notified()).await.expect("it is dismissed");
    servers.shutdown().await;
}

#[tokio::test]
async fn without_a_host_questions_are_declined_and_roots_are_those_configured() {
    let rogue = Rogue::new(&[]);
    let servers = rogue.builder().roots([std::path::PathBuf::from("/work")]).start();
    let answer =
        async |tool: &str| serde_json::from_str::<Value>(&call_text(&servers, tool).await).expect("JSON");
    assert_eq!(answer("elicit").await, json!({"action": "decline"}));
    assert_eq!(answer("sample").await["code"], -32601);
    assert_eq!(answer("roots").await, json!({"roots": [{"uri": "file:///work"}]}));
    servers.shutdown().await;
}

#[derive(Default)]
struct Facts(Mutex<Vec<CallFact>>);

impl Progress for Facts {
    fn record(&self, fact: CallFact) {
        self.0.lock().expect("a lock").push(fact);
    }
}

#[tokio::test]
async fn a_request_is_written_down_with_its_id() {
    let (_rogue, servers) = started(&[]);
    servers.settled().await;
    let tool = find(&servers, "ok").expect("a tool");
    let facts = Arc::new(Facts::default());
    let payload = ToolPayload::Function { arguments: "{}".to_owned() };
    let mut call = ToolInvocation::detached(tool.name().clone(), payload);
    call.host.progress = Arc::clone(&facts) as _;
    let prepared = tool.prepare(&call).await.expect("prepared");
    let effect = prepared.effects().mcp.clone().expect("it asks a server");
    assert_eq!((effect.server.as_str(), effect.tool.as_str(), effect.read_only), ("rogue", "ok", None));
    prepared.run(&call).await.expect("an output");
    let facts = std::mem::take(&mut *facts.0.lock().expect("a lock"));
    assert!(
        matches!(&facts[..], [CallFact::Request { server, id }] if server == "rogue" && !id.is_empty()),
        "{facts:?}"
    );
    servers.shutdown().await;
}

/// A server that is a value of the test.
#[derive(Default)]
struct Adder {
    more: Mutex<bool>,
}

#[async_trait]
impl InProcessServer for Adder {
    fn instructions(&self) -> Option<String> {
        Some("Sums.".to_owned())
    }

    async fn list_tools(&self) -> Vec<RemoteTool> {
        let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
        let more = self.more.lock().expect("a lock").then(|| RemoteTool::new("more", "", schema.clone()));
        [RemoteTool::new("add", "Adds.", schema)].into_iter().chain(more).collect()
    }

    async fn call_tool(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        _: CancellationToken,
    ) -> Result<CallToolResult, String> {
        match tool {
            "add" => Ok(CallToolResult {
                content: vec![json!({"type": "text", "text": arguments["a"].to_string()})],
                ..CallToolResult::default()
            }),
            other => Err(format!("no {other}")),
        }
    }
}

#[tokio::test]
async fn a_value_of_this_program_is_a_server_like_any_other() {
    let (adder, changed, seen) =
        (Arc::new(Adder::default()), ToolsChanged::default(), Arc::new(Seen::default()));
    let servers = McpServers::builder("/")
        .events(Arc::clone(&seen) as _)
        .in_process_changing("sums", Arc::clone(&adder) as _, changed.clone())
        .start();
    servers.settled().await;
    assert_eq!(names(&servers), ["mcp__sums.add"]);
    let tool = find(&servers, "add").expect("a tool");
    let (output, call) = invoke(&tool, "{\"a\": 18446744073709551615}").await;
    assert_eq!(shown(output.as_ref(), &call)[1]["text"], "18446744073709551615");
    *adder.more.lock().expect("a lock") = true;
    changed.tell();
    seen.until(|states| states.contains(&McpServerState::Ready { tools: 2 })).await;
    assert_eq!(names(&servers), ["mcp__sums.add", "mcp__sums.more"]);
    let (output, call) = invoke(&find(&servers, "more").expect("a tool"), "{}").await;
    assert_eq!(
        shown(output.as_ref(), &call)[1]["text"],
        "tool call error: tool call failed for `sums/more`\n\nCaused by:\n    no more"
    );
    servers.shutdown().await;
}
