//! `tenon replay` with each kind of recording.
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "test code")]

mod support;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use support::{Place, lines, message, shell};

fn demo() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/streams/demo.jsonl")
}

/// What was printed by commands, and said by the model, in the order of their ends.
fn told(ran: &support::Ran) -> Vec<Value> {
    let completed = ran.events().into_iter().filter(|event| event["type"] == "item.completed");
    completed
        .map(|event| match event["item"]["type"].as_str() {
            Some("command_execution") => event["item"]["aggregated_output"].clone(),
            _ => event["item"]["text"].clone(),
        })
        .collect()
}

#[test]
fn items_run_for_real_in_a_scratch_folder() {
    let place = Place::new();
    let file =
        place.file("x.jsonl", lines(&[vec![shell("c1", "pwd; touch made")], vec![message("all done")]]));
    let ran = place.replay(&file, &[]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    let scratch =
        ran.stderr.lines().find_map(|line| line.strip_prefix("scratch folder: ")).expect("it is told");
    assert_eq!(told(&ran), [json!(format!("{scratch}\n")), json!("all done")]);
    assert!(std::path::Path::new(scratch).join("made").is_file(), "the folder is kept");
    assert!(!place.work().join("made").exists());
    let events = ran.events();
    assert_eq!(events[0]["type"], "thread.started");
    assert_eq!(events[1], json!({"type": "turn.started"}));
    assert_eq!(events.last().map(|event| &event["type"]), Some(&json!("turn.completed")));
}

#[test]
fn a_given_folder_is_worked_in() {
    let place = Place::new();
    let file = place.file("x.jsonl", lines(&[vec![shell("c1", "pwd")]]));
    let ran = place.replay(&file, &["-C", "."]);
    assert_eq!(told(&ran), [json!(format!("{}\n", place.work().display()))]);
    assert_eq!(ran.stderr, "");
}

#[test]
fn a_scenario_brings_files_and_ids() {
    let place = Place::new();
    let poll = json!({"type": "function_call", "name": "write_stdin", "call_id": "c2",
        "arguments": "{\"session_id\": $SESSION, \"yield_time_ms\": 5000}"});
    let start = json!({"cmd": "sleep 0.5; cat d/a.txt", "yield_time_ms": 250}).to_string();
    let start = json!({"type": "function_call", "name": "exec_command", "call_id": "c1", "arguments": start});
    let scenario = json!({"turns": [[start], [poll]], "files": {"d/a.txt": "from the file"}, "hooks": {}});
    let ran = place.replay(&place.file("x.json", scenario.to_string()), &[]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert_eq!(told(&ran), [json!("from the file"), json!("done")]);
    assert!(ran.stderr.contains("tenon: warning: the scenario's hooks are not run\n"), "{}", ran.stderr);
}

#[test]
fn raw_events_as_lines_and_as_sse() {
    let place = Place::new();
    let answer = |item: Value| {
        [
            json!({"type": "response.created", "response": {"id": "r"}}),
            json!({"type": "response.output_item.done", "item": item}),
            json!({"type": "response.completed", "response": {"id": "r"}}),
        ]
    };
    let events: Vec<Value> = [answer(shell("c1", "echo hi")), answer(message("bye"))].concat();
    let lines: String = events.iter().map(|event| format!("{event}\n")).collect();
    let sse: String = events.iter().map(|event| format!("event: x\ndata: {event}\n\n")).collect();
    for (name, text) in [("lines.txt", lines), ("stream.sse", sse)] {
        let ran = place.replay(&place.file(name, text), &[]);
        assert_eq!(
            (ran.status, told(&ran)),
            (Some(0), vec![json!("hi\n"), json!("bye")]),
            "{name}: {}",
            ran.stderr
        );
    }
}

#[test]
fn a_stream_that_was_cut_fails_the_turn_once_all_is_played() {
    let place = Place::new();
    let events = [
        json!({"type": "response.created", "response": {"id": "r"}}),
        json!({"type": "response.output_item.done", "item": shell("c1", "echo hi >> ran")}),
    ];
    let text: String = events.iter().map(|event| format!("{event}\n")).collect();
    let ran = place.replay(&place.file("x.jsonl", text), &["-C", "."]);
    assert_eq!(ran.status, Some(1));
    let last = ran.events().pop().expect("a line");
    assert_eq!(last["error"]["message"], "the recording ends before response.completed");
    assert_eq!(ran.stderr, "tenon: the turn failed: the recording ends before response.completed\n");
    assert_eq!(
        std::fs::read_to_string(place.work().join("ran")).ok().as_deref(),
        Some("hi\n"),
        "it ran once"
    );
}

#[test]
fn a_rollout_is_played_again() {
    let place = Place::new();
    let file = place
        .file("x.jsonl", lines(&[vec![shell("c1", "echo hi")], vec![message("one")], vec![message("two")]]));
    let first = place.replay(&file, &[]);
    assert_eq!(first.status, Some(0), "{}", first.stderr);
    let [rollout] = place.rollouts().try_into().expect("one rollout");
    let mut text = std::fs::read_to_string(&rollout).expect("read");
    text.push_str("{\"torn");
    let again = place.replay(&place.file("rollout.jsonl", text), &[]);
    assert_eq!(again.status, Some(0), "{}", again.stderr);
    assert_eq!(told(&again), [json!("hi\n"), json!("one"), json!("two")]);
    let note = "tenon: warning: lines of the rollout that could not be read and were skipped: 1\n";
    assert!(again.stderr.contains(note), "{}", again.stderr);
    let turns =
        |ran: &support::Ran| ran.events().iter().filter(|event| event["type"] == "turn.started").count();
    assert_eq!((turns(&first), turns(&again)), (2, 2), "a turn that ends goes on with the next answer");
}

#[test]
fn what_is_no_recording_is_told_with_its_line() {
    let place = Place::new();
    let file = place.file("x.jsonl", format!("{}\n[1]\n", message("hi")));
    let ran = place.replay(&file, &[]);
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""));
    let told = format!(
        "tenon: {}:2: expected a response item, a JSON object with `type`, found an array\n",
        file.display()
    );
    assert_eq!(ran.stderr, told);
}

