//! Signals, and a reader that goes away.
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "test code")]

mod support;

use pretty_assertions::assert_eq;
use rustix::process::Signal;
use serde_json::{Value, json};
use support::{Place, Ran, Running, lines, message, shell};

/// As a person starts it: whoever runs the tests may have chosen to ignore signals, and what they start inherits that.
const HEARS_SIGNALS: [&str; 2] = ["--default-signal=HUP,INT,TERM", env!("CARGO_BIN_EXE_tenon")];

/// A replay whose one command runs for long.
fn long_replay(place: &Place, command: &str, json: bool) -> Running {
    let file = place.file("x.jsonl", lines(&[vec![shell("c1", command)], vec![message("never said")]]));
    let file = file.to_str().expect("text").to_owned();
    let mut args = [&HEARS_SIGNALS[..], &["replay", "-s", "danger-full-access", "-C", "."]].concat();
    args.extend(json.then_some("--json"));
    args.push(&file);
    Running::start(place.command_of("env", &args))
}

#[test]
fn a_signal_ends_the_turn_and_its_children() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let place = Place::new();
        let mut running = long_replay(&place, "echo $$ > pid; echo begun; exec sleep 1000", true);
        running.wait_for("item.started");
        let pid = wait_for_pid(&place);
        running.signal(signal);
        let ran = running.finish();
        assert_eq!((ran.status, ran.stderr.as_str()), (Some(130), ""), "{signal:?}");
        let item = &ran.completed("command_execution")[0];
        assert_eq!((&item["status"], &item["aggregated_output"]), (&json!("failed"), &json!("begun\n")));
        let failed = json!({"type": "turn.failed", "error": {"message": "interrupted"}});
        assert_eq!(ran.events().pop(), Some(failed));
        assert!(!alive(pid), "the child is gone");
    }
}

#[test]
fn a_file_that_may_not_grow_any_more_is_told_and_ends_nothing() {
    let place = Place::new();
    let turn = |id: &str| vec![shell(id, "echo ran >> count; printf %6000s")];
    let file = place.file("x.jsonl", lines(&[turn("c1"), turn("c2"), vec![message("done")]]));
    // Room for the beginning of the rollout. A command is ended by what ends others.
    let script = "ulimit -f 8; exec \"$0\" \"$@\"";
    let args = ["-c", script, env!("CARGO_BIN_EXE_tenon"), "replay", "--json", "-s", "danger-full-access"];
    let args = [&args[..], &["-C", ".", file.to_str().expect("text")]].concat();
    let ran = Ran::from(place.command_of("bash", &args).output().expect("the program starts"));
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""), "{}", ran.stdout);
    assert_eq!(std::fs::read_to_string(place.work().join("count")).expect("written"), "ran\nran\n");
    let told: Vec<Value> = ran.completed("error").into_iter().map(|item| item["message"].clone()).collect();
    let saved = "Failed to save the conversation transcript; Codex will continue retrying. Error: File too large (os \
                 error 27)";
    assert_eq!(told[0], json!(saved), "{told:?}");
    let rollout = std::fs::metadata(&place.rollouts()[0]).expect("it is there");
    assert_eq!(rollout.len(), 8 * 1024);
}

#[test]
fn a_terminal_that_goes_away_is_ignored_where_the_starter_says_so() {
    let place = Place::new();
    let command = "mkfifo go; echo $$ > pid; read answer < go; echo $answer";
    let file = place.file("x.jsonl", lines(&[vec![shell("c1", command)], vec![message("done")]]));
    let script = "trap '' HUP; exec \"$0\" \"$@\"";
    let args = [
        "-c",
        script,
        env!("CARGO_BIN_EXE_tenon"),
        "replay",
        "--json",
        "-s",
        "danger-full-access",
        "-C",
        ".",
    ];
    let mut running =
        Running::start(place.command_of("/bin/sh", &[&args[..], &[file.to_str().expect("text")]].concat()));
    running.wait_for("item.started");
    wait_for_pid(&place);
    running.signal(Signal::HUP);
    std::fs::write(place.work().join("go"), "went on\n").expect("written");
    let ran = running.finish();
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
    assert_eq!(ran.completed("command_execution")[0]["aggregated_output"], "went on\n");
}

/// What was said of items and of the turn, in order: the line's type and the item's.
fn told(ran: &Ran) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    ran.events().iter().map(|event| (text(&event["type"]), text(&event["item"]["type"]))).collect()
}

fn line(kind: &str, item: &str) -> (String, String) {
    (kind.to_owned(), item.to_owned())
}

#[test]
fn the_calls_of_a_script_end_before_the_turn_that_is_cut_short() {
    let place = Place::new();
    let source = "await tools.exec_command({cmd: 'echo $$ > pid; exec sleep 1000', yield_time_ms: 30000})";
    let call = json!({"type": "custom_tool_call", "name": "exec", "call_id": "c1", "input": source});
    let file = place.file("x.jsonl", lines(&[vec![call], vec![message("never said")]]));
    let file = file.to_str().expect("text");
    let args = ["replay", "-s", "danger-full-access", "-C", ".", "--json", "-c", "tool_mode=code_mode", file];
    let mut running = Running::start(place.command(&args));
    running.wait_for("item.started");
    let pid = wait_for_pid(&place);
    running.signal(Signal::INT);
    let ran = running.finish();
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(130), ""));
    let expected = [
        line("item.completed", "tool_call"),
        line("item.completed", "command_execution"),
        line("turn.failed", ""),
    ];
    assert_eq!(told(&ran), expected);
    assert!(!alive(pid), "the child is gone");
}

