use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::super::{loosen, scrub as scrub_value};
use super::*;

fn places() -> Places {
    Places { cwd: "/tmp/cwdabc".into(), home: "/tmp/homeabc".into(), fixture: "/x/mcp_fixture.py".into() }
}

fn scrubbed(text: &str) -> String {
    match scrub_value(&json!(text), &places()).unwrap() {
        Value::String(text) => text,
        other => panic!("a string became {other}"),
    }
}

#[test]
fn every_pattern_compiles() {
    assert_eq!(COMPILED.len(), RULES.len() + 1);
}

/// Text as a client may send it, and what the recording harness makes of it.
#[test]
fn what_varies_gets_its_mark() {
    for (text, expected) in [
        (
            "Chunk ID: a1b2c3\nWall time: 0.1234 seconds\nProcess exited with code 0",
            "Chunk ID: <chunk>\nWall time: <t> seconds\nProcess exited with code 0",
        ),
        (
            "Exit code: -1\nWall time: 2 seconds\nOutput:\n",
            "Exit code: -1\nWall time: <t> seconds\nOutput:\n",
        ),
        ("Exit code: 0\nWall time: 0.1 seconds\n", "Exit code: 0\nWall time: <t> seconds\n"),
        ("Wall time: 1.5 seconds\naborted by user", "Wall time: <t> seconds\naborted by user"),
        ("Wall time 0.3 seconds\nOutput:", "Wall time <t> seconds\nOutput:"),
        ("tty /dev/pts/12", "tty /dev/pts/<n>"),
        (
            "running with session ID 1234, process ID 9",
            "running with session ID <session>, process ID <session>",
        ),
        ("Unknown process id 77", "Unknown process id <session>"),
        ("running with cell ID 3-a_b\nx", "running with cell ID <cell>\nx"),
        ("x\nStack backtrace:\n   0: <unknown>\n   1: <unknown>\nend", "x\n<backtrace>\nend"),
        ("wd_0abc and 01234567-89ab-7def-89ab-0123456789ab", "<uuid> and <uuid>"),
        ("exec-01234567-89ab-4def-89ab-0123456789ab", "<nested call>"),
        ("timed out after 1.5s. after 20ms, after 3 s", "timed out after <t>. after <t>, after 3 s"),
        (
            "/tmp/homeabc/sessions/2026/11/30/rollout-1.jsonl, /tmp/cwdabc/a, /x/mcp_fixture.py",
            "<rollout>, <cwd>/a, <fixture>",
        ),
        ("Error: x\n    at f (exec_main.mjs:1:2)\n    at g\nafter", "Error: x\n<stack>\nafter"),
    ] {
        assert_eq!(scrubbed(text), expected);
    }
}

#[test]
fn what_only_looks_like_it_stays() {
    for text in [
        "Wall time: 1.5 seconds\nother",
        "Wall time: 12.34567 seconds",
        "Chunk ID: ABCDEF",
        "cell ID é",
        "01234567-89ab-4def-89ab-0123456789ab",
        r#"{"chunk_id": "a1b2c3", "wall_time_seconds": 0.0123}"#,
    ] {
        assert_eq!(scrubbed(text), text);
    }
}

#[test]
fn json_within_a_string_is_seen_through_its_escapes() {
    let once = r#"{"chunk_id":"a1b2c3","wall_time_seconds":0.0123}"#;
    assert_eq!(scrubbed(once), r#"{"chunk_id":"<chunk>","wall_time_seconds":<t>}"#);
    let twice = serde_json::to_string(once).unwrap();
    assert_eq!(scrubbed(&twice), twice);
}

#[test]
fn an_engine_error_keeps_its_class() {
    let value = json!({"a": ["Script error:\nTypeError: x is y \n at z", "Script error:\nplain"], "b": 1});
    let expected = json!({"a": ["Script error:\nTypeError", "Script error:\nplain"], "b": 1});
    assert_eq!(loosen(&value).unwrap(), expected);
}

#[test]
fn a_quote_in_an_engine_error_belongs_to_it() {
    let value = json!(["Script error:\nTypeError: x is \"y\"\\", "Script error:\nRangeError: z"]);
    assert_eq!(loosen(&value).unwrap(), json!(["Script error:\nTypeError", "Script error:\nRangeError"]));
}
