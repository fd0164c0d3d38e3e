use std::path::PathBuf;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use tenon_protocol::{CallOutcome, RolloutItem, RolloutLine, SessionMeta};

use super::super::processes::ProcessState;
use super::super::reader::LoadedLine;
use super::super::test_support::{FIXED, finished, settlements, started};
use super::*;
use crate::history::samples::*;

/// Process 1 runs, 2 has ended, of 3 nobody knows.
struct Known;

impl Processes for Known {
    fn state(&self, process: &tenon_tools::LeftProcess, timestamp: &str) -> ProcessState {
        assert_eq!((process.started_at, timestamp), (77, FIXED));
        match process.pid {
            1 => ProcessState::Running,
            2 => ProcessState::Ended,
            _ => ProcessState::Unknown,
        }
    }
}

fn rollout(lines: impl IntoIterator<Item = RolloutItem>) -> LoadedRollout {
    let lines = lines
        .into_iter()
        .zip(1..)
        .map(|(item, number)| LoadedLine { number, line: RolloutLine { timestamp: FIXED.to_owned(), item } });
    let mut meta = SessionMeta::default();
    meta.extra.insert("call_journal".to_owned(), json!(true));
    LoadedRollout {
        path: PathBuf::from("/r"),
        meta,
        lines: lines.collect(),
        skipped: Vec::new(),
        mended: Vec::new(),
        skipped_count: 0,
    }
}

fn of(item: ResponseItem) -> RolloutItem {
    RolloutItem::ResponseItem(item)
}

fn start(call_id: &str, occurrence: u32) -> RolloutItem {
    RolloutItem::CallStarted(tenon_protocol::CallStarted { occurrence, ..started(call_id) })
}

#[allow(clippy::needless_pass_by_value, reason = "it is called with a `json!` each time")]
fn fact(call_id: &str, occurrence: u32, fact: Value) -> RolloutItem {
    RolloutItem::CallProgress(
        serde_json::from_value(json!({
            "call_id": call_id, "occurrence": occurrence, "fact": fact,
        }))
        .unwrap(),
    )
}

fn end(call_id: &str, occurrence: u32, outcome: CallOutcome, output: ResponseItem) -> RolloutItem {
    RolloutItem::CallFinished(tenon_protocol::CallFinished {
        occurrence,
        outcome,
        ..finished(call_id, output)
    })
}

fn text_of(item: &ResponseItem) -> String {
    let item: Value = serde_json::from_str(&item.raw_json()).unwrap();
    item["output"].as_str().unwrap_or_default().to_owned()
}

/// Id, occurrence, settlement, text.
fn settled(lines: impl IntoIterator<Item = RolloutItem>) -> Vec<(String, u32, Settlement, String)> {
    settlements(&rollout(lines), &Known)
        .into_iter()
        .map(|call| (call.call_id.to_string(), call.occurrence, call.settlement, text_of(&call.output)))
        .collect()
}

fn one(id: &str, occurrence: u32, settlement: Settlement, text: &str) -> (String, u32, Settlement, String) {
    (id.to_owned(), occurrence, settlement, text.to_owned())
}

const UNKNOWN: &str = "outcome unknown: the runtime stopped while this call ran; it was not run again";

#[test]
fn a_call_is_settled_by_what_the_journal_knows() {
    let not_run = "not run: the runtime stopped before this call started";
    let call = || of(function_call("a"));
    let output = || function_output("a", "real");
    let table = [
        (vec![call()], vec![one("a", 0, Settlement::NotRun, not_run)]),
        (vec![call(), start("a", 0)], vec![one("a", 0, Settlement::OutcomeUnknown, UNKNOWN)]),
        (
            vec![call(), start("a", 0), end("a", 0, CallOutcome::Completed, output())],
            vec![one("a", 0, Settlement::Recorded, "real")],
        ),
        // What has no effects has no line of its start.
        (
            vec![call(), end("a", 0, CallOutcome::Failed, output())],
            vec![one("a", 0, Settlement::Recorded, "real")],
        ),
        (vec![call(), start("a", 0), end("a", 0, CallOutcome::Completed, output()), of(output())], vec![]),
        // Lines of another call say nothing of it.
        (vec![call(), start("b", 0), start("a", 1)], vec![one("a", 0, Settlement::NotRun, not_run)]),
        // A line of its start that is lost.
        (
            vec![call(), fact("a", 0, json!({"type": "request", "server": "s", "id": "1"}))],
            vec![one(
                "a",
                0,
                Settlement::OutcomeUnknown,
                &format!("{UNKNOWN}\nrequest to s was not answered"),
            )],
        ),
    ];
    for (lines, expected) in table {
        assert_eq!(settled(lines.clone()), expected, "{lines:#?}");
    }
}

