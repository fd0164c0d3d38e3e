//! What becomes of calls that a crash has cut off: their tools, the host and whoever is asked have a say in it. A crash is
//! a copy of the session's file, taken while a call runs or waits: a kill leaves no more.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod support;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use support::{Events, Log, call, options};
use tempfile::TempDir;
use tenon_core::{Policy, PolicyDecision, Question, SessionBuilder, TurnEnd};
use tenon_protocol::{CallFact, ToolName};
use tenon_tools::{
    ApprovalDecision, ApprovalRequest, Approver, CutOffCall, Effects, FunctionCallError, FunctionToolOutput,
    JsonSchema, LeftBehind, PreparedCall, Recovery, ScriptedModel, ScriptedTurn, ToolExecutor,
    ToolInvocation, ToolOutput, ToolSpec,
};
use tokio::sync::{Notify, oneshot};
use tokio_util::sync::CancellationToken;

const UNKNOWN: &str = "outcome unknown: the runtime stopped while this call ran; it was not run again";
const NOT_RUN: &str = "not run: the runtime stopped before this call started";

/// What a tool says of calls that were cut off.
#[derive(Clone, Copy, PartialEq)]
enum Says {
    Nothing,
    RunAgain,
    Came(&'static str),
    Failed(&'static str),
    DoesNotKnow,
    Panics,
}

/// A tool with an effect: a line in the log. While it runs it keeps the session's file as a crash would leave it.
#[derive(Clone)]
struct Effect {
    name: ToolName,
    says: Says,
    log: Log,
    crash: PathBuf,
    cut_off: Arc<Mutex<Vec<CutOffCall>>>,
    left: Arc<Mutex<Vec<LeftBehind>>>,
}

struct Prepared(Effect, Effects);

#[async_trait]
impl ToolExecutor for Effect {
    fn name(&self) -> &ToolName {
        &self.name
    }

    fn spec(&self) -> ToolSpec {
        ToolSpec::function(self.name.name(), "Has an effect.", JsonSchema::object([], &[]))
    }

    fn parallel(&self) -> bool {
        true
    }

    fn recovery(&self) -> Recovery {
        match self.says {
            Says::Nothing => Recovery::Tell,
            Says::RunAgain => Recovery::RunAgain,
            Says::Came(_) | Says::Failed(_) | Says::DoesNotKnow | Says::Panics => Recovery::Check,
        }
    }

    async fn outcome_of(&self, call: &CutOffCall) -> Option<Result<Box<dyn ToolOutput>, FunctionCallError>> {
        self.cut_off.lock().unwrap().push(call.clone());
        match self.says {
            Says::Came(text) => {
                Some(Ok(Box::new(FunctionToolOutput::from_text(text.to_owned(), Some(true)))))
            }
            Says::Failed(text) => Some(Err(FunctionCallError::respond(text))),
            Says::Panics => panic!("it cannot look"),
            Says::Nothing | Says::RunAgain | Says::DoesNotKnow => None,
        }
    }

    async fn tidy_up(&self, left: &LeftBehind) {
        self.left.lock().unwrap().push(left.clone());
    }

    async fn prepare(&self, _: &ToolInvocation) -> Result<Box<dyn PreparedCall>, FunctionCallError> {
        let effects = Effects { other: Some("a line in the log".to_owned()), ..Effects::none() };
        Ok(Box::new(Prepared(self.clone(), effects)))
    }
}

#[async_trait]
impl PreparedCall for Prepared {
    fn effects(&self) -> &Effects {
        &self.1
    }

    async fn run(self: Box<Self>, call: &ToolInvocation) -> Result<Box<dyn ToolOutput>, FunctionCallError> {
        let Effect { log, crash, .. } = &self.0;
        log.add(format!("run {}", call.call_id));
        call.host.progress.record(CallFact::Request { server: "s".to_owned(), id: "7".to_owned() });
        if call.call_id.as_str() == "c1" && !crash.exists() {
            let fact = |text: &str| text.contains("call_progress");
            copy_when(call.step.rollout_path.as_deref().unwrap(), crash, fact).await;
        }
        Ok(Box::new(FunctionToolOutput::from_text(format!("did {}", call.call_id), Some(true))))
    }
}

/// Copies the file as soon as it holds what is wanted; nobody tells when that is.
async fn copy_when(file: &Path, to: &Path, wanted: impl Fn(&str) -> bool) {
    loop {
        let text = std::fs::read_to_string(file).unwrap();
        if wanted(&text) {
            return std::fs::write(to, text).unwrap();
        }
        tokio::task::yield_now().await;
    }
}

/// Where a session was, and what it left.
struct Scene {
    home: TempDir,
    log: Log,
    tool: Effect,
}

impl Scene {
    fn new(says: Says) -> Self {
        let (home, log) = (TempDir::new().unwrap(), Log::default());
        let tool = Effect {
            name: ToolName::plain("effect"),
            says,
            log: log.clone(),
            crash: home.path().join("crash.jsonl"),
            cut_off: Arc::default(),
            left: Arc::default(),
        };
        Self { home, log, tool }
    }

    fn builder(&self, model: &Arc<ScriptedModel>) -> SessionBuilder {
        SessionBuilder::new(options(), Arc::clone(model) as _).tool(self.tool.clone())
    }

    /// Plays a session whose call `c1` is cut off.
    async fn of(says: Says) -> Self {
        let scene = Self::new(says);
        let model = Arc::new(ScriptedModel::new([vec![call("c1", "effect", "echo")]]));
        let mut session = scene.builder(&model).rollout_in(scene.home.path()).build().await.unwrap();
        assert!(matches!(session.run_turn("go", &CancellationToken::new()).await, TurnEnd::Completed { .. }));
        session.shutdown().await;
        scene
    }

    /// Goes on from the crash: what the model is shown of outputs.
    async fn goes_on(&self, with: impl FnOnce(SessionBuilder) -> SessionBuilder) -> Vec<(String, String)> {
        let model = Arc::new(ScriptedModel::new(Vec::<ScriptedTurn>::new()));
        let builder = with(self.builder(&model)).resume(&self.tool.crash);
        let mut session = builder.build().await.unwrap();
        let end = session.run_turn("go on", &CancellationToken::new()).await;
        assert!(matches!(end, TurnEnd::Completed { .. }), "{end:?}");
        session.shutdown().await;
        shown(&model)
    }

    fn lines(&self, kind: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(&self.tool.crash).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter(|line| line["type"] == kind).map(|line| line["payload"].clone()).collect()
    }

    fn outputs_in_the_file(&self) -> usize {
        let items = self.lines("response_item");
        items.iter().filter(|item| item["type"] == "function_call_output").count()
    }
}

/// The outputs in the newest request, each directly behind the calls of its turn.
fn shown(model: &ScriptedModel) -> Vec<(String, String)> {
    let prompt = model.prompts().pop().unwrap();
    let items = prompt.input.iter().map(|item| serde_json::to_value(item).unwrap());
    let outputs = items.filter(|item| item["type"] == "function_call_output");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    outputs.map(|item| (text(&item["call_id"]), text(&item["output"]))).collect()
}

fn one(text: impl Into<String>) -> Vec<(String, String)> {
    vec![("c1".to_owned(), text.into())]
}

#[tokio::test]
async fn a_tool_that_says_nothing_is_let_alone() {
    let scene = Scene::of(Says::Nothing).await;
    let expected = one(format!("{UNKNOWN}\nrequest to s was not answered"));
    assert_eq!(scene.goes_on(|builder| builder).await, expected);
    assert_eq!(scene.log.lines(), ["run c1"]);
    assert_eq!(scene.goes_on(|builder| builder).await, expected);
}

#[tokio::test]
async fn an_idempotent_call_is_run_again_and_answered_once() {
    let scene = Scene::of(Says::RunAgain).await;
    assert_eq!(scene.goes_on(|builder| builder).await, one("did c1"));
    assert_eq!(scene.log.lines(), ["run c1", "run c1"]);
    let again: Vec<Value> = scene.lines("call_started").iter().map(|line| line["again"].clone()).collect();
    let why = "the runtime stopped while it ran, and its tool says that it may be run again";
    assert_eq!(again, [Value::Null, json!(why)]);
    assert_eq!((scene.lines("call_finished").len(), scene.outputs_in_the_file()), (1, 1));
    // That was that.
    assert_eq!(scene.goes_on(|builder| builder).await, one("did c1"));
    assert_eq!(scene.log.lines().len(), 2);
}

#[tokio::test]
async fn the_host_may_say_no() {
    for says in [Says::RunAgain, Says::Came("it came")] {
        let scene = Scene::of(says).await;
        let asked = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&asked);
        let shown = scene
            .goes_on(|builder| {
                builder.may_recover(move |call, what| {
                    heard.lock().unwrap().push((call.call.call_id.to_string(), what));
                    false
                })
            })
            .await;
        assert_eq!(shown, one(format!("{UNKNOWN}\nrequest to s was not answered")));
        assert_eq!((scene.log.lines().len(), scene.tool.cut_off.lock().unwrap().len()), (1, 0));
        assert_eq!(*asked.lock().unwrap(), [("c1".to_owned(), scene.tool.recovery())]);
    }
}

#[tokio::test]
async fn a_tool_that_can_look_is_asked_for_the_outcome() {
    let unknown = format!("{UNKNOWN}\nrequest to s was not answered");
    let table = [
        (Says::Came("it came"), "it came", 1),
        (Says::Failed("it failed"), "it failed", 1),
        (Says::DoesNotKnow, unknown.as_str(), 0),
        (Says::Panics, unknown.as_str(), 0),
    ];
    for (says, expected, finished) in table {
        let scene = Scene::of(says).await;
        assert_eq!(scene.goes_on(|builder| builder).await, one(expected));
        assert_eq!(scene.log.lines(), ["run c1"], "{expected}");
        assert_eq!(scene.lines("call_finished").len(), finished, "{expected}");
        let asked = scene.tool.cut_off.lock().unwrap().clone();
        assert_eq!((asked.len(), asked[0].occurrence), (1, 0));
        assert_eq!(asked[0].call.tool_name.name(), "effect");
        assert_eq!(asked[0].effects, json!({"other": "a line in the log"}));
        assert_eq!(asked[0].facts, [CallFact::Request { server: "s".to_owned(), id: "7".to_owned() }]);
        assert!(asked[0].started_at.is_some());
        // It is asked once.
        assert_eq!(scene.goes_on(|builder| builder).await, one(expected));
        assert_eq!(scene.tool.cut_off.lock().unwrap().len(), 1);
    }
}

#[tokio::test]
async fn tools_hear_of_the_processes_that_were_left() {
    let scene = Scene::of(Says::Nothing).await;
    let text = std::fs::read_to_string(&scene.tool.crash).unwrap();
    let fact =
        json!({"type": "process", "pid": 4_000_000, "group": 4_000_000, "started_at": 5, "boot_id": "b"});
    let payload = json!({"call_id": "c0", "occurrence": 0, "fact": fact});
    let line = json!({"timestamp": "2026-11-30T10:00:00.000Z", "type": "call_progress", "payload": payload});
    std::fs::write(&scene.tool.crash, format!("{text}{line}\n")).unwrap();
    scene.goes_on(|builder| builder).await;
    let left = scene.tool.left.lock().unwrap().clone();
    let id = scene.lines("session_meta")[0]["id"].as_str().unwrap().to_owned();
    let process = tenon_tools::LeftProcess {
        pid: 4_000_000,
        group: 4_000_000,
        started_at: 5,
        boot_id: Some("b".to_owned()),
    };
    assert_eq!(left, [LeftBehind { session_id: id, written: Vec::new(), processes: vec![process] }]);
}

/// Asks about the calls of `effect` but for `c3`.
struct Asks;

#[async_trait]
impl Policy for Asks {
    async fn decide(&self, call: &ToolInvocation, _: &Effects) -> PolicyDecision {
        match call.call_id.as_str() {
            "c3" => PolicyDecision::Allow,
            _ => PolicyDecision::Ask(Question::default()),
        }
    }
}

/// Whoever is asked, and answers when the test says so.
#[derive(Default)]
struct Person {
    open: Mutex<HashMap<String, oneshot::Sender<ApprovalDecision>>>,
    asks: Notify,
}

#[async_trait]
impl Approver for Person {
    async fn approve(&self, request: ApprovalRequest) -> ApprovalDecision {
        let (answer, answered) = oneshot::channel();
        self.open.lock().unwrap().insert(request.call_id.to_string(), answer);
        self.asks.notify_waiters();
        answered.await.unwrap_or(ApprovalDecision::TimedOut)
    }
}

impl Person {
    async fn is_asked(&self, questions: usize) {
        loop {
            let asks = self.asks.notified();
            if self.open.lock().unwrap().len() >= questions {
                return;
            }
            asks.await;
        }
    }

