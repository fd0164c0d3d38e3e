//! In-process hooks: before the first side effect they may stop or change a call; after it they only look.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod support;

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use support::{Events, Log, Script, build, builder, call, custom, outputs, pair, sent};
use tenon_core::Hook;
use tenon_core::hooks::{
    PostToolUse, PostToolUseAction, PreDecision, PreToolUse, PreToolUseAction, PromptSubmit,
    PromptSubmitAction, SessionStart, SessionStartAction, Stop, StopAction,
};
use tenon_core::{Policy, PolicyDecision, Question, TurnEnd};
use tenon_tools::{
    ApprovalDecision, ApprovalRequest, Approver, Effects, LifecycleOutcome, ScriptedModel, ScriptedTurn,
    ToolInvocation,
};
use tokio_util::sync::CancellationToken;

/// A hook made of closures.
#[derive(Default)]
struct Says {
    pre: Option<PreToolUseAction>,
    post: Option<PostToolUseAction>,
    start: Option<String>,
    prompt: PromptSubmitAction,
    stops: Mutex<Vec<String>>,
    heard: Arc<Mutex<Vec<Value>>>,
    log: Option<Log>,
}

#[async_trait]
impl Hook for Says {
    async fn pre_tool_use(&self, event: &PreToolUse) -> PreToolUseAction {
        if let Some(log) = &self.log {
            log.add(format!("pre hook {}", event.tool_use_id));
        }
        self.heard
            .lock()
            .unwrap()
            .push(json!({"pre": event.tool_name, "input": event.tool_input, "id": event.tool_use_id}));
        self.pre.clone().unwrap_or_default()
    }

    async fn post_tool_use(&self, event: &PostToolUse) -> PostToolUseAction {
        let heard =
            json!({"post": event.tool_name, "input": event.tool_input, "response": event.tool_response});
        self.heard.lock().unwrap().push(heard);
        self.post.clone().unwrap_or_default()
    }

    async fn prompt_submit(&self, _: &PromptSubmit) -> PromptSubmitAction {
        self.prompt.clone()
    }

    async fn session_start(&self, _: &SessionStart) -> SessionStartAction {
        SessionStartAction { stop: None, additional_context: self.start.clone() }
    }

    async fn stop(&self, event: &Stop) -> StopAction {
        let next = self.stops.lock().unwrap().pop();
        let active = event.stop_hook_active;
        next.map_or(StopAction::Continue, |reason| StopAction::Block { reason: format!("{reason} {active}") })
    }
}

/// Runs one turn with these calls and hooks: what the model was sent back, and the log of the tools.
async fn run(
    calls: Vec<tenon_protocol::ResponseItem>,
    hooks: Vec<Says>,
) -> (Vec<(String, String, String)>, Vec<String>, Events, Arc<ScriptedModel>) {
    let (log, events) = (Log::default(), Events::default());
    let model = Arc::new(ScriptedModel::new(vec![calls.clone()]));
    let mut builder =
        builder(&model, &events).tool(Script::new("t", &log)).tool(Script::new("c", &log).custom());
    for hook in hooks {
        builder = builder.hook(Arc::new(hook));
    }
    let mut session = build(builder).await;
    let end = session.run_turn("go", &CancellationToken::new()).await;
    assert_eq!(end, TurnEnd::Completed { last_message: Some("done".to_owned()) });
    let back = sent(&model, 1).into_iter().skip(2 + calls.len()).collect();
    (back, log.lines(), events, model)
}

#[tokio::test]
async fn a_block_stops_the_call_before_it_is_prepared_and_the_context_is_told_all_the_same() {
    let mut action = PreToolUseAction::block("not today");
    action.additional_context = Some("try tomorrow".to_owned());
    let hook = Says { pre: Some(action), ..Says::default() };
    let (back, log, events, _) = run(vec![call("a", "t", "echo")], vec![hook]).await;
    let text = "Tool call blocked by PreToolUse hook: not today. Tool: t";
    assert_eq!(
        back,
        [
            ("message".to_owned(), "developer".to_owned(), "try tomorrow".to_owned()),
            ("function_call_output".to_owned(), "a".to_owned(), text.to_owned()),
        ]
    );
    assert_eq!(log, Vec::<String>::new());
    assert_eq!(events.outcomes(), [("a".to_owned(), LifecycleOutcome::Blocked)]);
    assert_eq!(events.completed_calls(), [("a".to_owned(), "Declined".to_owned())]);
}

#[tokio::test]
async fn a_rewrite_is_what_is_run_while_the_models_own_item_stays() {
    let hook = Says {
        pre: Some(PreToolUseAction::rewrite(json!({"do": "echo", "text": "other"}))),
        ..Says::default()
    };
    let (back, log, _, model) = run(vec![call("a", "t", "fail")], vec![hook]).await;
    assert_eq!(back[0].2, "did other");
    assert_eq!(log, ["prepare other", "run other", "done other"]);
    let own = serde_json::to_value(model.prompts()[1].input[2].as_ref()).unwrap();
    assert_eq!(own["arguments"], json!({"do": "fail", "text": "a"}).to_string());
}

