//! Processes that leave the session of their command: found by their parents, or because this process is a subreaper.
//! Each test that makes it one has a process to itself.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod support;

use std::fs;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::json;
use support::alone::alone;
use support::{Bench, LONG, output_of};

/// Leaves its session, says its number, and is an orphan.
const DAEMON: &str = "mkfifo told; setsid bash -c 'echo $$; echo > told; exec sleep 300' < /dev/null 2> /dev/null & read _ < told";

fn bench() -> Bench {
    Bench::with(|config| config.subreaper = true)
}

/// State and parent of a process; none when it is gone.
fn process(pid: &str) -> Option<(String, String)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace().map(str::to_owned);
    Some((fields.next()?, fields.next()?))
}

fn is_alive(pid: &str) -> bool {
    process(pid).is_some_and(|(state, _)| state != "Z")
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < LONG, "{what}");
        std::thread::yield_now();
    }
}

#[tokio::test]
async fn a_daemon_ends_with_the_service_of_a_subreaper() {
    if !alone("a_daemon_ends_with_the_service_of_a_subreaper") {
        return;
    }
    let bench = bench();
    let answer = bench.exec(json!({"cmd": DAEMON})).await;
    let pid = output_of(&answer).trim().to_owned();
    assert_eq!(process(&pid).map(|(_, parent)| parent), Some(std::process::id().to_string()), "{answer}");
    bench.service.shutdown().await;
    assert!(process(&pid).is_none(), "it is dead, and reaped");
}

#[tokio::test]
async fn a_child_of_the_host_itself_is_left_alone() {
    if !alone("a_child_of_the_host_itself_is_left_alone") {
        return;
    }
    let bench = bench();
    let mut command = Command::new("setsid");
    command.args(["sleep", "300"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut own = command.spawn().unwrap();
    bench.exec(json!({"cmd": "true"})).await;
    bench.service.shutdown().await;
    assert!(own.try_wait().unwrap().is_none());
    own.kill().unwrap();
    own.wait().unwrap();
}

#[tokio::test]
async fn no_orphan_is_left_a_zombie() {
    if !alone("no_orphan_is_left_a_zombie") {
        return;
    }
    let bench = bench();
    let orphans = "for i in 1 2 3; do (sleep 0.$i &) ; (setsid sleep 0.$i &) ; done; sleep 0.1";
    bench.exec(json!({"cmd": orphans})).await;
    let ours = std::process::id().to_string();
    let is_child = |pid: &str| process(pid).is_some_and(|(_, parent)| parent == ours);
    let sleeps = || {
        let all =
            fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().into_string().ok());
        all.filter(|pid| is_child(pid))
            .filter(|pid| fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name == "sleep\n"))
            .count()
    };
    wait_until("an orphan is left", || sleeps() == 0);
}

#[tokio::test]
async fn a_cancelled_call_takes_along_what_has_left_its_session() {
    let bench = Bench::new();
    let script = "setsid bash -c 'echo $$; setsid sleep 300 & wait' & wait";
    let call = bench.call("c1", "exec_command", &json!({"cmd": script}).to_string());
    let running = call.clone();
    let answer = tokio::spawn(async move { running.text().await });
    bench.told.printed("\n").await;
    call.cancellation().cancel();
    let answer = answer.await.unwrap();
    let pid = output_of(&answer).trim().to_owned();
    assert!(pid.parse::<u32>().is_ok() && !is_alive(&pid), "{answer}");
    assert!(support::session_of(pid.parse().unwrap()).is_empty());
}
