//! A command that the sandbox has stopped, and somebody who may let it run again without: real processes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod support;

use std::fs;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use support::fenced::{Fenced, fenced};
use support::{output_of, steady};
use tenon_protocol::{CallFact, ItemStatus};
use tenon_tools::{Effects, FirstRun, Retries, Retry, ToolInvocation};
use tokio::sync::Notify;

/// Somebody who is asked, what they were asked, and what they do.
#[derive(Default)]
struct Asked {
    questions: Mutex<Vec<FirstRun>>,
    /// What they say; nothing, for ever, without.
    says: Option<Retry>,
    /// A folder that they remove first.
    removes: Option<std::path::PathBuf>,
    asks: Notify,
}

#[async_trait]
impl Retries for Asked {
    async fn ask(&self, call: &ToolInvocation, effects: &Effects, first: FirstRun) -> Retry {
        assert_eq!(call.call_id.as_str(), "c1");
        assert!(effects.command.is_some());
        self.questions.lock().unwrap().push(first);
        self.asks.notify_one();
        if let Some(folder) = &self.removes {
            fs::remove_dir_all(folder).unwrap();
        }
        match &self.says {
            Some(says) => says.clone(),
            None => std::future::pending().await,
        }
    }
}

/// A workspace whose commands may be run again where this one says so.
async fn asking(says: Option<Retry>) -> Option<(Fenced, Arc<Asked>)> {
    let mut fenced = fenced().await?;
    let asked = Arc::new(Asked { says, ..Asked::default() });
    fenced.bench.host.retries = Arc::clone(&asked) as _;
    Some((fenced, asked))
}

/// Adds a line inside, which the sandbox lets it, and one outside, which it does not.
const BOTH: &str = "echo x >> inside; echo ran; echo y > ../outside/file";

/// The shell names the file as it was told it.
const DENIAL: &str = "[denied by the sandbox, as it seems: ../outside/file (sandbox mode workspace-write)]";

fn lines_inside(fenced: &Fenced) -> usize {
    fs::read_to_string(fenced.cwd().join("inside")).unwrap().lines().count()
}

fn processes(fenced: &Fenced) -> usize {
    let facts = fenced.bench.told.facts();
    facts.iter().filter(|fact| matches!(fact, CallFact::Process { .. })).count()
}

#[tokio::test]
async fn a_yes_runs_it_a_second_time_without_the_sandbox() {
    let Some((fenced, asked)) = asking(Some(Retry::Unsandboxed)).await else { return };
    let answer = fenced.run(BOTH).await;
    assert_eq!(
        steady(&answer),
        "Chunk ID: <chunk>\nWall time: <t> seconds\nProcess exited with code 0\nRun again without the sandbox, in which \
         a first run failed (exit code 1)\nOriginal token count: 1\nOutput:\nran\n"
    );
    let questions = asked.questions.lock().unwrap().clone();
    assert_eq!(questions, [FirstRun { exit_code: 1, denial: DENIAL.to_owned() }]);
    assert_eq!((lines_inside(&fenced), processes(&fenced)), (2, 2));
    assert_eq!(fs::read_to_string(fenced.outside.join("file")).unwrap(), "y\n");
    // One item, which shows the run that counts.
    assert_eq!(fenced.bench.told.completed("c1"), [("ran\n".to_owned(), Some(0), ItemStatus::Completed)]);
    fenced.bench.service.shutdown().await;
    assert_eq!(fenced.bench.told.completed("c1").len(), 1);
}

#[tokio::test]
async fn a_second_failure_is_final() {
    let Some((fenced, asked)) = asking(Some(Retry::Unsandboxed)).await else { return };
    let answer = fenced.run("echo x >> inside; echo 'Permission denied'; exit 9").await;
    assert_eq!(
        steady(&answer),
        "Chunk ID: <chunk>\nWall time: <t> seconds\nProcess exited with code 9\nRun again without the sandbox, in which \
         a first run failed (exit code 9)\nOriginal token count: 5\nOutput:\nPermission denied\n"
    );
    assert_eq!((asked.questions.lock().unwrap().len(), lines_inside(&fenced)), (1, 2));
}

#[tokio::test]
async fn a_no_leaves_the_first_run_as_the_result() {
    for (why, line) in [(None, ""), (Some("not there"), "Not run again without the sandbox: not there\n")] {
        let says = Retry::No(why.map(str::to_owned));
        let Some((fenced, asked)) = asking(Some(says)).await else { return };
        let answer = fenced.run(BOTH).await;
        let (head, output) = answer.split_once("Original token count: ").unwrap();
        assert!(steady(head).ends_with(&format!("Process exited with code 1\n{line}")), "{answer}");
        assert!(output.trim_end().ends_with(DENIAL), "{answer}");
        assert_eq!((asked.questions.lock().unwrap().len(), lines_inside(&fenced)), (1, 1));
        let completed = fenced.bench.told.completed("c1");
        assert_eq!((completed.len(), completed[0].1, completed[0].2), (1, Some(1), ItemStatus::Failed));
        assert_eq!(fs::read_dir(&fenced.outside).unwrap().count(), 0);
    }
}

