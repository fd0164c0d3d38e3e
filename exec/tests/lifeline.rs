//! What becomes of commands when this process is killed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod support;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use serde_json::json;
use support::{Bench, LONG, output_of, session_of};
use tenon_tools::{SandboxPolicy, WorkspaceWrite};

/// Set for the process that is going to be killed.
const ROLE: &str = "TENON_EXEC_TEST_VICTIM";

/// The id of its session.
const SESSION: &str = "TENON_EXEC_TEST_SESSION";

/// Leaves its session, says its number, and is an orphan; its child has a session of its own once more.
const DAEMON: &str = "mkfifo told; setsid bash -c 'trap \"\" TERM HUP; setsid sleep 300 & echo $! $$; echo > told; wait; sleep 300' < /dev/null 2> /dev/null & read _ < told; rm told";

/// Leaves its session and has a parent that waits for it.
const CHILD: &str = "trap '' TERM HUP; setsid bash -c 'echo $$; exec sleep 300' & wait; sleep 300";

/// Not a test by itself: the process that is killed. It says which sessions it has started and waits for its end.
#[tokio::test]
async fn victim() {
    if std::env::var_os(ROLE).is_none() {
        return;
    }
    let mut bench = Bench::new();
    bench.step.session_id = std::env::var(SESSION).expect("an id");
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
    let mut strays = Vec::new();
    for (call, command) in [("c6", DAEMON), ("c7", CHILD)] {
        // Outside of a sandbox: its folder is to be written.
        bench.step.sandbox = SandboxPolicy::DangerFullAccess;
        let answer = bench.exec_as(call, json!({"cmd": command, "yield_time_ms": 250})).await;
        strays.extend(output_of(&answer).split_whitespace().map(str::to_owned));
    }
    for stray in strays {
        println!("\nstray {stray}");
    }
    for fact in bench.told.facts() {
        let tenon_protocol::CallFact::Process { pid, .. } = fact else { panic!("{fact:?}") };
        println!("\nsession {pid}");
    }
    println!("\nall told");
    std::future::pending::<()>().await;
}

/// What the victim has told before it was killed.
struct Told {
    sessions: Vec<i32>,
    strays: Vec<i32>,
}

fn told(victim: &mut Child) -> Told {
    let output = BufReader::new(victim.stdout.take().expect("its output"));
    let mut told = Told { sessions: Vec::new(), strays: Vec::new() };
    for line in output.lines() {
        let line = line.expect("a line");
        if let Some(pid) = line.strip_prefix("session ") {
            told.sessions.push(pid.parse().expect("a pid"));
        } else if let Some(pid) = line.strip_prefix("stray ") {
            told.strays.push(pid.parse().expect("a pid"));
        } else if line == "all told" {
            break;
        }
    }
    told
}

/// Whether a process lives; a dead one that nobody reaps does not.
fn lives(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}

#[test]
fn killing_the_host_ends_all_its_commands() {
    let session = format!("0194b7c5-0000-7000-8000-{:012x}", std::process::id());
    let mut victim = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "victim", "--nocapture", "--test-threads=1"])
        .env(ROLE, "1")
        .env(SESSION, &session)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    // One that bears the same mark, but was left to nobody by the victim's death.
    let mut stranger = Command::new("setsid")
        .args(["sleep", "300"])
        .env("TENON_SESSION_ID", &session)
        .spawn()
        .expect("started");
    let Told { sessions, strays } = told(&mut victim);
    assert_eq!((sessions.len(), strays.len()), (7, 3), "{strays:?}");
    let alive: Vec<usize> = sessions.iter().map(|pid| session_of(*pid).len()).collect();
    assert!(alive[0] >= 4 && alive[1] == 1 && alive[2] >= 1 && alive[3] >= 1 && alive[4] == 0, "{alive:?}");
    assert!(alive[5] == 0 && alive[6] >= 1 && strays.iter().all(|pid| lives(*pid)), "{alive:?}");
    victim.kill().expect("killed");
    victim.wait().expect("reaped");
    let left = || {
        let members = sessions.iter().flat_map(|pid| session_of(*pid));
        members.chain(strays.iter().copied().filter(|pid| lives(*pid))).collect::<Vec<_>>()
    };
    let start = Instant::now();
    while !left().is_empty() {
        assert!(start.elapsed() < LONG, "{:?}", left());
        std::thread::yield_now();
    }
    assert!(stranger.try_wait().expect("asked").is_none(), "it was not the victim's");
    stranger.kill().expect("killed");
    stranger.wait().expect("reaped");
}
