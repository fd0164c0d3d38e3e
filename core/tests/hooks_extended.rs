//! Extended hooks: they hear of everything before anybody sees it, and what they put in its place is all that is left.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod support;

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use support::{Events, Log, Script, build, builder, call, item, outputs, pair, sent};
use tenon_core::hooks::{
    HookContract, OnError, PostToolUse, PostToolUseAction, PreToolUse, PreToolUseAction, PromptSubmit,
    PromptSubmitAction, SessionStart, SessionStartAction, Stop, StopAction,
};
use tenon_core::{Hook, TurnEnd};
use tenon_protocol::{ItemStatus, ResponseItem, ToolName, TurnItem};
use tenon_tools::{
    Effects, Event, ExecCommandToolOutput, FileEffect, FunctionCallError, HookIdentity, HookInputForm,
    LifecycleOutcome, PreparedCall, ScriptedModel, ScriptedTurn, ShownAs, ToolCall, ToolCallSource,
    ToolExecutor, ToolInvocation, ToolOutput, ToolPayload, ToolSpec,
};
use tokio_util::sync::CancellationToken;

const SECRET: &str = "TOKEN=EXAMPLE-0123456789abcdef";

/// What an extended hook does with what it hears.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Filter {
    Looks,
    Hides,
    Objects,
    Panics,
    Hangs,
}

/// An extended hook; it keeps what it hears.
struct Watch {
    filter: Filter,
    extended: bool,
    rewrite: Option<Value>,
    heard: Arc<Mutex<Vec<Value>>>,
}

impl Watch {
    fn new(filter: Filter) -> Self {
        Self { filter, extended: true, rewrite: None, heard: Arc::default() }
    }
}

#[async_trait]
impl Hook for Watch {
    fn name(&self) -> &str {
        "watch"
    }

    fn contract(&self) -> HookContract {
        HookContract { extended: self.extended, on_error: OnError::Allow }
    }

    async fn pre_tool_use(&self, event: &PreToolUse) -> PreToolUseAction {
        self.heard.lock().unwrap().push(json!({"before": event.tool_input, "paths": event.paths}));
        self.rewrite.clone().map(PreToolUseAction::rewrite).unwrap_or_default()
    }

    async fn post_tool_use(&self, event: &PostToolUse) -> PostToolUseAction {
        self.heard.lock().unwrap().push(json!({
            "after": event.tool_input, "original": event.original_input, "response": event.tool_response,
            "success": event.success, "exit_code": event.exit_code, "finished": event.finished,
        }));
        let text = event.tool_response.to_string();
        let mut action = PostToolUseAction::default();
        match self.filter {
            Filter::Looks => {}
            Filter::Hides if text.contains(SECRET) => {
                action.updated_output = serde_json::from_str(&text.replace(SECRET, "***")).ok();
            }
            Filter::Hides => {}
            Filter::Objects => action.feedback = Some("look again".to_owned()),
            Filter::Panics => panic!("broken {SECRET}"),
            Filter::Hangs => std::future::pending().await,
        }
        action
    }
}

/// A shell that prints what it is told to, in the way of a real one: an item of its own, deltas, a session.
struct Shell(ToolName);

struct Running {
    id: String,
    told: Value,
    effects: Effects,
}

#[async_trait]
impl ToolExecutor for Shell {
    fn name(&self) -> &ToolName {
        &self.0
    }

    fn spec(&self) -> ToolSpec {
        ToolSpec::function(self.0.name(), "Prints.", tenon_tools::JsonSchema::object([], &[]))
    }

    fn waits_for_cancellation(&self) -> bool {
        true
    }

    fn hook_identity(&self) -> Option<HookIdentity> {
        Some(HookIdentity::named("Bash".into(), HookInputForm::CommandMember { member: "cmd" }))
    }

