//! A home folder on a disk that fills up.
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "test code")]

mod support;

use std::collections::BTreeMap;

use pretty_assertions::assert_eq;
use serde_json::Value;
use support::{Place, Ran, Server, lines, message, shell};

/// Puts a small disk where the home folder is, for the rest of its arguments.
const SMALL_DISK: [&str; 6] = ["--user", "--map-root-user", "--mount", "--kill-child", "--fork", "sh"];

/// A session that the disk has no room for; another one, when it has none for anything; then there is room again, and the
/// first goes on.
const FILLS_UP: &str = r#"
    cp "$TENON_HOME/config.toml" config.toml
    mount -t tmpfs -o size=120k tmpfs "$TENON_HOME"
    "$TENON" replay -C . -s danger-full-access "$1" > first.out 2> first.err; echo "first $?"
    file=$(basename "$(find "$TENON_HOME" -name '*.jsonl')")
    "$TENON" replay -C . -s danger-full-access "$1" > second.out 2> second.err; echo "second $?"
    find "$TENON_HOME" -name '*.jsonl' | wc -l
    mount -o remount,size=8m "$TENON_HOME"
    cp config.toml "$TENON_HOME"
    id=${file#*-*-*T*-*-*-}
    "$TENON" exec -s danger-full-access resume "${id%.jsonl}" go > third.out 2> third.err; echo "third $?"
"#;

const COMMANDS: usize = 12;

fn read(place: &Place, name: &str) -> String {
    std::fs::read_to_string(place.work().join(name)).expect("text")
}

/// How many calls and outputs of each id a request holds.
fn pairs(request: &Value) -> BTreeMap<String, (usize, usize)> {
    let mut pairs: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for item in request["input"].as_array().expect("a list") {
        let Some(id) = item["call_id"].as_str() else { continue };
        let (calls, outputs) = pairs.entry(id.to_owned()).or_default();
        match item["type"].as_str() {
            Some("function_call") => *calls += 1,
            Some("function_call_output") => *outputs += 1,
            other => panic!("{other:?}"),
        }
    }
    pairs
}

#[test]
fn nothing_is_done_twice_and_all_that_found_room_is_remembered() {
    let place = Place::new();
    let server = Server::start(vec![vec![message("done")]]);
    place.config(&server.config());
    let command = "yes x | head -c 30000; echo done >> counter";
    let turns: Vec<Vec<Value>> = (0..COMMANDS).map(|n| vec![shell(&format!("c{n}"), command)]).collect();
    let recording = place.file("x.jsonl", lines(&turns));
    let args = ["-c", FILLS_UP, "sh", recording.to_str().expect("text")];
    let mut script = place.command_of("unshare", &[&SMALL_DISK[..], &args].concat());
    let ran = Ran::from(script.env("TENON", env!("CARGO_BIN_EXE_tenon")).output().expect("unshare starts"));
    let errors = || ["first.err", "second.err", "third.err"].map(|name| read(&place, name)).concat();
    assert_eq!(ran.stdout, "first 0\nsecond 1\n1\nthird 0\n", "{}\n{}", ran.stderr, errors());

    // The session has run to its end, and has said once that it is not written down.
    let told = read(&place, "first.out");
    let full = "Failed to save the conversation transcript; Codex will continue retrying. Error: No space left on device";
    assert_eq!(told.matches(full).count(), 1, "{told}");
    let refused = read(&place, "second.err");
    assert!(
        refused.starts_with("tenon: cannot write to ") && refused.contains("No space left on device"),
        "{refused}"
    );
    assert_eq!(read(&place, "counter").lines().count(), COMMANDS);

    let pairs = pairs(&server.requests()[0]);
    assert!((1..COMMANDS).contains(&pairs.len()), "some found room, and some did not: {pairs:?}");
    assert!(pairs.values().all(|pair| *pair == (1, 1)), "{pairs:?}");
}
