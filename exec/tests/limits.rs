//! The longest that a command may run.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod support;

use std::time::Duration;

use pretty_assertions::assert_eq;
use serde_json::json;
use support::{Bench, ended, running, session_of, steady};
use tenon_protocol::ItemStatus;

fn bench(limit: Duration) -> Bench {
    let mut bench = Bench::new();
    bench.step.max_runtime = Some(limit);
    bench
}

#[tokio::test]
async fn a_command_that_takes_too_long_is_ended_and_says_so() {
    let bench = bench(Duration::from_millis(500));
    let cmd = "sleep 300 & echo begin; wait";
    let answer = bench.exec(json!({ "cmd": cmd })).await;
    let output = "begin\n[ended: it ran longer than the limit of 0.5 seconds]\n";
    assert_eq!(steady(&answer), ended(143, output.len().div_ceil(4), output));
    assert_eq!(bench.told.completed("c1"), [(output.to_owned(), Some(143), ItemStatus::Failed)]);
    assert!(session_of(bench.told.pid().await).is_empty());
}

#[tokio::test]
async fn one_that_ignores_sigterm_is_killed() {
    let bench = bench(Duration::from_millis(500));
    let answer = bench.exec(json!({"cmd": "trap '' TERM; printf begin; while :; do sleep 300; done"})).await;
    let output = "begin\n[ended: it ran longer than the limit of 0.5 seconds]\n";
    assert_eq!(steady(&answer), ended(137, output.len().div_ceil(4), output));
}

#[tokio::test]
async fn a_session_has_the_same_limit() {
    let bench = bench(Duration::from_secs(1));
    let first = bench.exec(json!({"cmd": "sleep 300", "yield_time_ms": 250})).await;
    assert_eq!(steady(&first), running(1000, 0, ""));
    let answer = bench.write(json!({"session_id": 1000, "yield_time_ms": 20000})).await;
    let output = "[ended: it ran longer than the limit of 1.0 seconds]\n";
    assert_eq!(steady(&answer), ended(143, output.len().div_ceil(4), output));
}

#[tokio::test]
async fn one_that_is_in_time_hears_nothing_of_it() {
    let bench = bench(Duration::from_secs(20));
    assert_eq!(steady(&bench.exec(json!({"cmd": "echo hi"})).await), ended(0, 1, "hi\n"));
}
