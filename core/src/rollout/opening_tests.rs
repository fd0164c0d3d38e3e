//! The way into a session: everything that is asked of the system until it runs fails once. A session is refused, with an
//! error that says what and where, and then nothing is half done and a second try works; or it runs, and all is in its file.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pretty_assertions::assert_eq;
use tempfile::TempDir;
use tenon_protocol::RolloutItem;

use super::copies::{MIN_COPY_BYTES, Need};
use super::error::RolloutError;
use super::fake_system::{EACCES, EIO, ENOSPC, Failure, FaultySystem};
use super::recorder::{RecorderHost, RolloutRecorder};
use super::recover::Recovering;
use super::resume::Resumed;
use super::settle::Settlement;
use super::system::System;
use super::test_support::{finished, host, meta, said, started, told};
use crate::history::samples::*;

const ID: &str = "019ad4e2-1111-7000-8000-000000000001";

const FAILURES: [Failure; 4] =
    [Failure::With(EIO), Failure::With(ENOSPC), Failure::With(EACCES), Failure::Short];

/// Everything below a folder that is no folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn begin(
    system: &Arc<FaultySystem>,
    home: &Path,
    host: RecorderHost,
) -> Result<RolloutRecorder, RolloutError> {
    RolloutRecorder::create_on(&(Arc::clone(system) as Arc<dyn System>), home, meta(ID, home), host)
}

/// A prompt and a call that starts; what is in the file then.
async fn session(recorder: RolloutRecorder) -> Vec<String> {
    recorder.record(said("one")).await;
    recorder.journal_started(started("a")).await.unwrap();
    recorder.shutdown().await.unwrap();
    told(&fs::read_to_string(recorder.path().unwrap()).unwrap())
}

const BEGUN: [&str; 3] = ["session_meta ", "response_item one", "call_started a"];

/// What is asked of the system for a new session up to its first line, that among it.
const TO_BEGIN: [&str; 9] = [
    "make folder",
    "make folder",
    "make folder",
    "make folder",
    "create",
    "open to read",
    "lock",
    "metadata",
    "write",
];

#[tokio::test]
async fn a_new_session_is_refused_or_whole_whatever_fails() {
    let (home, system) = (TempDir::new().unwrap(), Arc::new(FaultySystem::default()));
    assert_eq!(session(begin(&system, home.path(), host().0).unwrap()).await, BEGUN);
    let operations = system.operations();
    assert_eq!(operations[..TO_BEGIN.len()], TO_BEGIN);
    // The names of the file and of its four new folders.
    assert_eq!(
        operations[TO_BEGIN.len()..],
        [&["write", "write", "sync"][..], &["sync the folder"; 5]].concat()
    );
    for (at, failure) in (0..operations.len()).flat_map(|at| FAILURES.map(|failure| (at, failure))) {
        let (home, system) = (TempDir::new().unwrap(), Arc::new(FaultySystem::with_fault(at, failure)));
        let (host, warnings) = host();
        let begun = begin(&system, home.path(), host.clone());
        let what = format!("{} {at} {failure:?}", operations[at]);
        assert_eq!(begun.is_err(), at < TO_BEGIN.len(), "{what}");
        let recorder = begun.unwrap_or_else(|error| {
            let (error, place) = (error.to_string(), home.path().join("sessions").display().to_string());
            assert!(error.starts_with("cannot ") && error.contains(&place), "{what}: {error}");
            assert_eq!(files(home.path()), [""; 0].map(PathBuf::from), "{what}");
            begin(&system, home.path(), host).unwrap()
        });
        assert_eq!(session(recorder).await, BEGUN, "{what}");
        assert_eq!(warnings.take(), [""; 0], "{what}");
    }
}

#[test]
fn a_file_of_another_session_is_not_taken_away() {
    let (home, system) = (TempDir::new().unwrap(), Arc::new(FaultySystem::default()));
    let first = begin(&system, home.path(), host().0).unwrap();
    let error = begin(&system, home.path(), host().0).unwrap_err().to_string();
    assert!(error.starts_with("cannot create ") && error.contains("File exists"), "{error}");
    assert!(first.path().unwrap().exists());
}

/// What a dead session has left: two open calls, the output of one beside the file, and a torn line at the end.
async fn left(home: &Path) -> PathBuf {
    let recorder = RolloutRecorder::create(home, meta(ID, home), host().0).unwrap();
    let calls = [said("one"), of(function_call("a")), of(custom_call("b"))];
    recorder.record_all(calls).await;
    recorder.journal_started(started("a")).await.unwrap();
    recorder.record_finished(finished("b", custom_output("b", &long())), Need::UntilRecorded).await;
    recorder.shutdown().await.unwrap();
    let path = recorder.path().unwrap().to_owned();
    let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(b"{\"timestamp\":\"2026").unwrap();
    path
}

fn of(item: tenon_protocol::ResponseItem) -> RolloutItem {
    RolloutItem::ResponseItem(item)
}

fn long() -> String {
    "x".repeat(MIN_COPY_BYTES)
}

async fn resume(
    system: &Arc<FaultySystem>,
    path: &Path,
    host: RecorderHost,
) -> Result<Resumed, RolloutError> {
    RolloutRecorder::resume_on(Arc::clone(system) as _, path, host, &Recovering::default()).await
}

