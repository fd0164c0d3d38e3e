//! `tenon tools` and `tenon apply-patch`.
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "test code")]

mod support;

use std::io::Write;
use std::process::Stdio;

use pretty_assertions::assert_eq;
use serde_json::Value;
use support::{Place, Ran};

#[test]
fn tools_are_listed_with_exposure_and_parallel_support() {
    let place = Place::new();
    let ran = place.run(&["tools", "--json"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
    let tools: Vec<Value> = serde_json::from_str(&ran.stdout).expect("JSON");
    let told = |tool: &Value| {
        let text = |key: &str| tool[key].as_str().unwrap_or_default().to_owned();
        (text("name"), text("exposure"), tool["parallel"].as_bool().expect("a boolean"))
    };
    let direct = |name: &str, parallel| (name.to_owned(), "direct".to_owned(), parallel);
    assert_eq!(
        tools.iter().map(told).collect::<Vec<_>>(),
        [
            direct("exec_command", true),
            direct("write_stdin", true),
            direct("update_plan", false),
            direct("request_user_input", false),
            direct("apply_patch", false),
            direct("view_image", true),
        ]
    );
    assert_eq!(tools[0]["spec"]["type"], "function");
    assert_eq!(tools[4]["spec"]["type"], "custom");
    let lines = place.run(&["tools"]).stdout;
    assert!(lines.starts_with("exec_command        direct             parallel   "), "{lines}");
    assert_eq!(lines.lines().count(), 6);
}

#[test]
fn tools_are_listed_as_the_mode_offers_them() {
    let listed = |mode: &str| {
        let place = Place::new();
        let ran = place.run(&["tools", "--json", "-c", &format!("tool_mode={mode:?}")]);
        assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
        let tools: Vec<Value> = serde_json::from_str(&ran.stdout).expect("JSON");
        tools
    };
    let exposures = |tools: &[Value]| {
        let told = |tool: &Value| format!("{} {}", tool["name"], tool["exposure"]).replace('"', "");
        tools.iter().take(3).map(told).collect::<Vec<_>>()
    };
    let described = |tool: &Value| tool["spec"]["description"].as_str().unwrap_or_default().to_owned();
    let declaration = "declare const tools: { exec_command(args: {";

    let all = listed("code_mode");
    assert_eq!(exposures(&all), ["exec direct_model_only", "wait direct_model_only", "exec_command direct"]);
    assert!(!described(&all[0]).contains(declaration));
    assert!(described(&all[2]).contains(declaration));

    let only = listed("code_mode_only");
    assert_eq!(
        exposures(&only),
        ["exec direct_model_only", "wait direct_model_only", "exec_command code_mode_only"]
    );
    assert!(described(&only[0]).contains(declaration));
    assert_eq!((all.len(), only.len()), (8, 8));
}

const PATCH: &str = "*** Begin Patch\n*** Add File: a.txt\n+hello\n*** End Patch\n";

fn with_stdin(mut command: std::process::Command, text: &str) -> Ran {
    let mut child = command.stdin(Stdio::piped()).spawn().expect("it starts");
    child.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("written");
    Ran::from(child.wait_with_output().expect("it ends"))
}

#[test]
fn a_patch_is_applied_from_argument_and_standard_input() {
    for stdin in [false, true] {
        let place = Place::new();
        let ran = if stdin {
            with_stdin(place.command(&["apply-patch"]), PATCH)
        } else {
            place.run(&["apply-patch", PATCH])
        };
        assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
        assert!(ran.stdout.contains("A a.txt"), "{}", ran.stdout);
        assert_eq!(std::fs::read_to_string(place.work().join("a.txt")).ok().as_deref(), Some("hello\n"));
    }
}

#[test]
fn the_program_is_a_patch_tool_under_that_name() {
    for name in ["apply_patch", "applypatch"] {
        let place = Place::new();
        let link = place.home().join(name);
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_tenon"), &link).expect("linked");
        let ran = Ran::from(place.command_of(&link, &[PATCH]).output().expect("it starts"));
        assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
        assert_eq!(std::fs::read_to_string(place.work().join("a.txt")).ok().as_deref(), Some("hello\n"));
        let ran = Ran::from(place.command_of(&link, &["one", "two"]).output().expect("it starts"));
        assert_eq!(
            (ran.status, ran.stderr.as_str()),
            (Some(2), "Error: apply_patch accepts exactly one argument.\n")
        );
        let ran = Ran::from(place.command_of(&link, &[]).output().expect("it starts"));
        let usage = "Usage: apply_patch 'PATCH'\n       echo 'PATCH' | apply_patch\n";
        assert_eq!((ran.status, ran.stderr.as_str()), (Some(2), usage));
    }
}