    async fn prepare(&self, call: &ToolInvocation) -> Result<Box<dyn PreparedCall>, FunctionCallError> {
        let ToolPayload::Function { arguments } = &call.payload else { panic!("a function") };
        let told: Value = serde_json::from_str(arguments).unwrap();
        if told["refuse"] == true {
            return Err(FunctionCallError::respond(format!("refused {SECRET}")));
        }
        let writes = told["cmd"]
            .as_str()
            .filter(|cmd| cmd.starts_with('/'))
            .map(|path| FileEffect { path: path.into(), content: None });
        let effects = Effects {
            writes: writes.into_iter().collect(),
            other: Some("prints".to_owned()),
            ..Effects::none()
        };
        Ok(Box::new(Running { id: call.call_id.to_string(), told, effects }))
    }
}

impl Running {
    fn item(&self, output: &str, code: Option<i32>, status: ItemStatus) -> TurnItem {
        TurnItem::CommandExecution {
            id: self.id.clone(),
            command: vec!["sh".to_owned()],
            aggregated_output: output.to_owned(),
            exit_code: code,
            status,
        }
    }
}

#[async_trait]
impl PreparedCall for Running {
    fn effects(&self) -> &Effects {
        &self.effects
    }

    fn shown_as(&self) -> ShownAs {
        ShownAs::Item(self.item("", None, ItemStatus::InProgress))
    }

    async fn run(self: Box<Self>, call: &ToolInvocation) -> Result<Box<dyn ToolOutput>, FunctionCallError> {
        let events = &call.host.events;
        let chunk = SECRET.as_bytes().to_vec();
        events.emit(Event::ExecOutputDelta { call_id: call.call_id.clone(), chunk });
        events.emit(Event::ItemUpdated(self.item(SECRET, None, ItemStatus::InProgress)));
        if self.told["fail"] == true {
            return Err(FunctionCallError::respond(format!("failed {SECRET}")));
        }
        if self.told["fatal"] == true {
            return Err(FunctionCallError::Fatal(format!("broken {SECRET}")));
        }
        if self.told["panic"] == true {
            panic!("no words of this");
        }
        if self.told["teardown"] == true {
            call.cancellation.cancelled().await;
            events.emit(Event::ItemCompleted(self.item(SECRET, Some(137), ItemStatus::Failed)));
            let message = format!("aborted by user\nOutput:\n{SECRET}");
            return Ok(Box::new(tenon_tools::AbortedToolOutput { message }));
        }
        let runs_on = self.told["background"] == true;
        let code = i32::try_from(self.told["code"].as_i64().unwrap_or(0)).unwrap();
        let end = Event::ItemCompleted(self.item(
            &format!("{SECRET} and later"),
            Some(code),
            ItemStatus::Completed,
        ));
        if runs_on {
            let events = Arc::clone(events);
            let cancelled = call.cancellation.clone();
            tokio::spawn(async move {
                cancelled.cancelled().await;
                events.emit(end);
            });
        } else {
            events.emit(end);
        }
        Ok(Box::new(ExecCommandToolOutput {
            raw_output: SECRET.as_bytes().to_vec(),
            exit_code: (!runs_on).then_some(code),
            process_id: runs_on.then_some(1),
            hook_command: self.told["cmd"].as_str().map(str::to_owned),
            ..ExecCommandToolOutput::default()
        }))
    }
}

fn shell() -> Shell {
    Shell(ToolName::plain("sh"))
}

fn sh(arguments: &Value) -> ResponseItem {
    item(&json!({"type": "function_call", "name": "sh", "call_id": "a", "arguments": arguments.to_string()}))
}

/// What came of one call of the shell.
struct Came {
    output: String,
    heard: Vec<Value>,
    events: Events,
    rollout: String,
    end: TurnEnd,
}

async fn run(arguments: Value, hooks: Vec<Watch>) -> Came {
    let (home, events) = (tempfile::tempdir().unwrap(), Events::default());
    let model = Arc::new(ScriptedModel::new(vec![vec![sh(&arguments)]]));
    let heard = hooks.first().map(|hook| Arc::clone(&hook.heard)).unwrap_or_default();
    let mut builder = builder(&model, &events).tool(shell()).rollout_in(home.path());
    for hook in hooks {
        builder = builder.hook(Arc::new(hook));
    }
    let mut session = build(builder).await;
    let end = session.run_turn("go", &CancellationToken::new()).await;
    let file = session.rollout_path().unwrap().to_owned();
    session.shutdown().await;
    let output = if model.prompts().len() > 1 { outputs(&model, 1)[0].1.clone() } else { String::new() };
    let heard = heard.lock().unwrap().clone();
    Came { output, heard, events, rollout: std::fs::read_to_string(file).unwrap(), end }
}

