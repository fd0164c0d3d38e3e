use std::path::PathBuf;

use pretty_assertions::assert_eq;

use super::super::fake_disk::FakeFile;
use super::super::test_support::{finished, host, started, told};
use super::*;
use crate::history::samples::function_output;

#[tokio::test]
async fn a_recorder_is_the_journal_of_calls() {
    let file = FakeFile::default();
    let recorder =
        RolloutRecorder::with_file(PathBuf::from("/fake"), Box::new(file.clone()), host().0).unwrap();
    let journal: &dyn CallJournal = &recorder;
    assert!(journal.is_kept());
    journal.started(started("c")).await.unwrap();
    assert!(file.is_durable());
    let request = CallFact::Request { server: "s".to_owned(), id: "1".to_owned() };
    journal.progress(&"c".into(), 3).unwrap().record(request);
    journal.finished(finished("c", function_output("c", "x")), &ToolCallSource::Direct).await;
    recorder.flush().await.unwrap();
    assert_eq!(told(&file.text()), ["call_started c", "call_progress c", "call_finished c"]);
    let fact = r#""payload":{"call_id":"c","occurrence":3,"fact":{"type":"request","server":"s","id":"1"}}"#;
    assert!(file.text().contains(fact), "{}", file.text());
}

#[tokio::test]
async fn a_line_that_is_not_durable_is_told() {
    let file = FakeFile::default();
    file.disk().dead = Some(std::io::ErrorKind::StorageFull);
    let recorder = RolloutRecorder::with_file(PathBuf::from("/fake"), Box::new(file), host().0).unwrap();
    let error = CallJournal::started(&recorder, started("c")).await.unwrap_err();
    assert_eq!(error, JournalError("no storage space".to_owned()));
}

#[tokio::test]
async fn without_a_file_there_is_no_journal() {
    let journal: &dyn CallJournal = &RolloutRecorder::disabled();
    assert!(!journal.is_kept());
    assert!(journal.progress(&"c".into(), 0).is_none());
    journal.started(started("c")).await.unwrap();
}