#[tokio::test]
async fn a_block_beats_every_rewrite_and_contexts_come_in_configured_order() {
    let context = |text: &str, decision: PreDecision| Says {
        pre: Some(PreToolUseAction { decision, additional_context: Some(text.to_owned()) }),
        ..Says::default()
    };
    let hooks = vec![
        context("one", PreDecision::Rewrite { input: json!({}) }),
        context("two", PreDecision::Block { reason: "first".to_owned() }),
        context("three", PreDecision::Block { reason: "second".to_owned() }),
    ];
    let (back, ..) = run(vec![call("a", "t", "echo")], hooks).await;
    let texts: Vec<_> = back.into_iter().map(|(_, _, text)| text).collect();
    assert_eq!(texts, ["one", "two", "three", "Tool call blocked by PreToolUse hook: first. Tool: t"]);
}

#[tokio::test]
async fn contexts_of_parallel_calls_come_in_call_order_before_the_first_output() {
    let hook = Says {
        pre: Some(PreToolUseAction {
            decision: PreDecision::Continue,
            additional_context: Some("pre".to_owned()),
        }),
        post: Some(PostToolUseAction {
            additional_context: Some("post".to_owned()),
            ..PostToolUseAction::default()
        }),
        ..Says::default()
    };
    let (back, ..) = run(vec![call("a", "t", "echo"), call("b", "t", "fail")], vec![hook]).await;
    let texts: Vec<_> = back.into_iter().map(|(_, _, text)| text).collect();
    // The second call fails: no post hook hears of it.
    assert_eq!(texts, ["pre", "post", "pre", "did a", "failed b"]);
}

#[tokio::test]
async fn post_feedback_replaces_what_the_model_reads_and_is_no_error() {
    let hook = |feedback: Option<&str>, stop: Option<&str>| Says {
        post: Some(PostToolUseAction {
            feedback: feedback.map(str::to_owned),
            stop: stop.map(str::to_owned),
            ..PostToolUseAction::default()
        }),
        ..Says::default()
    };
    let rows = [
        (vec![hook(Some("one"), None), hook(Some("two"), None)], "one\n\ntwo"),
        (vec![hook(None, Some("enough"))], "enough"),
        (vec![hook(None, Some(" "))], "PostToolUse hook stopped execution"),
        (vec![hook(None, None)], "did a"),
    ];
    for (hooks, expected) in rows {
        let (back, log, events, _) = run(vec![call("a", "t", "echo")], hooks).await;
        assert_eq!(back, [("function_call_output".to_owned(), "a".to_owned(), expected.to_owned())]);
        assert_eq!(log, ["prepare a", "run a", "done a"]);
        assert_eq!(events.outcomes(), [("a".to_owned(), LifecycleOutcome::Completed { success: true })]);
    }
}

#[tokio::test]
async fn hooks_hear_of_function_tools_once_before_and_once_after_and_never_of_a_plain_custom_tool() {
    let hook = Says::default();
    let heard = Arc::clone(&hook.heard);
    run(vec![call("a", "t", "echo"), custom("b", "c", "echo")], vec![hook]).await;
    let input = json!({"do": "echo", "text": "a"});
    assert_eq!(
        *heard.lock().unwrap(),
        [
            json!({"pre": "t", "input": input, "id": "a"}),
            json!({"post": "t", "input": input, "response": "did a"}),
        ]
    );
}

struct Decides(PolicyDecision, Log);

#[async_trait]
impl Policy for Decides {
    async fn decide(&self, call: &ToolInvocation, _: &Effects) -> PolicyDecision {
        self.1.add(format!("policy {}", call.call_id));
        self.0.clone()
    }
}

struct Answers(ApprovalDecision, Log);

#[async_trait]
impl Approver for Answers {
    async fn approve(&self, request: ApprovalRequest) -> ApprovalDecision {
        self.1.add(format!("approver {}", request.call_id));
        self.0.clone()
    }
}

