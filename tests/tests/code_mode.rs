//! Calls that a script makes pass every stage that a direct call passes, and the script reads how each ended.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use tenon_code_mode::{CodeMode, CodeModeLayer, DirectTools, ExecTool, NestedTools, WaitTool};
use tenon_core::hooks::{Hook, PostToolUse, PostToolUseAction, PreToolUse, PreToolUseAction};
use tenon_core::{Policy, PolicyDecision, Session, SessionBuilder, SessionOptions, TurnEnd};
use tenon_protocol::{CallId, ResponseItem, ToolName};
use tenon_tools::{
    Effects, FnTool, FunctionCallError, LifecycleOutcome, ScriptedModel, ScriptedTurn, ToolInvocation,
};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Told {
    /// What to do.
    what: String,
}

/// What became of calls, and a bell that rings when one hangs.
#[derive(Default)]
struct Seen {
    outcomes: Mutex<Vec<LifecycleOutcome>>,
    ids: Mutex<Vec<String>>,
    hangs: Notify,
}

impl tenon_core::LifecycleObserver for Seen {
    fn call_ended(&self, call_id: &CallId, tool_name: &ToolName, outcome: LifecycleOutcome) {
        if tool_name.name() == "t" {
            self.outcomes.lock().unwrap().push(outcome);
            self.ids.lock().unwrap().push(call_id.to_string());
        }
    }
}

/// Blocks, rewrites and speaks, by what a call is told.
struct Hooks;

#[async_trait]
impl Hook for Hooks {
    fn matches(&self, tool_name: &str, _: &[&str]) -> bool {
        assert!(!["exec", "wait"].contains(&tool_name), "exempt");
        true
    }

    async fn pre_tool_use(&self, event: &PreToolUse) -> PreToolUseAction {
        match event.tool_input["what"].as_str() {
            Some("block") => PreToolUseAction::block("not today"),
            Some("rewrite") => PreToolUseAction::rewrite(json!({"what": "rewritten"})),
            Some("context") => PreToolUseAction {
                additional_context: Some("by the way".to_owned()),
                ..PreToolUseAction::default()
            },
            _ => PreToolUseAction::default(),
        }
    }

    async fn post_tool_use(&self, event: &PostToolUse) -> PostToolUseAction {
        let feedback = (event.tool_input["what"] == "feedback").then(|| "for the model".to_owned());
        PostToolUseAction { feedback, ..PostToolUseAction::default() }
    }
}

struct Rules;

#[async_trait]
impl Policy for Rules {
    async fn decide(&self, _: &ToolInvocation, effects: &Effects) -> PolicyDecision {
        match effects.other.as_deref() {
            Some("deny") => PolicyDecision::Deny { text: "against the rules".to_owned() },
            _ => PolicyDecision::Allow,
        }
    }
}

fn item(value: &Value) -> ResponseItem {
    ResponseItem::parse(&value.to_string()).unwrap()
}

fn exec(id: &str, source: &str) -> ResponseItem {
    item(&json!({"type": "custom_tool_call", "name": "exec", "call_id": id, "input": source}))
}

fn wait(id: &str, cell_id: &str) -> ResponseItem {
    let arguments = json!({"cell_id": cell_id, "yield_time_ms": 60_000}).to_string();
    item(&json!({"type": "function_call", "name": "wait", "call_id": id, "arguments": arguments}))
}

struct Bench {
    session: Session,
    model: Arc<ScriptedModel>,
    seen: Arc<Seen>,
    code_mode: CodeMode,
}

impl Bench {
    async fn new(turns: Vec<Vec<ResponseItem>>, home: Option<&std::path::Path>) -> Self {
        Self::with(turns, |builder| match home {
            Some(home) => builder.rollout_in(home),
            None => builder,
        })
        .await
    }

    async fn with(
        turns: Vec<Vec<ResponseItem>>,
        kept: impl FnOnce(SessionBuilder) -> SessionBuilder,
    ) -> Self {
        let seen = Arc::new(Seen::default());
        let hangs = Arc::clone(&seen);
        let does = move |told: Told, call: ToolInvocation| {
            let hangs = Arc::clone(&hangs);
            async move {
                match told.what.as_str() {
                    "fail" => Err(FunctionCallError::respond("did not work")),
                    "fatal" => Err(FunctionCallError::Fatal("broken".to_owned())),
                    "panic" => panic!("asked to"),
                    "hang" => {
                        hangs.hangs.notify_one();
                        call.cancellation.cancelled().await;
                        std::future::pending().await
                    }
                    what => Ok(format!("did {what}")),
                }
            }
        };
        let tool = FnTool::new("t", "Does what it is told.", does)
            .parallel()
            .effects(|told: &Told| Effects { other: Some(told.what.clone()), ..Effects::none() });
        let nested = NestedTools::default();
        let code_mode = CodeMode::new(nested.clone());
        let model = Arc::new(ScriptedModel::new(turns.into_iter().map(ScriptedTurn::items)));
        let builder = SessionBuilder::new(SessionOptions::new("a-model", "/"), Arc::clone(&model) as _)
            .tool(ExecTool::new(code_mode.clone()))
            .tool(WaitTool::new(code_mode.clone()))
            .tool(tool)
            .layer(Arc::new(CodeModeLayer::new(DirectTools::Hidden, nested)))
            .hook(Arc::new(Hooks))
            .policy(Arc::new(Rules))
            .observer(Arc::clone(&seen) as _);
        Self { session: kept(builder).build().await.unwrap(), model, seen, code_mode }
    }

