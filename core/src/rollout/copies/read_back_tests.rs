use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pretty_assertions::assert_eq;
use serde_json::json;
use tempfile::TempDir;
use tenon_protocol::RolloutItem;

use super::super::super::test_support::{finished, host, meta};
use super::super::{MIN_COPY_BYTES, Need};
use super::*;
use crate::history::samples::{function_call, function_output, item};
use crate::rollout::{RolloutRecorder, Settlement};

const ID: &str = "019ad4e2-1111-7000-8000-000000000001";

/// A picture of 2 x 2 pixels with so many NUL bytes behind it that it is long.
fn url() -> String {
    let png = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJgggAA";
    format!("data:image/png;base64,{png}{}", "A".repeat(MIN_COPY_BYTES))
}

fn picture() -> ResponseItem {
    let url = url();
    item(json!({"type": "function_call_output", "call_id": "c", "output": [
        {"type": "input_text", "text": "a picture"},
        {"type": "input_image", "image_url": url, "detail": "original"},
    ]}))
}

/// A file with a call whose end is written down and whose output has no line of its own yet.
async fn cut_off(home: &Path, output: &ResponseItem) -> PathBuf {
    let recorder = RolloutRecorder::create(home, meta(ID, home), host().0).unwrap();
    recorder.record_items(&[Arc::new(function_call("c"))]).await;
    recorder.record_finished(finished("c", output.clone()), Need::UntilRecorded).await;
    recorder.shutdown().await.unwrap();
    recorder.path().unwrap().to_owned()
}

fn folder_of(rollout: &Path) -> PathBuf {
    rollout.with_extension("copies")
}

/// The files beside a rollout.
fn copies_of(rollout: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder_of(rollout)) else { return Vec::new() };
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// The outputs that a resume settles, all in the same way; and what the operator is told.
async fn settled_as(settlement: Settlement, rollout: &Path) -> (Vec<ResponseItem>, Vec<String>) {
    let (host, warnings) = host();
    let resumed = RolloutRecorder::resume(rollout, host).await.unwrap();
    resumed.recorder.shutdown().await.unwrap();
    assert!(resumed.settled.iter().all(|call| call.settlement == settlement), "{:?}", resumed.settled);
    (resumed.settled.into_iter().map(|call| call.output).collect(), warnings.take())
}

/// The outputs that a resume finds.
async fn settled(rollout: &Path) -> Vec<ResponseItem> {
    let (outputs, warnings) = settled_as(Settlement::Recorded, rollout).await;
    assert_eq!(warnings, [""; 0]);
    outputs
}

#[tokio::test]
async fn an_output_is_settled_from_its_copy_which_goes_with_that() {
    let home = TempDir::new().unwrap();
    for output in [function_output("c", &"x".repeat(MIN_COPY_BYTES)), picture()] {
        let path = cut_off(home.path(), &output).await;
        assert_eq!(copies_of(&path).len(), 1);
        let folder = folder_of(&path);
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&folder), mode(&copies_of(&path)[0])), (0o700, 0o600));
        assert_eq!(settled(&path).await, [output]);
        assert!(!folder.exists(), "the line is the output's place now");
        assert_eq!(settled(&path).await, []);
        fs::remove_file(&path).unwrap();
    }
}

#[tokio::test]
async fn an_output_whose_copy_is_lost_is_told_to_be() {
    let home = TempDir::new().unwrap();
    type Damage = fn(&Path);
    let damages: [Damage; 4] = [
        |copy| fs::remove_file(copy).unwrap(),
        |copy| fs::write(copy, "short").unwrap(),
        |copy| fs::write(copy, "y".repeat(url().len())).unwrap(),
        |copy| {
            fs::remove_file(copy).unwrap();
            fs::create_dir(copy).unwrap();
        },
    ];
    for damage in damages {
        let path = cut_off(home.path(), &picture()).await;
        damage(&copies_of(&path)[0]);
        let told = item(json!({"type": "function_call_output", "call_id": "c", "output": [
            {"type": "input_text", "text": "a picture"},
            {"type": "input_text", "text": OUTPUT_LOST},
        ]}));
        let (settled, warnings) = settled_as(Settlement::OutputLost, &path).await;
        assert_eq!(warnings, [format!("Outputs lost that lay beside {}: 1 (call c)", path.display())]);
        let texts = settled.iter().map(|item| item.raw_json().into_owned()).collect::<Vec<_>>();
        assert_eq!(texts, [told.raw_json()]);
        let _ = fs::remove_dir_all(folder_of(&path));
        fs::remove_file(&path).unwrap();
    }
}

