//! Hooks around prompts, the session's beginning, permission and the turn's end.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use support::{Events, Log, Script, build, builder, call, outputs, pair, sent};
use tenon_core::hooks::{
    HookConfig, PermissionRequest, PermissionRequestAction, PromptSubmit, PromptSubmitAction, SessionStart,
    SessionStartAction, Stop, StopAction,
};
use tenon_core::{Hook, Policy, PolicyDecision, Question, TurnEnd};
use tenon_tools::{
    ApprovalDecision, ApprovalRequest, Approver, CommandError, CommandOutcome, CommandRequest, CommandRunner,
    Effects, Event, ScriptedModel, ScriptedTurn, ToolInvocation,
};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Waits in its events until it is let go, if it is told to.
#[derive(Default)]
struct Waits {
    at_start: AtomicBool,
    at_prompt: AtomicBool,
    reached: Notify,
    starts: AtomicUsize,
}

#[async_trait]
impl Hook for Waits {
    async fn session_start(&self, _: &SessionStart) -> SessionStartAction {
        self.starts.fetch_add(1, Ordering::SeqCst);
        if self.at_start.load(Ordering::SeqCst) {
            self.reached.notify_one();
            std::future::pending::<()>().await;
        }
        SessionStartAction::default()
    }

    async fn prompt_submit(&self, _: &PromptSubmit) -> PromptSubmitAction {
        if self.at_prompt.load(Ordering::SeqCst) {
            self.reached.notify_one();
            std::future::pending::<()>().await;
        }
        PromptSubmitAction::default()
    }
}

#[tokio::test]
async fn the_wait_for_a_hook_before_a_prompt_can_be_cancelled_and_the_next_turn_asks_again() {
    for at_start in [true, false] {
        let events = Events::default();
        let model = Arc::new(ScriptedModel::new(Vec::<ScriptedTurn>::new()));
        let hook = Arc::new(Waits::default());
        hook.at_start.store(at_start, Ordering::SeqCst);
        hook.at_prompt.store(!at_start, Ordering::SeqCst);
        let mut session = build(builder(&model, &events).hook(Arc::clone(&hook) as _)).await;
        let cancellation = CancellationToken::new();
        let cancel = async {
            hook.reached.notified().await;
            cancellation.cancel();
        };
        let (end, ()) = tokio::join!(session.run_turn("go", &cancellation), cancel);
        assert_eq!((end, model.prompts().len()), (TurnEnd::Interrupted, 0));
        hook.at_start.store(false, Ordering::SeqCst);
        hook.at_prompt.store(false, Ordering::SeqCst);
        let end = session.run_turn("again", &CancellationToken::new()).await;
        assert_eq!(end, TurnEnd::Completed { last_message: Some("done".to_owned()) });
        assert_eq!(hook.starts.load(Ordering::SeqCst), if at_start { 2 } else { 1 });
        let texts: Vec<_> = sent(&model, 0).into_iter().map(|(_, _, text)| text).collect();
        assert!(!texts.contains(&"go".to_owned()) && texts.contains(&"again".to_owned()), "{texts:?}");
    }
}

/// Refuses prompts that are rude, and adds to the others.
struct Polite;

#[async_trait]
impl Hook for Polite {
    async fn prompt_submit(&self, event: &PromptSubmit) -> PromptSubmitAction {
        let rude = event.prompt.contains("now!");
        PromptSubmitAction {
            block: rude.then(|| "ask nicely".to_owned()),
            additional_context: Some(format!("about {}", event.prompt)),
        }
    }
}

#[tokio::test]
async fn what_is_said_meanwhile_is_asked_about_like_any_prompt() {
    for steering in ["please", "now!"] {
        let (log, events) = (Log::default(), Events::default());
        let model = Arc::new(ScriptedModel::new(vec![
            ScriptedTurn::items([call("a", "t", "wait")]),
            ScriptedTurn::items([support::said("done")]),
        ]));
        let tool = Script::new("t", &log);
        let release = Arc::clone(&tool.release);
        let mut session = build(builder(&model, &events).tool(tool).hook(Arc::new(Polite))).await;
        let handle = session.handle();
        let steer = async {
            events.wait_for(|event| matches!(event, Event::ItemStarted(_))).await;
            handle.steer(steering);
            release.add_permits(1);
        };
        let cancellation = CancellationToken::new();
        tokio::join!(session.run_turn("go", &cancellation), steer);
        let texts: Vec<_> = sent(&model, 1).into_iter().map(|(_, role, text)| (role, text)).collect();
        let row = |role: &str, text: &str| (role.to_owned(), text.to_owned());
        assert!(texts.contains(&row("developer", &format!("about {steering}"))), "{texts:?}");
        let is_taken = steering == "please";
        assert_eq!(texts.contains(&row("user", steering)), is_taken);
        let refused = "what was said meanwhile was refused: ask nicely".to_owned();
        assert_eq!(events.warnings().contains(&refused), !is_taken);
        assert_eq!(model.prompts().len(), 2);
    }
}