/// Everything that a watcher was told, as text.
fn watched(events: &Events) -> String {
    format!("{:?}", events.all())
}

#[tokio::test]
async fn an_extended_hook_is_told_of_failures_exit_codes_and_the_original_input() {
    let after = |input: &str, response: &str, success: bool, exit_code: Option<i32>, finished: bool| {
        json!({"after": {"command": input}, "original": null, "response": response, "success": success,
               "exit_code": exit_code, "finished": finished})
    };
    let rows = [
        (json!({"cmd": "x"}), Some(after("x", SECRET, true, Some(0), true))),
        (json!({"cmd": "x", "code": 1}), Some(after("x", SECRET, false, Some(1), true))),
        (json!({"cmd": "x", "background": true}), Some(after("x", SECRET, true, None, false))),
        (json!({"cmd": "x", "fail": true}), Some(after("x", &format!("failed {SECRET}"), false, None, true))),
        (
            json!({"cmd": "x", "refuse": true}),
            Some(after("x", &format!("refused {SECRET}"), false, None, true)),
        ),
        (
            json!({"cmd": "x", "fatal": true}),
            Some(after("x", &format!("broken {SECRET}"), false, None, true)),
        ),
        (
            json!({"cmd": "x", "panic": true}),
            Some(after("x", "tool sh failed unexpectedly", false, None, true)),
        ),
    ];
    for (arguments, expected) in rows {
        let heard = run(arguments.clone(), vec![Watch::new(Filter::Looks)]).await.heard;
        let afterwards: Vec<_> = heard.into_iter().filter(|event| event.get("after").is_some()).collect();
        assert_eq!(afterwards, expected.into_iter().collect::<Vec<_>>(), "{arguments}");
        let plain = Watch { extended: false, ..Watch::new(Filter::Looks) };
        let heard = run(arguments.clone(), vec![plain]).await.heard;
        let afterwards = heard.iter().filter(|event| event.get("after").is_some()).count();
        let is_plain =
            ["background", "fail", "refuse", "fatal", "panic"].iter().all(|w| arguments.get(w).is_none());
        assert_eq!(afterwards, usize::from(is_plain), "{arguments}");
    }
}

#[tokio::test]
async fn a_rewritten_call_is_told_with_what_was_asked_for() {
    let hook = Watch { rewrite: Some(json!({"command": "/other"})), ..Watch::new(Filter::Looks) };
    let heard = run(json!({"cmd": "/one"}), vec![hook]).await.heard;
    assert_eq!(heard[0], json!({"before": {"command": "/one"}, "paths": ["/one"]}));
    assert_eq!(heard[1]["after"], json!({"command": "/other"}));
    assert_eq!(heard[1]["original"], json!({"command": "/one"}));
}

#[tokio::test]
async fn the_paths_of_a_call_are_known_before_it_and_none_where_it_does_not_parse() {
    let paths = async |arguments: Value| {
        run(arguments, vec![Watch::new(Filter::Looks)]).await.heard[0]["paths"].clone()
    };
    assert_eq!(paths(json!({"cmd": "/a"})).await, json!(["/a"]));
    assert_eq!(paths(json!({"cmd": "a"})).await, json!([]));
    assert_eq!(paths(json!({"cmd": "/a", "refuse": true})).await, json!(null));
    let plain = Watch { extended: false, ..Watch::new(Filter::Looks) };
    assert_eq!(run(json!({"cmd": "/a"}), vec![plain]).await.heard[0]["paths"], json!(null));
}