#[tokio::test]
async fn a_fork_without_the_folder_of_copies_goes_on() {
    let (home, fork) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let path = cut_off(home.path(), &function_output("c", &"x".repeat(MIN_COPY_BYTES))).await;
    let forked = fork.path().join(path.file_name().unwrap());
    fs::copy(&path, &forked).unwrap();
    assert_eq!(settled_as(Settlement::OutputLost, &forked).await.0, [function_output("c", OUTPUT_LOST)]);
    // It is settled, and has copies of its own from here on.
    let resumed = RolloutRecorder::resume(&forked, host().0).await.unwrap();
    assert_eq!(resumed.settled, []);
    let output = function_output("d", &"y".repeat(MIN_COPY_BYTES));
    resumed.recorder.record_items(&[Arc::new(function_call("d"))]).await;
    resumed.recorder.record_finished(finished("d", output.clone()), Need::UntilRecorded).await;
    resumed.recorder.shutdown().await.unwrap();
    drop(resumed);
    assert_eq!(settled(&forked).await, [output]);
    assert_eq!(
        settled(&path).await,
        [function_output("c", &"x".repeat(MIN_COPY_BYTES))],
        "it was left alone"
    );
}

#[tokio::test]
async fn a_warning_shows_the_beginning_of_an_id_and_of_a_list() {
    let home = TempDir::new().unwrap();
    let recorder = RolloutRecorder::create(home.path(), meta(ID, home.path()), host().0).unwrap();
    let long = format!("a\n{}", "b".repeat(100));
    for (n, id) in [long.as_str(), "c2", "c3", "c4"].into_iter().enumerate() {
        recorder.record_items(&[Arc::new(function_call(id))]).await;
        let text = n.to_string().repeat(MIN_COPY_BYTES);
        recorder.record_finished(finished(id, function_output(id, &text)), Need::UntilRecorded).await;
    }
    recorder.shutdown().await.unwrap();
    let path = recorder.path().unwrap().to_owned();
    drop(recorder);
    fs::remove_dir_all(folder_of(&path)).unwrap();
    let (_, warnings) = settled_as(Settlement::OutputLost, &path).await;
    let shown = format!("a\\n{}...", "b".repeat(62));
    let told = format!("Outputs lost that lay beside {}: 4 (call {shown}, c2, c3, ...)", path.display());
    assert_eq!(warnings, [told]);
}

#[tokio::test]
async fn a_text_is_found_in_the_line_of_an_item_when_its_copy_has_gone() {
    let home = TempDir::new().unwrap();
    let recorder = RolloutRecorder::create(home.path(), meta(ID, home.path()), host().0).unwrap();
    let path = recorder.path().unwrap().to_owned();
    recorder.record_items(&[Arc::new(function_call("c"))]).await;
    recorder.record_finished(finished("c", picture()), Need::UntilRecorded).await;
    recorder.record_finished(finished("nested", picture()), Need::Alone).await;
    recorder.record_items(&[Arc::new(picture())]).await;
    recorder.sync().await.unwrap();
    assert_eq!(copies_of(&path), [""; 0].map(PathBuf::from));
    recorder.shutdown().await.unwrap();
    let rollout = LoadedRollout::load(&path).unwrap();
    let ends = rollout.lines.iter().filter_map(|line| match &line.line.item {
        RolloutItem::CallFinished(end) => Some(end),
        _ => None,
    });
    let outputs: Vec<ResponseItem> = ends.map(|end| rollout.output_of(end)).collect();
    assert_eq!(outputs, [picture(), picture()]);
    let whole = fs::metadata(&path).unwrap().len();
    assert!(whole < 2 * MIN_COPY_BYTES as u64, "the picture is in the file once: {whole} bytes");
}

#[tokio::test]
async fn the_output_of_a_nested_call_stays_beside_the_file() {
    let home = TempDir::new().unwrap();
    let recorder = RolloutRecorder::create(home.path(), meta(ID, home.path()), host().0).unwrap();
    let path = recorder.path().unwrap().to_owned();
    for id in ["n1", "n2"] {
        recorder.record_finished(finished(id, picture()), Need::Alone).await;
    }
    recorder.shutdown().await.unwrap();
    assert_eq!(copies_of(&path).len(), 1, "once, however often");
    RolloutRecorder::resume(&path, host().0).await.unwrap().recorder.shutdown().await.unwrap();
    assert_eq!(copies_of(&path).len(), 1);
}

#[test]
fn only_a_hash_names_a_copy() {
    let hash = TextHash::of("x");
    assert_eq!(TextHash::read(hash.as_str()), Some(hash.clone()));
    let (upper, short) = (hash.to_string().to_uppercase(), "a".repeat(63));
    for text in ["", "../secret", &short, &upper, &format!("{hash}0")] {
        assert_eq!(TextHash::read(text), None, "{text}");
    }
}