#[tokio::test]
async fn nothing_that_can_refuse_runs_after_the_first_side_effect() {
    let ask = PolicyDecision::Ask(Question::default());
    let denied = |reason: Option<&str>| ApprovalDecision::Denied { reason: reason.map(str::to_owned) };
    let rows = [
        (PolicyDecision::Allow, ApprovalDecision::Abort, "did a", true),
        (ask.clone(), ApprovalDecision::Approved, "did a", true),
        (ask.clone(), ApprovalDecision::ApprovedForSession, "did a", true),
        (ask.clone(), denied(None), "rejected by user", false),
        (ask.clone(), denied(Some("too risky")), "too risky", false),
        (ask, ApprovalDecision::TimedOut, "approval timed out", false),
        (
            PolicyDecision::Deny { text: "forbidden".to_owned() },
            ApprovalDecision::Approved,
            "forbidden",
            false,
        ),
    ];
    for (decision, answer, expected, runs) in rows {
        let (log, events) = (Log::default(), Events::default());
        let model = Arc::new(ScriptedModel::new(vec![vec![call("a", "t", "echo")]]));
        let asks = matches!(decision, PolicyDecision::Ask(_));
        let builder = builder(&model, &events)
            .tool(Script::new("t", &log))
            .hook(Arc::new(Says { log: Some(log.clone()), ..Says::default() }))
            .policy(Arc::new(Decides(decision, log.clone())))
            .approver(Arc::new(Answers(answer, log.clone())));
        let mut session = build(builder).await;
        session.run_turn("go", &CancellationToken::new()).await;
        assert_eq!(outputs(&model, 1), [pair("a", expected)]);
        let mut order = vec!["pre hook a", "prepare a", "policy a"];
        order.extend(asks.then_some("approver a"));
        // What was approved is looked at once more.
        order.extend((asks && runs).then_some("prepare a"));
        order.extend(["run a", "done a"].into_iter().filter(|_| runs));
        assert_eq!(log.lines(), order);
    }
}

#[tokio::test]
async fn a_tool_without_effects_is_not_asked_about() {
    let (log, events) = (Log::default(), Events::default());
    let model = Arc::new(ScriptedModel::new(vec![vec![call("a", "t", "echo")]]));
    let denies = Decides(PolicyDecision::Deny { text: "no".to_owned() }, log.clone());
    let builder = builder(&model, &events).tool(Script::new("t", &log).harmless()).policy(Arc::new(denies));
    build(builder).await.run_turn("go", &CancellationToken::new()).await;
    assert_eq!(outputs(&model, 1), [pair("a", "did a")]);
}

#[tokio::test]
async fn an_approver_who_aborts_ends_the_turn() {
    let (log, events) = (Log::default(), Events::default());
    let model = Arc::new(ScriptedModel::new(vec![vec![call("a", "t", "echo")]]));
    let builder = builder(&model, &events)
        .tool(Script::new("t", &log))
        .policy(Arc::new(Decides(PolicyDecision::Ask(Question::default()), log.clone())))
        .approver(Arc::new(Answers(ApprovalDecision::Abort, log.clone())));
    let mut session = build(builder).await;
    assert_eq!(session.run_turn("go", &CancellationToken::new()).await, TurnEnd::Interrupted);
    assert!(log.position("run a").is_none());
    assert_eq!(model.prompts().len(), 1);
}

#[tokio::test]
async fn session_start_prompt_and_stop_hooks_have_their_say() {
    let (log, events) = (Log::default(), Events::default());
    let model = Arc::new(ScriptedModel::new(Vec::<ScriptedTurn>::new()));
    let hook = Says {
        start: Some("welcome".to_owned()),
        prompt: PromptSubmitAction { block: None, additional_context: Some("beside".to_owned()) },
        stops: Mutex::new(vec!["again".to_owned(), "more".to_owned()]),
        ..Says::default()
    };
    let builder = builder(&model, &events).tool(Script::new("t", &log)).hook(Arc::new(hook));
    let mut session = build(builder).await;
    session.run_turn("go", &CancellationToken::new()).await;
    let texts =
        |request| sent(&model, request).into_iter().map(|(_, role, text)| (role, text)).collect::<Vec<_>>();
    let row = |role: &str, text: &str| (role.to_owned(), text.to_owned());
    assert_eq!(texts(0)[0], row("developer", "welcome"));
    assert_eq!(texts(0)[2..], [row("user", "go"), row("developer", "beside")]);
    assert_eq!(texts(1)[4..], [row("assistant", "done"), row("user", "more false")]);
    assert_eq!(texts(2)[6..], [row("assistant", "done"), row("user", "again true")]);
    assert_eq!(model.prompts().len(), 3);
}

#[tokio::test]
async fn a_blocked_prompt_is_not_recorded_but_its_context_is() {
    let (log, events) = (Log::default(), Events::default());
    let model = Arc::new(ScriptedModel::new(Vec::<ScriptedTurn>::new()));
    let prompt =
        PromptSubmitAction { block: Some("no".to_owned()), additional_context: Some("beside".to_owned()) };
    let hook = Says { prompt, ..Says::default() };
    let mut session = build(builder(&model, &events).tool(Script::new("t", &log)).hook(Arc::new(hook))).await;
    let end = session.run_turn("go", &CancellationToken::new()).await;
    assert_eq!(end, TurnEnd::Refused { reason: "no".to_owned() });
    assert_eq!(model.prompts().len(), 0);
    let kept: Vec<_> = session.history().items().iter().map(|item| support::brief(item)).collect();
    assert_eq!(kept.len(), 2);
    assert_eq!(kept[1], ("message".to_owned(), "developer".to_owned(), "beside".to_owned()));
}
