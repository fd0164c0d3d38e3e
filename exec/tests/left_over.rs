//! Commands that a runtime before has left behind: those are ended that are known for certain, and nobody else.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod support;

use std::fs;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};

use pretty_assertions::assert_eq;
use support::Bench;
use tenon_tools::{LeftBehind, LeftProcess};

const SESSION: &str = "019ad4e2-1111-7000-8000-00000000000c";

/// State, session and start of a process: fields 3, 6 and 22 of its line.
fn stat(pid: u32) -> Option<(char, u32, u64)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    Some((fields[0].chars().next()?, fields[3].parse().ok()?, fields[19].parse().ok()?))
}

fn runs(pid: u32) -> bool {
    stat(pid).is_some_and(|(state, _, _)| state != 'Z')
}

/// A leader of a session of its own, and when it started.
fn leader(script: &str) -> (Child, u64) {
    leader_with("", script)
}

/// One that has done something before it is known to be there.
#[allow(clippy::zombie_processes, reason = "each test waits for it")]
fn leader_with(first: &str, script: &str) -> (Child, u64) {
    let mut child = Command::new("setsid")
        .args(["sh", "-c", &format!("{first}\necho ready; exec > /dev/null\n{script}")])
        .env("TENON_SESSION_ID", SESSION)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut told = String::new();
    child.stdout.take().expect("a pipe").read_to_string(&mut told).expect("text");
    assert_eq!(told, "ready\n");
    let (_, session, started_at) = stat(child.id()).expect("it is our child");
    assert_eq!(session, child.id());
    (child, started_at)
}

fn boot_id() -> Option<String> {
    Some(fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?.trim().to_owned())
}

fn left(pid: u32, started_at: u64) -> LeftProcess {
    LeftProcess { pid, group: pid, started_at, boot_id: boot_id() }
}

async fn tidy_up(session_id: &str, processes: Vec<LeftProcess>) {
    let bench = Bench::new();
    let left = LeftBehind { session_id: session_id.to_owned(), written: Vec::new(), processes };
    for tool in bench.service.tools() {
        tool.tidy_up(&left).await;
    }
    bench.service.shutdown().await;
}

#[tokio::test]
async fn what_is_known_by_number_start_and_boot_is_ended() {
    let (mut polite, polite_start) = leader("exec sleep 300");
    let (mut stubborn, stubborn_start) = leader_with("trap '' TERM", "while :; do sleep 300; done");
    tidy_up(SESSION, vec![left(polite.id(), polite_start), left(stubborn.id(), stubborn_start)]).await;
    let signals = [&mut polite, &mut stubborn].map(|child| child.wait().expect("it has ended").signal());
    assert_eq!(signals[1], Some(9));
    assert!(matches!(signals[0], Some(15 | 9)), "{signals:?}");
}

#[tokio::test]
async fn a_number_that_is_anothers_by_now_is_not_hit() {
    let (mut child, start) = leader("exec sleep 300");
    let known = left(child.id(), start);
    let others = [
        LeftProcess { started_at: start + 1, ..known.clone() },
        LeftProcess { started_at: start - 1, ..known.clone() },
        LeftProcess { started_at: 0, ..known.clone() },
        LeftProcess { boot_id: Some("another".to_owned()), ..known.clone() },
        LeftProcess { boot_id: None, ..known.clone() },
        LeftProcess { pid: u32::MAX, ..known.clone() },
    ];
    for other in others {
        tidy_up(SESSION, vec![other.clone()]).await;
        assert!(child.try_wait().expect("our child").is_none(), "{other:?}");
    }
    tidy_up(SESSION, vec![known]).await;
    assert!(child.wait().expect("it has ended").signal().is_some());
}

#[tokio::test]
async fn what_a_leader_has_left_is_known_by_its_mark() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("pid");
    let script = format!("sleep 300 & echo $! > {0}.new; mv {0}.new {0}; read line; exit", file.display());
    // It lives until its start is known.
    let mut child = Command::new("setsid")
        .args(["sh", "-c", &script])
        .env("TENON_SESSION_ID", SESSION)
        .stdin(Stdio::piped())
        .spawn()
        .expect("it starts");
    let member: u32 = loop {
        if let Ok(text) = fs::read_to_string(&file) {
            break text.trim().parse().expect("a number");
        }
        std::thread::yield_now();
    };
    let (_, session, started_at) = stat(child.id()).expect("it lives");
    assert_eq!(session, child.id());
    drop(child.stdin.take());
    child.wait().expect("it ends");
    assert!(runs(member));
    tidy_up("another session", vec![left(session, started_at)]).await;
    assert!(runs(member), "nobody knows whose it is");
    tidy_up(SESSION, vec![left(session, started_at)]).await;
    assert!(!runs(member));
}
