//! How commands end that do not end by themselves: cancelled calls, the end of the session, dropped futures.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests"
)]

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant};

use pretty_assertions::assert_eq;
use serde_json::json;
use support::{Bench, Call, LONG, session_of, steady};
use tenon_protocol::ItemStatus;

/// A tree: children, grandchildren, one in a group of its own, one that ignores SIGTERM. All of them say who they are.
const TREE: &str = "
    bash -c 'trap \"\" TERM; sleep 301 & wait; sleep 301' &
    (sleep 302 & sleep 302) &
    set -m; sleep 303 & set +m
    echo ready
    wait";

fn spawn(call: &Call) -> tokio::task::JoinHandle<String> {
    let call = call.clone();
    tokio::spawn(async move { call.text().await })
}

#[tokio::test]
async fn a_cancelled_call_ends_its_tree_and_says_what_was_printed() {
    let bench = Bench::new();
    let call = bench.call("c1", "exec_command", &json!({"cmd": TREE}).to_string());
    let answer = spawn(&call);
    bench.told.printed("ready").await;
    let pid = bench.told.pid().await;
    assert!(session_of(pid).len() >= 6, "{:?}", session_of(pid));
    call.cancellation().cancel();
    let answer = answer.await.expect("answered");
    let (time, rest) = answer.split_once('\n').expect("lines");
    let seconds =
        time.strip_prefix("Wall time: ").and_then(|time| time.strip_suffix(" seconds")).expect("a time");
    assert!(seconds.parse::<f64>().expect("a number") >= 0.1);
    assert_eq!(rest, "aborted by user\nOutput:\nready\n");
    assert_eq!(session_of(pid), BTreeSet::new());
    let (output, code, status) = bench.told.completed("c1").pop().expect("completed");
    assert_eq!((output.as_str(), code, status), ("ready\n", Some(143), ItemStatus::Failed));
    assert_eq!(bench.told.completed("c1").len(), 1);
    assert!(bench.service.running().is_empty());
}

