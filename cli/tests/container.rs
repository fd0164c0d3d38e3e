//! The program inside of a container: where processes have numbers of their own, and its session has none of them.
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "test code")]

mod support;

use pretty_assertions::assert_eq;
use support::{Place, Ran, lines, message, shell};

/// Puts a command into a namespace of processes whose sessions begin outside of it, as `docker exec` does.
const ENTER: [&str; 6] = ["--user", "--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc"];

/// Runs the rest of its arguments, and names on standard error the processes that are there afterwards.
const THEN_LOOK: &str = "\"$@\"; code=$?
    for process in /proc/[0-9]*; do read name < $process/comm && echo \"there: $name\" >&2; done; exit $code";

/// Tells the session of the program, and leaves something behind that is in a session of its own.
const LEAVES: &str = "setsid sleep 1000 & cut -d ' ' -f 6 /proc/$PPID/stat";

#[test]
fn a_session_without_a_number_does_not_keep_it_from_ending_all() {
    for mode in ["danger-full-access", "workspace-write"] {
        let place = Place::new();
        let turns = [vec![shell("c1", LEAVES)], vec![shell("c2", "echo two")], vec![message("done")]];
        let file = place.file("x.jsonl", lines(&turns));
        let replay = ["replay", "--json", "-C", ".", "-s", mode, file.to_str().expect("text")];
        let inside = ["sh", "-c", THEN_LOOK, "sh", env!("CARGO_BIN_EXE_tenon")];
        let args = [&ENTER[..], &inside, &replay].concat();
        let ran = Ran::from(place.command_of("unshare", &args).output().expect("unshare starts"));
        assert_eq!(ran.status, Some(0), "{mode}: {}", ran.stderr);
        let commands = ran.completed("command_execution");
        let outputs: Vec<_> = commands.iter().map(|item| &item["aggregated_output"]).collect();
        assert_eq!(outputs, ["0\n", "two\n"], "{mode}");
        assert_eq!(ran.stderr, "there: sh\n", "{mode}");
    }
}
