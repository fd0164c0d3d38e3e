//! A disk that fails at every place once: of the file, of the copies beside it, of their names.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use pretty_assertions::assert_eq;
use tempfile::TempDir;
use tenon_protocol::{ResponseItem, RolloutItem};

use super::super::fake_disk::{FakeFile, Fault};
use super::super::reader::{LoadedRollout, Seen};
use super::super::recorder::RolloutRecorder;
use super::super::test_support::{Warnings, finished, host, said, started, told};
use super::kept::Bounds;
use super::{Copies, Need};
use crate::history::samples::function_output;

/// Short, since what is looked at here is every place and not every byte.
const BOUNDS: Bounds = Bounds { shortest: 64, together: 1024 };

fn output(call_id: &str, letter: &str) -> ResponseItem {
    function_output(call_id, &letter.repeat(BOUNDS.shortest))
}

fn recorder_on(disk: &FakeFile) -> (RolloutRecorder, Arc<Warnings>) {
    let ((host, warnings), file) = (host(), Box::new(disk.clone()));
    let copies = Copies::with_bounds(Box::new(disk.clone()), BOUNDS);
    (
        RolloutRecorder::with_disks(PathBuf::from("/fake"), file, copies, Seen::default(), host).unwrap(),
        warnings,
    )
}

/// The outputs of all ends that a power cut leaves, as they are read back.
fn left_by_a_power_cut(disk: &FakeFile) -> Vec<ResponseItem> {
    let home = TempDir::new().unwrap();
    let path = home.path().join("rollout-2026-11-30T10-00-00-t.jsonl");
    fs::write(&path, disk.durable_text()).unwrap();
    let folder = path.with_extension("copies");
    fs::create_dir(&folder).unwrap();
    for (name, bytes) in disk.durable_copies() {
        fs::write(folder.join(name.as_str()), bytes).unwrap();
    }
    let mut text = LoadedRollout::load(&path).unwrap();
    let ends: Vec<_> = std::mem::take(&mut text.lines)
        .into_iter()
        .filter_map(|line| match line.line.item {
            RolloutItem::CallFinished(end) => Some(end),
            _ => None,
        })
        .collect();
    let whole = LoadedRollout::load(&path).unwrap();
    ends.iter().map(|end| whole.output_of(end)).collect()
}

/// A session with outputs that get lines of their own, one of them twice, and one that never does. Every barrier that
/// holds is checked against a power cut.
async fn session(disk: &FakeFile, recorder: &RolloutRecorder) -> Vec<bool> {
    let mut held = Vec::new();
    let mut ends = Vec::new();
    let mut barrier = |done: bool, ends: &[ResponseItem]| {
        if done {
            assert_eq!(left_by_a_power_cut(disk), ends);
        }
        held.push(done);
    };
    recorder.record(said("one")).await;
    recorder.journal_started(started("c")).await.ok();
    recorder.record_finished(finished("c", output("c", "a")), Need::UntilRecorded).await;
    ends.push(output("c", "a"));
    barrier(recorder.sync().await.is_ok(), &ends);
    recorder.record_finished(finished("n", output("n", "b")), Need::Alone).await;
    ends.push(output("n", "b"));
    recorder.record_items(&[Arc::new(output("c", "a"))]).await;
    barrier(recorder.sync().await.is_ok(), &ends);
    recorder.record_finished(finished("d", output("d", "a")), Need::UntilRecorded).await;
    recorder.record_finished(finished("e", output("e", "f")), Need::UntilRecorded).await;
    recorder.record_items(&[Arc::new(output("e", "f"))]).await;
    ends.extend([output("d", "a"), output("e", "f")]);
    barrier(recorder.sync().await.is_ok(), &ends);
    // What fails three times in a row is mended here: the last barrier of all has no other behind it.
    barrier(recorder.sync().await.is_ok(), &ends);
    barrier(recorder.shutdown().await.is_ok(), &ends);
    held
}

const LINES: [&str; 8] = [
    "response_item one",
    "call_started c",
    "call_finished c",
    "call_finished n",
    "response_item c",
    "call_finished d",
    "call_finished e",
    "response_item e",
];

async fn operations() -> usize {
    let disk = FakeFile::default();
    assert_eq!(session(&disk, &recorder_on(&disk).0).await, [true; 5]);
    // Of three copies one is left: what it holds is in no other place.
    assert_eq!(disk.disk().copies.len(), 1);
    disk.operations_so_far()
}

#[tokio::test]
async fn one_failure_anywhere_loses_nothing() {
    let operations = operations().await;
    // Eight lines, three copies of three operations, syncs and removals.
    assert!(operations > 25, "{operations}");
    let kinds = [io::ErrorKind::StorageFull, io::ErrorKind::Other];
    let faults = kinds.map(Fault::Error).into_iter().chain([Fault::Short]);
    for (at, fault) in faults.flat_map(|fault| (0..operations).map(move |at| (at, fault))) {
        let disk = FakeFile::with_fault(at, fault);
        let (recorder, warnings) = recorder_on(&disk);
        assert_eq!(session(&disk, &recorder).await, [true; 5], "{at} {fault:?}");
        assert_eq!(told(&disk.text()), LINES, "{at} {fault:?}");
        assert_eq!(warnings.take(), [""; 0], "{at} {fault:?}");
    }
}

#[tokio::test]
async fn several_failures_in_a_row_fail_a_barrier_and_the_next_mends_it() {
    for at in 0..operations().await {
        for length in 2..=4 {
            let disk = FakeFile::default();
            for n in at..at + length {
                disk.disk().faults.insert(n, Fault::Error(io::ErrorKind::StorageFull));
            }
            let (recorder, warnings) = recorder_on(&disk);
            let held = session(&disk, &recorder).await;
            assert_eq!(told(&disk.text()), LINES, "{at}+{length}: {held:?}");
            let warned = !warnings.take().is_empty();
            assert!(warned || held == [true; 5], "{at}+{length}: {held:?}");
        }
    }
}
