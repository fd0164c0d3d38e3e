//! What `replay`, `replay --verify` and `exec resume` take from the same damaged files.
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "test code")]

mod support;

use std::path::{Path, PathBuf};

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use support::{Place, Ran, Server, message, shell};

const ACCESS: [&str; 3] = ["--json", "-s", "danger-full-access"];
const VERIFIED: &str = "verified: 4 requests are what they were\n";

/// A session of two turns, each with a command and a message, and its file.
fn recorded(place: &Place) -> (PathBuf, String) {
    let server = Server::start(vec![
        vec![shell("c1", "echo c1")],
        vec![message("one")],
        vec![shell("c2", "echo c2")],
        vec![message("two")],
    ]);
    place.config(&server.config());
    let first = place.run(&[&["exec"], ACCESS.as_slice(), &["first"]].concat());
    assert_eq!((first.status, first.stderr.as_str()), (Some(0), ""));
    let file = place.rollouts().pop().expect("it is there");
    let id = id_of(&file);
    let second = place.run(&[&["exec"], ACCESS.as_slice(), &["resume", &id, "second"]].concat());
    assert_eq!((second.status, second.stderr.as_str()), (Some(0), ""));
    let text = std::fs::read_to_string(&file).expect("text");
    (file, text)
}

fn id_of(file: &Path) -> String {
    const UUID: usize = 36;
    let stem = file.file_stem().and_then(|stem| stem.to_str()).expect("text");
    stem.split_at(stem.len() - UUID).1.to_owned()
}

/// What the model says in a replay: its commands by what they print, and its messages.
fn played(ran: &Ran) -> Vec<String> {
    let completed = ran.events().into_iter().filter(|event| event["type"] == "item.completed");
    let said = completed.filter_map(|event| match event["item"]["type"].as_str() {
        Some("command_execution") => {
            event["item"]["aggregated_output"].as_str().map(|text| text.trim().to_owned())
        }
        Some("agent_message") => event["item"]["text"].as_str().map(str::to_owned),
        _ => None,
    });
    said.collect()
}

/// What the model has said by the history of a request: its calls by their ids, and its messages.
fn remembered(request: &Value) -> Vec<String> {
    let items = request["input"].as_array().expect("a list").iter();
    let said = items.filter_map(|item| match item["type"].as_str() {
        Some("function_call") => item["call_id"].as_str(),
        Some("message") if item["role"] == "assistant" => item["content"][0]["text"].as_str(),
        _ => None,
    });
    said.map(str::to_owned).collect()
}

/// What each reader takes from a file.
#[derive(Debug, PartialEq)]
struct Taken {
    /// What a replay plays.
    played: Vec<String>,
    /// What a session that goes on remembers.
    remembered: Vec<String>,
    /// What verification says: all that it prints, or the words before the first colon of its error.
    verified: String,
}

impl Taken {
    fn from(place: &Place, file: &Path, content: &[u8]) -> Self {
        std::fs::write(file, content).expect("written");
        let replay = place.replay(file, &[]);
        assert_eq!(replay.status, Some(0), "{}\n{}", replay.stderr, String::from_utf8_lossy(content));
        let path = file.to_str().expect("text");
        let verify = place.run(&["replay", "--verify", "-s", "danger-full-access", path]);
        let why = || verify.stderr.lines().last().unwrap_or_default();
        let verified = match verify.status {
            Some(0) => verify.stdout.clone(),
            _ => why().trim_start_matches("tenon: ").split(" (line").next().unwrap_or_default().to_owned(),
        };
        assert_eq!(std::fs::read(file).expect("read"), content, "both only read");
        let server = Server::start(vec![vec![message("done")]]);
        place.config(&server.config());
        let resumed = place.run(&[&["exec"], ACCESS.as_slice(), &["resume", &id_of(file), "third"]].concat());
        assert_eq!(resumed.status, Some(0), "{}", resumed.stderr);
        let remembered = remembered(&server.requests()[0]);
        Self { played: played(&replay), remembered, verified }
    }

    fn all(played: &[&str], remembered: &[&str], verified: &str) -> Self {
        let owned = |said: &[&str]| said.iter().map(|text| (*text).to_owned()).collect();
        Self { played: owned(played), remembered: owned(remembered), verified: verified.to_owned() }
    }
}

fn line(tag: &str, payload: &Value) -> String {
    json!({"timestamp": "2026-01-01T00:00:00.000Z", "type": tag, "payload": payload}).to_string()
}

