//! A turn seen from outside: a scripted model on one side, tools that do as they are told on the other.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod support;

use std::sync::Arc;

use async_trait::async_trait;
use pretty_assertions::assert_eq;
use serde_json::json;
use support::{Events, Log, Script, brief, build, builder, call, custom, item, outputs, pair, said, sent};
use tenon_core::{INTERRUPT_MARKER, TurnEnd};
use tenon_protocol::{CallId, ResponseEvent};
use tenon_tools::{
    BetweenTurns, Event, EventSink, LifecycleOutcome, ScriptedModel, ScriptedTurn, TurnEnding,
};
use tokio_util::sync::CancellationToken;

fn model(turns: Vec<Vec<tenon_protocol::ResponseItem>>) -> Arc<ScriptedModel> {
    Arc::new(ScriptedModel::new(turns))
}

fn completed(text: &str) -> TurnEnd {
    TurnEnd::Completed { last_message: Some(text.to_owned()) }
}

#[tokio::test]
async fn calls_come_first_then_outputs_in_call_order_whatever_order_they_finish_in() {
    let (log, events) = (Log::default(), Events::default());
    let model =
        model(vec![vec![call("a", "t", "wait"), call("b", "t", "echo"), said("hm"), call("c", "t", "fail")]]);
    let tool = Script::new("t", &log);
    let release = Arc::clone(&tool.release);
    let mut session = build(builder(&model, &events).tool(tool)).await;
    let turn = async {
        let end = session.run_turn("go", &CancellationToken::new()).await;
        assert_eq!(end, completed("done"));
    };
    let others = async {
        events
            .wait_for(|event| matches!(event, Event::CallEnded { call_id, .. } if call_id.as_str() == "c"))
            .await;
        release.add_permits(1);
    };
    tokio::join!(turn, others);
    let kinds: Vec<_> = sent(&model, 1).into_iter().skip(2).collect();
    let row = |kind: &str, id: &str, text: &str| (kind.to_owned(), id.to_owned(), text.to_owned());
    assert_eq!(
        kinds,
        [
            row("function_call", "a", "t"),
            row("function_call", "b", "t"),
            row("message", "assistant", "hm"),
            row("function_call", "c", "t"),
            row("function_call_output", "a", "did a"),
            row("function_call_output", "b", "did b"),
            row("function_call_output", "c", "failed c"),
        ]
    );
}

#[tokio::test]
async fn a_panicking_a_hanging_and_a_failing_tool_leave_one_output_each_and_their_siblings_alone() {
    let (log, events) = (Log::default(), Events::default());
    let model = model(vec![vec![
        call("p", "t", "panic"),
        call("h", "t", "hang"),
        call("e", "t", "echo"),
        call("f", "t", "fail"),
        call("r", "t", "refuse"),
        call("x", "nope", "echo"),
    ]]);
    let mut session = build(builder(&model, &events).tool(Script::new("t", &log))).await;
    let handle = session.handle();
    let turn = async {
        assert_eq!(session.run_turn("go", &CancellationToken::new()).await, completed("done"));
    };
    let cancel = async {
        events
            .wait_for(|event| matches!(event, Event::CallEnded { call_id, .. } if call_id.as_str() == "r"))
            .await;
        assert!(handle.cancel_call(&CallId::from("h")));
    };
    tokio::join!(turn, cancel);
    assert_eq!(
        outputs(&model, 1),
        [
            pair("p", "tool t failed unexpectedly"),
            pair("h", "aborted by user after 0.1s"),
            pair("e", "did e"),
            pair("f", "failed f"),
            pair("r", "refused r"),
            pair("x", "unsupported call: nope"),
        ]
    );
    let mut ended = events.outcomes();
    ended.sort_by(|a, b| a.0.cmp(&b.0));
    let failed = |handler_executed| LifecycleOutcome::Failed { handler_executed };
    assert_eq!(
        ended,
        [
            ("e".to_owned(), LifecycleOutcome::Completed { success: true }),
            ("f".to_owned(), failed(true)),
            ("h".to_owned(), LifecycleOutcome::Aborted),
            ("p".to_owned(), failed(true)),
            ("r".to_owned(), failed(false)),
        ]
    );
    let mut seen = events.completed_calls();
    seen.sort();
    let status = |id: &str, status: &str| (id.to_owned(), status.to_owned());
    assert_eq!(
        seen,
        [
            status("e", "Completed"),
            status("f", "Failed"),
            status("h", "Failed"),
            status("p", "Failed"),
            status("r", "Failed"),
            status("x", "Failed"),
        ]
    );
    assert_eq!(events.warnings(), ["tool t panicked: panicked p"]);
}

