use std::fs;
use std::io::Cursor;

use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::json;
use tempfile::TempDir;

use super::super::test_support::FIXED;
use super::*;

fn meta() -> String {
    line("session_meta", &json!({"id": "thread", "timestamp": FIXED, "cwd": "/w"}))
}

fn line(tag: &str, payload: &serde_json::Value) -> String {
    json!({"timestamp": FIXED, "type": tag, "payload": payload}).to_string()
}

fn said(text: &str) -> String {
    line(
        "response_item",
        &json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}),
    )
}

fn read(bytes: &[u8]) -> Result<LoadedRollout, RolloutError> {
    read_up_to(bytes, MAX_LINE_BYTES)
}

fn read_up_to(bytes: &[u8], max_line: usize) -> Result<LoadedRollout, RolloutError> {
    let mut reader = Reader::new(max_line);
    // A small buffer, so that lines come in pieces.
    reader.read(&mut BufReader::with_capacity(7, Cursor::new(bytes))).unwrap();
    reader.finish(Path::new("/rollout-2026-11-30T10-00-00-named.jsonl"))
}

/// What the messages of a file say, with the numbers of their lines.
fn messages(rollout: &LoadedRollout) -> Vec<(u64, String)> {
    rollout
        .items()
        .map(|(at, item)| (rollout.lines[at].number, super::super::line_kind::user_text(item).unwrap()))
        .collect()
}

fn owned(messages: &[(u64, &str)]) -> Vec<(u64, String)> {
    messages.iter().map(|(number, text)| (*number, (*text).to_owned())).collect()
}

#[test]
fn broken_lines_are_told_and_all_others_kept() {
    let torn: String = said("torn").chars().take(40).collect();
    let lines: Vec<Vec<u8>> = vec![
        meta().into(),
        said("one").into(),
        torn.clone().into(),
        b"".to_vec(),
        b"  \r".to_vec(),
        said("one").into(),
        b"\0\0\0\0".to_vec(),
        b"not json".to_vec(),
        br#"{"foreign": true}"#.to_vec(),
        b"\xff\xfe".to_vec(),
        [said("two").as_bytes(), b"\r"].concat(),
        line("call_started", &json!({"call_id": "c"})).into(),
        line("response_item", &json!({"no": "type"})).into(),
        line("from_the_future", &json!(1)).into(),
        [b"\0\0", said("behind NUL bytes").as_bytes()].concat(),
        [torn.as_bytes(), said("glued").as_bytes()].concat(),
        said("line\u{2028}separator").into(),
        br#"{"timestamp": "t", "type": "response_item"#.to_vec(),
    ];
    let rollout = read(&lines.join(&b'\n')).unwrap();
    let kept =
        [(2, "one"), (11, "two"), (15, "behind NUL bytes"), (16, "glued"), (17, "line\u{2028}separator")];
    assert_eq!(messages(&rollout), owned(&kept));
    assert_eq!(rollout.meta.id, "thread");
    let told: Vec<String> = rollout.skipped.iter().map(ToString::to_string).collect();
    let expected = [
        "line 3: not a rollout line: EOF while parsing",
        "line 6: the same as line 2",
        "line 7: only NUL bytes",
        "line 8: not a rollout line: expected ident",
        "line 9: not a rollout line: missing field",
        "line 10: not UTF-8: invalid utf-8",
        "line 12: a `call_started` line whose payload doesn't fit: missing field",
        "line 13: a response item without a `type`",
        "line 16: not a rollout line: ",
        "line 18: not a rollout line: EOF while parsing",
    ];
    assert_eq!(told.len(), expected.len(), "{told:#?}");
    assert_eq!(rollout.skipped_count, expected.len());
    for (told, expected) in told.iter().zip(expected) {
        assert!(told.starts_with(expected), "{told:?} is not {expected:?}");
    }
}

#[test]
fn a_file_without_a_valid_line_is_empty() {
    for bytes in ["", "\n\n", "torn\n", "\0\0"] {
        let error = read(bytes.as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with("empty session file"), "{error}");
    }
}

#[test]
fn the_first_session_meta_wins() {
    let other = line("session_meta", &json!({"id": "other", "timestamp": FIXED, "cwd": "/o"}));
    let text = [said("one"), meta(), other].join("\n");
    assert_eq!(read(text.as_bytes()).unwrap().meta.id, "thread");
}

#[test]
fn a_lost_first_line_is_made_up_for_by_the_name() {
    let rollout = read(said("one").as_bytes()).unwrap();
    assert_eq!((rollout.meta.id.as_str(), rollout.meta.timestamp.as_str()), ("named", FIXED));
    let mut reader = Reader::new(MAX_LINE_BYTES);
    reader.read(&mut Cursor::new(said("one"))).unwrap();
    let error = reader.finish(Path::new("/notes.jsonl")).unwrap_err().to_string();
    assert_eq!(error, "/notes.jsonl has no session_meta line: it is no rollout, or its beginning is lost");
}