    fn answers(&self, call_id: &str, decision: ApprovalDecision) {
        self.open.lock().unwrap().remove(call_id).unwrap().send(decision).unwrap();
    }
}

/// A session that ends while two of its calls wait for an answer and a third has ended.
async fn waiting() -> Scene {
    let scene = Scene::new(Says::Nothing);
    let calls = ["c1", "c2", "c3"].map(|id| call(id, "effect", "echo")).to_vec();
    let model = Arc::new(ScriptedModel::new([calls]));
    let person = Arc::new(Person::default());
    let builder = scene.builder(&model).policy(Arc::new(Asks)).approver(Arc::clone(&person) as _);
    let events = Events::default();
    let builder = builder.events(Arc::new(events.clone())).rollout_in(scene.home.path());
    let mut session = builder.build().await.unwrap();
    let file = session.rollout_path().unwrap().to_owned();
    let cancellation = CancellationToken::new();
    let crash = async {
        person.is_asked(2).await;
        let is_there = |text: &str| {
            let asked = text.matches(r#""type":"asked""#).count();
            asked == 2 && text.contains(r#""call_finished""#)
        };
        copy_when(&file, &scene.tool.crash, is_there).await;
        cancellation.cancel();
    };
    let (end, ()) = tokio::join!(session.run_turn("go", &cancellation), crash);
    assert_eq!(end, TurnEnd::Interrupted);
    session.shutdown().await;
    assert_eq!(scene.log.lines(), ["run c3"]);
    scene
}

#[tokio::test]
async fn a_question_survives_and_its_answer_goes_to_its_call_and_applies_once() {
    let scene = waiting().await;
    let person = Arc::new(Person::default());
    let model = Arc::new(ScriptedModel::new(Vec::<ScriptedTurn>::new()));
    let builder = scene.builder(&model).policy(Arc::new(Asks)).approver(Arc::clone(&person) as _);
    let mut session = builder.resume(&scene.tool.crash).build().await.unwrap();
    let answering = async {
        person.is_asked(2).await;
        // In the other order.
        person.answers("c2", ApprovalDecision::Approved);
        person.answers("c1", ApprovalDecision::Denied { reason: Some("not that".to_owned()) });
    };
    let cancellation = CancellationToken::new();
    let (end, ()) = tokio::join!(session.run_turn("go on", &cancellation), answering);
    assert!(matches!(end, TurnEnd::Completed { .. }), "{end:?}");
    session.shutdown().await;
    let mut outputs = shown(&model);
    outputs.sort();
    let expected = [("c1", "not that"), ("c2", "did c2"), ("c3", "did c3")];
    assert_eq!(outputs, expected.map(|(id, text)| (id.to_owned(), text.to_owned())));
    assert_eq!(scene.log.lines(), ["run c3", "run c2"]);
    assert_eq!(scene.outputs_in_the_file(), 3);
    // Whoever goes on now finds nothing to ask.
    assert_eq!(scene.goes_on(|builder| builder.policy(Arc::new(Asks))).await.len(), 3);
    assert_eq!(scene.log.lines().len(), 2);
}

#[tokio::test]
async fn a_host_that_asks_nobody_has_the_model_told() {
    let scene = waiting().await;
    let mut outputs = scene.goes_on(|builder| builder.ask_again(false)).await;
    outputs.sort();
    let expected = [("c1", NOT_RUN), ("c2", NOT_RUN), ("c3", "did c3")];
    assert_eq!(outputs, expected.map(|(id, text)| (id.to_owned(), text.to_owned())));
    assert_eq!(scene.log.lines(), ["run c3"]);
}

#[tokio::test]
async fn a_call_that_is_asked_about_again_can_be_cancelled() {
    let scene = waiting().await;
    let person = Arc::new(Person::default());
    let model = Arc::new(ScriptedModel::new(Vec::<ScriptedTurn>::new()));
    let builder = scene.builder(&model).policy(Arc::new(Asks)).approver(Arc::clone(&person) as _);
    let mut session = builder.resume(&scene.tool.crash).build().await.unwrap();
    let cancellation = CancellationToken::new();
    let cancelling = async {
        person.is_asked(2).await;
        cancellation.cancel();
    };
    let (end, ()) = tokio::join!(session.run_turn("go on", &cancellation), cancelling);
    assert_eq!(end, TurnEnd::Interrupted);
    assert!(matches!(session.run_turn("again", &CancellationToken::new()).await, TurnEnd::Completed { .. }));
    session.shutdown().await;
    let outputs = shown(&model);
    assert_eq!(outputs.iter().filter(|(_, text)| text.starts_with("aborted by user after")).count(), 2);
    assert_eq!((scene.log.lines(), scene.outputs_in_the_file()), (vec!["run c3".to_owned()], 3));
}