    async fn turn(&mut self) -> TurnEnd {
        self.session.run_turn("go", &CancellationToken::new()).await
    }

    /// What was new in the nth request, without calls: `(type, text)`; of outputs the script's own texts.
    fn new_in(&self, request: usize) -> Vec<(String, String)> {
        let prompts = self.model.prompts();
        let known = prompts[request - 1].input.len();
        let new =
            prompts[request].input[known..].iter().map(|item| serde_json::to_value(item.as_ref()).unwrap());
        let brief = new.map(|item| {
            let shown = match &item["output"] {
                Value::Null => item["content"][0]["text"].as_str().unwrap_or_default().to_owned(),
                Value::Array(parts) => {
                    let texts = parts[1..].iter().map(|part| part["text"].as_str().unwrap());
                    texts.collect::<Vec<_>>().join("|")
                }
                text => text.as_str().unwrap().lines().next().unwrap_or_default().to_owned(),
            };
            (item["type"].as_str().unwrap().to_owned(), shown)
        });
        brief.filter(|(kind, _)| !kind.ends_with("_call")).collect()
    }
}

fn output(text: &str) -> (String, String) {
    ("custom_tool_call_output".to_owned(), text.to_owned())
}

fn told(text: &str) -> (String, String) {
    ("message".to_owned(), text.to_owned())
}

/// Runs one script: what the model reads of it, and how its calls ended.
async fn run(source: &str) -> (Vec<(String, String)>, Vec<LifecycleOutcome>) {
    let mut bench = Bench::new(vec![vec![exec("c1", source)]], None).await;
    assert_eq!(bench.turn().await, TurnEnd::Completed { last_message: Some("done".to_owned()) });
    let outcomes = bench.seen.outcomes.lock().unwrap().clone();
    assert!(bench.seen.ids.lock().unwrap().iter().all(|id| id.starts_with("exec-")));
    (bench.new_in(1), outcomes)
}

fn shown(what: &str) -> String {
    format!("await tools.t({{what: '{what}'}}).then(r => text('got ' + r), e => text(typeof e + ' ' + e))")
}

#[tokio::test]
async fn every_stage_of_dispatch_answers_the_script() {
    let completed = LifecycleOutcome::Completed { success: true };
    let failed = LifecycleOutcome::Failed { handler_executed: true };
    let table = [
        ("something", vec![output("got did something")], completed),
        (
            "block",
            vec![output("string Tool call blocked by PreToolUse hook: not today. Tool: t")],
            LifecycleOutcome::Blocked,
        ),
        ("rewrite", vec![output("got did rewritten")], completed),
        ("deny", vec![output("string against the rules")], LifecycleOutcome::Blocked),
        ("fail", vec![output("string did not work")], failed),
        ("fatal", vec![output("string broken")], failed),
        ("panic", vec![output("string tool t failed unexpectedly")], failed),
        ("context", vec![told("by the way"), output("got did context")], completed),
        ("feedback", vec![told("for the model"), output("got did feedback")], completed),
    ];
    for (what, expected, outcome) in table {
        assert_eq!(run(&shown(what)).await, (expected, vec![outcome]), "{what}");
    }
}