/// Does something before each line.
fn before_each(text: &str, put: &[u8]) -> Vec<u8> {
    text.lines().flat_map(|line| [put, line.as_bytes(), b"\n"].concat()).collect()
}

/// The line in which the model says "one".
fn said_one(text: &str) -> &str {
    let is_it = |line: &&str| line.contains("response_item") && line.contains(r#""text":"one""#);
    text.lines().find(is_it).expect("it is there")
}

#[test]
fn what_harms_no_item_changes_nothing_for_anybody() {
    let place = Place::new();
    let (file, text) = recorded(&place);
    let one = said_one(&text);
    let torn = one.split_at(one.len() / 2).0;
    let foreign = b"not json\n\xff\xfe\n{\"foreign\": true}\n[1]\n\xef\xbb\xbf";
    let doubled: String = text.lines().map(|line| format!("{line}\n{line}\n")).collect();
    let late = format!("{text}{}\n", text.lines().nth(3).expect("a line"));
    let rows: [(&str, Vec<u8>); 9] = [
        ("whole", text.clone().into()),
        ("each line twice", doubled.into()),
        ("a line again at the end", late.into()),
        ("NUL bytes between lines", before_each(&text, b"\0\0\0\n\0")),
        ("lines of others", before_each(&text, foreign)),
        ("other line breaks", text.replace('\n', "\r\n\r\n").into()),
        ("a torn line before a whole one", text.replace(one, &format!("{torn}{one}")).into()),
        ("a torn line at the end", format!("{text}{torn}").into()),
        ("the last line break is missing", text.trim_end().into()),
    ];
    let said = ["c1", "one", "c2", "two"];
    for (what, content) in rows {
        assert_eq!(Taken::from(&place, &file, &content), Taken::all(&said, &said, VERIFIED), "{what}");
    }
}

#[test]
fn what_is_lost_is_lost_for_all() {
    let place = Place::new();
    let (file, text) = recorded(&place);
    let one = said_one(&text);
    let said = ["c1", "c2", "two"];
    let rows = [
        ("torn", one.split_at(one.len() / 2).0.to_owned()),
        ("filled with NUL bytes", "\0".repeat(one.len())),
        ("overwritten", "x".repeat(one.len())),
        ("without a type", one.replacen(r#""type":"message","#, "", 1)),
    ];
    for (what, harmed) in rows {
        let taken = Taken::from(&place, &file, text.replace(one, &harmed).as_bytes());
        assert_eq!(taken, Taken::all(&said, &said, "request 3"), "{what}");
    }
}

#[test]
fn a_file_of_the_reference_is_read_alike() {
    let place = Place::new();
    let (file, text) = recorded(&place);
    let is_theirs =
        |line: &&str| !line.contains(r#""type":"call_"#) && !line.contains(r#""type":"model_request""#);
    let theirs: String = text.lines().filter(is_theirs).map(|line| format!("{line}\n")).collect();
    let theirs = theirs.replace(r#","call_journal":true"#, "");
    let said = ["c1", "one", "c2", "two"];
    let verified =
        format!("{} does not tell what the model was asked: it holds no model_request line", file.display());
    assert_eq!(Taken::from(&place, &file, theirs.as_bytes()), Taken::all(&said, &said, &verified));
}

#[test]
fn what_was_rolled_back_or_compacted_is_played_and_not_remembered() {
    let place = Place::new();
    let (file, text) = recorded(&place);
    let said = ["c1", "one", "c2", "two"];
    let rolled_back = line("event_msg", &json!({"type": "thread_rolled_back", "num_turns": 1}));
    let content = format!("{text}{rolled_back}\n");
    assert_eq!(
        Taken::from(&place, &file, content.as_bytes()),
        Taken::all(&said, &["c1", "one"], VERIFIED),
        "rolled back"
    );
    let compacted = line("compacted", &json!({"message": "", "replacement_history": []}));
    let content = format!("{text}{compacted}\n");
    assert_eq!(Taken::from(&place, &file, content.as_bytes()), Taken::all(&said, &[], VERIFIED), "compacted");
    let replay = place.replay(&place.file("notes.jsonl", format!("{content}{rolled_back}\n")), &[]);
    for note in [
        "the rollout was compacted: what was said before is played all the same",
        "turns of the rollout were rolled back: they are played all the same",
    ] {
        assert!(replay.stderr.contains(&format!("tenon: warning: {note}\n")), "{}", replay.stderr);
    }
}
