//! A large file: what it takes to go on from it. `TENON_ROLLOUT_MIB` sets its size, `TENON_ROLLOUT_OUTPUT` how many bytes
//! each output has.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::fmt::Write as _;

use pretty_assertions::assert_eq;
use serde_json::json;
use tenon_core::rollout::{RecorderHost, RolloutRecorder};
use tenon_tools::Host;

/// How long an output is, in bytes: as one that was cut for the model.
const OUTPUT: usize = 40_000;
/// How much of memory a file may take while it is read, as a multiple of its size: each item's text as it came, and what
/// it says.
const MULTIPLE: u64 = 3;
/// What is allowed for all else, in bytes.
const SLACK: u64 = 16 << 20;

/// The most memory that the process has had so far, in bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

#[tokio::test]
async fn a_file_is_read_line_by_line_and_held_once_as_text_and_once_as_items() {
    let number = |name: &str, otherwise| std::env::var(name).map_or(otherwise, |text| text.parse().unwrap());
    let (mib, output) = (number("TENON_ROLLOUT_MIB", 24), number("TENON_ROLLOUT_OUTPUT", OUTPUT));
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("rollout-2026-11-30T10-00-00-t.jsonl");
    let (mut size, mut calls) = (0, 0);
    let mut file = std::io::BufWriter::new(std::fs::File::create(&path).unwrap());
    let mut put = |tag: &str, payload: &serde_json::Value| {
        let mut line = String::new();
        writeln!(line, r#"{{"timestamp":"2026-11-30T10:00:00.000Z","type":"{tag}","payload":{payload}}}"#)
            .unwrap();
        std::io::Write::write_all(&mut file, line.as_bytes()).unwrap();
        line.len()
    };
    size += put("session_meta", &json!({"id": "t", "timestamp": "t", "cwd": "/", "call_journal": true}));
    while size < mib << 20 {
        let id = format!("c{calls}");
        size += put(
            "response_item",
            &json!({"type": "function_call", "name": "f", "arguments": "{}", "call_id": id}),
        );
        let output = id.repeat(output / id.len());
        size +=
            put("response_item", &json!({"type": "function_call_output", "call_id": id, "output": output}));
        calls += 1;
    }
    drop(file);
    let before = peak();
    let resumed = RolloutRecorder::resume(&path, RecorderHost::from(&Host::detached())).await.unwrap();
    let taken = peak() - before;
    assert_eq!((resumed.items.len(), resumed.calls.len(), resumed.settled.len()), (2 * calls, calls, 0));
    resumed.recorder.shutdown().await.unwrap();
    let size = size as u64;
    println!("{size} bytes of file, {taken} bytes of memory: {:.2}", taken as f64 / size as f64);
    assert!(taken < MULTIPLE * size + SLACK, "{taken} bytes for {size}");
}
