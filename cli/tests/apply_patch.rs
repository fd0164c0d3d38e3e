//! The program `apply_patch`, from outside: `tenon apply-patch`, and the program under that name.
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "test code")]

mod support;

use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Stdio};

use pretty_assertions::assert_eq;
use support::{Place, Ran};

const USAGE: &str = "Usage: apply_patch 'PATCH'\n       echo 'PATCH' | apply_patch\n";
/// One argument holds at most 128 KiB on Linux.
const LARGE: usize = 200 * 1024;

/// Both ways to start it.
fn both(place: &Place) -> [Command; 2] {
    let link = place.home().join("apply_patch");
    if !link.exists() {
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_tenon"), &link).expect("linked");
    }
    [place.command(&["apply-patch"]), place.command_of(link, &[])]
}

fn run(mut command: Command, args: &[&OsStr]) -> Ran {
    Ran::from(command.args(args).output().expect("it starts"))
}

fn run_on(mut command: Command, stdin: &[u8]) -> Ran {
    let mut child = command.stdin(Stdio::piped()).spawn().expect("it starts");
    let mut pipe = child.stdin.take().expect("a pipe");
    // It need not read to the end.
    let _ = pipe.write_all(stdin);
    drop(pipe);
    Ran::from(child.wait_with_output().expect("it ends"))
}

fn framed(body: &str) -> String {
    format!("*** Begin Patch\n{body}\n*** End Patch\n")
}

fn text(place: &Place, name: &str) -> String {
    std::fs::read_to_string(place.work().join(name)).expect(name)
}

fn told(ran: &Ran) -> (Option<i32>, &str, &str) {
    (ran.status, &ran.stdout, &ran.stderr)
}

#[test]
fn every_change_is_listed() {
    let patch = framed(
        "*** Delete File: gone\n*** Update File: a\n-x\n+y\n*** Add File: d/new\n+1\n*** Update File: m\n*** Move to: moved",
    );
    for stdin in [false, true] {
        for number in 0..2 {
            let place = Place::new();
            for (name, content) in [("gone", "g\n"), ("a", "x\n"), ("m", "m\n")] {
                place.file(name, content);
            }
            let command = both(&place).into_iter().nth(number).expect("two");
            let ran =
                if stdin { run_on(command, patch.as_bytes()) } else { run(command, &[OsStr::new(&patch)]) };
            let expected = "Success. Updated the following files:\nA d/new\nM a\nM moved\nD gone\n";
            assert_eq!(told(&ran), (Some(0), expected, ""));
            assert_eq!(
                [text(&place, "a"), text(&place, "d/new"), text(&place, "moved")],
                ["y\n", "1\n", "m\n"]
            );
            assert!(!place.work().join("gone").exists() && !place.work().join("m").exists());
        }
    }
}

#[test]
fn wrong_usage() {
    let place = Place::new();
    for command in both(&place) {
        assert_eq!(told(&run_on(command, b"")), (Some(2), "", USAGE));
    }
    let not_utf8 = OsStr::from_bytes(b"*** Begin Patch\n\xff\n*** End Patch");
    for command in both(&place) {
        let expected = "Error: apply_patch requires a UTF-8 PATCH argument.\n";
        assert_eq!(told(&run(command, &[not_utf8])), (Some(1), "", expected));
    }
    let [_, by_name] = both(&place);
    let expected = "Error: apply_patch accepts exactly one argument.\n";
    assert_eq!(told(&run(by_name, &["a".as_ref(), "b".as_ref()])), (Some(2), "", expected));
    // A command of tenon has the words of tenon's command line for it.
    let [command, _] = both(&place);
    let ran = run(command, &["a".as_ref(), "b".as_ref()]);
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""));
    assert!(ran.stderr.contains("'b'") && ran.stderr.contains("apply-patch"), "{}", ran.stderr);
}

#[test]
fn standard_input_that_is_no_text() {
    let place = Place::new();
    for command in both(&place) {
        let ran = run_on(command, b"*** Begin Patch\n\xff\n*** End Patch");
        assert_eq!((ran.status, ran.stdout.as_str()), (Some(1), ""));
        assert!(ran.stderr.starts_with("Error: Failed to read PATCH from stdin.\n"), "{}", ran.stderr);
    }
}