#[tokio::test]
async fn a_payload_of_the_wrong_kind_fails_the_turn_after_its_siblings_and_the_thread_goes_on() {
    let (log, events) = (Log::default(), Events::default());
    let model = model(vec![vec![call("a", "t", "echo"), custom("b", "t", "echo"), call("c", "t", "echo")]]);
    let mut session = build(builder(&model, &events).tool(Script::new("t", &log))).await;
    let never = CancellationToken::new();
    let end = session.run_turn("go", &never).await;
    assert_eq!(end, TurnEnd::Failed { message: "tool t invoked with incompatible payload".to_owned() });
    assert_eq!(session.run_turn("on", &never).await, completed("done"));
    assert_eq!(outputs(&model, 1), [pair("b", "aborted"), pair("a", "did a"), pair("c", "did c")]);
}

#[tokio::test]
async fn what_came_before_a_stream_broke_runs_once_and_its_output_is_in_the_retry() {
    let (log, events) = (Log::default(), Events::default());
    // Created, then the first call; the second one never arrives.
    let broken = ScriptedTurn::items([call("a", "t", "echo"), call("never", "t", "echo")]).cut_after(2);
    let model = Arc::new(ScriptedModel::new([broken, ScriptedTurn::message("fine")]));
    let mut session = build(builder(&model, &events).tool(Script::new("t", &log))).await;
    let end = session.run_turn("go", &CancellationToken::new()).await;
    assert_eq!(end, completed("fine"));
    assert_eq!(log.lines(), ["prepare a", "run a", "done a"]);
    assert_eq!(outputs(&model, 1), [pair("a", "did a")]);
    assert_eq!(model.prompts().len(), 2);
    let retries = events.all().into_iter().filter(|event| matches!(event, Event::Retrying { .. })).count();
    assert_eq!(retries, 1);
}

