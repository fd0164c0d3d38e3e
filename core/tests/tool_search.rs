//! Deferred tools through a session: searched for, found, called; and sources that are still starting.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod support;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use support::{Events, Log, Script, build, builder, call, item, options, outputs, pair};
use tenon_core::{SessionBuilder, TurnEnd};
use tenon_protocol::ResponseItem;
use tenon_tools::{
    Event, FnTool, LifecycleOutcome, NoArguments, ScriptedModel, ToolExecutor, ToolExposure, ToolInvocation,
    ToolSource, Wanted,
};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

fn deferred(name: &str, description: &str) -> Arc<dyn ToolExecutor> {
    let answer = |_: NoArguments, _: ToolInvocation| async { Ok::<_, String>("did it") };
    let tool = FnTool::new(name, description, answer).in_namespace("mcp__w", "Some tools.").parallel();
    Arc::new(tool.exposure(ToolExposure::Deferred))
}

fn search(id: &str, arguments: &Value) -> ResponseItem {
    item(&json!({"type": "tool_search_call", "execution": "client", "call_id": id, "arguments": arguments}))
}

fn namespaced(id: &str, name: &str) -> ResponseItem {
    item(
        &json!({"type": "function_call", "namespace": "mcp__w", "name": name, "call_id": id, "arguments": "{}"}),
    )
}

async fn play(session: SessionBuilder) -> TurnEnd {
    build(session).await.run_turn("go", &CancellationToken::new()).await
}

/// The names of the tools in the nth request, those of a namespace as `namespace.name`.
fn shown(model: &ScriptedModel, request: usize) -> Vec<String> {
    let specs = serde_json::to_value(model.prompts()[request].tools.as_ref()).unwrap();
    let name = |spec: &Value| spec["name"].as_str().or(spec["type"].as_str()).unwrap().to_owned();
    let list = specs.as_array().unwrap().iter().flat_map(|spec| match spec["tools"].as_array() {
        Some(tools) => tools.iter().map(|tool| format!("{}.{}", name(spec), name(tool))).collect(),
        None => vec![name(spec)],
    });
    list.collect()
}

/// The tools that the searches of the nth request found: `(call_id, names)`.
fn found(model: &ScriptedModel, request: usize) -> Vec<(String, Vec<String>)> {
    let prompts = model.prompts();
    let items = prompts[request].input.iter().map(|item| serde_json::to_value(item.as_ref()).unwrap());
    let outputs = items.filter(|item| item["type"] == "tool_search_output").map(|item| {
        assert_eq!((&item["status"], &item["execution"]), (&json!("completed"), &json!("client")));
        let tools = item["tools"].as_array().unwrap().iter();
        let names = tools.flat_map(|space| space["tools"].as_array().unwrap().clone());
        let names = names.map(|tool| tool["name"].as_str().unwrap().to_owned());
        (item["call_id"].as_str().unwrap().to_owned(), names.collect())
    });
    outputs.collect()
}

fn row(id: &str, names: &[&str]) -> (String, Vec<String>) {
    (id.to_owned(), names.iter().map(|name| (*name).to_owned()).collect())
}

#[tokio::test]
async fn a_tool_is_searched_for_found_and_called() {
    let model = Arc::new(ScriptedModel::new([
        vec![search("c1", &json!({"query": "weather"}))],
        vec![namespaced("c2", "forecast")],
    ]));
    let tools = [deferred("forecast", "Forecast the weather."), deferred("echo", "Say it again.")];
    play(builder(&model, &Events::default()).tools(tools)).await;
    assert_eq!(shown(&model, 0), ["tool_search"]);
    assert_eq!(found(&model, 1), [row("c1", &["forecast"])]);
    assert_eq!(shown(&model, 1), ["tool_search", "mcp__w.forecast"]);
    assert_eq!(outputs(&model, 2)[1], pair("c2", "did it"));
}

#[tokio::test]
async fn a_deferred_tool_that_nobody_searched_for_is_called_all_the_same() {
    let model = Arc::new(ScriptedModel::new([vec![namespaced("c1", "forecast")]]));
    play(builder(&model, &Events::default()).tools([deferred("forecast", "Forecast the weather.")])).await;
    assert_eq!(outputs(&model, 1), [pair("c1", "did it")]);
    assert_eq!(shown(&model, 1), ["tool_search"]);
}