#[tokio::test]
async fn what_a_hook_hides_is_seen_by_nobody_and_lies_in_no_file() {
    let rows = [
        (json!({"cmd": "x"}), "Wall time: 0.0000 seconds\nProcess exited with code 0\nOutput:\n***"),
        (
            json!({"cmd": "x", "code": 2}),
            "Wall time: 0.0000 seconds\nProcess exited with code 2\nOutput:\n***",
        ),
        (
            json!({"cmd": "x", "background": true}),
            "Wall time: 0.0000 seconds\nProcess running with session ID 1\nOutput:\n***",
        ),
        (json!({"cmd": "x", "fail": true}), "failed ***"),
        (json!({"cmd": "x", "refuse": true}), "refused ***"),
    ];
    for (arguments, expected) in rows {
        let came = run(arguments.clone(), vec![Watch::new(Filter::Hides)]).await;
        assert_eq!(came.output, expected, "{arguments}");
        assert!(!came.rollout.contains(SECRET), "{arguments}");
        assert!(!watched(&came.events).contains(SECRET), "{arguments}");
        // Without the hook it is everywhere.
        let bare = run(arguments.clone(), Vec::new()).await;
        assert!(bare.rollout.contains(SECRET) && bare.output.contains(SECRET), "{arguments}");
    }
    let came = run(json!({"cmd": "x", "fatal": true}), vec![Watch::new(Filter::Hides)]).await;
    assert_eq!(came.end, TurnEnd::Failed { message: "broken ***".to_owned() });
    assert!(!came.rollout.contains(SECRET) && !watched(&came.events).contains(SECRET));
}

/// The texts of the call's own item as it was completed.
fn completed(events: &Events) -> Vec<(String, Option<i32>)> {
    let all = events.all().into_iter();
    all.filter_map(|event| match event {
        Event::ItemCompleted(TurnItem::CommandExecution { aggregated_output, exit_code, .. }) => {
            Some((aggregated_output, exit_code))
        }
        _ => None,
    })
    .collect()
}

#[tokio::test]
async fn the_clients_item_is_completed_once_with_what_the_hook_has_seen_or_left() {
    let came = run(json!({"cmd": "x"}), vec![Watch::new(Filter::Hides)]).await;
    assert_eq!(completed(&came.events), [("***".to_owned(), Some(0))]);
    // Not with the transcript: what is in there and not in the output, no hook has seen.
    let came = run(json!({"cmd": "x"}), vec![Watch::new(Filter::Looks)]).await;
    assert_eq!(completed(&came.events), [(SECRET.to_owned(), Some(0))]);
    let came = run(json!({"cmd": "x"}), vec![Watch { extended: false, ..Watch::new(Filter::Looks) }]).await;
    assert_eq!(completed(&came.events), [(format!("{SECRET} and later"), Some(0))]);
    for arguments in [json!({"cmd": "x", "fail": true}), json!({"cmd": "x", "panic": true})] {
        let came = run(arguments.clone(), vec![Watch::new(Filter::Looks)]).await;
        assert_eq!(completed(&came.events), [(String::new(), None)], "{arguments}");
        assert_eq!(came.events.completed_calls(), [pair("a", "Failed")]);
    }
}

#[tokio::test]
async fn what_a_command_prints_on_its_own_after_its_call_is_withheld_from_clients() {
    let events = Events::default();
    let model = Arc::new(ScriptedModel::new(vec![vec![sh(&json!({"cmd": "x", "background": true}))]]));
    let builder = builder(&model, &events).tool(shell()).hook(Arc::new(Watch::new(Filter::Hides)));
    let cancellation = CancellationToken::new();
    build(builder).await.run_turn("go", &cancellation).await;
    assert_eq!(completed(&events), []);
    cancellation.cancel();
    events.wait_for(|event| matches!(event, Event::ItemCompleted(TurnItem::CommandExecution { .. }))).await;
    assert_eq!(
        completed(&events),
        [("[withheld: no hook has looked at all of this output]".to_owned(), Some(0))]
    );
}

#[tokio::test]
async fn a_hook_that_fails_is_told_apart_from_what_the_call_has_done() {
    let came = run(json!({"cmd": "x", "code": 3}), vec![Watch::new(Filter::Panics)]).await;
    let text = "PostToolUse hook failed: the hook failed unexpectedly. The call itself ended with exit code 3. \
                Its output is withheld.";
    assert_eq!(
        came.output,
        format!("Wall time: 0.0000 seconds\nProcess exited with code 3\nOutput:\n{text}")
    );
    assert_eq!(completed(&came.events), [(text.to_owned(), Some(3))]);
    assert_eq!(came.events.outcomes(), [("a".to_owned(), LifecycleOutcome::Completed { success: true })]);
    assert!(!came.rollout.contains(SECRET));
    let warnings = came.events.warnings();
    assert_eq!(
        warnings,
        [
            format!("PostToolUse hook watch: panicked: broken {SECRET}"),
            "PostToolUse hook watch failed, which counts as an objection: the hook failed unexpectedly"
                .to_owned(),
        ]
    );
}