#[test]
fn known_facts_follow_one_a_line() {
    let process = |pid: u32| json!({"type": "process", "pid": pid, "group": pid, "started_at": 77});
    let file = |path: &str, done: bool| json!({"type": "file", "path": path, "done": done});
    let nested = |tool: &str, id: &str, outcome: Option<&str>| match outcome {
        Some(outcome) => json!({"type": "nested", "tool": tool, "call_id": id, "outcome": outcome}),
        None => json!({"type": "nested", "tool": tool, "call_id": id}),
    };
    let facts = [
        process(1),
        process(2),
        process(3),
        file("/a", false),
        file("/b", false),
        file("/a", true),
        json!({"type": "request", "server": "calendar", "id": "7"}),
        nested("exec_command", "exec-1", None),
        nested("view_image", "exec-2", None),
        nested("exec_command", "exec-1", Some("completed")),
        nested("a.b", "exec-3", Some("failed")),
        nested("a.b", "exec-4", Some("blocked")),
        nested("a.b", "exec-5", Some("aborted")),
        nested("apply_patch", "exec-6", None),
    ];
    let lines = [of(custom_call("a")), start("a", 0)]
        .into_iter()
        .chain(facts.map(|json| fact("a", 0, json)))
        // What nested calls have to say for themselves: the end of one, and how far another came.
        .chain([end("exec-2", 0, CallOutcome::Failed, function_output("exec-2", "x"))])
        .chain(
            [file("/c", true), process(1), nested("x", "exec-6", None)].map(|json| fact("exec-6", 0, json)),
        );
    let expected = [
        UNKNOWN,
        "process 1 is still running",
        "process 2 has ended",
        "/a: written",
        "/b: not written",
        "request to calendar was not answered",
        "nested call of exec_command: completed",
        "nested call of view_image: failed",
        "nested call of a.b: failed",
        "nested call of a.b: failed",
        "nested call of a.b: outcome unknown",
        "nested call of apply_patch: outcome unknown",
        "/c: written",
        "process 1 is still running",
    ];
    assert_eq!(settled(lines), [one("a", 0, Settlement::OutcomeUnknown, &expected.join("\n"))]);
}

/// The process ended between a write and the line that would have told of it.
#[test]
fn a_file_itself_says_whether_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("same"), "abc").unwrap();
    std::fs::write(path("other"), "xyz").unwrap();
    std::fs::write(path("new"), "").unwrap();
    std::fs::write(path("unplanned"), "").unwrap();
    let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let had = |name: &str| json!({"path": path(name), "content": abc});
    let had_nothing = |name: &str| json!({"path": path(name)});
    let writes = [
        had("same"),
        had("other"),
        had("removed"),
        had_nothing("new"),
        had_nothing("none"),
        had_nothing("told"),
    ];
    let mut start = started("a");
    start.effects = json!({"writes": writes});
    let file =
        |name: &str, done: bool| fact("a", 0, json!({"type": "file", "path": path(name), "done": done}));
    let lines = [of(custom_call("a")), RolloutItem::CallStarted(start)]
        .into_iter()
        .chain(["same", "other", "removed", "new", "none", "unplanned"].map(|name| file(name, false)));
    let line = |name: &str, how: &str| format!("{}: {how}", path(name).display());
    let expected = [
        UNKNOWN.to_owned(),
        line("same", "not written"),
        line("other", "written"),
        line("removed", "written"),
        line("new", "written"),
        line("none", "not written"),
        line("unplanned", "not written"),
        line("told", "written"),
    ];
    let text = expected.join("\n");
    assert_eq!(settled(lines.chain([file("told", true)])), [one("a", 0, Settlement::OutcomeUnknown, &text)]);
}

#[test]
fn every_kind_gets_an_output_of_its_own_kind() {
    let calls = [function_call("a"), custom_call("a"), shell_call("b"), search_call("a")];
    let outputs: Vec<(String, String)> = settlements(&rollout(calls.map(of)), &Known)
        .into_iter()
        .map(|call| (call.output.tag().to_owned(), call.output.call_id().unwrap().to_owned()))
        .collect();
    let expected = [
        ("function_call_output", "a"),
        ("custom_tool_call_output", "a"),
        ("function_call_output", "b"),
        ("tool_search_output", "a"),
    ];
    assert_eq!(outputs, expected.map(|(tag, id)| (tag.to_owned(), id.to_owned())));
}

