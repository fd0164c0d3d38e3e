use pretty_assertions::assert_eq;
use serde_json::Value;
use tempfile::TempDir;
use tenon_protocol::ItemKind;

use super::*;

/// What an answer is made of, in short: `name(call)`, `"text"`, `kind`.
fn told(recording: &Recording) -> Vec<(Option<&str>, Vec<String>)> {
    let short = |item: &ResponseItem| match item.kind() {
        ItemKind::FunctionCall(call) => format!("{}({})", call.name, item.call_id().unwrap_or_default()),
        ItemKind::Message(message) => format!("{:?}", message.text()),
        _ => item.tag().to_owned(),
    };
    let answer = |answer: &Answer| match &answer.speech {
        Speech::Items(items) => items.iter().map(short).collect(),
        Speech::Template(texts) => texts.clone(),
        Speech::Events(events) => events
            .iter()
            .map(|event| {
                let text = format!("{event:?}");
                text.split([' ', '{', '(']).next().unwrap_or_default().to_owned()
            })
            .collect(),
    };
    recording.answers.iter().map(|a| (a.prompt.as_deref(), answer(a))).collect()
}

fn owned<'a>(answers: &[(Option<&'a str>, &[&str])]) -> Vec<(Option<&'a str>, Vec<String>)> {
    answers
        .iter()
        .map(|(prompt, words)| (*prompt, words.iter().map(|word| (*word).to_owned()).collect()))
        .collect()
}

fn parsed(text: &str) -> Recording {
    parse(text).expect("a recording")
}

fn fault(text: &str) -> (usize, String) {
    let Fault { line, message } = parse(text).expect_err("no recording");
    (line, message)
}

const CALL: &str = r#"{"type":"function_call","name":"f","call_id":"c1","arguments":"{}"}"#;
const MESSAGE: &str =
    r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}]}"#;

#[test]
fn json_lines_of_items_end_an_answer_at_a_blank_line() {
    let text = format!("\n{CALL}\n{MESSAGE}\r\n\n \n{MESSAGE}\n");
    assert_eq!(told(&parsed(&text)), owned(&[(None, &["f(c1)", "\"hi\""]), (None, &["\"hi\""])]));
    assert_eq!(parsed(&text).last_words, None);
    let marked = parse_bytes(format!("\u{feff}{CALL}").as_bytes()).expect("a recording");
    assert_eq!(told(&marked), owned(&[(None, &["f(c1)"])]));
}

#[test]
fn an_unknown_item_is_an_item() {
    let recording = parsed("{\"type\":\"new_kind\",\"x\":1}\n");
    assert_eq!(told(&recording), owned(&[(None, &["new_kind"])]));
}

#[test]
fn a_line_that_is_no_item_is_named() {
    let cases = [
        (
            format!("{CALL}\n\n[1]\n"),
            3,
            "expected a response item, a JSON object with `type`, found an array",
        ),
        (
            format!("{CALL}\n{{\"a\":1}}\n"),
            2,
            "expected a response item, a JSON object with `type`: an item without a `type`",
        ),
        (
            format!("{CALL}\n{{\"type\":\n"),
            2,
            "expected a response item, a JSON object with `type`: EOF while parsing a value at line 1 column 8",
        ),
    ];
    for (text, line, message) in cases {
        assert_eq!(fault(&text), (line, message.to_owned()), "{text}");
    }
    let text = format!("{}{{\"type\":\"response.created\"}}\n", format!("{CALL}\n").repeat(30));
    let message =
        "expected a response item, a JSON object with `type`, found an event of the API among items";
    assert_eq!(fault(&text), (31, message.to_owned()));
}

#[test]
fn what_is_no_recording_at_all_says_what_was_expected() {
    for (text, found) in [
        ("hello\n", "found no JSON"),
        ("{\"type\": tru\n", "found broken JSON: EOF while parsing a value at line 1 column 12"),
        ("[1, 2]\n", "found an array"),
        ("7\n", "found a number"),
        ("{\"id\":1}\n", "found a JSON object without `type`"),
    ] {
        assert_eq!(fault(text), (1, format!("{EXPECTED}, {found}")), "{text}");
    }
}

const CHUNK: &str = r#"{"id":"chatcmpl-1","object":"chat.completion.chunk","choices":[]}"#;