/// Goes on for one line, and looks at what that leaves.
async fn goes_on(resumed: Resumed, what: &str) {
    let settlements: Vec<Settlement> = resumed.settled.iter().map(|call| call.settlement).collect();
    assert_eq!(settlements, [Settlement::OutcomeUnknown, Settlement::Recorded], "{what}");
    resumed.recorder.record(said("two")).await;
    resumed.recorder.shutdown().await.unwrap();
    let path = resumed.recorder.path().unwrap().to_owned();
    drop(resumed);
    let again = RolloutRecorder::resume(&path, host().0).await.unwrap();
    assert_eq!((again.settled.len(), again.skipped.len()), (0, 1), "{what}");
    let items: Vec<String> = again.items.iter().map(|item| item.tag().to_owned()).collect();
    let expected = [
        "message",
        "function_call",
        "custom_tool_call",
        "function_call_output",
        "custom_tool_call_output",
        "message",
    ];
    assert_eq!(items, expected, "{what}");
    assert_eq!(again.items[4], custom_output("b", &long()), "{what}");
    again.recorder.shutdown().await.unwrap();
    assert!(!path.with_extension("copies").exists(), "{what}: the line is the output's place now");
}

#[tokio::test]
async fn a_resume_is_refused_or_whole_whatever_fails() {
    let (home, system) = (TempDir::new().unwrap(), Arc::new(FaultySystem::default()));
    let path = left(home.path()).await;
    goes_on(resume(&system, &path, host().0).await.unwrap(), "nothing fails").await;
    let operations = system.operations();
    // The torn line, and then the file, end where nothing more is read.
    let reading =
        ["open to append", "open to read", "lock", "metadata", "read", "read", "read", "read the end"];
    assert_eq!(operations[..reading.len()], reading);
    // The end of the torn line, two outputs, what came then.
    assert_eq!(operations[reading.len()..], ["write", "write", "write", "sync", "write", "sync"]);
    for (at, failure) in (0..operations.len()).flat_map(|at| FAILURES.map(|failure| (at, failure))) {
        let (home, system) = (TempDir::new().unwrap(), Arc::new(FaultySystem::with_fault(at, failure)));
        let path = left(home.path()).await;
        let before = fs::read(&path).unwrap();
        let (host, warnings) = host();
        let resumed = resume(&system, &path, host.clone()).await;
        let what = format!("{} {at} {failure:?}", operations[at]);
        let short_read = operations[at] == "read" && failure == Failure::Short;
        assert_eq!(resumed.is_err(), at < reading.len() && !short_read, "{what}");
        let resumed = match resumed {
            Ok(resumed) => resumed,
            Err(error) => {
                let error = error.to_string();
                assert!(
                    error.starts_with("cannot ") && error.contains(&path.display().to_string()),
                    "{error}"
                );
                assert_eq!(fs::read(&path).unwrap(), before, "{what}");
                assert_eq!(warnings.take(), [""; 0], "{what}");
                resume(&system, &path, host).await.unwrap()
            }
        };
        goes_on(resumed, &what).await;
        let told = warnings.take();
        assert!(told.len() == 1 && told[0].starts_with("Lines skipped in "), "{what}: {told:?}");
    }
}

#[tokio::test]
async fn on_a_full_disk_no_session_begins_and_an_old_one_goes_on_with_a_warning() {
    let (home, system) = (TempDir::new().unwrap(), Arc::new(FaultySystem::default()));
    system.set_full(true);
    let error = begin(&system, home.path(), host().0).unwrap_err().to_string();
    assert!(error.starts_with("cannot write to ") && error.contains("No space left"), "{error}");
    assert_eq!(files(home.path()), [""; 0].map(PathBuf::from));

    let path = left(home.path()).await;
    let before = fs::read(&path).unwrap();
    let (host, warnings) = host();
    let resumed = resume(&system, &path, host).await.unwrap();
    assert_eq!(fs::read(&path).unwrap(), before);
    let full = "Failed to save the conversation transcript; Codex will continue retrying. Error: No space left on \
                device (os error 28)";
    assert_eq!(warnings.take().last().map(String::as_str), Some(full));
    system.set_full(false);
    goes_on(resumed, "there is space again").await;
}

#[tokio::test]
async fn an_output_that_cannot_be_read_is_not_called_lost() {
    let home = TempDir::new().unwrap();
    let path = left(home.path()).await;
    let (folder, kept) = (path.with_extension("copies"), home.path().join("kept"));
    fs::rename(&folder, &kept).unwrap();
    // A folder that leads to itself can be there, and cannot be looked into.
    std::os::unix::fs::symlink(&folder, &folder).unwrap();
    let before = fs::read(&path).unwrap();
    let error = RolloutRecorder::resume(&path, host().0).await.unwrap_err().to_string();
    let place = folder.display().to_string();
    assert!(error.starts_with(&format!("cannot read {place}/")), "{error}");
    assert_eq!(fs::read(&path).unwrap(), [before.as_slice(), b"\n"].concat());
    fs::remove_file(&folder).unwrap();
    fs::rename(&kept, &folder).unwrap();
    goes_on(RolloutRecorder::resume(&path, host().0).await.unwrap(), "it is there again").await;
}