#[tokio::test]
async fn when_all_that_was_said_is_refused_the_model_is_not_asked_again() {
    let events = Events::default();
    let model = Arc::new(ScriptedModel::new(vec![ScriptedTurn::items([support::said("one")])]));
    let mut session = build(builder(&model, &events).hook(Arc::new(OneEnd::default()))).await;
    let handle = session.handle();
    handle.steer("now!");
    let end = session.run_turn("go", &CancellationToken::new()).await;
    assert_eq!(end, TurnEnd::Completed { last_message: Some("one".to_owned()) });
    assert_eq!(model.prompts().len(), 1);
    assert_eq!(events.warnings(), ["what was said meanwhile was refused: ask nicely"]);
}

/// Refuses what is rude; counts ends.
#[derive(Default)]
struct OneEnd(AtomicUsize);

#[async_trait]
impl Hook for OneEnd {
    async fn prompt_submit(&self, event: &PromptSubmit) -> PromptSubmitAction {
        let block = (event.prompt == "now!").then(|| "ask nicely".to_owned());
        PromptSubmitAction { block, additional_context: None }
    }

    async fn stop(&self, _: &Stop) -> StopAction {
        assert_eq!(self.0.fetch_add(1, Ordering::SeqCst), 0, "one end");
        StopAction::Continue
    }
}

/// Says something while the turn ends, and blocks nothing.
struct Late(Mutex<Option<tenon_core::SessionHandle>>);

#[async_trait]
impl Hook for Late {
    async fn stop(&self, _: &Stop) -> StopAction {
        if let Some(handle) = self.0.lock().unwrap().take() {
            handle.steer("late");
        }
        StopAction::Continue
    }
}

#[tokio::test]
async fn what_comes_too_late_for_a_turn_waits_for_the_next_one_and_its_hooks() {
    let events = Events::default();
    let model = Arc::new(ScriptedModel::new(Vec::<ScriptedTurn>::new()));
    let hook = Arc::new(Late(Mutex::default()));
    let mut session = build(builder(&model, &events).hook(Arc::clone(&hook) as _)).await;
    *hook.0.lock().unwrap() = Some(session.handle());
    session.run_turn("go", &CancellationToken::new()).await;
    let texts = |request| sent(&model, request).into_iter().map(|(_, _, text)| text).collect::<Vec<_>>();
    assert!(!texts(0).contains(&"late".to_owned()));
    session.run_turn("next", &CancellationToken::new()).await;
    assert!(texts(1).ends_with(&["next".to_owned(), "late".to_owned()]), "{:?}", texts(1));
}