#[tokio::test]
async fn a_cancelled_call_that_printed_nothing_has_two_lines() {
    let bench = Bench::new();
    let call = bench.call("c1", "exec_command", r#"{"cmd": "sleep 300"}"#);
    let answer = spawn(&call);
    bench.told.pid().await;
    call.cancellation().cancel();
    let answer = answer.await.expect("answered");
    assert!(answer.starts_with("Wall time: 0."), "{answer}");
    assert!(answer.ends_with(" seconds\naborted by user"), "{answer}");
}

#[tokio::test]
async fn what_a_command_prints_on_its_way_out_is_there() {
    let bench = Bench::new();
    let cmd = "trap 'echo cleaning up; exit 5' TERM; echo ready; sleep 300 & wait";
    let call = bench.call("c1", "exec_command", &json!({ "cmd": cmd }).to_string());
    let answer = spawn(&call);
    bench.told.printed("ready").await;
    call.cancellation().cancel();
    let answer = answer.await.expect("answered");
    assert!(answer.ends_with("\naborted by user\nOutput:\nready\ncleaning up\n"), "{answer}");
    let (_, code, _) = bench.told.completion("c1").await;
    assert_eq!(code, Some(5));
}

#[tokio::test]
async fn a_call_that_is_cancelled_before_it_runs_starts_nothing() {
    let bench = Bench::new();
    let call = bench.call("c1", "exec_command", r#"{"cmd": "touch x"}"#);
    call.cancellation().cancel();
    let output = call.run().await.expect("answered");
    assert!(!output.success_for_logging());
    assert_eq!(support::text_of(&*output, &call.invocation), "Wall time: 0.1 seconds\naborted by user");
    assert!(bench.told.facts().is_empty());
    assert!(!bench.cwd().join("x").exists());
}

#[tokio::test]
async fn the_printed_text_is_bounded() {
    let bench = Bench::new();
    let cmd = "seq 100000; echo ready; sleep 300";
    let arguments = json!({"cmd": cmd, "max_output_tokens": 10}).to_string();
    let call = bench.call("c1", "exec_command", &arguments);
    let answer = spawn(&call);
    bench.told.printed("ready").await;
    call.cancellation().cancel();
    let answer = answer.await.expect("answered");
    assert!(answer.contains("aborted by user\nOutput:\nWarning: truncated output"), "{answer}");
    assert!(answer.len() < 400, "{}", answer.len());
}

#[tokio::test]
async fn cancelling_one_call_leaves_its_sibling_alone() {
    let bench = Bench::new();
    let one = bench.call("c1", "exec_command", r#"{"cmd": "echo ready; sleep 300"}"#);
    let two = bench.call("c2", "exec_command", r#"{"cmd": "mkfifo f; read _ < f; echo done"}"#);
    let (first, second) = (spawn(&one), spawn(&two));
    bench.told.printed("ready").await;
    one.cancellation().cancel();
    assert!(first.await.expect("answered").ends_with("aborted by user\nOutput:\nready\n"));
    let fifo = bench.cwd().join("f");
    let released = async {
        while !fifo.exists() {
            tokio::task::yield_now().await;
        }
        let fifo = fifo.clone();
        tokio::task::spawn_blocking(move || fs::write(fifo, "\n")).await.expect("joined").expect("written");
    };
    tokio::time::timeout(LONG, released).await.expect("in time");
    assert_eq!(steady(&second.await.expect("answered")), support::ended(0, 2, "done\n"));
}

#[tokio::test]
async fn a_session_outlives_the_cancellation_of_its_call() {
    let bench = Bench::new();
    let call = bench.call("c1", "exec_command", r#"{"cmd": "exec sleep 300", "yield_time_ms": 250}"#);
    assert!(call.text().await.contains("session ID 1000"));
    call.cancellation().cancel();
    assert_eq!(bench.service.running()[0].exit_code, None);
    let answer = bench.write(json!({"session_id": 1000, "chars": "\u{3}"})).await;
    assert!(answer.contains("Process exited with code 130"));
}

#[tokio::test]
async fn a_dropped_call_leaves_nothing_behind() {
    let bench = Bench::new();
    let call = bench.call("c1", "exec_command", &json!({"cmd": TREE}).to_string());
    let answer = spawn(&call);
    bench.told.printed("ready").await;
    let pid = bench.told.pid().await;
    answer.abort();
    drop(answer.await);
    assert!(bench.service.running().is_empty());
    let start = Instant::now();
    while !session_of(pid).is_empty() {
        assert!(start.elapsed() < LONG, "{:?}", session_of(pid));
        tokio::task::yield_now().await;
    }
    assert_eq!(bench.told.completed("c1"), [], "the registry ends the item of a dropped call");
}

#[tokio::test]
async fn a_shutdown_ends_everything() {
    let bench = Bench::new();
    bench.exec_as("c1", json!({"cmd": TREE, "yield_time_ms": 250})).await;
    let running = bench.told.pid().await;
    let finished = bench.exec_as("c2", json!({"cmd": "sleep 300 & sleep 300 & echo $$"})).await;
    let finished: i32 = support::output_of(&finished).trim().parse().expect("a pid");
    let waiting =
        bench.call("c3", "exec_command", r#"{"cmd": "echo third; sleep 300", "yield_time_ms": 20000}"#);
    let waiting = spawn(&waiting);
    bench.told.printed("third").await;
    assert_eq!(session_of(finished).len(), 2, "background children live on");
    bench.service.shutdown().await;
    assert_eq!(session_of(running), BTreeSet::new());
    assert_eq!(session_of(finished), BTreeSet::new());
    let (output, code, status) = bench.told.completed("c1").pop().expect("completed");
    assert_eq!((output.as_str(), code, status), ("ready\n", Some(137), ItemStatus::Failed));
    assert!(waiting.await.expect("answered").contains("Process exited with code 137"));
    let refused = bench.exec(json!({"cmd": "echo hi"})).await;
    assert_eq!(refused, "exec_command failed: the session has ended");
    bench.service.shutdown().await;
}

#[tokio::test]
async fn dropping_the_service_ends_everything() {
    let mut bench = Bench::new();
    bench.exec(json!({"cmd": TREE, "yield_time_ms": 250})).await;
    let pid = bench.told.pid().await;
    let other = Bench::new();
    bench.service = other.service.clone();
    assert_eq!(session_of(pid), BTreeSet::new());
    let (_, code, status) = bench.told.completion("c1").await;
    assert_eq!((code, status), (Some(137), ItemStatus::Failed));
}

#[tokio::test]
async fn background_children_keep_their_pipe_for_a_while() {
    let bench = Bench::new();
    let cmd = "mkfifo f; (read _ < f; echo late && echo alive > witness) & echo started";
    let answer = bench.exec(json!({ "cmd": cmd })).await;
    assert_eq!(steady(&answer), support::ended(0, 2, "started\n"));
    let fifo = bench.cwd().join("f");
    tokio::task::spawn_blocking(move || fs::write(fifo, "\n")).await.expect("joined").expect("written");
    let witness = bench.cwd().join("witness");
    let start = Instant::now();
    while fs::read_to_string(&witness).ok().as_deref() != Some("alive\n") {
        assert!(start.elapsed() < LONG, "it died of SIGPIPE");
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn random_cancels_leave_no_process() {
    let bench = Bench::new();
    let mut calls = tokio::task::JoinSet::new();
    for round in 0..200_u64 {
        let call =
            bench.call("c1", "exec_command", &json!({"cmd": TREE, "yield_time_ms": 30000}).to_string());
        let cancellation = call.cancellation();
        // Times are only there to hit different places; nothing is expected of them.
        let after = Duration::from_millis(round * 7919 % 120);
        calls.spawn(async move {
            let cancel = async {
                tokio::time::sleep(after).await;
                cancellation.cancel();
            };
            tokio::join!(call.text(), cancel).0
        });
        if calls.len() >= 8 {
            calls.join_next().await.expect("one").expect("answered");
        }
    }
    while let Some(answer) = calls.join_next().await {
        let answer = answer.expect("answered");
        assert!(answer.contains("aborted by user"), "{answer}");
    }
    for fact in bench.told.facts() {
        let tenon_protocol::CallFact::Process { pid, .. } = fact else { panic!("{fact:?}") };
        assert_eq!(session_of(i32::try_from(pid).expect("a pid")), BTreeSet::new());
    }
    assert_eq!(bench.told.completed("c1").len(), bench.told.facts().len());
}
