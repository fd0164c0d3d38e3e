//! Commands on a terminal.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod support;

use pretty_assertions::assert_eq;
use serde_json::json;
use support::{Bench, ended, output_of, running, steady};
use tenon_protocol::ItemStatus;
use tenon_tools::Event;

#[tokio::test]
async fn it_has_24_rows_and_80_columns() {
    let bench = Bench::new();
    let answer = bench
        .exec(json!({"cmd": "tty; stty size; test -t 0 -a -t 1 -a -t 2 && echo all", "tty": true}))
        .await;
    let lines: Vec<&str> = output_of(&answer).split("\r\n").collect();
    assert!(lines[0].starts_with("/dev/pts/"), "{lines:?}");
    assert_eq!(lines[1..], ["24 80", "all", ""]);
}

#[tokio::test]
async fn what_is_typed_is_echoed_and_read() {
    let bench = Bench::new();
    let first = bench.exec(json!({"cmd": "read x; echo got:$x", "tty": true, "yield_time_ms": 300})).await;
    assert_eq!(steady(&first), running(1000, 0, ""));
    let answer = bench.write(json!({"session_id": 1000, "chars": "abc\n", "yield_time_ms": 20000})).await;
    assert_eq!(steady(&answer), ended(0, 4, "abc\r\ngot:abc\r\n"));
    assert_eq!(
        bench.told.completed("c1"),
        [("abc\r\ngot:abc\r\n".to_owned(), Some(0), ItemStatus::Completed)]
    );
    let typed = bench.told.events().into_iter().filter_map(|event| match event {
        Event::TerminalInteraction { process_id, stdin, .. } => Some((process_id, stdin)),
        _ => None,
    });
    assert_eq!(typed.collect::<Vec<_>>(), [(1000, "abc\n".to_owned())]);
}

#[tokio::test]
async fn an_interrupt_goes_through_the_line_discipline() {
    let bench = Bench::new();
    bench.exec(json!({"cmd": "sleep 60", "tty": true, "yield_time_ms": 250})).await;
    let answer = bench.write(json!({"session_id": 1000, "chars": "\u{3}", "yield_time_ms": 20000})).await;
    assert_eq!(steady(&answer), ended(130, 1, "^C"));
    // A program that has switched signals off gets the byte.
    let raw = "stty raw -echo; echo ready; dd bs=1 count=1 2>/dev/null | od -An -tx1";
    bench.exec_as("c2", json!({"cmd": raw, "tty": true, "yield_time_ms": 250})).await;
    bench.told.printed("ready").await;
    let answer = bench.write(json!({"session_id": 1000, "chars": "\u{3}", "yield_time_ms": 20000})).await;
    assert!(output_of(&answer).trim_end().ends_with("03"), "{answer}");
}

#[tokio::test]
async fn end_of_input_can_be_typed() {
    let bench = Bench::new();
    bench.exec(json!({"cmd": "cat; echo end", "tty": true, "yield_time_ms": 250})).await;
    let answer = bench.write(json!({"session_id": 1000, "chars": "x\n\u{4}", "yield_time_ms": 20000})).await;
    assert_eq!(steady(&answer), ended(0, 3, "x\r\nx\r\nend\r\n"));
}

#[tokio::test]
async fn typing_to_one_that_has_ended_tells_its_end() {
    let bench = Bench::new();
    bench.exec(json!({"cmd": "mkfifo f; read _ < f; exit 6", "tty": true, "yield_time_ms": 250})).await;
    let fifo = bench.cwd().join("f");
    tokio::task::spawn_blocking(move || std::fs::write(fifo, "\n")).await.expect("joined").expect("written");
    bench.told.completion("c1").await;
    let answer = bench.write(json!({"session_id": 1000, "chars": "abc\n"})).await;
    assert_eq!(steady(&answer), ended(6, 0, ""));
}

#[tokio::test]
async fn one_that_has_left_its_terminal_is_still_a_session() {
    let bench = Bench::new();
    let cmd = "trap '' HUP; mkfifo f; exec < /dev/null > /dev/null 2>&1; read _ < f; exit 5";
    bench.exec(json!({"cmd": cmd, "tty": true, "yield_time_ms": 250})).await;
    // The kernel takes what nobody will read.
    let answer = bench.write(json!({"session_id": 1000, "chars": "abc\n"})).await;
    assert_eq!(steady(&answer), running(1000, 0, ""));
    let fifo = bench.cwd().join("f");
    tokio::task::spawn_blocking(move || std::fs::write(fifo, "\n")).await.expect("joined").expect("written");
    assert_eq!(steady(&bench.write(json!({"session_id": 1000})).await), ended(5, 0, ""));
}

#[tokio::test]
async fn more_than_the_terminal_takes_is_an_error_in_the_end() {
    let bench = Bench::new();
    bench.exec(json!({"cmd": "stty raw -echo; exec sleep 300", "tty": true, "yield_time_ms": 250})).await;
    let arguments = json!({"session_id": 1000, "chars": "x".repeat(1024 * 1024), "yield_time_ms": 500});
    assert_eq!(bench.write(arguments).await, "write_stdin failed: failed to write to stdin");
    assert_eq!(bench.service.running().len(), 1);
}

#[tokio::test]
async fn jobs_of_a_shell_with_job_control_end_with_it() {
    let bench = Bench::new();
    let call = bench.call(
        "c1",
        "exec_command",
        &json!({"cmd": "set -m; sleep 300 & sleep 301 & echo ready; wait", "tty": true}).to_string(),
    );
    let running = call.clone();
    let answer = tokio::spawn(async move { running.text().await });
    bench.told.printed("ready").await;
    call.cancellation().cancel();
    let answer = answer.await.expect("answered");
    assert!(answer.ends_with("\naborted by user\nOutput:\nready\r\n"), "{answer}");
    let pid = bench.told.pid().await;
    assert!(support::session_of(pid).is_empty());
}

#[tokio::test]
async fn both_kinds_die_alike() {
    let bench = Bench::new();
    for tty in [false, true] {
        let answer = bench.exec(json!({"cmd": "kill -9 $$", "tty": tty})).await;
        assert_eq!(steady(&answer), ended(137, 0, ""));
    }
}

#[tokio::test]
async fn a_big_output_comes_whole() {
    let bench = Bench::new();
    let answer = bench.exec(json!({"cmd": "seq 100000", "tty": true, "max_output_tokens": 100_000})).await;
    let bytes: usize = (1..=100_000).map(|i| format!("{i}\r\n").len()).sum();
    assert!(answer.contains(&format!("Original token count: {}\n", bytes.div_ceil(4))), "{answer:.120}");
}