#[tokio::test]
async fn a_call_that_the_script_leaves_behind_is_cancelled() {
    let source = "tools.t({what: 'hang'}); text('on')";
    assert_eq!(run(source).await, (vec![output("on")], vec![LifecycleOutcome::Aborted]));
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_refused_as_in_a_direct_call() {
    let (back, outcomes) = run("await tools.t({}).catch(e => text(e))").await;
    assert!(back[0].1.starts_with("failed to parse function arguments"), "{back:?}");
    assert_eq!(outcomes.len(), 1);
}

#[tokio::test]
async fn a_cell_goes_on_between_requests_and_turns_with_the_newest_step() {
    let source = "yield_control(); await new Promise(r => setTimeout(r, 1)); \
                  for (let i = 0; i < 50; i++) await tools.t({what: 'x'}); text('end')";
    let turns = vec![vec![exec("c1", source)], vec![], vec![wait("c2", "1")]];
    let mut bench = Bench::new(turns, None).await;
    bench.turn().await;
    assert_eq!(bench.new_in(1), [output("Script running with cell ID 1")]);
    bench.turn().await;
    let read = bench.new_in(bench.model.prompts().len() - 1);
    assert_eq!(read, [("function_call_output".to_owned(), "end".to_owned())]);
    assert_eq!(bench.seen.outcomes.lock().unwrap().len(), 50);
}

#[tokio::test]
async fn a_note_comes_after_the_outputs_and_asks_the_model_once_more() {
    let mut bench = Bench::new(vec![vec![exec("c1", "notify('news'); text('end')")]], None).await;
    bench.turn().await;
    assert_eq!(bench.new_in(1), [output("end"), output("news")]);
    let items =
        bench.model.prompts()[1].input.last().map(|item| serde_json::to_value(item.as_ref()).unwrap());
    let item = items.unwrap();
    assert_eq!((&item["name"], &item["call_id"]), (&json!("exec"), &json!("c1")));
}

#[tokio::test]
async fn an_interrupted_turn_leaves_the_cell_running() {
    let source = "text('begun'); await tools.t({what: 'hang'}).catch(() => {}); text('on')";
    let mut bench = Bench::new(vec![vec![exec("c1", source)], vec![wait("c2", "1")]], None).await;
    let cancellation = CancellationToken::new();
    let seen = Arc::clone(&bench.seen);
    let interrupt = cancellation.clone();
    let watcher = tokio::spawn(async move {
        seen.hangs.notified().await;
        interrupt.cancel();
    });
    assert_eq!(bench.session.run_turn("go", &cancellation).await, TurnEnd::Interrupted);
    watcher.await.unwrap();
    assert_eq!(bench.seen.outcomes.lock().unwrap().clone(), []);
    bench.code_mode.shutdown().await;
    assert_eq!(bench.seen.outcomes.lock().unwrap().clone(), [LifecycleOutcome::Aborted]);
}

/// The model may still know ids of cells that are gone: they must not name others.
#[tokio::test]
async fn cells_of_a_session_that_goes_on_have_ids_that_no_earlier_one_had() {
    let home = tempfile::tempdir().unwrap();
    let yields = "yield_control(); await new Promise(r => setTimeout(r, 1e9))";
    let turns = vec![vec![exec("c1", "text('done')")], vec![exec("c2", yields)]];
    let mut bench = Bench::new(turns, Some(home.path())).await;
    bench.turn().await;
    assert_eq!(bench.new_in(2), [output("Script running with cell ID 2")]);
    let path = bench.session.rollout_path().unwrap().to_owned();
    bench.code_mode.shutdown().await;
    bench.session.shutdown().await;
    let turns = vec![vec![exec("c3", yields), wait("c4", "2")]];
    let mut bench = Bench::with(turns, |builder| builder.resume(path)).await;
    bench.turn().await;
    let gone = ("function_call_output".to_owned(), "Script error:\nexec cell 2 not found".to_owned());
    assert_eq!(bench.new_in(1), [output("Script running with cell ID 3"), gone]);
    bench.code_mode.shutdown().await;
}

#[tokio::test]
async fn the_journal_knows_each_nested_call_under_its_exec_call() {
    let home = tempfile::tempdir().unwrap();
    let mut bench = Bench::new(vec![vec![exec("c1", &shown("x"))]], Some(home.path())).await;
    bench.turn().await;
    let path = bench.session.rollout_path().unwrap().to_owned();
    bench.session.shutdown().await;
    let text = std::fs::read_to_string(path).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |kind: &str, id: &str| -> Vec<&Value> {
        lines
            .iter()
            .filter(|line| line["type"] == kind && line["payload"]["call_id"] == id)
            .map(|line| &line["payload"])
            .collect()
    };
    let facts: Vec<&Value> = of("call_progress", "c1").iter().map(|payload| &payload["fact"]).collect();
    let nested = facts[0]["call_id"].as_str().unwrap();
    assert!(nested.starts_with("exec-"));
    assert_eq!(
        facts,
        [
            &json!({"type": "nested", "tool": "t", "call_id": nested}),
            &json!({"type": "nested", "tool": "t", "call_id": nested, "outcome": "completed"})
        ]
    );
    let started = of("call_started", nested);
    assert_eq!((started.len(), &started[0]["source"]), (1, &json!("code_mode")));
    assert_eq!(of("call_finished", nested).len(), 1);
}

#[tokio::test]
async fn ten_thousand_calls_at_once_finish() {
    let source = "const rs = await Promise.all(Array.from({length: 10000}, (_, i) => tools.t({what: String(i)}))); \
                  text(new Set(rs).size)";
    let (back, outcomes) = run(source).await;
    assert_eq!((back, outcomes.len()), (vec![output("10000")], 10_000));
}