#[test]
fn an_output_of_another_kind_is_not_taken() {
    // The journal tells calls of one id and of different kinds apart by their outputs alone.
    let lines = [
        of(function_call("a")),
        of(custom_call("a")),
        start("a", 0),
        end("a", 0, CallOutcome::Completed, custom_output("a", "of the custom call")),
    ];
    let expected = [
        one("a", 0, Settlement::OutcomeUnknown, UNKNOWN),
        one("a", 0, Settlement::Recorded, "of the custom call"),
    ];
    assert_eq!(settled(lines), expected);
}

#[test]
fn calls_of_one_id_and_different_kinds_are_told_apart_by_their_tools() {
    let process = json!({"type": "process", "pid": 1, "group": 1, "started_at": 77});
    let both = || vec![of(function_call("a")), of(custom_call("a"))];
    let starts = |tool: &str| {
        RolloutItem::CallStarted(tenon_protocol::CallStarted { tool: tool.to_owned(), ..started("a") })
    };
    let facts = || fact("a", 0, process.clone());
    let unknown = format!("{UNKNOWN}\nprocess 1 is still running");
    let open = || one("a", 0, Settlement::OutcomeUnknown, &unknown);
    let not_run = || one("a", 0, Settlement::NotRun, NOT_RUN);
    let rows = [
        (vec![], [not_run(), not_run()]),
        (vec![starts("exec_command"), facts()], [open(), not_run()]),
        (vec![starts("apply_patch"), facts()], [not_run(), open()]),
        (vec![starts("exec_command"), starts("apply_patch"), facts()], [open(), open()]),
        // Whose this is, nobody knows: neither is said not to have run.
        (vec![facts()], [open(), open()]),
        (vec![starts("of_before"), facts()], [open(), open()]),
    ];
    for (lines, expected) in rows {
        assert_eq!(settled(both().into_iter().chain(lines.clone())), expected, "{lines:?}");
    }
}

#[test]
fn calls_that_no_tool_is_called_by_are_not_counted() {
    // The runtime answers these itself, and numbers the calls of tools alone.
    let unfit = item(json!({"type": "function_call", "name": 5, "arguments": "{}", "call_id": "a"}));
    for answered in [shell_call("a"), unfit] {
        let lines = [
            of(answered.clone()),
            of(function_output("a", "unsupported")),
            of(function_call("a")),
            start("a", 0),
        ];
        assert_eq!(settled(lines), [one("a", 0, Settlement::OutcomeUnknown, UNKNOWN)], "{answered:?}");
        let cut_off = [of(function_call("a")), start("a", 0), of(function_output("a", "x")), of(answered)];
        assert_eq!(settled(cut_off), [one("a", 0, Settlement::NotRun, NOT_RUN)]);
    }
}

#[test]
fn an_id_may_hold_anything() {
    for id in ["a\nb", "\"}{", "\u{0}", "", &"x".repeat(1 << 20)] {
        let lines = [of(function_call(id)), start(id, 0)];
        assert_eq!(settled(lines), [one(id, 0, Settlement::OutcomeUnknown, UNKNOWN)]);
    }
}

#[test]
fn calls_of_one_id_are_told_apart_by_their_occurrence() {
    let lines = [
        of(function_call("a")),
        start("a", 0),
        end("a", 0, CallOutcome::Completed, function_output("a", "first")),
        of(function_output("a", "first")),
        of(function_call("a")),
        of(function_call("a")),
        start("a", 2),
        end("a", 2, CallOutcome::Completed, function_output("a", "third")),
    ];
    let expected = [one("a", 1, Settlement::NotRun, NOT_RUN), one("a", 2, Settlement::Recorded, "third")];
    assert_eq!(settled(lines), expected);
}

#[test]
fn what_was_compacted_or_rolled_back_needs_no_output_and_still_counts() {
    let compacted = RolloutItem::Compacted(json!({"message": "", "replacement_history": []}));
    let lines = [
        of(function_call("a")),
        compacted,
        of(user("u")),
        of(function_call("a")),
        RolloutItem::EventMsg(
            serde_json::from_str(r#"{"type": "thread_rolled_back", "num_turns": 1}"#).unwrap(),
        ),
        of(function_call("a")),
        start("a", 2),
    ];
    assert_eq!(settled(lines), [one("a", 2, Settlement::OutcomeUnknown, UNKNOWN)]);
}

#[test]
fn what_a_script_says_is_no_output_and_files_of_others_are_left_alone() {
    let lines = [of(custom_call("a")), of(notify("a", "said"))];
    assert_eq!(settled(lines.clone()).len(), 1);
    let mut theirs = rollout(lines);
    theirs.meta = SessionMeta::default();
    assert_eq!(settlements(&theirs, &Known), []);
}
