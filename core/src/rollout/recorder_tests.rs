use std::fs;
use std::io;
use std::path::PathBuf;

use pretty_assertions::assert_eq;
use serde_json::json;
use tempfile::TempDir;
use tenon_protocol::{AdditionalTools, CallFact, ItemKind};

use super::super::fake_disk::{FakeFile, Fault};
use super::super::test_support::{FIXED, Warnings, finished, host, meta, said, started, told};
use super::super::{QUEUED_COMMANDS, QUEUED_FACTS};
use super::*;
use crate::history::samples::function_output;

const ID: &str = "019ad4e2-1111-7000-8000-000000000001";

fn recorder_on(file: &FakeFile) -> (RolloutRecorder, Arc<Warnings>) {
    let (host, warnings) = host();
    (RolloutRecorder::with_file(PathBuf::from("/fake"), Box::new(file.clone()), host).unwrap(), warnings)
}

#[tokio::test]
async fn the_file_is_there_with_its_first_line_when_create_returns() {
    let home = TempDir::new().unwrap();
    let (host, _) = host();
    let recorder = RolloutRecorder::create(home.path(), meta(ID, home.path()), host).unwrap();
    let path = recorder.path().unwrap().to_owned();
    let name = path.file_name().unwrap().to_str().unwrap();
    assert!(name.starts_with("rollout-2026-1") && name.ends_with(&format!("-{ID}.jsonl")), "{name}");
    let text = fs::read_to_string(&path).unwrap();
    let line: serde_json::Value = serde_json::from_str(&text).unwrap();
    let expected = json!({
        "timestamp": FIXED,
        "type": "session_meta",
        "payload": {
            "session_id": ID, "id": ID, "timestamp": FIXED, "cwd": home.path(), "originator": "tests",
            "cli_version": "0.0.0", "source": "exec", "model_provider": null, "base_instructions": null,
            "history_mode": "legacy", "call_journal": true,
        },
    });
    assert_eq!(line, expected);
    recorder.shutdown().await.unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[tokio::test]
async fn lines_stand_in_the_order_in_which_they_were_handed_over() {
    let file = FakeFile::default();
    let (recorder, warnings) = recorder_on(&file);
    recorder.record(said("one")).await;
    recorder.record_all([said("two"), said("three")]).await;
    recorder.journal_started(started("c")).await.unwrap();
    recorder
        .progress(&"c".into(), 0)
        .unwrap()
        .record(CallFact::Request { server: "s".into(), id: "1".into() });
    let pending = recorder.journal_finished(finished("c", function_output("c", "x"))).await;
    recorder.record_items(&[Arc::new(function_output("c", "x"))]).await;
    pending.durable().await.unwrap();
    recorder.flush().await.unwrap();
    let expected = [
        "response_item one",
        "response_item two",
        "response_item three",
        "call_started c",
        "call_progress c",
        "call_finished c",
        "response_item c",
    ];
    assert_eq!(told(&file.text()), expected);
    assert_eq!(warnings.take(), [""; 0]);
}

#[tokio::test]
async fn what_never_belongs_in_a_rollout_is_left_out() {
    let file = FakeFile::default();
    let (recorder, _) = recorder_on(&file);
    let tools = ResponseItem::new(ItemKind::AdditionalTools(AdditionalTools::default()));
    recorder.record_items(&[Arc::new(tools)]).await;
    recorder.flush().await.unwrap();
    assert_eq!((file.text().as_str(), file.disk().writes), ("", 0));
}

#[tokio::test]
async fn a_started_line_is_durable_and_plain_lines_are_only_written() {
    let file = FakeFile::default();
    let (recorder, _) = recorder_on(&file);
    recorder.record(said("one")).await;
    recorder.flush().await.unwrap();
    assert_eq!(file.disk().syncs, 0);
    assert!(!file.is_durable());
    recorder.journal_started(started("c")).await.unwrap();
    assert_eq!(file.disk().syncs, 1);
    assert!(file.is_durable());
    // Nothing new: nothing to sync.
    recorder.sync().await.unwrap();
    assert_eq!(file.disk().syncs, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_that_come_while_a_sync_runs_share_the_next_one() {
    const CALLS: usize = 100;
    let file = FakeFile::default();
    let (recorder, _) = recorder_on(&file);
    file.disk().hold_syncs = true;
    let start = |id: String| {
        let recorder = recorder.clone();
        tokio::spawn(async move { recorder.journal_started(started(&id)).await })
    };
    let first = start("first".to_owned());
    tokio::task::spawn_blocking({
        let file = file.clone();
        move || file.wait_until_held()
    })
    .await
    .unwrap();
    let waiting: Vec<_> = (0..CALLS).map(|n| start(n.to_string())).collect();
    while recorder.inner.as_ref().unwrap().queue.waiting() < CALLS {
        tokio::task::yield_now().await;
    }
    assert!(!first.is_finished() && waiting.iter().all(|call| !call.is_finished()));
    file.release();
    first.await.unwrap().unwrap();
    for call in waiting {
        call.await.unwrap().unwrap();
    }
    assert_eq!(file.disk().syncs, 2, "one for the first call, one for all that came meanwhile");
    assert!(file.is_durable());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn recording_waits_only_for_a_place_and_facts_never() {
    let file = FakeFile::default();
    let (recorder, warnings) = recorder_on(&file);
    file.disk().hold_writes = true;
    recorder.record(said("held")).await;
    tokio::task::spawn_blocking({
        let file = file.clone();
        move || file.wait_until_held()
    })
    .await
    .unwrap();
    for n in 0..QUEUED_COMMANDS {
        recorder.record(said(&n.to_string())).await;
    }
    let mut next = tokio::spawn({
        let recorder = recorder.clone();
        async move { recorder.record(said("next")).await }
    });
    for _ in 0..QUEUED_FACTS + 1 {
        recorder.note(said("fact"));
    }
    tokio::task::yield_now().await;
    assert!(futures_pending(&mut next).await, "no place yet");
    file.release();
    next.await.unwrap();
    recorder.flush().await.unwrap();
    assert_eq!(told(&file.text()).len(), 1 + QUEUED_COMMANDS + QUEUED_FACTS + 1);
    let lost = "Facts of running calls lost: 1. They came faster than the transcript could be written.";
    assert_eq!(warnings.take(), [lost]);
}

/// Whether a task has not ended yet.
async fn futures_pending<T>(task: &mut tokio::task::JoinHandle<T>) -> bool {
    tokio::select! {
        biased;
        _ = task => false,
        () = tokio::task::yield_now() => true,
    }
}

/// A session in small, with all kinds of lines and barriers; gives the results of its barriers.
async fn session(recorder: &RolloutRecorder) -> Vec<Result<(), SaveError>> {
    recorder.record_all([said("one"), said("two")]).await;
    let mut results = vec![recorder.flush().await, recorder.journal_started(started("c")).await];
    recorder.note(said("fact"));
    let pending = recorder.journal_finished(finished("c", function_output("c", "x"))).await;
    recorder.record_items(&[Arc::new(function_output("c", "x"))]).await;
    results.extend([pending.durable().await, recorder.sync().await, recorder.shutdown().await]);
    results
}

const SESSION_LINES: [&str; 6] = [
    "response_item one",
    "response_item two",
    "call_started c",
    "response_item fact",
    "call_finished c",
    "response_item c",
];

/// A write for each line, and a sync for the start and the end of the call.
const FEWEST_OPERATIONS: usize = SESSION_LINES.len() + 2;

async fn session_operations() -> usize {
    let whole = FakeFile::default();
    session(&recorder_on(&whole).0).await;
    assert!(whole.operations() >= FEWEST_OPERATIONS);
    whole.operations()
}

#[tokio::test]
async fn one_failure_anywhere_is_mended_and_nobody_notices() {
    let operations = session_operations().await;
    let kinds = [io::ErrorKind::StorageFull, io::ErrorKind::Other];
    let faults = kinds.map(Fault::Error).into_iter().chain([Fault::Short]);
    for (at, fault) in faults.flat_map(|fault| (0..operations).map(move |at| (at, fault))) {
        let file = FakeFile::with_fault(at, fault);
        let (recorder, warnings) = recorder_on(&file);
        let results = session(&recorder).await;
        assert!(results.iter().all(Result::is_ok), "{at} {fault:?}: {results:?}");
        assert_eq!(told(&file.text()), SESSION_LINES, "{at} {fault:?}");
        assert!(file.is_durable(), "{at} {fault:?}");
        // Which syncs fall together is a matter of time: the last place may not be reached.
        assert!(file.disk().reopens == 1 || at >= FEWEST_OPERATIONS, "{at} {fault:?}");
        assert_eq!(warnings.take(), [""; 0]);
    }
}

#[tokio::test]
async fn two_failures_in_a_row_fail_one_barrier_and_the_next_mends_it() {
    let operations = session_operations().await;
    for at in 0..operations {
        // The operation, the reopening behind it, and what is tried then.
        for length in 2..=3 {
            let file = FakeFile::default();
            for n in at..at + length {
                file.disk().faults.insert(n, Fault::Error(io::ErrorKind::StorageFull));
            }
            let (recorder, warnings) = recorder_on(&file);
            let results = session(&recorder).await;
            let told_lines = told(&file.text());
            // The last barrier of all has no other behind it; all before it are mended.
            assert_eq!(told_lines, SESSION_LINES, "{at}+{length}: {results:?}");
            for (result, n) in results.iter().zip(0..) {
                if let Err(error) = result {
                    assert_eq!(error.to_string(), "no storage space", "barrier {n} of {at}+{length}");
                }
            }
            let failed = results.iter().any(Result::is_err);
            let expected: &[&str] = &[
                "Failed to save the conversation transcript; Codex will continue retrying. Error: no storage space",
            ];
            assert_eq!(warnings.take(), if failed { expected } else { &[] }, "{at}+{length}: {results:?}");
        }
    }
}

#[tokio::test]
async fn a_full_disk_is_told_once_and_nothing_is_lost_when_it_has_room_again() {
    let file = FakeFile::default();
    let (recorder, warnings) = recorder_on(&file);
    recorder.record(said("before")).await;
    recorder.flush().await.unwrap();
    file.disk().dead = Some(io::ErrorKind::StorageFull);
    for n in 0..20 {
        recorder.record(said(&n.to_string())).await;
        assert_eq!(recorder.journal_started(started("c")).await.unwrap_err().to_string(), "no storage space");
    }
    let text =
        "Failed to save the conversation transcript; Codex will continue retrying. Error: no storage space";
    assert_eq!(warnings.take(), [text]);
    assert_eq!(told(&file.text()), ["response_item before"]);
    file.disk().dead = None;
    recorder.sync().await.unwrap();
    let lines = told(&file.text());
    assert_eq!(lines.len(), 41);
    assert_eq!(lines[1..3], ["response_item 0", "call_started c"]);
    assert_eq!(lines[39..], ["response_item 19", "call_started c"]);
    assert!(file.is_durable());
    // The next outage is told again.
    file.disk().dead = Some(io::ErrorKind::StorageFull);
    recorder.record(said("after")).await;
    recorder.shutdown().await.unwrap_err();
    assert_eq!(
        warnings.take(),
        [text, "Lines lost from the conversation transcript: 1. They could not be written."]
    );
}

#[tokio::test]
async fn a_failed_sync_is_a_failure_of_what_waits_for_the_disk_alone() {
    let file = FakeFile::default();
    let (recorder, _) = recorder_on(&file);
    // The sync fails, and so does the one after the file was opened afresh.
    for at in [1, 3] {
        file.disk().faults.insert(at, Fault::Error(io::ErrorKind::Other));
    }
    recorder.journal_started(started("c")).await.unwrap_err();
    assert_eq!(told(&file.text()).len(), 1, "written");
    assert!(!file.is_durable());
    recorder.flush().await.unwrap();
    assert!(!file.is_durable());
    recorder.sync().await.unwrap();
    assert!(file.is_durable());
    assert_eq!(told(&file.text()), ["call_started c"]);
}

#[tokio::test]
async fn a_recorder_that_writes_nowhere_says_yes_to_everything() {
    let recorder = RolloutRecorder::disabled();
    assert!(!recorder.is_enabled() && recorder.path().is_none());
    assert!(recorder.progress(&"c".into(), 0).is_none());
    recorder.note(said("fact"));
    assert!(session(&recorder).await.iter().all(Result::is_ok));
}

#[tokio::test]
async fn after_the_end_barriers_fail_and_lines_are_refused() {
    let file = FakeFile::default();
    let (recorder, _) = recorder_on(&file);
    recorder.record(said("one")).await;
    recorder.shutdown().await.unwrap();
    recorder.record(said("two")).await;
    recorder.note(said("three"));
    let closed = Err(SaveError::closed());
    assert_eq!(recorder.flush().await, closed);
    assert_eq!(recorder.journal_started(started("c")).await, closed);
    assert_eq!(
        recorder.journal_finished(finished("c", function_output("c", "x"))).await.durable().await,
        closed
    );
    assert_eq!(recorder.shutdown().await, closed);
    assert_eq!(told(&file.text()), ["response_item one"]);
}

#[tokio::test]
async fn what_was_handed_over_is_written_when_the_last_recorder_is_dropped() {
    let file = FakeFile::default();
    let (recorder, _) = recorder_on(&file);
    for n in 0..QUEUED_COMMANDS {
        recorder.clone().record(said(&n.to_string())).await;
    }
    drop(recorder);
    assert_eq!(told(&file.text()).len(), QUEUED_COMMANDS);
}

#[tokio::test]
async fn a_file_has_one_recorder() {
    let home = TempDir::new().unwrap();
    let (host, _) = host();
    let first = RolloutRecorder::create(home.path(), meta(ID, home.path()), host.clone()).unwrap();
    let path = first.path().unwrap().to_owned();
    let refused = RolloutRecorder::append(&path, host.clone());
    assert!(matches!(refused, Err(RolloutError::Locked(_))));
    assert!(matches!(RolloutRecorder::resume(&path, host.clone()).await, Err(RolloutError::Locked(_))));
    first.shutdown().await.unwrap();
    let second = RolloutRecorder::append(&path, host.clone()).unwrap();
    assert!(RolloutRecorder::append(&path, host.clone()).is_err());
    drop(second);
    RolloutRecorder::append(&path, host).unwrap();
}

#[tokio::test]
async fn nobody_waits_for_a_writer_that_panicked() {
    struct Panics;
    impl EventSink for Panics {
        fn emit(&self, _: tenon_tools::Event) {
            panic!("of the sink, as this test wants it");
        }
    }
    let file = FakeFile::default();
    file.disk().dead = Some(io::ErrorKind::StorageFull);
    let host = RecorderHost { events: Arc::new(Panics), ..host().0 };
    let recorder = RolloutRecorder::with_file(PathBuf::from("/fake"), Box::new(file), host).unwrap();
    recorder.record(said("one")).await;
    for _ in 0..2 {
        assert_eq!(recorder.flush().await, Err(SaveError::closed()));
    }
    for n in 0..=QUEUED_COMMANDS {
        recorder.record(said(&n.to_string())).await;
    }
    assert_eq!(recorder.shutdown().await, Err(SaveError::closed()));
}

#[tokio::test]
async fn a_path_that_is_no_text_is_written_with_replacements() {
    use std::os::unix::ffi::OsStrExt;
    let file = FakeFile::default();
    let (recorder, warnings) = recorder_on(&file);
    let path = PathBuf::from(std::ffi::OsStr::from_bytes(b"/a\xff"));
    recorder.progress(&"c".into(), 0).unwrap().record(CallFact::File { path, done: true });
    recorder.flush().await.unwrap();
    assert!(file.text().contains("\"path\":\"/a\u{fffd}\""), "{}", file.text());
    assert_eq!(warnings.take(), [""; 0]);
}