#[test]
fn an_unknown_history_mode_is_refused() {
    let with_mode = |mode: &str| {
        line("session_meta", &json!({"id": "thread", "timestamp": FIXED, "cwd": "/w", "history_mode": mode}))
    };
    for mode in ["legacy", "paginated"] {
        assert!(read(with_mode(mode).as_bytes()).is_ok(), "{mode}");
    }
    let error = read(with_mode("sideways").as_bytes()).unwrap_err().to_string();
    assert!(
        error.ends_with("has the history mode `sideways`; this version reads `legacy` and `paginated`"),
        "{error}"
    );
}

#[test]
fn a_line_may_have_so_many_bytes_and_no_more() {
    let long = said(&"x".repeat(200));
    let text = [meta(), long.clone(), said("after")].join("\n");
    let all = read_up_to(text.as_bytes(), long.len()).unwrap();
    assert_eq!((messages(&all).len(), all.skipped_count), (2, 0));
    let rollout = read_up_to(text.as_bytes(), long.len() - 1).unwrap();
    assert_eq!(messages(&rollout), owned(&[(3, "after")]));
    let reason = SkipReason::TooLong(long.len() as u64);
    assert_eq!(rollout.skipped, [SkippedLine { number: 2, reason }]);
}

#[test]
fn of_many_skipped_lines_the_first_are_told_and_all_are_counted() {
    let text = format!("{}\n{}", meta(), "torn a\ntorn b\n".repeat(MAX_SKIPPED_TOLD));
    let rollout = read(text.as_bytes()).unwrap();
    assert_eq!((rollout.skipped.len(), rollout.skipped_count), (MAX_SKIPPED_TOLD, 2 * MAX_SKIPPED_TOLD));
}

#[test]
fn a_file_is_journalled_by_its_mark_or_a_journal_line() {
    let marked =
        line("session_meta", &json!({"id": "t", "timestamp": FIXED, "cwd": "/", "call_journal": true}));
    let fact =
        json!({"call_id": "c", "occurrence": 0, "fact": {"type": "request", "server": "s", "id": "1"}});
    let table = [
        (meta(), false),
        (marked, true),
        (format!("{}\n{}", meta(), line("call_progress", &fact)), true),
        (format!("{}\n{}", meta(), said("call_started")), false),
    ];
    for (text, expected) in table {
        assert_eq!(read(text.as_bytes()).unwrap().is_journalled(), expected, "{text}");
    }
}

#[test]
fn a_missing_file_is_told() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("none.jsonl");
    let error = LoadedRollout::load(&path).unwrap_err().to_string();
    assert!(error.starts_with(&format!("cannot open {}: ", path.display())), "{error}");
    fs::write(&path, meta()).unwrap();
    assert_eq!(LoadedRollout::load(&path).unwrap().meta.id, "thread");
}

/// What a disk or a stranger may do to a line.
#[derive(Debug, Clone)]
enum Harm {
    None,
    CutTo(usize),
    NulFilled,
    Foreign(Vec<u8>),
    Doubled,
}

fn any_harm() -> impl Strategy<Value = Harm> {
    prop_oneof![
        3 => Just(Harm::None),
        1 => (0..120_usize).prop_map(Harm::CutTo),
        1 => Just(Harm::NulFilled),
        1 => prop::collection::vec(any::<u8>(), 0..40).prop_map(Harm::Foreign),
        1 => Just(Harm::Doubled),
    ]
}

proptest! {
    #[test]
    fn whatever_happens_to_some_lines_the_others_are_kept(harms in prop::collection::vec(any_harm(), 0..20)) {
        let mut text = meta().into_bytes();
        let mut expected = Vec::new();
        for (n, harm) in harms.iter().enumerate() {
            text.push(b'\n');
            let whole = said(&format!("message {n}"));
            match harm {
                Harm::None => expected.push(format!("message {n}")),
                Harm::CutTo(length) => text.extend_from_slice(&whole.as_bytes()[..(*length).min(whole.len() - 1)]),
                Harm::NulFilled => text.extend(std::iter::repeat_n(0, whole.len())),
                Harm::Foreign(bytes) => text.extend(bytes.iter().filter(|byte| **byte != b'\n')),
                Harm::Doubled => {
                    expected.push(format!("message {n}"));
                    text.extend_from_slice(whole.as_bytes());
                    text.push(b'\n');
                }
            }
            if matches!(harm, Harm::None | Harm::Doubled) {
                text.extend_from_slice(whole.as_bytes());
            }
        }
        let rollout = read(&text).unwrap();
        let kept: Vec<String> = messages(&rollout).into_iter().map(|(_, text)| text).collect();
        prop_assert_eq!(kept, expected);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = read(&bytes);
    }
}
