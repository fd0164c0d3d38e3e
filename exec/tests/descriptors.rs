//! File descriptors: none is left behind, and running out of them is said. Each test has a process to itself, since
//! what they count and limit is the process's.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod support;

use std::fs::{self, File};

use pretty_assertions::assert_eq;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use support::alone::alone;
use support::{Bench, ended, steady};

fn limit_descriptors(current: u64) {
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: Some(current), maximum }).expect("limited");
}

fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").expect("listed").count()
}

#[tokio::test(flavor = "multi_thread")]
async fn two_thousand_commands_need_no_more_than_a_few() {
    if !alone("two_thousand_commands_need_no_more_than_a_few") {
        return;
    }
    limit_descriptors(256);
    let bench = Bench::new();
    bench.exec(json!({"cmd": "true"})).await;
    let before = descriptors();
    let mut calls = tokio::task::JoinSet::new();
    for round in 0..2000 {
        let tty = round % 4 == 0;
        let call = bench.call("c1", "exec_command", &json!({"cmd": "echo hi", "tty": tty}).to_string());
        calls.spawn(async move { (tty, call.text().await) });
        if calls.len() == 16 {
            check(calls.join_next().await.expect("one").expect("answered"));
        }
    }
    while let Some(answer) = calls.join_next().await {
        check(answer.expect("answered"));
    }
    // Those of the last commands may still be on their way.
    let start = std::time::Instant::now();
    while descriptors() > before {
        assert!(start.elapsed() < support::LONG, "{} and then {}", before, descriptors());
        tokio::task::yield_now().await;
    }
}

fn check((tty, answer): (bool, String)) {
    let output = if tty { "hi\r\n" } else { "hi\n" };
    assert_eq!(steady(&answer), ended(0, 1, output));
}

#[tokio::test]
async fn running_out_of_them_is_said_and_passes() {
    if !alone("running_out_of_them_is_said_and_passes") {
        return;
    }
    let bench = Bench::new();
    bench.exec(json!({"cmd": "true"})).await;
    limit_descriptors(u64::try_from(descriptors()).expect("few") + 8);
    let mut taken = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        taken.push(file);
    }
    for tty in [false, true] {
        let answer = bench.exec(json!({"cmd": "echo hi", "tty": tty})).await;
        assert!(answer.starts_with("exec_command failed: too many open files (the limit is "), "{answer}");
    }
    drop(taken);
    assert_eq!(steady(&bench.exec(json!({"cmd": "echo hi"})).await), ended(0, 1, "hi\n"));
}

#[tokio::test]
async fn commands_can_be_ended_without_any() {
    if !alone("commands_can_be_ended_without_any") {
        return;
    }
    let bench = Bench::new();
    let call = bench.call(
        "c1",
        "exec_command",
        r#"{"cmd": "trap '' TERM; sleep 300 & echo ready; while :; do wait; done"}"#,
    );
    let running = call.clone();
    let answer = tokio::spawn(async move { running.text().await });
    bench.told.printed("ready").await;
    let pid = bench.told.pid().await;
    limit_descriptors(u64::try_from(descriptors()).expect("few"));
    let mut taken = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        taken.push(file);
    }
    call.cancellation().cancel();
    assert!(answer.await.expect("answered").ends_with("aborted by user\nOutput:\nready\n"));
    drop(taken);
    assert!(support::session_of(pid).is_empty());
}
