//! Commands that outlive their call: polls, interrupts, the store.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests"
)]

mod support;

use std::time::{Duration, Instant};

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use support::{Bench, ended, output_of, running, steady};
use tenon_protocol::{CallId, ItemStatus};
use tenon_tools::{Event, InputEffect, ShownAs, TruncationPolicy};

/// A script that goes on when a line is written to its fifo.
fn waiting(before: &str, after: &str) -> String {
    format!("mkfifo fifo; {before}; read _ < fifo; {after}")
}

/// Lets the scripts of [`waiting`] go on. Blocks until there is one.
async fn release(bench: &Bench) {
    let fifo = bench.cwd().join("fifo");
    let write = tokio::task::spawn_blocking(move || std::fs::write(fifo, "\n"));
    tokio::time::timeout(support::LONG, write).await.expect("in time").expect("joined").expect("written");
}

fn interactions(bench: &Bench) -> Vec<(i32, String)> {
    let interaction = |event| match event {
        Event::TerminalInteraction { call_id, process_id, stdin } => {
            assert_eq!(call_id, CallId::from("c1"));
            Some((process_id, stdin))
        }
        _ => None,
    };
    bench.told.events().into_iter().filter_map(interaction).collect()
}

#[tokio::test]
async fn a_poll_brings_the_rest_and_the_end() {
    let bench = Bench::new();
    let first =
        bench.exec(json!({"cmd": waiting("echo one", "echo two; exit 4"), "yield_time_ms": 250})).await;
    assert_eq!(steady(&first), running(1000, 1, "one\n"));
    let poll = bench.call("w1", "write_stdin", r#"{"session_id": 1000, "yield_time_ms": 20000}"#);
    let prepared = poll.tool.prepare(&poll.invocation).await.expect("prepared");
    assert_eq!(prepared.shown_as(), ShownAs::PartOfAnother);
    assert!(prepared.effects().is_none());
    let (output, ()) = tokio::join!(poll.run(), release(&bench));
    let output = output.expect("polled");
    assert_eq!(steady(&support::text_of(&*output, &poll.invocation)), ended(4, 1, "two\n"));
    // The end is the command's: its hook fires now, under its own id.
    let payload = &poll.invocation.payload;
    assert_eq!(output.post_tool_use_id(&CallId::from("w1")), CallId::from("c1"));
    assert!(output.post_tool_use_input(payload).expect("a command")["command"].is_string());
    assert_eq!(output.post_tool_use_response(&CallId::from("w1"), payload), Some(json!("two\n")));
    let identity = poll.tool.hook_identity().expect("an identity");
    assert_eq!((&*identity.tool_name, identity.pre, identity.post), ("Bash", false, true));
    // One item, with all of it.
    let expected = ("one\ntwo\n".to_owned(), Some(4), ItemStatus::Failed);
    assert_eq!(bench.told.completed("c1"), [expected]);
    assert_eq!(interactions(&bench), []);
    assert!(bench.service.running().is_empty());
    let again = bench.write(json!({"session_id": 1000})).await;
    assert_eq!(again, "write_stdin failed: Unknown process id 1000");
}

#[tokio::test]
async fn a_session_that_runs_fires_no_hook() {
    let bench = Bench::new();
    let call = bench.call("c1", "exec_command", r#"{"cmd": "sleep 300", "yield_time_ms": 250}"#);
    let output = call.run().await.expect("run");
    assert_eq!(output.post_tool_use_response(&CallId::from("c1"), &call.invocation.payload), None);
}

#[tokio::test]
async fn an_end_in_the_background_is_told_once_and_can_be_polled_later() {
    let bench = Bench::new();
    bench.exec(json!({"cmd": waiting("true", "echo late"), "yield_time_ms": 250})).await;
    release(&bench).await;
    let exit = |events: &[Event]| {
        events.iter().find_map(|event| match event {
            Event::BackgroundExit { call_id, process_id, exit_code } => {
                Some((call_id.clone(), *process_id, *exit_code))
            }
            _ => None,
        })
    };
    assert_eq!(bench.told.until(exit).await, (CallId::from("c1"), 1000, 0));
    assert_eq!(bench.told.completed("c1"), [("late\n".to_owned(), Some(0), ItemStatus::Completed)]);
    assert_eq!(bench.service.running()[0].exit_code, Some(0));
    let start = Instant::now();
    let poll = bench.write(json!({"session_id": 1000})).await;
    assert_eq!(steady(&poll), ended(0, 2, "late\n"));
    assert!(start.elapsed() < Duration::from_secs(4));
    assert_eq!(bench.told.completed("c1").len(), 1);
}

#[tokio::test]
async fn an_end_that_nobody_polled_is_noted_once() {
    let bench = Bench::new();
    let notes = bench.service.between_turns();
    let cmd = waiting("true", "exit 3");
    let first = bench.exec_as("c1", json!({"cmd": cmd, "yield_time_ms": 250})).await;
    assert_eq!(steady(&first), running(1000, 0, ""));
    assert_eq!(notes.take_notes(), [] as [String; 0]);
    release(&bench).await;
    bench.told.completion("c1").await;
    let command = cmd.lines().next().expect("a line").chars().take(80).collect::<String>();
    let noted = notes.take_notes();
    assert_eq!(noted.len(), 1);
    let start = "Commands that ended in the background (write_stdin returns the rest of their output):\n";
    assert!(noted[0].starts_with(&format!("{start}- session 1000, exit code 3: {command}")), "{noted:?}");
    assert_eq!(notes.take_notes(), [] as [String; 0]);
    // It can still be polled.
    let answer = bench.write(json!({"session_id": 1000, "yield_time_ms": 5000})).await;
    assert_eq!(steady(&answer), ended(3, 0, ""));
}

#[tokio::test]
async fn an_end_that_was_polled_is_not_noted() {
    let bench = Bench::new();
    let notes = bench.service.between_turns();
    bench.exec_as("c1", json!({"cmd": waiting("true", "exit 3"), "yield_time_ms": 250})).await;
    release(&bench).await;
    bench.write(json!({"session_id": 1000, "yield_time_ms": 5000})).await;
    assert_eq!(notes.take_notes(), [] as [String; 0]);
}

#[tokio::test]
async fn an_interrupt_reaches_the_whole_group() {
    let bench = Bench::new();
    let cmd = "trap 'echo caught; exit 9' INT; sleep 300 & echo $!; wait";
    let first = bench.exec(json!({"cmd": cmd, "yield_time_ms": 250})).await;
    assert!(first.contains("Process running with session ID 1000"));
    let answer = bench.write(json!({"session_id": 1000, "chars": "\u{3}", "yield_time_ms": 20000})).await;
    assert_eq!(steady(&answer), ended(9, 2, "caught\n"));
    assert_eq!(interactions(&bench), [(1000, "\u{3}".to_owned())]);
}

#[tokio::test]
async fn death_by_interrupt_is_130() {
    let bench = Bench::new();
    bench.exec(json!({"cmd": "exec sleep 300", "yield_time_ms": 250})).await;
    let answer = bench.write(json!({"session_id": 1000, "chars": "\u{3}", "yield_time_ms": 20000})).await;
    assert_eq!(steady(&answer), ended(130, 0, ""));
}

#[tokio::test]
async fn other_input_is_refused_and_the_session_goes_on() {
    let bench = Bench::new();
    bench.exec(json!({"cmd": "exec sleep 300", "yield_time_ms": 250})).await;
    let closed = "write_stdin failed: stdin is closed for this session; rerun exec_command with tty=true to keep stdin open";
    for chars in ["abc\n", "\u{3}\u{3}", " "] {
        let answer = bench.write(json!({"session_id": 1000, "chars": chars, "yield_time_ms": 300})).await;
        assert_eq!(answer, closed, "{chars:?}");
    }
    let call = bench.call("w", "write_stdin", r#"{"session_id": 1000, "chars": "abc"}"#);
    let prepared = call.tool.prepare(&call.invocation).await.expect("prepared");
    assert_eq!(prepared.effects().input, Some(InputEffect { session_id: 1000, bytes: 3 }));
    assert_eq!(bench.service.running().len(), 1);
}

#[tokio::test]
async fn unknown_sessions_and_bad_arguments() {
    let bench = Bench::new();
    for (arguments, expected) in [
        (r#"{"session_id": 424242, "chars": "x"}"#, "write_stdin failed: Unknown process id 424242"),
        (r#"{"session_id": -1}"#, "write_stdin failed: Unknown process id -1"),
        (
            r#"{"chars": "x"}"#,
            "failed to parse function arguments: missing field `session_id` at line 1 column 14",
        ),
        (
            r#"{"session_id": "7"}"#,
            "failed to parse function arguments: invalid type: string \"7\", expected i32 at line 1 column 18",
        ),
    ] {
        assert_eq!(bench.call("w1", "write_stdin", arguments).text().await, expected);
    }
}

#[tokio::test]
async fn two_polls_of_one_session_take_turns_and_share_nothing() {
    let mut bench = Bench::new();
    bench.step.truncation = TruncationPolicy::Tokens(100_000);
    let script = waiting("true", "for i in $(seq 20000); do echo $i; done; read _ < fifo");
    bench.exec(json!({"cmd": script, "yield_time_ms": 250})).await;
    let poll = |id: &str| {
        bench.call(
            id,
            "write_stdin",
            r#"{"session_id": 1000, "yield_time_ms": 5000, "max_output_tokens": 100000}"#,
        )
    };
    let (one, two) = (poll("w1"), poll("w2"));
    let start = Instant::now();
    let (one, two, ()) = tokio::join!(one.text(), two.text(), release(&bench));
    assert!(start.elapsed() >= Duration::from_secs(10), "they overlapped: {:?}", start.elapsed());
    let expected: String = (1..=20_000).map(|i| format!("{i}\n")).collect();
    let (one, two) = (output_of(&one), output_of(&two));
    assert!(format!("{one}{two}") == expected || format!("{two}{one}") == expected);
}

#[tokio::test]
async fn sessions_are_listed() {
    let bench = Bench::new();
    bench.exec_as("c1", json!({"cmd": "sleep 300", "yield_time_ms": 250})).await;
    bench.exec_as("c2", json!({"cmd": "sleep 301", "yield_time_ms": 250})).await;
    let listed: Vec<_> = bench
        .service
        .running()
        .into_iter()
        .map(|session| (session.session_id, session.call_id, session.command, session.exit_code, session.tty))
        .collect();
    assert_eq!(
        listed,
        [
            (1000, CallId::from("c1"), "sleep 300".to_owned(), None, false),
            (1001, CallId::from("c2"), "sleep 301".to_owned(), None, false),
        ]
    );
}

/// Starts `count` sessions at once; their ids are 1000 and up.
async fn fill(bench: &Bench, count: usize) {
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..count {
        let arguments = json!({"cmd": "exec sleep 300", "yield_time_ms": 250}).to_string();
        let call = bench.call("c1", "exec_command", &arguments);
        calls.spawn(async move { call.text().await });
    }
    while let Some(answer) = calls.join_next().await {
        assert!(answer.expect("answered").contains("Process running"));
    }
    assert_eq!(bench.service.running().len(), count);
}

fn ids(bench: &Bench) -> Vec<i32> {
    bench.service.running().into_iter().map(|session| session.session_id).collect()
}

async fn start(bench: &Bench) -> String {
    bench.exec(json!({"cmd": "exec sleep 300", "yield_time_ms": 250})).await
}

#[tokio::test]
async fn the_sixty_fifth_puts_out_the_one_used_least_recently() {
    let bench = Bench::new();
    for id in 0..2 {
        bench.exec_as(&format!("first{id}"), json!({"cmd": "exec sleep 300", "yield_time_ms": 250})).await;
    }
    fill_up_to_64(&bench).await;
    // The oldest is used again, so the second oldest must go.
    bench.write(json!({"session_id": 1000, "chars": "x"})).await;
    assert!(start(&bench).await.contains("session ID 1064"));
    let left = ids(&bench);
    assert_eq!(left.len(), 64);
    assert!(left.contains(&1000) && !left.contains(&1001) && left.contains(&1002));
    let (_, code, status) = bench.told.completion("first1").await;
    assert_eq!((code, status), (Some(137), ItemStatus::Failed));
    let silent = !bench.told.events().iter().any(|event| matches!(event, Event::BackgroundExit { .. }));
    assert!(silent, "it went silently");
    assert_eq!(
        bench.write(json!({"session_id": 1001})).await,
        "write_stdin failed: Unknown process id 1001".to_owned()
    );
}

async fn fill_up_to_64(bench: &Bench) {
    let mut calls = tokio::task::JoinSet::new();
    for _ in ids(bench).len()..64 {
        let arguments: Value = json!({"cmd": "exec sleep 300", "yield_time_ms": 250});
        let call = bench.call("c1", "exec_command", &arguments.to_string());
        calls.spawn(async move { call.text().await });
    }
    while let Some(answer) = calls.join_next().await {
        assert!(answer.expect("answered").contains("Process running"));
    }
    assert_eq!(ids(bench).len(), 64);
}

#[tokio::test]
async fn one_that_has_ended_goes_before_one_that_lives() {
    let bench = Bench::new();
    start(&bench).await;
    bench.exec_as("short", json!({"cmd": waiting("true", "true"), "yield_time_ms": 250})).await;
    fill_up_to_64(&bench).await;
    release(&bench).await;
    bench.told.completion("short").await;
    start(&bench).await;
    let left = ids(&bench);
    assert!(left.contains(&1000) && !left.contains(&1001), "{left:?}");
}

#[tokio::test]
async fn sixty_four_are_kept_and_the_last_eight_are_safe() {
    let bench = Bench::new();
    fill(&bench, 64).await;
    // Every one but the eight used last has somebody who waits for it: there is nobody to put out.
    let mut polls = tokio::task::JoinSet::new();
    for id in ids(&bench) {
        let call =
            bench.call("w", "write_stdin", &json!({"session_id": id, "yield_time_ms": 10000}).to_string());
        polls.spawn(async move { call.text().await });
    }
    // All of them wait now: the executor looks for news after each 61 tasks, and may come back here then.
    for _ in 0..polls.len() {
        tokio::task::yield_now().await;
    }
    start(&bench).await;
    assert_eq!(ids(&bench).len(), 65, "the store may grow when all are busy");
    bench.service.shutdown().await;
    while let Some(answer) = polls.join_next().await {
        assert!(answer.expect("answered").contains("Process exited with code 137"));
    }
}
