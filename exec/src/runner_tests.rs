use std::ffi::OsString;
use std::fs;
use std::path::Path;

use pretty_assertions::assert_eq;

use super::*;
use crate::ids::IdSource;
use crate::testing::{LONG, Witness, environment, timed};

fn runner() -> ProcessRunner {
    ProcessRunner::new(Arc::new(Store::new(IdSource::Random, false)))
}

fn request(script: &str) -> CommandRequest {
    CommandRequest {
        argv: ["/bin/bash", "-c", script].map(OsString::from).to_vec(),
        cwd: "/".into(),
        environment: environment(),
        stdin: Vec::new(),
        timeout: LONG,
        max_output_bytes: 1024,
    }
}

async fn run(request: CommandRequest) -> Result<CommandOutcome, CommandError> {
    timed(runner().run(request)).await.0
}

async fn outcome(script: &str, stdin: Vec<u8>) -> (Option<i32>, String, String) {
    let outcome = run(CommandRequest { stdin, ..request(script) }).await.expect("an outcome");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (outcome.exit_code, text(outcome.stdout), text(outcome.stderr))
}

#[tokio::test]
async fn streams_are_kept_apart() {
    let found = outcome("cat; echo err >&2; exit 2", b"in".to_vec()).await;
    assert_eq!(found, (Some(2), "in".to_owned(), "err\n".to_owned()));
}

#[tokio::test]
async fn death_by_signal_has_no_code() {
    assert_eq!(outcome("kill -9 $$", Vec::new()).await.0, None);
}

#[tokio::test]
async fn input_that_nobody_wants_is_no_failure() {
    let big = vec![b'x'; 2 * 1024 * 1024];
    assert_eq!(outcome("exit 0", big.clone()).await.0, Some(0));
    assert_eq!(
        outcome("exec <&-; echo closed", big.clone()).await,
        (Some(0), "closed\n".to_owned(), String::new())
    );
    let counted = outcome("read -r -N 1 _; wc -c", big).await;
    assert_eq!(counted, (Some(0), "2097151\n".to_owned(), String::new()));
}

#[tokio::test]
async fn big_input_and_big_output_do_not_wait_for_each_other() {
    let big = vec![b'x'; 2 * 1024 * 1024];
    let request =
        CommandRequest { stdin: big, max_output_bytes: 4 * 1024 * 1024, ..request("tee /dev/stderr") };
    let outcome = run(request).await.expect("an outcome");
    assert_eq!((outcome.stdout.len(), outcome.stderr.len()), (2 * 1024 * 1024, 2 * 1024 * 1024));
    assert_eq!(outcome.dropped_bytes, 0);
}

#[tokio::test]
async fn output_is_bounded_at_its_edge() {
    let script = |count: usize| format!("head -c {count} /dev/zero");
    let at = run(request(&script(1024))).await.expect("an outcome");
    assert_eq!((at.stdout.len(), at.dropped_bytes), (1024, 0));
    let over = run(request(&script(1025))).await.expect("an outcome");
    assert_eq!((over.stdout.len(), over.dropped_bytes), (1024, 1));
}

/// The pids that a script writes into a file.
fn pids(file: &Path) -> Vec<i32> {
    fs::read_to_string(file).expect("written").lines().map(|line| line.parse().expect("a pid")).collect()
}

#[tokio::test]
async fn the_answer_does_not_wait_for_the_pipe_and_leaves_nobody() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("pids");
    let script = format!("sleep 300 & echo $! > {}; echo out", file.display());
    let (found, took) = timed(runner().run(request(&script))).await;
    let found = found.expect("an outcome");
    assert_eq!((found.exit_code, found.stdout), (Some(0), b"out\n".to_vec()));
    assert!(took < LONG / 2, "{took:?}");
    assert!(pids(&file).into_iter().all(|pid| Witness::new(pid).is_dead()));
}

#[tokio::test]
async fn a_timeout_ends_the_whole_tree() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("pids");
    let script = format!("trap '' TERM; sleep 300 & echo $! > {0}; echo $$ >> {0}; wait", file.display());
    let timeout = Duration::from_secs(1);
    let error = run(CommandRequest { timeout, ..request(&script) }).await.expect_err("too long");
    assert_eq!(error, CommandError::TimedOut(timeout));
    assert_eq!(pids(&file).len(), 2);
    assert!(pids(&file).into_iter().all(|pid| Witness::new(pid).is_dead()));
}

#[tokio::test]
async fn dropping_the_future_ends_the_tree() {
    let folder = tempfile::tempdir().expect("a folder");
    let fifo = folder.path().join("fifo");
    let script = format!("mkfifo {0}; echo $$ > {0}; sleep 300", fifo.display());
    let running = tokio::spawn(async move { runner().run(request(&script)).await });
    let ready = tokio::task::spawn_blocking(move || {
        while !fifo.exists() {
            std::thread::yield_now();
        }
        pids(&fifo)
    });
    let pids = timed(ready).await.0.expect("read");
    let witness = Witness::new(pids[0]);
    running.abort();
    witness.death().await;
}

#[tokio::test]
async fn what_cannot_be_started_says_why() {
    let missing = CommandRequest { argv: vec!["/no/such/program".into()], ..request("") };
    let error = run(missing).await.expect_err("missing");
    assert_eq!(error, CommandError::Spawn("program `/no/such/program` does not exist".to_owned()));
    let nothing = CommandRequest { argv: Vec::new(), ..request("") };
    assert_eq!(run(nothing).await, Err(CommandError::Spawn("there is no command".to_owned())));
}