#[tokio::test]
async fn arguments_that_are_wrong_end_as_an_empty_list() {
    let model = Arc::new(ScriptedModel::new([vec![
        search("c1", &json!({"query": "  "})),
        search("c2", &json!({"limit": 2})),
        search("c3", &json!({"query": "weather", "limit": 0})),
        search("c4", &json!({"query": "weather", "limit": -1})),
        search("c5", &json!("weather")),
        search("c6", &json!({"query": "zzzzqqq"})),
        search("c7", &json!({"query": "weather", "limit": 1, "more": true})),
    ]]));
    let tools = [deferred("forecast", "Forecast the weather."), deferred("now", "The weather of now.")];
    let events = Events::default();
    play(builder(&model, &events).tools(tools)).await;
    let empty = ["c1", "c2", "c3", "c4", "c5", "c6"].map(|id| row(id, &[]));
    let mut seen = found(&model, 1);
    seen.sort();
    assert_eq!(seen[..6], empty);
    assert_eq!(seen[6].1.len(), 1);
    assert_eq!(outputs(&model, 1).len(), 7, "nothing but these outputs");
    let failed = LifecycleOutcome::Failed { handler_executed: false };
    let ended = events.outcomes();
    assert_eq!(ended.iter().filter(|(_, outcome)| *outcome == failed).count(), 2, "{ended:?}");
}

#[tokio::test]
async fn there_is_no_search_without_deferred_tools_or_for_a_model_that_cannot() {
    let log = Log::default();
    let model = Arc::new(ScriptedModel::new([vec![call("a", "t", "echo")]]));
    play(builder(&model, &Events::default()).tool(Script::new("t", &log))).await;
    assert_eq!(shown(&model, 0), ["t"]);

    let model = Arc::new(ScriptedModel::new([vec![search("c1", &json!({"query": "weather"}))]]));
    let mut options = options();
    options.abilities.tool_search = false;
    let session = SessionBuilder::new(options, Arc::clone(&model) as _);
    play(session.tools([deferred("forecast", "Forecast."), deferred("echo", "Again.")])).await;
    assert_eq!(shown(&model, 0), ["mcp__w.echo", "mcp__w.forecast"]);
    assert_eq!(found(&model, 1), [row("c1", &[])]);
}

#[tokio::test]
async fn found_tools_stay_loaded_when_the_thread_goes_on_from_its_file() {
    let home = tempfile::tempdir().unwrap();
    let tools = || [deferred("forecast", "Forecast the weather."), deferred("echo", "Say it again.")];
    let model = Arc::new(ScriptedModel::new([vec![search("c1", &json!({"query": "weather"}))]]));
    let mut session = build(builder(&model, &Events::default()).tools(tools()).rollout_in(home.path())).await;
    session.run_turn("go", &CancellationToken::new()).await;
    let file = session.rollout_path().unwrap().to_owned();
    session.shutdown().await;
    // The search is compacted away.
    let compacted = json!({"timestamp": "2026-01-01T00:00:00.000Z", "type": "compacted", "payload": {
        "message": "", "replacement_history": [{"type": "message", "role": "user",
            "content": [{"type": "input_text", "text": "what was said"}]}]}});
    let mut lines = std::fs::read_to_string(&file).unwrap();
    lines.push_str(&format!("{compacted}\n"));
    std::fs::write(&file, lines).unwrap();

    let model = Arc::new(ScriptedModel::new([vec![namespaced("c2", "forecast")]]));
    play(builder(&model, &Events::default()).tools(tools()).resume(&file)).await;
    assert_eq!(found(&model, 0), []);
    assert_eq!(shown(&model, 0), ["tool_search", "mcp__w.forecast"]);
    assert_eq!(outputs(&model, 1), [pair("c2", "did it")]);
}

/// A source whose tools come when it is told so.
#[derive(Default)]
struct Late {
    tools: Mutex<Vec<Arc<dyn ToolExecutor>>>,
    is_up: AtomicBool,
    came_up: Notify,
    waiting: Notify,
    waited_for: AtomicUsize,
}

impl Late {
    fn come_up(&self, tools: impl IntoIterator<Item = Arc<dyn ToolExecutor>>) {
        self.tools.lock().unwrap().extend(tools);
        self.is_up.store(true, Ordering::SeqCst);
        self.came_up.notify_waiters();
    }
}

#[async_trait]
impl ToolSource for Late {
    fn snapshot(&self) -> Vec<Arc<dyn ToolExecutor>> {
        self.tools.lock().unwrap().clone()
    }

    fn is_starting(&self, wanted: Wanted<'_>) -> bool {
        let concerned = match wanted {
            Wanted::Anything => true,
            Wanted::Tool(name) => name.namespace() == Some("mcp__w"),
        };
        concerned && !self.is_up.load(Ordering::SeqCst)
    }