#[tokio::test]
async fn interrupting_a_turn_answers_every_call_and_says_so() {
    let (log, events) = (Log::default(), Events::default());
    let model = model(vec![vec![
        call("a", "t", "echo"),
        call("h", "t", "hang"),
        call("d", "d", "hang"),
        call("q", "x", "echo"),
    ]]);
    let exclusive = Script::new("x", &log).exclusive();
    let waiting = Script::new("d", &log).waits_for_teardown();
    let mut session =
        build(builder(&model, &events).tool(Script::new("t", &log)).tool(waiting).tool(exclusive)).await;
    let cancel = CancellationToken::new();
    let turn = session.run_turn("go", &cancel);
    let interrupt = async {
        events
            .wait_for(|event| matches!(event, Event::CallEnded { call_id, .. } if call_id.as_str() == "a"))
            .await;
        while log.position("run d").is_none() || log.position("run h").is_none() {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    };
    let (end, ()) = tokio::join!(turn, interrupt);
    assert_eq!(end, TurnEnd::Interrupted);
    assert!(log.position("run q").is_none(), "the exclusive call never got its turn: {:?}", log.lines());
    let recorded: Vec<_> = session.history().items().iter().map(|item| brief(item)).skip(6).collect();
    let output = |id: &str, text: &str| ("function_call_output".to_owned(), id.to_owned(), text.to_owned());
    assert_eq!(
        recorded,
        [
            output("a", "did a"),
            output("h", "aborted by user after 0.1s"),
            output("d", "torn down d"),
            output("q", "aborted by user after 0.1s"),
            ("message".to_owned(), "user".to_owned(), INTERRUPT_MARKER.to_owned()),
        ]
    );
    let aborted = events.all().into_iter().find_map(|event| match event {
        Event::TurnAborted { aborted_calls, .. } => Some(aborted_calls),
        _ => None,
    });
    assert_eq!(aborted.unwrap(), ["h", "d", "q"].map(CallId::from));
    let mut outcomes = events.outcomes();
    outcomes.sort_by(|a, b| a.0.cmp(&b.0));
    let of = |id: &str, outcome| (id.to_owned(), outcome);
    assert_eq!(
        outcomes,
        [
            of("a", LifecycleOutcome::Completed { success: true }),
            of("d", LifecycleOutcome::Aborted),
            of("h", LifecycleOutcome::Aborted),
            of("q", LifecycleOutcome::Aborted),
        ]
    );
}

#[tokio::test]
async fn two_calls_with_one_id_are_both_answered_across_turns_too() {
    let (log, events) = (Log::default(), Events::default());
    let twice = |text: &str| {
        let arguments = json!({"do": "echo", "text": text}).to_string();
        item(&json!({"type": "function_call", "name": "t", "call_id": "c", "arguments": arguments}))
    };
    let model = model(vec![vec![twice("one"), twice("two")], vec![twice("three")]]);
    let mut session = build(builder(&model, &events).tool(Script::new("t", &log))).await;
    assert_eq!(session.run_turn("go", &CancellationToken::new()).await, completed("done"));
    assert_eq!(outputs(&model, 2), [pair("c", "did one"), pair("c", "did two"), pair("c", "did three")]);
    let shown: Vec<_> = events.completed_calls().into_iter().map(|(id, _)| id).collect();
    assert_eq!(shown, ["c", "c#2", "c#3"]);
}

#[tokio::test]
async fn items_that_are_no_calls_for_us_are_kept_answered_or_named() {
    let (log, events) = (Log::default(), Events::default());
    let model = model(vec![
        vec![
            item(&json!({"type": "brand_new", "id": "b1", "n": 12345678901234567890_u64})),
            item(&json!({"type": "function_call", "name": "t", "arguments": "{}"})),
            item(
                &json!({"type": "local_shell_call", "call_id": "l", "status": "completed", "action": {"type": "exec", "command": ["ls"]}}),
            ),
            item(&json!({"type": "shell_call", "call_id": "s"})),
            item(&json!({"type": "function_call", "call_id": "m", "name": 7, "arguments": "{}"})),
            item(&json!({"type": "function_call_output", "call_id": "orphan", "output": "x"})),
        ],
        vec![said("end")],
    ]);
    let mut session = build(builder(&model, &events).tool(Script::new("t", &log))).await;
    assert_eq!(session.run_turn("go", &CancellationToken::new()).await, completed("end"));
    let second: Vec<_> =
        sent(&model, 1).into_iter().skip(2).map(|(kind, id, _)| format!("{kind} {id}")).collect();
    assert_eq!(
        second,
        [
            "brand_new ",
            "message developer",
            "local_shell_call l",
            "function_call_output l",
            "shell_call s",
            "function_call m",
            "function_call_output m",
        ]
    );
    let unknown = serde_json::to_string(model.prompts()[1].input[2].as_ref()).unwrap();
    assert_eq!(unknown, r#"{"type":"brand_new","id":"b1","n":12345678901234567890}"#);
    let warnings = events.warnings();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings[0].contains("function_call"), "{warnings:?}");
    assert_eq!(warnings[1], "a call of kind shell_call was not answered");
}

#[tokio::test]
async fn steering_joins_the_running_turn_before_its_next_request() {
    let (log, events) = (Log::default(), Events::default());
    let model = model(vec![vec![call("a", "t", "wait")], vec![said("first")], vec![said("second")]]);
    let tool = Script::new("t", &log);
    let release = Arc::clone(&tool.release);
    let mut session = build(builder(&model, &events).tool(tool)).await;
    let handle = session.handle();
    let turn = async {
        assert_eq!(session.run_turn("go", &CancellationToken::new()).await, completed("first"));
    };
    let steer = async {
        while log.position("run a").is_none() {
            tokio::task::yield_now().await;
        }
        handle.steer("and mind the gap");
        release.add_permits(1);
    };
    tokio::join!(turn, steer);
    let tail: Vec<_> = sent(&model, 1).into_iter().skip(3).collect();
    assert_eq!(tail[0].2, "did a");
    assert_eq!(tail[1], ("message".to_owned(), "user".to_owned(), "and mind the gap".to_owned()));
}

/// Lets everything through.
struct LetsThrough;

#[async_trait]
impl tenon_core::Hook for LetsThrough {}

#[tokio::test]
async fn what_the_user_says_is_kept_when_the_turn_is_cancelled() {
    // Runtime.md D7.4. Where hooks have a say in it, it waits for the next turn, which asks them.
    for hook in [false, true] {
        let (log, events) = (Log::default(), Events::default());
        let model = model(vec![vec![call("a", "t", "hang")], vec![said("end")]]);
        let builder = builder(&model, &events).tool(Script::new("t", &log));
        let builder = if hook { builder.hook(Arc::new(LetsThrough)) } else { builder };
        let mut session = build(builder).await;
        let (handle, cancellation) = (session.handle(), CancellationToken::new());
        let cancel = async {
            while log.position("run a").is_none() {
                tokio::task::yield_now().await;
            }
            handle.steer("and mind the gap");
            cancellation.cancel();
        };
        let (end, ()) = tokio::join!(session.run_turn("go", &cancellation), cancel);
        assert_eq!(end, TurnEnd::Interrupted);
        assert_eq!(session.run_turn("on", &CancellationToken::new()).await, completed("end"));
        let user = |text: &str| ("message".to_owned(), "user".to_owned(), text.to_owned());
        let sent = sent(&model, 1);
        assert_eq!(sent.iter().filter(|item| **item == user("and mind the gap")).count(), 1, "{sent:?}");
        assert!(sent.contains(&user("on")), "{sent:?}");
    }
}

#[tokio::test]
async fn a_call_whose_members_do_not_fit_goes_back_as_it_came_with_an_answer_beside_it() {
    let function = r#"{"type":"function_call","name":5,"call_id":"a","arguments":"{}"}"#;
    let surrogate =
        r#"{"type":"function_call","name":"t","call_id":"a","arguments":"{\"text\":\"\ud83d\"}"}"#;
    let rows = [
        (function, "function_call_output"),
        (r#"{"type":"function_call","name":"t","call_id":"a","arguments":{}}"#, "function_call_output"),
        (surrogate, "function_call_output"),
        (r#"{"type":"custom_tool_call","name":"t","call_id":"a","input":[]}"#, "custom_tool_call_output"),
        (r#"{"type":"local_shell_call","call_id":"a","status":1,"action":{}}"#, "function_call_output"),
        (r#"{"type":"tool_search_call","call_id":"a","execution":1,"arguments":{}}"#, "tool_search_output"),
    ];
    for (text, output_kind) in rows {
        let (log, events) = (Log::default(), Events::default());
        let model = model(vec![vec![tenon_protocol::ResponseItem::parse(text).unwrap()], vec![said("end")]]);
        let home = tempfile::tempdir().unwrap();
        let builder = builder(&model, &events).tool(Script::new("t", &log)).rollout_in(home.path());
        let mut session = build(builder).await;
        let never = CancellationToken::new();
        // The model is not asked again for its sake (core.md 7.1); whenever it is, the request is whole.
        session.run_turn("go", &never).await;
        assert_eq!(model.prompts().len(), 1, "{text}");
        session.run_turn("on", &never).await;
        let input = &model.prompts()[1].input;
        let position = input.iter().position(|item| item.call_id() == Some("a")).unwrap();
        // As it came, but for the id that every item gets.
        let sent = input[position].raw_json().into_owned();
        assert!(sent.ends_with(text.trim_start_matches('{')), "{sent}");
        let answer: serde_json::Value = serde_json::from_str(&input[position + 1].raw_json()).unwrap();
        assert_eq!((&answer["type"], &answer["call_id"]), (&json!(output_kind), &json!("a")), "{text}");
        if output_kind != "tool_search_output" {
            let words = answer["output"].as_str().unwrap();
            assert!(
                words.starts_with("not run: a `") && words.contains("whose members don't fit"),
                "{words}"
            );
        }
        assert_eq!(input.iter().filter(|item| item.call_id() == Some("a")).count(), 2);
        assert_eq!((log.lines().len(), events.warnings().len()), (0, 1), "{text}");
        assert_eq!(session.history().unpaired_calls(), []);
        let file = std::fs::read_to_string(session.rollout_path().unwrap()).unwrap();
        assert_eq!(file.matches(text.trim_start_matches('{')).count(), 1, "{file}");
    }
}

#[tokio::test]
async fn a_call_that_does_not_fit_and_has_no_id_stays_on_disk_and_the_model_is_told() {
    for (text, kind) in [
        (r#"{"type":"function_call","name":5,"arguments":"{}"}"#, "function_call"),
        (r#"{"type":"function_call","name":"t","call_id":5,"arguments":"{}"}"#, "function_call"),
        (r#"{"type":"custom_tool_call","name":"t","call_id":null,"input":5}"#, "custom_tool_call"),
    ] {
        let (log, events) = (Log::default(), Events::default());
        let model = model(vec![vec![tenon_protocol::ResponseItem::parse(text).unwrap()], vec![said("end")]]);
        let home = tempfile::tempdir().unwrap();
        let builder = builder(&model, &events).tool(Script::new("t", &log)).rollout_in(home.path());
        let mut session = build(builder).await;
        assert_eq!(session.run_turn("go", &CancellationToken::new()).await, completed("end"));
        let last = sent(&model, 1).pop().unwrap();
        let told = format!("a {kind} item without call_id was ignored");
        assert_eq!(last, ("message".to_owned(), "developer".to_owned(), told));
        assert!(model.prompts()[1].input.iter().all(|item| item.tag() != kind));
        let file = std::fs::read_to_string(session.rollout_path().unwrap()).unwrap();
        assert!(file.contains(text.trim_start_matches('{')), "{file}");
    }
}

#[tokio::test]
async fn the_operator_hears_of_parts_that_could_not_be_read_but_not_of_hundreds() {
    for (skipped, expected) in [(1, 1), (5, 5), (6, 6), (300, 6)] {
        let events = Events::default();
        let part = |n: usize| ResponseEvent::Skipped { reason: format!("part {n}") };
        let ended = ResponseEvent::Completed { response_id: None, usage: None, end_turn: None };
        let turn = ScriptedTurn::events((0..skipped).map(part).chain([ended]));
        let model = Arc::new(ScriptedModel::new([turn]));
        let mut session = build(builder(&model, &events)).await;
        session.run_turn("go", &CancellationToken::new()).await;
        let warnings = events.warnings();
        assert_eq!(warnings.len(), expected);
        assert_eq!(warnings[0], "a part of the model's answer could not be read and was skipped: part 0");
        if expected == 6 {
            assert_eq!(warnings[5], "more parts of the model's answer could not be read and were skipped");
        }
    }
}

/// Has something to tell before one turn.
struct Note(std::sync::Mutex<Vec<String>>);

impl BetweenTurns for Note {
    fn take_notes(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

#[tokio::test]
async fn what_happened_between_turns_is_told_once_before_the_prompt() {
    let events = Events::default();
    let model = model(vec![vec![said("one")], vec![said("two")], vec![said("three")]]);
    let note = Arc::new(Note(std::sync::Mutex::new(Vec::new())));
    let mut session = build(builder(&model, &events).between_turns(note.clone())).await;
    let cancellation = CancellationToken::new();
    session.run_turn("first", &cancellation).await;
    note.0.lock().unwrap().push("session 1000 has ended".to_owned());
    session.run_turn("second", &cancellation).await;
    session.run_turn("third", &cancellation).await;
    let messages = |request: usize| -> Vec<(String, String)> {
        sent(&model, request).into_iter().skip(1).map(|(_, role, text)| (role, text)).collect()
    };
    let row = |role: &str, text: &str| (role.to_owned(), text.to_owned());
    let mut expected = vec![row("user", "first")];
    assert_eq!(messages(0), expected);
    expected.extend([
        row("assistant", "one"),
        row("developer", "session 1000 has ended"),
        row("user", "second"),
    ]);
    assert_eq!(messages(1), expected);
    expected.extend([row("assistant", "two"), row("user", "third")]);
    assert_eq!(messages(2), expected);
}

/// Tells of itself when a turn ends.
struct LastWords(Arc<dyn EventSink>);

#[async_trait]
impl BetweenTurns for LastWords {
    fn take_notes(&self) -> Vec<String> {
        Vec::new()
    }

    async fn turn_ends(&self, ending: TurnEnding) {
        tokio::task::yield_now().await;
        self.0.emit(Event::Warning { message: format!("{ending:?}") });
    }
}

#[tokio::test]
async fn what_ends_with_a_turn_is_told_before_the_turns_end() {
    let events = Events::default();
    let (model, between) = (model(vec![vec![said("one")]]), LastWords(Arc::new(events.clone())));
    let mut session = build(builder(&model, &events).between_turns(Arc::new(between))).await;
    session.run_turn("go", &CancellationToken::new()).await;
    let cancelled = CancellationToken::new();
    cancelled.cancel();
    session.run_turn("go", &cancelled).await;
    let ends: Vec<String> = events
        .all()
        .into_iter()
        .filter_map(|event| match event {
            Event::Warning { message } => Some(message),
            Event::TurnCompleted { .. } => Some("completed".to_owned()),
            Event::TurnAborted { .. } => Some("aborted".to_owned()),
            _ => None,
        })
        .collect();
    assert_eq!(ends, ["Completed", "completed", "Interrupted", "aborted"]);
}