#[tokio::test]
async fn feedback_on_a_failure_is_what_the_model_reads() {
    let came = run(json!({"cmd": "x", "fail": true}), vec![Watch::new(Filter::Objects)]).await;
    assert_eq!(came.output, "look again");
    assert_eq!(
        came.events.outcomes(),
        [("a".to_owned(), LifecycleOutcome::Failed { handler_executed: true })]
    );
}

#[tokio::test]
async fn a_hook_that_is_not_extended_cannot_put_another_output_in_place() {
    let plain = Watch { extended: false, ..Watch::new(Filter::Hides) };
    let came = run(json!({"cmd": "x"}), vec![plain]).await;
    assert!(came.output.ends_with(SECRET), "{}", came.output);
    assert_eq!(
        came.events.warnings(),
        [
            "PostToolUse hook watch failed, which counts as no objection: the hook put another output in place and is \
          not extended"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn what_hooks_have_not_looked_at_in_time_is_withheld_when_the_call_is_cancelled() {
    for (arguments, code) in [(json!({"cmd": "x"}), 0), (json!({"cmd": "x", "teardown": true}), 137)] {
        for (filter, is_withheld) in [(Filter::Hangs, true), (Filter::Hides, false)] {
            let (home, events) = (tempfile::tempdir().unwrap(), Events::default());
            let model = Arc::new(ScriptedModel::new(vec![vec![sh(&arguments)]]));
            let builder = builder(&model, &events).tool(shell()).rollout_in(home.path());
            let mut session = build(builder.hook(Arc::new(Watch::new(filter)))).await;
            let cancellation = CancellationToken::new();
            let cancel = async {
                events.wait_for(|event| matches!(event, Event::ItemStarted(_))).await;
                cancellation.cancel();
            };
            tokio::join!(session.run_turn("go", &cancellation), cancel);
            let file = session.rollout_path().unwrap().to_owned();
            session.shutdown().await;
            let rollout = std::fs::read_to_string(file).unwrap();
            assert!(!rollout.contains(SECRET));
            assert!(!watched(&events).contains(SECRET));
            let notice = "The call was cancelled before the PostToolUse hooks had looked at its output. The output \
                          is withheld.";
            assert_eq!(rollout.contains(notice), is_withheld, "{arguments} {rollout}");
            assert_eq!(completed(&events).len(), 1);
            assert_eq!(completed(&events)[0].1, Some(code));
        }
    }
}

/// Calls the shell as a script does.
struct Calls;

#[async_trait]
impl ToolExecutor for Calls {
    fn name(&self) -> &ToolName {
        static NAME: std::sync::LazyLock<ToolName> = std::sync::LazyLock::new(|| ToolName::plain("calls"));
        &NAME
    }

    fn spec(&self) -> ToolSpec {
        ToolSpec::function("calls", "Calls.", tenon_tools::JsonSchema::object([], &[]))
    }

    fn hook_identity(&self) -> Option<HookIdentity> {
        None
    }

    async fn prepare(&self, call: &ToolInvocation) -> Result<Box<dyn PreparedCall>, FunctionCallError> {
        let ToolPayload::Function { arguments } = &call.payload else { panic!("a function") };
        Ok(Box::new(Nested(arguments.clone(), Effects::none())))
    }
}

struct Nested(String, Effects);

#[async_trait]
impl PreparedCall for Nested {
    fn effects(&self) -> &Effects {
        &self.1
    }

    async fn run(self: Box<Self>, call: &ToolInvocation) -> Result<Box<dyn ToolOutput>, FunctionCallError> {
        let nested = ToolCall {
            tool_name: ToolName::plain("sh"),
            call_id: "exec-1".into(),
            payload: ToolPayload::Function { arguments: self.0 },
            encrypted_function_args: None,
        };
        let source = ToolCallSource::CodeMode { cell_id: "1".into(), runtime_tool_call_id: "tool-1".into() };
        let value = call.host.tools.call(nested, source, CancellationToken::new()).await;
        let text = match value {
            Ok(value) => value["output"].to_string(),
            Err(error) => format!("error: {}", error.text()),
        };
        Ok(Box::new(tenon_tools::FunctionToolOutput::from_text(text, Some(true))))
    }
}

#[tokio::test]
async fn a_script_sees_what_the_hook_has_left_and_the_model_hears_its_words() {
    let words = |text: &str| vec![("message".to_owned(), "developer".to_owned(), text.to_owned())];
    let rows = [
        (json!({"cmd": "x"}), Filter::Hides, "\"***\"".to_owned(), Vec::new()),
        (json!({"cmd": "x", "fail": true}), Filter::Hides, "error: failed ***".to_owned(), Vec::new()),
        (json!({"cmd": "x"}), Filter::Objects, format!("\"{SECRET}\""), words("look again")),
        (
            json!({"cmd": "x", "fail": true}),
            Filter::Objects,
            format!("error: failed {SECRET}"),
            words("look again"),
        ),
    ];
    for (arguments, filter, output, told) in rows {
        let events = Events::default();
        let outer = item(&json!({"type": "function_call", "name": "calls", "call_id": "o",
                                 "arguments": arguments.to_string()}));
        let model = Arc::new(ScriptedModel::new(vec![vec![outer]]));
        let builder = builder(&model, &events).tool(shell()).tool(Calls).hook(Arc::new(Watch::new(filter)));
        build(builder).await.run_turn("go", &CancellationToken::new()).await;
        let back: Vec<_> = sent(&model, 1).into_iter().skip(3).collect();
        let (answer, before) = back.split_last().unwrap();
        assert_eq!(answer.2, output, "{arguments}");
        assert_eq!(before, told, "{arguments}");
    }
}

/// A hook that panics whatever it hears.
struct Broken(OnError);

#[async_trait]
impl Hook for Broken {
    fn contract(&self) -> HookContract {
        HookContract { extended: false, on_error: self.0 }
    }

    async fn pre_tool_use(&self, _: &PreToolUse) -> PreToolUseAction {
        panic!("pre")
    }

    async fn post_tool_use(&self, _: &PostToolUse) -> PostToolUseAction {
        panic!("post")
    }

    async fn prompt_submit(&self, _: &PromptSubmit) -> PromptSubmitAction {
        panic!("prompt")
    }

    async fn session_start(&self, _: &SessionStart) -> SessionStartAction {
        panic!("start")
    }

    async fn stop(&self, _: &Stop) -> StopAction {
        panic!("stop")
    }
}

#[tokio::test]
async fn a_panicking_hook_is_its_own_failure_and_nobody_elses() {
    let (log, events) = (Log::default(), Events::default());
    let model = Arc::new(ScriptedModel::new(vec![vec![call("a", "t", "echo")]]));
    let builder =
        builder(&model, &events).tool(Script::new("t", &log)).hook(Arc::new(Broken(OnError::Allow)));
    let end = build(builder).await.run_turn("go", &CancellationToken::new()).await;
    assert_eq!(end, TurnEnd::Completed { last_message: Some("done".to_owned()) });
    assert_eq!(outputs(&model, 1), [pair("a", "did a")]);
    let panicked = events.warnings().into_iter().filter(|warning| warning.contains("panicked: ")).count();
    assert_eq!(panicked, 5);
}

#[tokio::test]
async fn a_panicking_hook_that_is_closed_keeps_the_session_from_beginning() {
    let (log, events) = (Log::default(), Events::default());
    let model = Arc::new(ScriptedModel::new(Vec::<ScriptedTurn>::new()));
    let builder =
        builder(&model, &events).tool(Script::new("t", &log)).hook(Arc::new(Broken(OnError::Block)));
    let end = build(builder).await.run_turn("go", &CancellationToken::new()).await;
    assert_eq!(end, TurnEnd::Refused { reason: "the hook failed unexpectedly".to_owned() });
    assert_eq!(model.prompts().len(), 0);
}
