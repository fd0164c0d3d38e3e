//! What stands in the file, and when: started before the first side effect, finished before the next request, one of
//! each for every call at every exit.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod support;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use support::{Events, Log, Script, builder, call, custom, said};
use tenon_core::hooks::{PreToolUse, PreToolUseAction};
use tenon_core::{Hook, Session, TurnEnd};
use tenon_protocol::{CallId, ToolName};
use tenon_tools::{
    Effects, Event, FunctionCallError, FunctionToolOutput, JsonSchema, PreparedCall, ScriptedModel,
    ScriptedTurn, ToolExecutor, ToolInvocation, ToolOutput, ToolSpec,
};
use tokio_util::sync::CancellationToken;

/// The lines of a rollout, as `type` and payload. Whoever reads while it is written may see the first part of a line.
fn lines(path: &Path) -> Vec<(String, Value)> {
    let text = std::fs::read_to_string(path).unwrap();
    let (whole, _) = text.rsplit_once('\n').unwrap_or_default();
    let parsed = whole.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    parsed.map(|line| (line["type"].as_str().unwrap().to_owned(), line["payload"].clone())).collect()
}

/// What the file says of calls, in order, in short.
fn of_calls(path: &Path) -> Vec<String> {
    let short = |(kind, payload): (String, Value)| {
        let call_id = payload["call_id"].as_str().unwrap_or_default().to_owned();
        match kind.as_str() {
            "call_started" => Some(format!("started {call_id} {}", payload["occurrence"])),
            "call_finished" => Some(format!(
                "finished {call_id} {} {}",
                payload["occurrence"],
                payload["outcome"].as_str().unwrap()
            )),
            "response_item" if payload["type"].as_str().unwrap().ends_with("_output") => {
                Some(format!("output {call_id}"))
            }
            "response_item" if payload.get("call_id").is_some() => Some(format!("call {call_id}")),
            _ => None,
        }
    };
    lines(path).into_iter().filter_map(short).collect()
}

async fn session(builder: tenon_core::SessionBuilder, home: &Path) -> Session {
    builder.rollout_in(home).build().await.unwrap()
}

/// Blocks calls whose input says so.
struct Blocks;

#[async_trait]
impl Hook for Blocks {
    async fn pre_tool_use(&self, event: &PreToolUse) -> PreToolUseAction {
        if event.tool_input["do"] == "block" {
            PreToolUseAction::block("no")
        } else {
            PreToolUseAction::default()
        }
    }
}

#[tokio::test]
async fn every_exit_of_a_call_leaves_its_lines() {
    let home = tempfile::tempdir().unwrap();
    let (log, events) = (Log::default(), Events::default());
    let model = Arc::new(ScriptedModel::new([ScriptedTurn::items([
        call("echo", "x", "echo"),
        call("fail", "x", "fail"),
        call("panic", "x", "panic"),
        call("refuse", "x", "refuse"),
        call("block", "x", "block"),
        call("plan", "n", "echo"),
        call("what", "nope", "echo"),
        custom("fatal", "x", "echo"),
        call("hang", "x", "hang"),
        call("wait", "x", "hang"),
    ])]));
    let builder = builder(&model, &events)
        .tool(Script::new("x", &log).exclusive())
        .tool(Script::new("n", &log).exclusive().harmless())
        .hook(Arc::new(Blocks));
    let mut session = session(builder, home.path()).await;
    let path = session.rollout_path().unwrap().to_owned();
    let handle = session.handle();
    let never = CancellationToken::new();
    let cancel = async {
        while log.position("run hang").is_none() {
            tokio::task::yield_now().await;
        }
        handle.cancel_call(&CallId::from("wait"));
        handle.cancel_call(&CallId::from("hang"));
    };
    let (end, ()) = tokio::join!(session.run_turn("go", &never), cancel);
    assert!(matches!(end, TurnEnd::Failed { .. }), "{end:?}");
    let journal: Vec<String> = of_calls(&path)
        .into_iter()
        .filter(|line| !line.starts_with("call ") && !line.starts_with("output "))
        .collect();
    assert_eq!(
        sorted(journal),
        sorted([
            "started echo 0",
            "finished echo 0 completed",
            "started fail 0",
            "finished fail 0 failed",
            "started panic 0",
            "finished panic 0 failed",
            "finished refuse 0 failed",
            "finished block 0 blocked",
            "finished plan 0 completed",
            "finished what 0 failed",
            "started hang 0",
            "finished hang 0 aborted",
            "finished wait 0 aborted",
        ])
    );
    let outputs: Vec<String> =
        of_calls(&path).into_iter().filter(|line| line.starts_with("output ")).collect();
    let answered = ["echo", "fail", "panic", "refuse", "block", "plan", "what", "hang", "wait"];
    assert_eq!(outputs, answered.map(|id| format!("output {id}")));
    // What the journal holds is what the model was given.
    let all = lines(&path);
    let finished =
        all.iter().find(|(kind, payload)| kind == "call_finished" && payload["call_id"] == "fail").unwrap();
    assert_eq!(finished.1["output"]["output"], "failed fail");
    let started = all.iter().find(|(kind, _)| kind == "call_started").unwrap();
    assert_eq!(started.1["tool"], "x");
    assert_eq!(started.1["source"], "direct");
    assert_eq!(started.1["effects"], json!({"other": "changes the log"}));
}

