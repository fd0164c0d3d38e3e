use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use tempfile::TempDir;
use tenon_protocol::{CallFact, CallOutcome, RolloutItem, RolloutLine};

use super::super::reader::{MAX_LINE_BYTES, Reader};
use super::super::settle::{NOT_RUN, OUTCOME_UNKNOWN, Settlement};
use super::super::test_support::{FIXED, finished, host, meta, said, settlements, started, told};
use super::*;
use crate::history::index;
use crate::history::samples::*;

const ID: &str = "019ad4e2-1111-7000-8000-000000000001";

/// A rollout of ours with these lines after its first; what the recorder handed over is in the file.
async fn written(home: &TempDir, lines: impl IntoIterator<Item = RolloutItem>) -> PathBuf {
    let recorder = RolloutRecorder::create(home.path(), meta(ID, home.path()), host().0).unwrap();
    recorder.record_all(lines).await;
    recorder.shutdown().await.unwrap();
    recorder.path().unwrap().to_owned()
}

fn of(item: ResponseItem) -> RolloutItem {
    RolloutItem::ResponseItem(item)
}

#[tokio::test]
async fn what_was_left_open_is_settled_once_and_in_the_file() {
    let home = TempDir::new().unwrap();
    let lines = [
        said("one"),
        of(function_call("a")),
        of(custom_call("b")),
        of(function_call("c")),
        RolloutItem::CallStarted(started("b")),
        RolloutItem::CallFinished(finished("c", function_output("c", "real"))),
    ];
    let path = written(&home, lines).await;
    let before = fs::read_to_string(&path).unwrap();
    let (host, warnings) = host();
    let resumed = RolloutRecorder::resume(&path, host.clone()).await.unwrap();
    let expected = [
        user("one"),
        function_call("a"),
        custom_call("b"),
        function_call("c"),
        function_output("a", NOT_RUN),
        custom_output("b", OUTCOME_UNKNOWN),
        function_output("c", "real"),
    ];
    assert_eq!(shown_alike(&resumed.items), shown_alike(&expected));
    let settlements: Vec<Settlement> = resumed.settled.iter().map(|call| call.settlement).collect();
    assert_eq!(settlements, [Settlement::NotRun, Settlement::OutcomeUnknown, Settlement::Recorded]);
    assert_eq!(shown(&resumed.calls), shown(&expected[1..4]));
    assert_eq!((resumed.meta.id.as_str(), resumed.skipped.len()), (ID, 0));
    // It is in the file before anything else happens.
    let after = fs::read_to_string(&path).unwrap();
    assert_eq!(
        told(after.strip_prefix(&before).unwrap()),
        ["response_item a", "response_item b", "response_item c"]
    );

    // The session goes on in the same file; the next one finds nothing to do.
    resumed.recorder.record(said("two")).await;
    resumed.recorder.shutdown().await.unwrap();
    let after = fs::read_to_string(&path).unwrap();
    let again = RolloutRecorder::resume(&path, host).await.unwrap();
    assert_eq!(again.settled, []);
    assert_eq!(shown_alike(&again.items), shown_alike(&[expected.as_slice(), &[user("two")]].concat()));
    again.recorder.shutdown().await.unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), after);
    assert_eq!(warnings.take(), [""; 0]);
}

/// Items as values: those that we make and those that were read differ in the order of their members.
fn shown_alike(items: &[ResponseItem]) -> Vec<Value> {
    items.iter().map(|item| serde_json::from_str(&item.raw_json()).unwrap()).collect()
}

#[tokio::test]
async fn an_output_in_the_middle_stands_at_its_call_now_and_later() {
    // cases.md A3, in a file of ours.
    let home = TempDir::new().unwrap();
    let lines = [
        user("one"),
        function_call("c1"),
        user("two"),
        assistant("text"),
        function_call("c2"),
        function_output("c2", "x"),
    ];
    let path = written(&home, lines.clone().map(of)).await;
    let mut expected = lines.to_vec();
    expected.insert(2, function_output("c1", NOT_RUN));
    for _ in 0..3 {
        let resumed = RolloutRecorder::resume(&path, host().0).await.unwrap();
        assert_eq!(shown_alike(&resumed.items), shown_alike(&expected));
        resumed.recorder.shutdown().await.unwrap();
    }
}

#[tokio::test]
async fn a_file_of_the_reference_is_not_settled() {
    let home = TempDir::new().unwrap();
    let path = home.path().join("rollout.jsonl");
    let line =
        |tag: &str, payload: Value| json!({"timestamp": "t", "type": tag, "payload": payload}).to_string();
    let text = [
        line("session_meta", json!({"id": "theirs", "timestamp": "t", "cwd": "/w", "originator": "other"})),
        line("response_item", serde_json::from_str(&function_call("a").raw_json()).unwrap()),
    ];
    fs::write(&path, text.join("\n")).unwrap();
    let resumed = RolloutRecorder::resume(&path, host().0).await.unwrap();
    assert_eq!((resumed.settled.len(), shown(&resumed.items)), (0, shown(&[function_call("a")])));
    resumed.recorder.shutdown().await.unwrap();
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        text.join("\n") + "\n",
        "nothing but the end of its last line"
    );
}

