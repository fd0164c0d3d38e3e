//! What becomes of commands when this process is killed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod support;

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::json;
use support::{Bench, LONG, session_of};
use tenon_tools::{SandboxPolicy, WorkspaceWrite};

/// Set for the process that is going to be killed.
const ROLE: &str = "TENON_EXEC_TEST_VICTIM";

/// Not a test by itself: the process that is killed. It says which sessions it has started and waits for its end.
#[tokio::test]
async fn victim() {
    if std::env::var_os(ROLE).is_none() {
        return;
    }
    let mut bench = Bench::new();
    let tree = "trap '' TERM HUP
        bash -c 'trap \"\" TERM HUP; sleep 300 & wait; sleep 300' &
        set -m; sleep 300 & set +m
        echo ready; wait; sleep 300";
    bench.exec_as("c1", json!({"cmd": tree, "yield_time_ms": 250})).await;
    bench.exec_as("c2", json!({"cmd": "trap '' HUP; sleep 300 & echo started"})).await;
    bench
        .exec_as(
            "c3",
            json!({"cmd": "trap '' TERM HUP; sleep 300; sleep 300", "tty": true, "yield_time_ms": 250}),
        )
        .await;
    let mut held = bench.step.clone();
    held.sandbox = SandboxPolicy::WorkspaceWrite(WorkspaceWrite::default());
    if bench.service.check_sandbox(&held.sandbox, &held.cwd).await.is_ok() {
        bench.step = held;
    }
    let ignoring = "trap '' TERM HUP; sleep 300; sleep 300";
    bench.exec_as("c4", json!({"cmd": ignoring, "yield_time_ms": 250})).await;
    // One that has come and gone is not there to be killed.
    bench.exec_as("c5", json!({"cmd": "true"})).await;
    for fact in bench.told.facts() {
        let tenon_protocol::CallFact::Process { pid, .. } = fact else { panic!("{fact:?}") };
        println!("\nsession {pid}");
    }
    println!("\nall told");
    std::future::pending::<()>().await;
}

#[test]
fn killing_the_host_ends_all_its_commands() {
    let mut victim = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "victim", "--nocapture", "--test-threads=1"])
        .env(ROLE, "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    let output = BufReader::new(victim.stdout.take().expect("its output"));
    let mut sessions = Vec::new();
    for line in output.lines() {
        let line = line.expect("a line");
        if let Some(pid) = line.strip_prefix("session ") {
            sessions.push(pid.parse::<i32>().expect("a pid"));
        } else if line == "all told" {
            break;
        }
    }
    assert_eq!(sessions.len(), 5);
    let alive: Vec<usize> = sessions.iter().map(|pid| session_of(*pid).len()).collect();
    assert!(alive[0] >= 4 && alive[1] == 1 && alive[2] >= 1 && alive[3] >= 1 && alive[4] == 0, "{alive:?}");
    victim.kill().expect("killed");
    victim.wait().expect("reaped");
    let start = Instant::now();
    while sessions.iter().any(|pid| !session_of(*pid).is_empty()) {
        assert!(
            start.elapsed() < LONG,
            "{:?}",
            sessions.iter().map(|pid| session_of(*pid)).collect::<Vec<_>>()
        );
        std::thread::yield_now();
    }
}