struct Insists(&'static str);

#[async_trait]
impl Hook for Insists {
    async fn stop(&self, event: &Stop) -> StopAction {
        match event.stop_hook_active {
            false => StopAction::Block { reason: self.0.to_owned() },
            true => StopAction::Continue,
        }
    }
}

#[tokio::test]
async fn what_several_stop_hooks_say_is_one_message_in_parts() {
    let events = Events::default();
    let model = Arc::new(ScriptedModel::new(Vec::<ScriptedTurn>::new()));
    let builder = builder(&model, &events).hook(Arc::new(Insists("tests"))).hook(Arc::new(Insists("lint")));
    build(builder).await.run_turn("go", &CancellationToken::new()).await;
    assert_eq!(model.prompts().len(), 2);
    let last = serde_json::to_value(model.prompts()[1].input.last().unwrap().as_ref()).unwrap();
    assert_eq!(last["role"], "user");
    assert_eq!(
        last["content"],
        json!([{"type": "input_text", "text": "tests"}, {"type": "input_text", "text": "lint"}])
    );
}

struct Asks;

#[async_trait]
impl Policy for Asks {
    async fn decide(&self, _: &ToolInvocation, _: &Effects) -> PolicyDecision {
        PolicyDecision::Ask(Question::default())
    }
}

#[async_trait]
impl Approver for Asks {
    async fn approve(&self, _: ApprovalRequest) -> ApprovalDecision {
        ApprovalDecision::Denied { reason: Some("asked a person".to_owned()) }
    }
}

struct Permits(PermissionRequestAction, Arc<Mutex<Vec<Value>>>);

#[async_trait]
impl Hook for Permits {
    async fn permission_request(&self, event: &PermissionRequest) -> PermissionRequestAction {
        self.1.lock().unwrap().push(json!([event.tool_name, event.tool_input]));
        self.0.clone()
    }
}

#[tokio::test]
async fn a_hook_permits_denies_or_leaves_it_to_a_person() {
    let deny = PermissionRequestAction::Deny { message: "not by me".to_owned() };
    let rows = [
        (PermissionRequestAction::Allow, "did a"),
        (deny, "not by me"),
        (PermissionRequestAction::Undecided, "asked a person"),
    ];
    for (action, expected) in rows {
        let (log, events, heard) = (Log::default(), Events::default(), Arc::default());
        let model = Arc::new(ScriptedModel::new(vec![vec![call("a", "t", "echo")]]));
        let builder = builder(&model, &events)
            .tool(Script::new("t", &log))
            .policy(Arc::new(Asks))
            .approver(Arc::new(Asks))
            .hook(Arc::new(Permits(action, Arc::clone(&heard))));
        build(builder).await.run_turn("go", &CancellationToken::new()).await;
        assert_eq!(outputs(&model, 1), [pair("a", expected)]);
        assert_eq!(*heard.lock().unwrap(), [json!(["t", {"do": "echo", "text": "a"}])]);
    }
}

/// Runs nothing and says what would have been.
struct Records(Mutex<Vec<CommandRequest>>);

#[async_trait]
impl CommandRunner for Records {
    async fn run(&self, request: CommandRequest) -> Result<CommandOutcome, CommandError> {
        self.0.lock().unwrap().push(request);
        Ok(CommandOutcome {
            exit_code: Some(0),
            stdout: b"hello".to_vec(),
            stderr: Vec::new(),
            dropped_bytes: 0,
        })
    }
}

#[tokio::test]
async fn hooks_of_a_file_stand_in_the_order_they_were_added_and_what_is_left_out_is_told() {
    let file = json!({"hooks": {
        "SessionStart": [{"matcher": "resume", "hooks": [{"type": "command", "command": "never"}]},
                         {"matcher": "start", "hooks": [{"type": "command", "command": "welcome"}]}],
        "UserPromptSubmit": [{"hooks": [{"type": "command", "command": "branch"}, {"type": "prompt"}]}],
    }});
    let config = HookConfig::parse(&file.to_string(), Path::new("/h/hooks.json"));
    let events = Events::default();
    let model = Arc::new(ScriptedModel::new(Vec::<ScriptedTurn>::new()));
    let runner = Arc::new(Records(Mutex::default()));
    let builder = builder(&model, &events)
        .commands(Arc::clone(&runner) as _)
        .hook(Arc::new(Polite))
        .configured_hooks(config, BTreeMap::from([("HOME".into(), "/h".into())]));
    let mut session = build(builder).await;
    session.run_turn("go", &CancellationToken::new()).await;
    let commands: Vec<_> = runner.0.lock().unwrap().iter().map(|request| request.argv[2].clone()).collect();
    assert_eq!(commands, ["welcome", "branch"]);
    let start: Value = serde_json::from_slice(&runner.0.lock().unwrap()[0].stdin).unwrap();
    assert_eq!((&start["source"], start.get("turn_id")), (&json!("startup"), None));
    let texts: Vec<_> = sent(&model, 0).into_iter().map(|(_, _, text)| text).collect();
    assert_eq!(texts[0], "hello");
    assert_eq!(texts[2..], ["go", "about go", "hello"]);
    let first: Vec<_> = events.all().into_iter().take(2).collect();
    assert!(matches!(first[0], Event::SessionStarted { .. }));
    let Event::Warning { message } = &first[1] else { panic!("{first:?}") };
    assert_eq!(message, "skipping prompt hook in /h/hooks.json: prompt hooks are not supported yet");
}
