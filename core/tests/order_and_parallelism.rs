//! What no scenario can see: order under load, true parallelism, nothing lost.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod support;

use std::sync::Arc;

use pretty_assertions::assert_eq;
use proptest::prelude::*;
use support::{Events, Log, Script, build, builder, call, outputs, said};
use tenon_core::TurnEnd;
use tenon_protocol::CallId;
use tenon_tools::{Event, Gate, ScriptedModel, ScriptedTurn};
use tokio_util::sync::CancellationToken;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn parallel_calls_are_all_inside_at_once() {
    const CALLS: usize = 64;
    let (log, events) = (Log::default(), Events::default());
    let calls: Vec<_> = (0..CALLS).map(|n| call(&format!("c{n}"), "t", "wait")).collect();
    let model = Arc::new(ScriptedModel::new(vec![calls]));
    let tool = Script::new("t", &log);
    let release = Arc::clone(&tool.release);
    let mut session = build(builder(&model, &events).tool(tool)).await;
    let never = CancellationToken::new();
    let turn = session.run_turn("go", &never);
    let free = async {
        // None of them can end before all of them have begun.
        while log.lines().iter().filter(|line| line.starts_with("run")).count() < CALLS {
            tokio::task::yield_now().await;
        }
        release.add_permits(CALLS);
    };
    let (end, ()) = tokio::join!(turn, free);
    assert_eq!(end, TurnEnd::Completed { last_message: Some("done".to_owned()) });
    assert_eq!(outputs(&model, 1).len(), CALLS);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_exclusive_call_stands_between_what_came_before_and_what_comes_after_for_200_rounds() {
    for round in 0..200 {
        let (log, events) = (Log::default(), Events::default());
        let mut calls = Vec::new();
        for n in 0..12 {
            let tool = if n % 4 == 3 { "x" } else { "t" };
            calls.push(call(&format!("{tool}{n}"), tool, "echo"));
        }
        let model = Arc::new(ScriptedModel::new(vec![calls]));
        let builder =
            builder(&model, &events).tool(Script::new("t", &log)).tool(Script::new("x", &log).exclusive());
        build(builder).await.run_turn("go", &CancellationToken::new()).await;
        let lines = log.lines();
        for n in [3, 7, 11] {
            let (begin, end) = (log.position(&format!("prepare x{n}")), log.position(&format!("done x{n}")));
            let (begin, end) = (begin.unwrap(), end.unwrap());
            assert_eq!(end, begin + 2, "round {round}: somebody was inside beside x{n}: {lines:?}");
            let number = |line: &String| {
                line.trim_start_matches(|c: char| !c.is_ascii_digit()).parse::<usize>().unwrap()
            };
            assert!(lines[..begin].iter().all(|line| number(line) < n), "round {round}: {lines:?}");
            assert!(lines[end + 1..].iter().all(|line| number(line) > n), "round {round}: {lines:?}");
        }
    }
}

#[tokio::test]
async fn a_call_starts_while_the_stream_still_runs() {
    let (log, events) = (Log::default(), Events::default());
    let stall = Gate::new();
    let turn = ScriptedTurn::items([call("a", "t", "echo"), said("later")]).stalled_after(2, &stall);
    let model = Arc::new(ScriptedModel::new([turn]));
    let mut session = build(builder(&model, &events).tool(Script::new("t", &log))).await;
    let never = CancellationToken::new();
    let turn = session.run_turn("go", &never);
    let watch = async {
        events
            .wait_for(|event| matches!(event, Event::CallEnded { call_id, .. } if call_id.as_str() == "a"))
            .await;
        assert_eq!(model.prompts().len(), 1);
        stall.open();
    };
    tokio::join!(turn, watch);
    assert_eq!(log.lines(), ["prepare a", "run a", "done a"]);
}

#[derive(Debug, Clone, Copy)]
struct Planned {
    tool: &'static str,
    what: &'static str,
    cancelled: bool,
}

fn planned() -> impl Strategy<Value = Planned> {
    let tools = prop::sample::select(vec!["t", "x", "d", "nope"]);
    let whats = prop::sample::select(vec!["echo", "fail", "panic", "refuse", "hang"]);
    (tools, whats, any::<bool>()).prop_map(|(tool, what, cancelled)| Planned { tool, what, cancelled })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever the calls of a batch do, in whatever order they end: one output for each, in call order, one outcome
    /// and one completed item for each, and the next request has them all.
    #[test]
    fn any_batch_leaves_one_output_per_call_in_call_order(plan in prop::collection::vec(planned(), 1..12)) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(async {
            let (log, events) = (Log::default(), Events::default());
            let ids: Vec<String> = (0..plan.len()).map(|n| format!("c{n:02}")).collect();
            let calls: Vec<_> = plan.iter().zip(&ids).map(|(call, id)| support::call(id, call.tool, call.what)).collect();
            let model = Arc::new(ScriptedModel::new(vec![calls]));
            let builder = builder(&model, &events)
                .tool(Script::new("t", &log))
                .tool(Script::new("x", &log).exclusive())
                .tool(Script::new("d", &log).waits_for_teardown());
            let mut session = build(builder).await;
            let handle = session.handle();
            let never = CancellationToken::new();
            let turn = session.run_turn("go", &never);
            let cancel = async {
                // Hanging calls must be cancelled for the turn to end; others may be.
                for (planned, id) in plan.iter().zip(&ids) {
                    if planned.cancelled || planned.what == "hang" {
                        let id = CallId::from(id.as_str());
                        while !handle.cancel_call(&id) && !ended(&events, &id) {
                            tokio::task::yield_now().await;
                        }
                    }
                }
            };
            let (end, ()) = tokio::join!(turn, cancel);
            assert_eq!(end, TurnEnd::Completed { last_message: Some("done".to_owned()) });
            let answered: Vec<String> = outputs(&model, 1).into_iter().map(|(id, _)| id).collect();
            assert_eq!(answered, ids);
            let mut outcomes: Vec<String> = events.outcomes().into_iter().map(|(id, _)| id).collect();
            outcomes.sort();
            let dispatched: Vec<String> =
                plan.iter().zip(&ids).filter(|(call, _)| call.tool != "nope").map(|(_, id)| id.clone()).collect();
            assert_eq!(outcomes, dispatched);
            let mut shown: Vec<String> = events.completed_calls().into_iter().map(|(id, _)| id).collect();
            shown.sort();
            assert_eq!(shown, ids);
        });
    }
}

fn ended(events: &Events, id: &CallId) -> bool {
    events.completed_calls().iter().any(|(shown, _)| shown == id.as_str())
}