fn sorted(lines: impl IntoIterator<Item = impl Into<String>>) -> Vec<String> {
    let mut lines: Vec<String> = lines.into_iter().map(Into::into).collect();
    lines.sort();
    lines
}

/// Reads the session's file while it runs.
struct Witness {
    name: ToolName,
    path: Arc<Mutex<PathBuf>>,
    seen: Log,
}

struct Looks(Effects, PathBuf, Log);

#[async_trait]
impl ToolExecutor for Witness {
    fn name(&self) -> &ToolName {
        &self.name
    }

    fn spec(&self) -> ToolSpec {
        ToolSpec::function("witness", "Looks.", JsonSchema::object([], &[]))
    }

    fn parallel(&self) -> bool {
        true
    }

    async fn prepare(&self, _: &ToolInvocation) -> Result<Box<dyn PreparedCall>, FunctionCallError> {
        let effects = Effects { other: Some("looks".to_owned()), ..Effects::none() };
        Ok(Box::new(Looks(effects, self.path.lock().unwrap().clone(), self.seen.clone())))
    }
}

#[async_trait]
impl PreparedCall for Looks {
    fn effects(&self) -> &Effects {
        &self.0
    }

    async fn run(self: Box<Self>, call: &ToolInvocation) -> Result<Box<dyn ToolOutput>, FunctionCallError> {
        for line in of_calls(&self.1) {
            self.2.add(format!("{}: {line}", call.call_id));
        }
        Ok(Box::new(FunctionToolOutput::from_text("seen", None)))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_start_is_in_the_file_before_the_effect_and_all_ends_before_the_next_request() {
    let home = tempfile::tempdir().unwrap();
    let (seen, events) = (Log::default(), Events::default());
    let path = Arc::new(Mutex::new(PathBuf::new()));
    let ids: Vec<String> = (0..16).map(|n| format!("c{n:02}")).collect();
    let at_second = Log::default();
    let (reads, log) = (Arc::clone(&path), at_second.clone());
    let model = Arc::new(ScriptedModel::new([
        ScriptedTurn::items(ids.iter().map(|id| call(id, "witness", "echo"))),
        ScriptedTurn::computed(move |_| {
            of_calls(&reads.lock().unwrap()).into_iter().for_each(|line| log.add(line));
            ScriptedTurn::items([said("end")])
        }),
    ]));
    let witness = Witness { name: ToolName::plain("witness"), path: Arc::clone(&path), seen: seen.clone() };
    let mut session = session(builder(&model, &events).tool(witness), home.path()).await;
    *path.lock().unwrap() = session.rollout_path().unwrap().to_owned();
    let end = session.run_turn("go", &CancellationToken::new()).await;
    assert_eq!(end, TurnEnd::Completed { last_message: Some("end".to_owned()) });
    for id in &ids {
        assert!(seen.position(&format!("{id}: call {id}")).is_some(), "{id}: the item came first");
        assert!(seen.position(&format!("{id}: started {id} 0")).is_some(), "{id}: {:?}", seen.lines());
        assert!(seen.position(&format!("{id}: finished {id} 0 completed")).is_none());
        assert!(at_second.position(&format!("finished {id} 0 completed")).is_some());
    }
    let outputs: Vec<String> =
        at_second.lines().into_iter().filter(|line| line.starts_with("output")).collect();
    assert_eq!(outputs, ids.iter().map(|id| format!("output {id}")).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_session_goes_on_from_its_file_and_counts_on() {
    let home = tempfile::tempdir().unwrap();
    let (log, events) = (Log::default(), Events::default());
    let never = CancellationToken::new();
    let model = Arc::new(ScriptedModel::new([ScriptedTurn::items([call("c", "t", "echo")])]));
    let mut first = session(builder(&model, &events).tool(Script::new("t", &log)), home.path()).await;
    first.run_turn("go", &never).await;
    let (id, path) = (first.id().to_owned(), first.rollout_path().unwrap().to_owned());
    first.shutdown().await;

    let model = Arc::new(ScriptedModel::new([ScriptedTurn::items([call("c", "t", "echo")])]));
    let events = Events::default();
    let builder = builder(&model, &events).tool(Script::new("t", &log)).resume(&path);
    let mut second = builder.build().await.unwrap();
    assert_eq!(second.id(), id);
    second.run_turn("on", &never).await;
    assert_eq!(support::outputs(&model, 0), [support::pair("c", "did c")]);
    assert_eq!(support::outputs(&model, 1), [support::pair("c", "did c"), support::pair("c", "did c")]);
    assert_eq!(events.completed_calls(), [("c#2".to_owned(), "Completed".to_owned())]);
    let journal: Vec<String> = of_calls(&path)
        .into_iter()
        .filter(|line| line.starts_with("started") || line.starts_with("finished"))
        .collect();
    assert_eq!(journal, ["started c 0", "finished c 0 completed", "started c 1", "finished c 1 completed"]);
}

#[tokio::test]
async fn text_from_outside_marks_the_thread_only_where_the_options_ask_for_it() {
    for marks in [false, true] {
        let home = tempfile::tempdir().unwrap();
        let events = Events::default();
        let search = support::item(&json!({"type": "web_search_call", "id": "ws_1", "status": "completed"}));
        let model = Arc::new(ScriptedModel::new([ScriptedTurn::items([search, call("f", "fetch", "echo")])]));
        let fetch =
            tenon_tools::FnTool::new("fetch", "Fetches.", |_: serde_json::Map<String, Value>, _| async {
                Ok::<_, FunctionCallError>("fetched".to_owned())
            });
        let mut options = support::options();
        options.mark_external_context = marks;
        let builder = tenon_core::SessionBuilder::new(options, Arc::clone(&model) as _)
            .events(Arc::new(events.clone()))
            .tool(fetch.external_context());
        let mut session = session(builder, home.path()).await;
        session.run_turn("go", &CancellationToken::new()).await;
        let path = session.rollout_path().unwrap().to_owned();
        session.shutdown().await;
        let told: Vec<String> = events
            .all()
            .into_iter()
            .filter_map(|event| match event {
                Event::ExternalContext { call_id, tool_name, reason } => {
                    Some(format!("{call_id} {tool_name} {reason}"))
                }
                _ => None,
            })
            .collect();
        let written =
            lines(&path).into_iter().filter(|(_, payload)| payload["type"] == "external_context").count();
        let expected: &[&str] = if marks {
            &["ws_1 web_search record_completed_response_item", "f fetch tool_output"]
        } else {
            &[]
        };
        assert_eq!(told, expected);
        assert_eq!(written, expected.len());
    }
}
