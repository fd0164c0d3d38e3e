use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::super::super::fake_disk::{FakeFile, Fault};
use super::super::super::test_support::finished;
use super::*;
use crate::history::samples::{function_output, item};

fn long(letter: &str) -> String {
    letter.repeat(MIN_COPY_BYTES)
}

fn copies_on(disk: &FakeFile) -> Copies {
    Copies::open(Box::new(disk.clone()))
}

fn taken_out(copies: &mut Copies, output: &ResponseItem, need: Need) -> CallFinished {
    let mut line = finished("c", output.clone());
    copies.take_out(&mut line, need);
    line
}

fn names(disk: &FakeFile) -> Vec<String> {
    disk.disk().copies.keys().map(ToString::to_string).collect()
}

#[test]
fn a_text_is_moved_from_its_bound_on() {
    let (disk, text) = (FakeFile::default(), long("a"));
    let mut copies = copies_on(&disk);
    let short = function_output("c", &"a".repeat(MIN_COPY_BYTES - 1));
    assert_eq!(taken_out(&mut copies, &short, Need::UntilRecorded), finished("c", short));
    assert_eq!(names(&disk), [""; 0]);
    let line = taken_out(&mut copies, &function_output("c", &text), Need::UntilRecorded);
    let hash = TextHash::of(&text).to_string();
    assert_eq!(
        serde_json::to_value(&line).unwrap(),
        json!({
            "call_id": "c", "occurrence": 0, "outcome": "completed",
            "output": {"type": "function_call_output", "call_id": "c", "output": ""},
            "aside": [{"sha256": hash, "bytes": MIN_COPY_BYTES}],
            "at": "2026-11-30T10:00:00.000Z",
        })
    );
    assert_eq!(names(&disk), [hash]);
}

#[test]
fn each_entry_of_a_list_is_moved_by_itself_and_once() {
    let disk = FakeFile::default();
    let mut copies = copies_on(&disk);
    let picture = format!("data:image/png;base64,{}", long("b"));
    let output = item(json!({"type": "function_call_output", "call_id": "c", "output": [
        {"type": "input_text", "text": "short"},
        {"type": "input_image", "image_url": picture, "detail": "high"},
        {"type": "input_text", "text": long("a")},
        {"type": "input_image", "image_url": picture, "detail": "low"},
    ]}));
    let line = taken_out(&mut copies, &output, Need::UntilRecorded);
    let entries: Vec<Option<usize>> = line.aside.iter().map(|aside| aside.entry).collect();
    assert_eq!(entries, [Some(1), Some(2), Some(3)]);
    assert_eq!(names(&disk).len(), 2);
    let left: Value = serde_json::from_str(&line.output.raw_json()).unwrap();
    assert_eq!(
        left["output"],
        json!([
            {"type": "input_text", "text": "short"},
            {"type": "input_image", "image_url": "", "detail": "high"},
            {"type": "input_text", "text": ""},
            {"type": "input_image", "image_url": "", "detail": "low"},
        ])
    );
}

#[test]
fn a_copy_goes_when_a_durable_line_holds_its_text_and_is_not_made_again() {
    let (disk, output) = (FakeFile::default(), function_output("c", &long("a")));
    let mut copies = copies_on(&disk);
    taken_out(&mut copies, &output, Need::UntilRecorded);
    let held = copies.held_by(&function_output("c", &long("b")));
    assert_eq!(held, []);
    let held = copies.held_by(&output);
    copies.supersede(held);
    assert_eq!(names(&disk).len(), 1, "the line may not be durable yet");
    copies.let_go();
    assert_eq!((names(&disk), copies.bytes), (Vec::new(), 0));
    let again = taken_out(&mut copies, &output, Need::Alone);
    assert_eq!((again.aside.len(), names(&disk)), (1, Vec::new()));
}

#[test]
fn what_a_line_will_hold_is_not_synced() {
    let (disk, output) = (FakeFile::default(), function_output("c", &long("a")));
    let mut copies = copies_on(&disk);
    taken_out(&mut copies, &output, Need::UntilRecorded);
    let held = copies.held_by(&output);
    copies.supersede(held);
    let before = disk.operations_so_far();
    copies.sync().unwrap();
    assert_eq!(disk.operations_so_far(), before);
    taken_out(&mut copies, &function_output("c", &long("b")), Need::Alone);
    copies.sync().unwrap();
    let durable: Vec<TextHash> = disk.durable_copies().into_iter().map(|(name, _)| name).collect();
    assert_eq!(durable, [TextHash::of(&long("b"))]);
}

#[test]
fn at_the_bound_nested_outputs_are_not_kept_and_others_stay_in_their_lines() {
    let disk = FakeFile::default();
    let bound = 2 * MIN_COPY_BYTES as u64;
    let bounds = Bounds { shortest: MIN_COPY_BYTES, together: bound };
    let mut copies = Copies::with_bounds(Box::new(disk.clone()), bounds);
    for letter in ["a", "b"] {
        taken_out(&mut copies, &function_output("c", &long(letter)), Need::Alone);
    }
    assert_eq!((copies.bytes, copies.take_notices()), (bound, Vec::new()));
    for letter in ["d", "e"] {
        let line = taken_out(&mut copies, &function_output("c", &long(letter)), Need::Alone);
        assert!(line.aside[0].not_kept && !line.output.raw_json().contains(letter.repeat(2).as_str()));
    }
    assert_eq!(copies.take_notices(), [FULL]);
    let direct = function_output("c", &long("f"));
    assert_eq!(taken_out(&mut copies, &direct, Need::UntilRecorded), finished("c", direct));
    assert_eq!(names(&disk).len(), 2);
}

#[test]
fn a_copy_that_cannot_be_written_stays_in_its_line() {
    let output = function_output("c", &long("a"));
    // Begin, write, finish.
    for at in 0..3 {
        let disk = FakeFile::with_fault(at, Fault::Error(std::io::ErrorKind::StorageFull));
        let mut copies = copies_on(&disk);
        let line = taken_out(&mut copies, &output, Need::UntilRecorded);
        assert_eq!(line, finished("c", output.clone()), "{at}");
        assert_eq!((names(&disk), copies.bytes), (Vec::new(), 0), "{at}");
    }
}

#[test]
fn what_lay_there_before_counts_and_is_written_again_before_it_is_trusted() {
    let (disk, text) = (FakeFile::default(), long("a"));
    taken_out(&mut copies_on(&disk), &function_output("c", &text), Need::Alone);
    disk.disk().copies.values_mut().for_each(|copy| copy.bytes.truncate(7));
    let mut copies = copies_on(&disk);
    assert_eq!(copies.bytes, 7);
    taken_out(&mut copies, &function_output("c", &text), Need::Alone);
    assert_eq!(copies.bytes, MIN_COPY_BYTES as u64);
    assert_eq!(disk.disk().copies[&TextHash::of(&text)].bytes, text.as_bytes());
}

#[test]
fn a_copy_that_was_removed_by_somebody_else_is_told_and_not_waited_for() {
    let (disk, text) = (FakeFile::default(), long("a"));
    let mut copies = copies_on(&disk);
    taken_out(&mut copies, &function_output("c", &text), Need::Alone);
    disk.disk().copies.clear();
    copies.sync().unwrap();
    let gone =
        format!("An output that lay beside the conversation transcript is gone: {}.", TextHash::of(&text));
    assert_eq!((copies.take_notices(), copies.bytes), (vec![gone], 0));
    copies.sync().unwrap();
    assert_eq!(copies.take_notices(), [""; 0]);
}