#[test]
fn what_is_wrong_with_a_patch() {
    let place = Place::new();
    place.file("a", "x\n");
    let work = place.work();
    let work = work.to_str().expect("text");
    let cases = [
        (
            "junk".to_owned(),
            "Invalid patch: The first line of the patch must be '*** Begin Patch'\n".to_owned(),
        ),
        (
            "*** Begin Patch\n*** Add File: b\n+1".to_owned(),
            "Invalid patch: The last line of the patch must be '*** End Patch'\n".to_owned(),
        ),
        (
            framed("*** Update File: a"),
            "Invalid patch hunk on line 2: Update file hunk for path 'a' is empty\n".to_owned(),
        ),
        ("*** Begin Patch\n*** End Patch".to_owned(), "No files were modified.\n".to_owned()),
        (
            framed("*** Update File: none\n-x\n+y"),
            format!("Failed to read file to update {work}/none: No such file or directory (os error 2)\n"),
        ),
        (
            framed("*** Update File: a\n-nope\n+y"),
            format!("Failed to find expected lines in {work}/a:\nnope\n"),
        ),
        (
            framed("*** Update File: a\n@@ nope\n-x\n+y"),
            format!("Failed to find context 'nope' in {work}/a\n"),
        ),
        (framed("*** Delete File: none"), format!("Failed to delete file {work}/none\n")),
    ];
    for (patch, expected) in cases {
        for command in both(&place) {
            let ran = run(command, &[OsStr::new(&patch)]);
            assert_eq!(told(&ran), (Some(1), "", expected.as_str()), "{patch}");
        }
    }
    assert_eq!(text(&place, "a"), "x\n");
}

#[test]
fn the_first_failure_stops_and_what_was_done_stands() {
    for number in 0..2 {
        let place = Place::new();
        place.file("a", "x\n");
        let patch = framed("*** Update File: a\n-x\n+y\n*** Delete File: none\n*** Add File: b\n+1");
        let ran = run(both(&place).into_iter().nth(number).expect("two"), &[OsStr::new(&patch)]);
        let expected = format!("Failed to delete file {}/none\n", place.work().display());
        assert_eq!(told(&ran), (Some(1), "", expected.as_str()));
        assert_eq!((text(&place, "a"), place.work().join("b").exists()), ("y\n".to_owned(), false));
    }
}

#[test]
fn a_large_patch_comes_by_standard_input() {
    let line = "x".repeat(99) + "\n";
    let content = line.repeat(LARGE / line.len() + 1);
    let added: String = content.lines().map(|line| format!("+{line}\n")).collect();
    let patch = framed(&format!("*** Add File: large\n{}", added.trim_end()));
    assert!(patch.len() > LARGE);
    for number in 0..2 {
        let place = Place::new();
        let ran = run_on(both(&place).into_iter().nth(number).expect("two"), patch.as_bytes());
        assert_eq!(told(&ran), (Some(0), "Success. Updated the following files:\nA large\n", ""));
        assert!(text(&place, "large") == content);
    }
}

#[test]
fn a_heredoc_of_a_shell_reaches_it_too() {
    let place = Place::new();
    let _ = both(&place);
    let script = format!("cat <<'EOF' | apply_patch && cat a\n{}EOF\n", framed("*** Add File: a\n+hello"));
    let mut command = place.command_of("/bin/sh", &["-c", &script]);
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{path}", place.home().display()));
    let ran = Ran::from(command.output().expect("it starts"));
    let expected = "Success. Updated the following files:\nA a\nhello\n";
    assert_eq!(told(&ran), (Some(0), expected, ""));
}

/// A path in a record is text; the folder may be called otherwise.
#[test]
fn a_turn_in_a_folder_whose_name_is_no_text() {
    let place = Place::new();
    let folder = place.work().join(OsStr::from_bytes(b"odd \xff"));
    std::fs::create_dir(&folder).expect("made");
    std::fs::write(folder.join("a"), "x\n").expect("written");
    let input = framed("*** Update File: a\n-x\n+y");
    let call = serde_json::json!({"type": "custom_tool_call", "name": "apply_patch", "call_id": "c", "input": input});
    place.file("said.json", serde_json::json!({"name": "odd", "turns": [[call]]}).to_string());
    let mut command = place.command(&["replay", "--json", "-s", "danger-full-access", "-C"]);
    command.arg(&folder).arg(place.work().join("said.json"));
    let ran = run(command, &[]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("odd \u{fffd}/a\",\"kind\":\"update\""), "{ran:?}");
    assert_eq!(std::fs::read_to_string(folder.join("a")).expect("there"), "y\n");
}
