use std::path::Path;

use pretty_assertions::assert_eq;

use super::super::copies::Need;
use super::super::fake_disk::FakeFile;
use super::super::reader::{MAX_LINE_BYTES, Reader};
use super::super::test_support::{FIXED, fixed_time, host, said, told};
use super::*;

fn entry(text: &str) -> Entry {
    Entry { at: fixed_time(), what: What::item(said(text), Need::UntilRecorded) }
}

fn rendered(stamps: &mut Stamps, entry: Entry) -> String {
    let What::Item(item, _) = entry.what else { panic!("rendered") };
    String::from_utf8(stamps.render(&item, entry.at).unwrap()).unwrap()
}

fn stamp_of(line: &str) -> String {
    let line: serde_json::Value = serde_json::from_str(line).unwrap();
    line["timestamp"].as_str().unwrap().to_owned()
}

#[test]
fn no_two_lines_are_the_same() {
    let mut stamps = Stamps::default();
    let lines: Vec<String> = ["a", "b", "a", "b", "a"].map(|text| rendered(&mut stamps, entry(text))).into();
    let times: Vec<String> = lines.iter().map(|line| stamp_of(line)).collect();
    let next = ["2026-11-30T10:00:00.001Z", "2026-11-30T10:00:00.002Z"];
    assert_eq!(times, [FIXED, FIXED, next[0], next[0], next[1]]);
    assert!(lines.iter().all(|line| line.ends_with("\n")));
}

#[test]
fn time_never_goes_back() {
    let mut stamps = Stamps::default();
    rendered(&mut stamps, entry("a"));
    let earlier = Entry { at: fixed_time() - Duration::from_secs(60), ..entry("b") };
    assert_eq!(stamp_of(&rendered(&mut stamps, earlier)), FIXED);
}

#[test]
fn no_line_is_the_same_as_one_of_an_earlier_session_when_the_clock_goes_back() {
    let line = rendered(&mut Stamps::default(), entry("a"));
    let mut reader = Reader::new(MAX_LINE_BYTES);
    reader.read(&mut line.as_bytes()).unwrap();
    let (_, before) = reader.finish_seen(Path::new("rollout-2026-11-30T10-00-00-t.jsonl")).unwrap();
    let mut stamps = Stamps { before, ..Stamps::default() };
    let lines = ["b", "a"].map(|text| stamp_of(&rendered(&mut stamps, entry(text))));
    assert_eq!(lines, [FIXED, "2026-11-30T10:00:00.001Z"]);
}

#[test]
fn lines_over_the_bound_are_dropped_and_told() {
    let (file, (host, warnings)) = (FakeFile::default(), host());
    let two_lines = ["kept", "also kept"].map(|text| rendered(&mut Stamps::default(), entry(text)).len());
    let backlog = Backlog::new(two_lines.iter().sum());
    let copies = Copies::open(Box::new(file.clone()));
    let mut writer =
        Writer::new(Arc::new(Queue::new()), Box::new(file.clone()), copies, host.events, backlog);
    let mut serve = |lines: Vec<Entry>, wants| {
        let (command, mut answer) = Command::waiting(lines, wants);
        writer.serve(Batch { commands: vec![command], dropped_facts: 0 });
        answer.try_recv().unwrap()
    };
    file.disk().dead = Some(io::ErrorKind::StorageFull);
    assert_eq!(serve(vec![entry("kept")], Wants::Written).unwrap_err().to_string(), "no storage space");
    let refused = serve(vec![entry("also kept"), entry("too much")], Wants::Written).unwrap_err();
    assert_eq!(refused.to_string(), "too much waits to be written already");
    file.disk().dead = None;
    assert_eq!(serve(vec![], Wants::Written), Ok(()));
    assert_eq!(told(&file.text()), ["response_item kept", "response_item also kept"]);
    let text =
        "Failed to save the conversation transcript; Codex will continue retrying. Error: no storage space";
    let lost = "Lines lost from the conversation transcript: 1. More waited to be written than is kept.";
    assert_eq!(warnings.take(), [text, lost]);
}

#[test]
fn facts_that_were_dropped_are_told() {
    let (file, (host, warnings)) = (FakeFile::default(), host());
    let copies = Copies::open(Box::new(file.clone()));
    let mut writer =
        Writer::new(Arc::new(Queue::new()), Box::new(file), copies, host.events, Backlog::new(300));
    writer.serve(Batch { commands: vec![], dropped_facts: 7 });
    let text = "Facts of running calls lost: 7. They came faster than the transcript could be written.";
    assert_eq!(warnings.take(), [text]);
}