    async fn started(&self, wanted: Wanted<'_>) {
        while self.is_starting(wanted) {
            let came_up = self.came_up.notified();
            if self.is_starting(wanted) {
                self.waited_for.fetch_add(1, Ordering::SeqCst);
                self.waiting.notify_one();
                came_up.await;
            }
        }
    }
}

/// Runs a turn, and brings the source's tools as soon as somebody waits for them.
async fn play_with_late(
    model: &Arc<ScriptedModel>,
    tools: Vec<Arc<dyn ToolExecutor>>,
) -> (Arc<Late>, Events) {
    let (late, events) = (Arc::new(Late::default()), Events::default());
    let source = Arc::clone(&late);
    let mut session = build(builder(model, &events).source(source)).await;
    let cancellation = CancellationToken::new();
    let turn = session.run_turn("go", &cancellation);
    let arrival = async {
        late.waiting.notified().await;
        late.come_up(tools);
    };
    tokio::join!(turn, arrival);
    (late, events)
}

#[tokio::test]
async fn a_search_waits_for_a_source_that_is_starting() {
    let model = Arc::new(ScriptedModel::new([vec![search("c1", &json!({"query": "weather"}))]]));
    play_with_late(&model, vec![deferred("forecast", "Forecast the weather.")]).await;
    // The request did not wait: nothing was there yet, and something was on its way.
    assert_eq!(shown(&model, 0), ["tool_search"]);
    let specs = serde_json::to_value(model.prompts()[0].tools.as_ref()).unwrap();
    let description = specs[0]["description"].as_str().unwrap();
    assert!(
        description.ends_with("Some sources are still starting; a search waits for them."),
        "{description}"
    );
    assert_eq!(found(&model, 1), [row("c1", &["forecast"])]);
    assert_eq!(shown(&model, 1), ["tool_search", "mcp__w.forecast"]);
}

#[tokio::test]
async fn a_search_finds_nothing_where_the_source_has_failed() {
    let model = Arc::new(ScriptedModel::new([vec![search("c1", &json!({"query": "weather"}))]]));
    play_with_late(&model, Vec::new()).await;
    assert_eq!(found(&model, 1), [row("c1", &[])]);
    assert_eq!(shown(&model, 1), Vec::<String>::new());
}

#[tokio::test]
async fn a_call_waits_for_the_source_of_its_tool_and_for_no_other() {
    let model = Arc::new(ScriptedModel::new([vec![
        item(&json!({"type": "function_call", "name": "nobody", "call_id": "a", "arguments": "{}"})),
        namespaced("b", "forecast"),
        namespaced("c", "unknown"),
    ]]));
    let (late, events) = play_with_late(&model, vec![deferred("forecast", "Forecast.")]).await;
    assert_eq!(
        outputs(&model, 1),
        [
            pair("a", "unsupported call: nobody"),
            pair("b", "did it"),
            pair("c", "unsupported call: mcp__w.unknown"),
        ]
    );
    assert_eq!(late.waited_for.load(Ordering::SeqCst), 1);
    // Only the call that met a tool is told of.
    assert_eq!(events.outcomes(), [("b".to_owned(), LifecycleOutcome::Completed { success: true })]);
}

#[tokio::test]
async fn a_call_that_waits_for_its_source_is_cancelled_like_any_other() {
    let (late, events) = (Arc::new(Late::default()), Events::default());
    let calls = vec![namespaced("a", "forecast"), search("b", &json!({"query": "weather"}))];
    let model = Arc::new(ScriptedModel::new([calls]));
    let source = Arc::clone(&late);
    let mut session = build(builder(&model, &events).source(source)).await;
    let cancellation = CancellationToken::new();
    let cancel = async {
        late.waiting.notified().await;
        cancellation.cancel();
    };
    let (end, ()) = tokio::join!(session.run_turn("go", &cancellation), cancel);
    assert_eq!(end, TurnEnd::Interrupted);
    let history = serde_json::to_value(session.history().items()).unwrap();
    let outputs: Vec<&Value> = history
        .as_array()
        .unwrap()
        .iter()
        .filter(|item| item["type"].as_str().unwrap().ends_with("_output"))
        .collect();
    assert_eq!(outputs.len(), 2);
    assert_eq!(outputs[0]["output"], json!("aborted by user after 0.1s"));
    assert_eq!(outputs[1]["tools"], json!([]));
    assert!(events.all().iter().any(|event| matches!(event, Event::TurnAborted { .. })));
}