#[test]
fn what_another_api_said_is_skipped_and_named() {
    let skipped = |line: usize| {
        format!("line {line}: a `chat.completion.chunk` was skipped: it is nothing of the Responses API's")
    };
    let recording = parsed(&format!("{CHUNK}\n{CALL}\n{CHUNK}\n\n{MESSAGE}\n"));
    assert_eq!(told(&recording), owned(&[(None, &["f(c1)"]), (None, &["\"hi\""])]));
    assert_eq!(recording.notes, [skipped(1), skipped(3)]);
    // However late it is known what the file is.
    let recording = parsed(&format!("{}{CALL}\n", format!("{CHUNK}\n").repeat(30)));
    assert_eq!(told(&recording), owned(&[(None, &["f(c1)"])]));
    assert_eq!(recording.notes[4..], [skipped(5), "25 more lines were skipped".to_owned()]);
    // Nothing else is in it.
    let recording = parsed(&format!("{CHUNK}\n"));
    assert_eq!((told(&recording).len(), &recording.notes[..]), (0, &[skipped(1)][..]));
}

#[test]
fn what_another_api_streamed_is_skipped_and_named() {
    let done = format!(r#"{{"type":"response.output_item.done","item":{MESSAGE}}}"#);
    let lines = format!("{CHUNK}\n{done}\n{CHUNK}\n{COMPLETED}\n");
    let sse =
        format!("data: {CHUNK}\n\ndata: {done}\n\ndata: {CHUNK}\n\ndata: {COMPLETED}\n\ndata: [DONE]\n\n");
    for (text, places) in [(lines, [1, 3]), (sse, [1, 5])] {
        let recording = parsed(&text);
        assert_eq!(told(&recording), owned(&[(None, &["OutputItemDone", "Completed"])]), "{text}");
        for (note, line) in recording.notes.iter().zip(places) {
            assert!(note.starts_with(&format!("line {line}: an event was skipped: ")), "{note}");
        }
        assert_eq!(recording.notes.len(), 2);
    }
}

#[test]
fn items_may_be_deep_and_hold_what_is_no_text() {
    let deep = format!("{{\"type\":\"new_kind\",\"x\":{}{}}}", "[".repeat(300), "]".repeat(300));
    let lone = CALL.replace("{}", r"\ud83d");
    assert_eq!(told(&parsed(&deep)), owned(&[(None, &["new_kind"])]));
    assert_eq!(told(&parsed(&lone)), owned(&[(None, &["function_call"])]), "kept as it came, not acted on");
}

#[test]
fn a_scenario_on_one_line_or_many() {
    let compact = format!(
        r#"{{"name":"x","turns":[[{CALL}],[]],"files":{{"d/a.txt":"A"}},"files_hex":{{"b":"00fF"}}}}"#
    );
    let pretty =
        serde_json::to_string_pretty(&serde_json::from_str::<Value>(&compact).expect("JSON")).expect("JSON");
    for text in [compact, pretty] {
        let recording = parsed(&text);
        assert_eq!(told(&recording), owned(&[(None, &["f(c1)"]), (None, &[])]));
        assert_eq!(recording.last_words.as_deref(), Some("done"));
        let files: Vec<_> =
            recording.files.iter().map(|file| (file.path.to_str(), file.content.as_slice())).collect();
        assert_eq!(files, [(Some("d/a.txt"), b"A".as_slice()), (Some("b"), &[0, 0xff])]);
        assert_eq!(recording.notes, Vec::<String>::new());
    }
}

#[test]
fn marks_of_a_scenario_stay_until_it_is_played() {
    let text = r#"{"turns":[[{"type":"function_call","name":"w","call_id":"c","arguments":"{\"session_id\": $SESSION}"}]]}"#;
    let recording = parsed(text);
    assert!(matches!(&recording.answers[0].speech, Speech::Template(texts) if texts[0].contains("$SESSION")));
    // Only a scenario has marks.
    let line = r#"{"type":"function_call","name":"w","call_id":"c","arguments":"echo $SESSION"}"#;
    assert!(matches!(parsed(line).answers[0].speech, Speech::Items(_)));
}

#[test]
fn a_scenario_that_cannot_be_played_is_refused() {
    let cases = [
        (
            r#"{"turns":[[7]]}"#,
            "turns, number 1: expected a response item, a JSON object with `type`, found a number",
        ),
        (r#"{"turns":[],"files":{"../x":""}}"#, "files.\"../x\": expected a path inside the working folder"),
        (
            r#"{"turns":[],"files":{"/etc/x":""}}"#,
            "files.\"/etc/x\": expected a path inside the working folder",
        ),
        (r#"{"turns":[],"files":{".":""}}"#, "files.\".\": expected a path inside the working folder"),
        (r#"{"turns":[],"files_hex":{"x":"0"}}"#, "files_hex.\"x\": expected pairs of hexadecimal digits"),
        (r#"{"turns":[],"files_hex":{"x":"zz"}}"#, "files_hex.\"x\": expected pairs of hexadecimal digits"),
    ];
    for (text, message) in cases {
        assert_eq!(fault(text), (1, message.to_owned()), "{text}");
    }
    let (line, message) = fault("{\n \"turns\": [\n  7\n ]\n}");
    assert_eq!(line, 3);
    assert!(
        message.starts_with("this is no scenario: invalid type: integer `7`, expected a sequence"),
        "{message}"
    );
}

#[test]
fn what_of_a_scenario_is_not_played_is_told() {
    let recording = parsed(r#"{"turns":[],"hooks":{},"mcp":true,"config":"x=1"}"#);
    assert_eq!(
        recording.notes,
        [
            "the scenario's hooks are not run",
            "the scenario's MCP server is not started",
            "the scenario's configuration is not used"
        ]
    );
}

const CREATED: &str = r#"{"type":"response.created","response":{"id":"r1"}}"#;
const COMPLETED: &str = r#"{"type":"response.completed","response":{"id":"r1"}}"#;

fn done(item: &str) -> String {
    format!(r#"{{"type":"response.output_item.done","output_index":0,"item":{item}}}"#)
}

#[test]
fn raw_events_are_cut_where_an_answer_ends() {
    let answer = [CREATED, &done(CALL), COMPLETED].join("\n");
    let expected =
        owned(&[(None, &["Created", "OutputItemDone", "Completed"]), (None, &["Created", "OutputItemDone"])]);
    let lines = format!("{answer}\n{CREATED}\n\n{}\n", done(MESSAGE));
    assert_eq!(told(&parsed(&lines)), expected);
    let sse: String =
        lines.lines().filter(|line| !line.is_empty()).map(|line| format!("data: {line}\n\n")).collect();
    for sse in [
        sse.clone(),
        format!(": hello\n\nevent: response.created\n{sse}data: [DONE]\n\n"),
        sse.replace('\n', "\r\n"),
    ] {
        assert_eq!(told(&parsed(&sse)), expected, "{sse}");
    }
}

#[test]
fn failures_end_an_answer_too() {
    let failed = r#"{"type":"response.failed","response":{"error":{"code":"x","message":"y"}}}"#;
    let incomplete = r#"{"type":"response.incomplete","response":{"incomplete_details":{"reason":"z"}}}"#;
    let error = r#"{"type":"error","code":"x","message":"y"}"#;
    let recording = parsed(&[CREATED, failed, CREATED, incomplete, error].join("\n"));
    let expected =
        owned(&[(None, &["Created", "Failed"]), (None, &["Created", "Incomplete"]), (None, &["Failed"])]);
    assert_eq!(told(&recording), expected);
}

#[test]
fn broken_events_are_told_and_skipped() {
    let text = format!("{CREATED}\n{}{COMPLETED}\n", "{\"type\":\n".repeat(7));
    let recording = parsed(&text);
    assert_eq!(told(&recording), owned(&[(None, &["Created", "Completed"])]));
    assert_eq!(recording.notes.len(), 6);
    assert!(recording.notes[0].starts_with("line 2: an event was skipped: "), "{:?}", recording.notes);
    assert_eq!(recording.notes[5], "2 more events were skipped");
}

fn rollout_line(tag: &str, payload: &str) -> String {
    format!("{{\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"type\":\"{tag}\",\"payload\":{payload}}}\n")
}

fn user(text: &str) -> String {
    let text = serde_json::to_string(text).expect("JSON");
    rollout_line(
        "response_item",
        &format!(r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":{text}}}]}}"#),
    )
}

const OUTPUT: &str = r#"{"type":"function_call_output","call_id":"c1","output":"x"}"#;

/// Each line at a time of its own: one that says the same at the same time is a doubled one.
fn timed(lines: &[String]) -> String {
    let at = |(at, line): (usize, &String)| line.replace("00:00:00.000Z", &format!("00:00:00.{at:03}Z"));
    lines.iter().enumerate().map(at).collect()
}

#[test]
fn a_rollout_is_cut_at_what_the_model_was_told() {
    let item = |json: &str| rollout_line("response_item", json);
    let text = timed(&[
        rollout_line("turn_context", "{}"),
        user("<environment_context>\n</environment_context>"),
        user("first"),
        item(CALL),
        item(CALL),
        item(OUTPUT),
        item(OUTPUT),
        item(MESSAGE),
        "not a line\n".to_owned(),
        rollout_line("future", "{}"),
        user("second"),
        item(MESSAGE),
    ]);
    let recording = parsed(&text);
    let expected =
        owned(&[(Some("first"), &["f(c1)", "f(c1)"]), (None, &["\"hi\""]), (Some("second"), &["\"hi\""])]);
    assert_eq!(told(&recording), expected);
    assert_eq!(recording.notes, ["lines of the rollout that could not be read and were skipped: 1"]);
}

#[test]
fn what_a_rollout_holds_that_is_no_part_of_the_conversation_is_told() {
    let item = |json: &str| rollout_line("response_item", json);
    let rolled_back = rollout_line("event_msg", r#"{"type":"thread_rolled_back","num_turns":1}"#);
    let compacted = rollout_line("compacted", r#"{"message":"","replacement_history":[]}"#);
    let doubled = item(CALL);
    let text =
        timed(&[user("first"), item(MESSAGE), rolled_back, user("second"), doubled.clone() + &doubled])
            + "\0\0\n"
            + &compacted;
    let recording = parse_bytes(&[text.as_bytes(), b"\xff\xfe\n"].concat()).expect("a recording");
    assert_eq!(told(&recording), owned(&[(Some("first"), &["\"hi\""]), (Some("second"), &["f(c1)"])]));
    let notes = [
        "lines of the rollout that could not be read and were skipped: 2",
        "lines of the rollout that say what a line before them says and were skipped: 1",
        "the rollout was compacted: what was said before is played all the same",
        "turns of the rollout were rolled back: they are played all the same",
    ];
    assert_eq!(recording.notes, notes);
}

#[test]
fn the_users_own_words_come_from_events_where_there_are_some() {
    let event =
        |text: &str| rollout_line("event_msg", &format!(r#"{{"type":"user_message","message":"{text}"}}"#));
    let text = [user("wrapped first"), event("first"), rollout_line("response_item", MESSAGE)].concat();
    assert_eq!(told(&parsed(&text)), owned(&[(Some("first"), &["\"hi\""])]));
}

#[test]
fn a_file_that_cannot_be_read_or_holds_nothing() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("x.jsonl");
    let error = |path: &Path| read(path).expect_err("no recording").to_string();
    assert!(error(&path).starts_with(&format!("cannot read {}: ", path.display())));
    std::fs::write(&path, "\n\n").expect("written");
    assert_eq!(error(&path), format!("{}: nothing in it was said by a model: {EXPECTED}", path.display()));
    std::fs::write(&path, b"{\"type\":\"x\"}\n\xff\n").expect("written");
    assert_eq!(error(&path), format!("{}:2: this is no UTF-8 text", path.display()));
    std::fs::write(&path, "x\n").expect("written");
    assert_eq!(error(&path), format!("{}:1: {EXPECTED}, found no JSON", path.display()));
}

#[test]
fn a_scenario_says_how_the_tools_were_offered() {
    let rows = [
        (r#"{"turns":[]}"#, None),
        (r#"{"turns":[],"mode":"direct"}"#, None),
        (r#"{"turns":[],"mode":"code_mode"}"#, Some(ToolMode::CodeModeOnly)),
    ];
    for (text, mode) in rows {
        assert_eq!(parsed(text).tool_mode, mode, "{text}");
    }
}