#[test]
fn the_demo_stream_does_real_work() {
    let place = Place::new();
    let ran = place.replay(&demo(), &["-C", "."]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    let notes = std::fs::read_to_string(place.work().join("notes.md")).expect("the patch was applied");
    assert_eq!(notes, "# Notes\n\none\n2\nthree\nfour\n");
    assert!(!place.work().join("draft.txt").exists());
    let statuses = |kind: &str| -> Vec<Value> {
        ran.completed(kind).iter().map(|item| item["status"].clone()).collect()
    };
    assert_eq!(statuses("file_change"), ["completed", "completed"]);
    assert_eq!(statuses("command_execution").iter().filter(|status| **status == "failed").count(), 1);
    assert_eq!(statuses("tool_call"), ["failed", "failed"]);
    assert_eq!(ran.completed("todo_list").len(), 1);
    assert_eq!(ran.completed("web_search").len(), 1);
    assert_eq!(ran.completed("agent_message").len(), 2);
}

#[test]
fn people_are_told_in_lines() {
    let place = Place::new();
    let file = demo();
    let ran = place.run(&["replay", file.to_str().expect("text")]);
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
    assert!(ran.stdout.starts_with("scratch folder: "), "{}", ran.stdout);
    for line in [
        "\nplan\n    [>] Look around\n",
        "patch: add draft.txt, add notes.md\n",
        "\n    +one\n",
        "\n    +four\n",
        "\nweb search: how to take good notes\n",
        "\nnotes.md holds four lines of notes, and the draft is gone.\n",
        "\nchanged: notes.md (+6 -0)\n",
    ] {
        assert!(ran.stdout.contains(line), "{line:?} is not in\n{}", ran.stdout);
    }
    assert!(!ran.stdout.contains('\x1b'), "no colours in a pipe");
}