#[tokio::test]
async fn what_is_no_rollout_stays_as_it_is() {
    let home = TempDir::new().unwrap();
    let path = home.path().join("notes.txt");
    fs::write(&path, "notes without an end").unwrap();
    let error = RolloutRecorder::resume(&path, host().0).await.unwrap_err().to_string();
    assert_eq!(error, format!("empty session file: {}", path.display()));
    assert_eq!(fs::read_to_string(&path).unwrap(), "notes without an end");
}

#[tokio::test]
async fn a_lock_that_is_let_go_in_time_is_waited_for() {
    let home = TempDir::new().unwrap();
    let path = written(&home, [said("one")]).await;
    let holder = RolloutRecorder::append(&path, host().0).unwrap();
    let letting_go = async {
        // Nobody tells when the lock has been tried.
        tokio::time::sleep(LOCK_PAUSE * 3).await;
        holder.shutdown().await.unwrap();
        drop(holder);
    };
    let (resumed, ()) = tokio::join!(RolloutRecorder::resume(&path, host().0), letting_go);
    resumed.unwrap().recorder.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_lock_that_is_kept_is_not_waited_for_without_end() {
    let home = TempDir::new().unwrap();
    let path = written(&home, [said("one")]).await;
    let holder = RolloutRecorder::append(&path, host().0).unwrap();
    let begun = Instant::now();
    let refused = RolloutRecorder::resume(&path, host().0).await;
    assert!(matches!(refused, Err(RolloutError::Locked(locked)) if locked == path));
    assert!(begun.elapsed() >= LOCK_PATIENCE);
    holder.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_file_that_is_not_there_is_told() {
    let home = TempDir::new().unwrap();
    let error =
        RolloutRecorder::resume(&home.path().join("none.jsonl"), host().0).await.unwrap_err().to_string();
    assert!(error.starts_with("cannot open "), "{error}");
}

#[tokio::test]
async fn skipped_lines_are_told_to_the_operator() {
    let home = TempDir::new().unwrap();
    let path = written(&home, [said("one")]).await;
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{text}\0\0\n\0\n\0\n\0\n")).unwrap();
    let (host, warnings) = host();
    let resumed = RolloutRecorder::resume(&path, host).await.unwrap();
    assert_eq!(resumed.skipped.len(), 4);
    let message = format!(
        "Lines skipped in {}: 4 (line 3: only NUL bytes, line 4: only NUL bytes, line 5: only NUL bytes, ...)",
        path.display()
    );
    assert_eq!(warnings.take(), [message]);
}

#[tokio::test]
async fn an_output_with_a_character_that_is_no_text_is_still_the_output_of_its_call() {
    let home = TempDir::new().unwrap();
    let path =
        written(&home, [said("one"), of(function_call("a")), of(function_output("a", "XXXX b"))]).await;
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("XXXX", r"\ud83d")).unwrap();
    let (host, warnings) = host();
    let resumed = RolloutRecorder::resume(&path, host).await.unwrap();
    let expected = [user("one"), function_call("a"), function_output("a", "\u{fffd} b")];
    assert_eq!(shown_alike(&resumed.items), shown_alike(&expected));
    assert_eq!((resumed.settled.len(), resumed.skipped.len()), (0, 0));
    let message =
        format!("Characters that are no text were replaced by U+FFFD in {}: line 4", path.display());
    assert_eq!(warnings.take(), [message]);
}

/// A session with every kind of line, and what became of it in the end.
async fn full_session(home: &TempDir) -> PathBuf {
    let recorder = RolloutRecorder::create(home.path(), meta(ID, home.path()), host().0).unwrap();
    let fact = |id: &str, fact: CallFact| recorder.progress(&id.into(), 0).unwrap().record(fact);
    let file = |path: &str, done| CallFact::File { path: path.into(), done };
    let nested =
        |outcome| CallFact::Nested { tool: "exec_command".to_owned(), call_id: "exec-1".into(), outcome };
    recorder.record(said("go")).await;
    recorder
        .record_items(&[function_call("a"), custom_call("b"), search_call("s")].map(std::sync::Arc::new))
        .await;
    recorder.journal_started(started("a")).await.unwrap();
    fact("a", CallFact::Process { pid: u32::MAX, group: u32::MAX, started_at: 1, boot_id: None });
    recorder.journal_started(started("b")).await.unwrap();
    fact("b", file("/one", false));
    fact("b", file("/one", true));
    fact("b", file("/two", false));
    fact("b", nested(None));
    recorder.journal_started(started("exec-1")).await.unwrap();
    fact("exec-1", CallFact::Request { server: "calendar".to_owned(), id: "1".to_owned() });
    fact("b", nested(Some(CallOutcome::Completed)));
    fact("b", file("/two", true));
    let ends = [
        ("a", function_output("a", "a's")),
        ("b", custom_output("b", "b's")),
        ("s", search_output(Some("s"), "client")),
    ];
    for (id, output) in &ends {
        let _ = recorder.journal_finished(finished(id, output.clone())).await;
    }
    for (_, output) in ends {
        recorder.record(of(output)).await;
    }
    recorder.record_items(&[function_call("a")].map(std::sync::Arc::new)).await;
    recorder.journal_started(tenon_protocol::CallStarted { occurrence: 1, ..started("a") }).await.unwrap();
    recorder.record(of(function_output("a", "second"))).await;
    recorder.shutdown().await.unwrap();
    recorder.path().unwrap().to_owned()
}

/// What a cut file knows, read in another way than the code under test does: by its whole lines.
#[derive(Debug, Default)]
struct Known {
    started: Vec<(String, u64)>,
    finished: HashMap<(String, u64), Value>,
    outputs: Vec<Value>,
    facts: Vec<String>,
}

fn known(bytes: &[u8]) -> Known {
    let mut known = Known::default();
    for line in String::from_utf8_lossy(bytes).lines() {
        let Ok(line) = serde_json::from_str::<Value>(line) else { continue };
        let payload = line["payload"].clone();
        let call =
            || (payload["call_id"].as_str().unwrap().to_owned(), payload["occurrence"].as_u64().unwrap());
        match line["type"].as_str().unwrap() {
            "call_started" => known.started.push(call()),
            "call_finished" => _ = known.finished.insert(call(), payload["output"].clone()),
            "call_progress" => known.facts.push(payload["fact"].to_string()),
            "response_item" => known.outputs.push(payload),
            _ => {}
        }
    }
    known
}

/// How many bytes lie between two cuts that are tried with a file on the disk. All others are tried in memory.
const DISK_STRIDE: usize = 53;

#[tokio::test]
async fn cut_anywhere_each_call_has_one_output_that_says_no_more_than_the_file_knows() {
    let home = TempDir::new().unwrap();
    let whole = fs::read(full_session(&home).await).unwrap();
    let path = home.path().join("rollout-2026-11-30T10-00-00-cut.jsonl");
    for cut in 0..=whole.len() {
        let bytes = &whole[..cut];
        let (once, again) = if cut % DISK_STRIDE == 0 {
            fs::write(&path, bytes).unwrap();
            let once = on_disk(&path).await;
            (once, on_disk(&path).await)
        } else {
            let once = in_memory(bytes);
            let again = once.as_ref().and_then(|once| in_memory(&once.bytes));
            (once, again)
        };
        let first_line = whole.iter().position(|byte| *byte == b'\n').unwrap();
        assert_eq!(once.is_some(), cut >= first_line, "cut at {cut}");
        let (Some(once), Some(again)) = (once, again) else { continue };
        for ((family, id), positions) in index(&once.items) {
            assert_eq!(positions.calls.len(), positions.outputs.len(), "cut at {cut}: {family:?} {id}");
        }
        let known = known(bytes);
        for settled in &once.settled {
            check(settled, &known, cut);
        }
        assert!(once.bytes.starts_with(bytes), "cut at {cut}: only appended to");
        assert_eq!(again.settled, [], "cut at {cut}");
        assert_eq!(shown_alike(&again.items), shown_alike(&once.items), "cut at {cut}");
        assert_eq!(again.bytes, once.bytes, "cut at {cut}");
    }
}

/// How many bytes lie between two places where a resume is killed.
const KILL_STRIDE: usize = 37;

#[tokio::test]
async fn a_resume_that_is_killed_anywhere_is_made_up_for_by_the_next() {
    let home = TempDir::new().unwrap();
    let whole = fs::read(full_session(&home).await).unwrap();
    let ends = whole.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    for cut in ends {
        let once = in_memory(&whole[..cut]).unwrap();
        for killed in (cut..once.bytes.len()).step_by(KILL_STRIDE) {
            let again = in_memory(&once.bytes[..killed]).unwrap();
            let last = in_memory(&again.bytes).unwrap();
            assert_eq!(last.settled, [], "cut at {cut}, killed at {killed}");
            for gone in [&again, &last] {
                let shown = shown_alike(&gone.items);
                assert_eq!(shown, shown_alike(&once.items), "cut at {cut}, killed at {killed}");
            }
        }
    }
}

/// What comes of a file that is gone on from.
struct Gone {
    items: Vec<ResponseItem>,
    settled: Vec<SettledCall>,
    bytes: Vec<u8>,
}

/// Goes on from a file; none when it is empty.
async fn on_disk(path: &Path) -> Option<Gone> {
    let Resumed { recorder, items, settled, .. } = match RolloutRecorder::resume(path, host().0).await {
        Ok(resumed) => resumed,
        Err(RolloutError::Empty(_)) => return None,
        Err(error) => panic!("{error}"),
    };
    recorder.shutdown().await.unwrap();
    Some(Gone { items, settled, bytes: fs::read(path).unwrap() })
}

/// The same, without a disk.
fn in_memory(bytes: &[u8]) -> Option<Gone> {
    let mut reader = Reader::new(MAX_LINE_BYTES);
    reader.read(&mut std::io::Cursor::new(bytes)).unwrap();
    let mut rollout = reader.finish(Path::new("/rollout-2026-11-30T10-00-00-cut.jsonl")).ok()?;
    let settled = settlements(&rollout, &SystemProcesses);
    let mut bytes = bytes.to_vec();
    if bytes.last() != Some(&b'\n') {
        bytes.push(b'\n');
    }
    let outputs = settled.iter().map(|call| of(call.output.clone()));
    rollout.append(outputs.clone(), FIXED);
    for item in outputs {
        bytes.extend(RolloutLine { timestamp: FIXED.to_owned(), item }.to_json().unwrap().into_bytes());
        bytes.push(b'\n');
    }
    Some(Gone { items: rollout.history(), settled, bytes })
}

fn check(settled: &SettledCall, known: &Known, cut: usize) {
    let call = (settled.call_id.to_string(), u64::from(settled.occurrence));
    let started = known.started.contains(&call)
        || known.facts.iter().any(|fact| fact.contains("/one")) && call.0 == "b";
    let output: Value = serde_json::from_str(&settled.output.raw_json()).unwrap();
    let text = output["output"].as_str().unwrap_or_default();
    let is_search = output["type"] == "tool_search_output";
    match settled.settlement {
        Settlement::Recorded => assert_eq!(known.finished[&call], output, "cut at {cut}"),
        Settlement::Checked => panic!("cut at {cut}: no tool was asked"),
        Settlement::OutputLost => panic!("cut at {cut}: nothing lies beside the file"),
        Settlement::NotRun => {
            assert!(!started && !known.finished.contains_key(&call), "cut at {cut}: {call:?}");
            assert!(is_search || text == NOT_RUN, "cut at {cut}: {text}");
        }
        Settlement::OutcomeUnknown => {
            assert!(started && !known.finished.contains_key(&call), "cut at {cut}: {call:?}");
            let (first, facts) = text.split_once('\n').unwrap_or((text, ""));
            assert_eq!(first, OUTCOME_UNKNOWN, "cut at {cut}");
            let expected = expected_facts(&call.0, call.1, known);
            assert_eq!(facts.lines().collect::<Vec<_>>(), expected, "cut at {cut}: {call:?}");
        }
    }
}

fn expected_facts(id: &str, occurrence: u64, known: &Known) -> Vec<&'static str> {
    let has = |json: Value| known.facts.contains(&json.to_string());
    let file = |path: &str, done: bool| has(json!({"type": "file", "path": path, "done": done}));
    let nested = json!({"type": "nested", "tool": "exec_command", "call_id": "exec-1"});
    let mut nested_done = nested.clone();
    nested_done["outcome"] = json!("completed");
    match (id, occurrence) {
        ("a", 0) => known
            .facts
            .iter()
            .filter(|fact| fact.contains("pid"))
            .map(|_| "process 4294967295 has ended")
            .collect(),
        ("b", 0) => {
            let one = match (file("/one", false), file("/one", true)) {
                (_, true) => Some("/one: written"),
                (true, false) => Some("/one: not written"),
                (false, false) => None,
            };
            let two = match (file("/two", false), file("/two", true)) {
                (_, true) => Some("/two: written"),
                (true, false) => Some("/two: not written"),
                (false, false) => None,
            };
            let request = known.facts.iter().any(|fact| fact.contains("calendar"));
            let script = match (has(nested), has(nested_done)) {
                (_, true) => vec!["nested call of exec_command: completed"],
                (true, false) if request => {
                    vec![
                        "nested call of exec_command: outcome unknown",
                        "request to calendar was not answered",
                    ]
                }
                (true, false) => vec!["nested call of exec_command: outcome unknown"],
                (false, false) => vec![],
            };
            one.into_iter().chain(two).chain(script).collect()
        }
        _ => vec![],
    }
}