#[tokio::test]
async fn nobody_is_asked_where_the_sandbox_did_not_stop_it() {
    let Some((mut fenced, asked)) = asking(Some(Retry::Unsandboxed)).await else { return };
    for command in ["echo 'Permission denied'", "exit 3", "echo fine > inside"] {
        fenced.run(command).await;
    }
    // It has not ended when the call does.
    let yields = json!({"cmd": "echo 'Permission denied'; sleep 30; exit 1", "yield_time_ms": 250});
    assert!(fenced.bench.exec(yields).await.contains("Process running with session ID"));
    // Its time was over.
    fenced.bench.step.max_runtime = Some(std::time::Duration::from_millis(300));
    let answer = fenced.run("echo 'Permission denied'; sleep 30").await;
    assert!(answer.contains("[ended: it ran longer than the limit of 0.3 seconds]"), "{answer}");
    assert_eq!(*asked.questions.lock().unwrap(), []);
    fenced.bench.service.shutdown().await;
}

#[tokio::test]
async fn a_question_is_withdrawn_with_its_call() {
    let Some((fenced, asked)) = asking(None).await else { return };
    let call = fenced.bench.call("c1", "exec_command", &json!({ "cmd": BOTH }).to_string());
    let cancellation = call.cancellation();
    let (answer, ()) = tokio::join!(call.text(), async {
        asked.asks.notified().await;
        // Nobody is shown the end of a command that may go on.
        assert_eq!(fenced.bench.told.completed("c1"), []);
        cancellation.cancel();
    });
    let (head, output) = answer.split_once("\naborted by user\nOutput:\n").expect("what it printed");
    assert!(head.starts_with("Wall time: ") && output.starts_with("ran\n"), "{answer}");
    assert!(output.trim_end().ends_with(DENIAL), "{answer}");
    assert_eq!((lines_inside(&fenced), processes(&fenced)), (1, 1));
    assert_eq!(fenced.bench.told.completed("c1").len(), 1);
}

#[tokio::test]
async fn a_second_run_is_cancelled_like_a_first_one() {
    let Some((fenced, _)) = asking(Some(Retry::Unsandboxed)).await else { return };
    // The first run fails at once, the second one goes on.
    let command = "echo y > ../outside/file || exit 1; echo second; sleep 30";
    let call = fenced.bench.call("c1", "exec_command", &json!({ "cmd": command }).to_string());
    let cancellation = call.cancellation();
    let (answer, ()) = tokio::join!(call.text(), async {
        fenced.bench.told.printed("second\n").await;
        cancellation.cancel();
    });
    assert!(
        answer.ends_with(
            "\naborted by user\nRun again without the sandbox, in which a first run failed (exit code 1)\nOutput:\nsecond\n"
        ),
        "{answer}"
    );
    assert_eq!(fenced.bench.told.completed("c1").len(), 1);
}

#[tokio::test]
async fn a_second_run_may_yield() {
    let Some((fenced, _)) = asking(Some(Retry::Unsandboxed)).await else { return };
    let command = "echo y > ../outside/file || exit 1; echo second; sleep 30";
    let answer = fenced.bench.exec(json!({"cmd": command, "yield_time_ms": 1000})).await;
    assert_eq!(output_of(&answer), "second\n");
    let again = "Run again without the sandbox, in which a first run failed (exit code 1)\nProcess running with session ID ";
    assert!(answer.contains(again), "{answer}");
    let id: i32 = answer.split_once(again).unwrap().1.lines().next().unwrap().parse().unwrap();
    assert_eq!(fenced.bench.told.completed("c1"), []);
    let polled = fenced.bench.write(json!({"session_id": id, "chars": "\u{3}"})).await;
    assert!(polled.contains("Process exited with code 130"), "{polled}");
    assert_eq!(fenced.bench.told.completed("c1").len(), 1);
    fenced.bench.service.shutdown().await;
}

/// The first run stands where the second cannot begin.
#[tokio::test]
async fn a_second_run_that_cannot_be_started_leaves_the_first() {
    let Some((mut fenced, _)) = asking(None).await else { return };
    let folder = fenced.cwd().join("sub");
    fs::create_dir(&folder).unwrap();
    let asked = Asked { says: Some(Retry::Unsandboxed), removes: Some(folder), ..Asked::default() };
    fenced.bench.host.retries = Arc::new(asked);
    let command: Value = json!({"cmd": "echo first; echo y > ../../outside/file", "workdir": "sub"});
    let answer = fenced.bench.exec(command).await;
    assert!(
        answer
            .contains("Process exited with code 1\nNot run again without the sandbox: exec_command failed: ")
    );
    assert!(output_of(&answer).starts_with("first\n"), "{answer}");
    assert_eq!(fenced.bench.told.completed("c1").len(), 1);
}