#[test]
fn what_runs_in_the_background_ends_before_the_last_turn() {
    let place = Place::new();
    let arguments = json!({"cmd": "exec sleep 1000", "yield_time_ms": 250}).to_string();
    let direct =
        json!({"type": "function_call", "name": "exec_command", "call_id": "c1", "arguments": arguments});
    let source = "// @exec: {\"yield_time_ms\": 0}\nawait tools.exec_command({cmd: 'exec sleep 1000', yield_time_ms: 30000})";
    let script = json!({"type": "custom_tool_call", "name": "exec", "call_id": "c2", "input": source});
    let file = place.file("x.jsonl", lines(&[vec![script, direct], vec![message("bye")]]));
    let ran = place.replay(&file, &["-C", ".", "-c", "tool_mode=code_mode"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
    let told = told(&ran);
    let count = |kind: &str| told.iter().filter(|told| **told == line(kind, "command_execution")).count();
    assert!(count("item.started") >= 1, "{told:?}");
    assert_eq!(count("item.completed"), count("item.started"), "{told:?}");
    assert_eq!(told.last(), Some(&line("turn.completed", "")), "{told:?}");
}

#[test]
fn people_are_told_what_stands() {
    let place = Place::new();
    let mut running = long_replay(&place, "echo $$ > pid; exec sleep 1000", false);
    running.wait_for("$ echo");
    wait_for_pid(&place);
    running.signal(Signal::INT);
    let ran = running.finish();
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(130), ""));
    assert!(ran.stdout.contains("\ninterrupted; 1 call was cut short\n"), "{}", ran.stdout);
}

#[test]
fn a_second_signal_quits() {
    let place = Place::new();
    // It does not end when it is asked to.
    let mut running = long_replay(&place, "trap '' TERM INT; echo $$ > pid; while :; do sleep 1; done", true);
    running.wait_for("item.started");
    let pid = wait_for_pid(&place);
    assert_eq!(running.signal_until_it_ends(Signal::INT), Some(130));
    wait_for(|| (!alive(pid)).then_some(()));
    let failed = json!({"type": "turn.failed", "error": {"message": "interrupted"}});
    assert_eq!(running.finish().events().pop(), Some(failed), "whoever reads knows that nothing more comes");
}

#[test]
fn one_signal_is_enough_although_nobody_reads() {
    for signal in [Signal::INT, Signal::TERM] {
        let place = Place::new();
        // More than a pipe holds.
        let mut running = long_replay(&place, "head -c 200000 /dev/zero | tr '\\0' x; echo $$ > pid", true);
        wait_for_pid(&place);
        running.signal(signal);
        let status = wait_for(|| running.child.try_wait().expect("it is our child"));
        assert_eq!(status.code(), Some(130), "{signal:?}");
    }
}

#[test]
fn a_second_signal_does_not_wait_for_a_reader_that_does_not_read() {
    let place = Place::new();
    // More than a pipe holds.
    let mut running = long_replay(&place, "head -c 200000 /dev/zero | tr '\\0' x; echo $$ > pid", true);
    wait_for_pid(&place);
    assert_eq!(running.signal_until_it_ends(Signal::TERM), Some(130));
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let place = Place::new();
    let forever = vec![shell("c1", "echo $$ > pid; exec sleep 1000")];
    let mut running = {
        let answers = [vec![message("one")], forever];
        let file = place.file("x.jsonl", lines(&answers));
        Running::start(place.command(&[
            "replay",
            "--json",
            "-s",
            "danger-full-access",
            "-C",
            ".",
            file.to_str().expect("text"),
        ]))
    };
    running.wait_for("thread.started");
    let (status, stderr) = running.stop_reading();
    assert_eq!((status, stderr.as_str()), (Some(130), ""));
}

#[test]
fn a_full_disk_is_told() {
    let place = Place::new();
    let file = place.file("x.jsonl", lines(&[vec![message("one")]]));
    let full = std::fs::File::options().write(true).open("/dev/full").expect("it is there");
    let args = ["replay", "--json", "-s", "danger-full-access", "-C", ".", file.to_str().expect("text")];
    let ran = place.command(&args).stdout(full).output().expect("it starts");
    assert_eq!(ran.status.code(), Some(1));
    let told = String::from_utf8(ran.stderr).expect("text");
    assert_eq!(told, "tenon: cannot write standard output: No space left on device (os error 28)\n");
}

/// The process id that the command has written, once it has.
fn wait_for_pid(place: &Place) -> u32 {
    let file = place.work().join("pid");
    wait_for(|| std::fs::read_to_string(&file).ok()?.trim().parse().ok())
}

fn alive(pid: u32) -> bool {
    std::path::Path::new(&format!("/proc/{pid}")).exists()
}

/// What another process does is not ours to await: it is looked at until it is done.
fn wait_for<T>(mut look: impl FnMut() -> Option<T>) -> T {
    for _ in 0..1000 {
        if let Some(found) = look() {
            return found;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("it has not come");
}
