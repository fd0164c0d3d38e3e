//! Sandbox modes, as the program enforces and refuses them.
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "test code")]

mod support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use support::{Place, lines, message, shell};

/// The temporary folder, in which all of these tests lie, is none of the workspace's.
const NO_TMP: [&str; 2] = ["-c", "sandbox_workspace_write.exclude_slash_tmp=true"];

/// Output and exit code of every command, in the order of their ends.
fn commands(ran: &support::Ran) -> Vec<(String, i64)> {
    ran.completed("command_execution")
        .iter()
        .map(|item| {
            let output = item["aggregated_output"].as_str().expect("text");
            (output.to_owned(), item["exit_code"].as_i64().expect("a code"))
        })
        .collect()
}

#[test]
fn without_a_flag_commands_are_held_to_the_workspace() {
    let place = Place::new();
    let outside = place.home().join("outside");
    let out = format!("touch {}", outside.display());
    let turns = [
        vec![shell("c1", "touch inside && touch $TMPDIR/temporary")],
        vec![shell("c2", &out)],
        vec![message("done")],
    ];
    let file = place.file("x.jsonl", lines(&turns));
    let file = file.to_str().expect("text");
    let ran = place.run(&[&["replay", "--json", "-C", "."][..], &NO_TMP, &[file]].concat());
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    let commands = commands(&ran);
    assert_eq!(commands[0], (String::new(), 0));
    let told = format!(
        "touch: cannot touch '{0}': Read-only file system\n[denied by the sandbox, as it seems: {0} (sandbox mode \
         workspace-write)]\n",
        outside.display()
    );
    assert_eq!(commands[1], (told, 1));
    assert!(place.work().join("inside").exists() && !outside.exists());
}

#[test]
fn read_only_is_read_only_for_commands() {
    let place = Place::new();
    let file = place.file("x.jsonl", lines(&[vec![shell("c1", "ls / > /dev/null && touch inside")]]));
    let file = file.to_str().expect("text");
    let ran = place.run(&["replay", "--json", "-s", "read-only", "-C", ".", file]);
    assert_eq!(commands(&ran)[0].1, 1, "{}", ran.stdout);
    assert!(!place.work().join("inside").exists());
}

#[test]
fn a_folder_that_is_added_is_writable() {
    let place = Place::new();
    let home = place.home();
    let file = place.file("x.jsonl", lines(&[vec![shell("c1", &format!("touch {}/added", home.display()))]]));
    let (file, added) = (file.to_str().expect("text"), home.to_str().expect("text"));
    let ran =
        place.run(&[&["replay", "--json", "-C", ".", "--add-dir", added][..], &NO_TMP, &[file]].concat());
    assert_eq!(commands(&ran), [(String::new(), 0)]);
    assert!(home.join("added").exists());
}

#[test]
fn the_home_folder_stays_read_only_wherever_it_lies() {
    let place = Place::new();
    let home = place.home().canonicalize().expect("it is there");
    let above = home.parent().expect("a folder");
    let rules = home.join("rules/default.rules");
    let command = format!("echo > beside; mv home away; echo > {}/hooks.json", home.display());
    let add = format!("*** Begin Patch\n*** Add File: {}\n+# mine\n*** End Patch\n", rules.display());
    let patch = json!({"type": "custom_tool_call", "name": "apply_patch", "call_id": "c2", "input": add});
    let file = place.file("x.jsonl", lines(&[vec![shell("c1", &command), patch], vec![message("done")]]));
    let (file, above_text) = (file.to_str().expect("text"), above.to_str().expect("text"));
    // The home folder lies below the working folder, and below the temporary one.
    let ran = place.run(&["replay", "--json", "-C", above_text, file]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert_eq!(commands(&ran)[0].1, 1, "{}", ran.stdout);
    assert!(above.join("beside").exists() && home.is_dir(), "{}", ran.stdout);
    assert!(!home.join("hooks.json").exists(), "{}", ran.stdout);
    assert!(ran.stdout.contains("patch rejected: writing outside of the project"), "{}", ran.stdout);
    assert!(!rules.exists());
}

#[test]
fn a_mode_that_cannot_be_enforced_is_refused_with_the_reason() {
    let place = Place::new();
    // Inside of a sandbox none can be put up.
    let inner = place.file("inner.jsonl", lines(&[vec![shell("c1", "touch inside")]]));
    let program = env!("CARGO_BIN_EXE_tenon");
    let command = |flags: &str| {
        format!("TENON_HOME=$PWD/home {program} replay {flags} -C . {} 2>&1; echo status $?", inner.display())
    };
    let turns = [vec![shell("c1", &command(""))], vec![shell("c2", &command("-s danger-full-access"))]];
    let outer = place.file("outer.jsonl", lines(&turns));
    let outer = outer.to_str().expect("text");
    let ran = place.run(&["replay", "--json", "-C", ".", outer]);
    let commands = commands(&ran);
    assert_eq!(
        commands[0].0,
        "tenon: sandbox mode workspace-write: commands cannot be held to the sandbox mode `workspace-write` on this \
         machine: no mount namespace can be made (user namespaces may be switched off): Operation not permitted (os \
         error 1); to run without one, choose `-s danger-full-access` or set sandbox_mode = \"danger-full-access\" in \
         config.toml\nstatus 2\n"
    );
    assert!(commands[1].0.ends_with("status 0\n"), "{}", commands[1].0);
    assert!(place.work().join("inside").exists());
}

#[test]
fn secrets_are_not_inherited_under_a_sandbox_unless_they_are_allowed() {
    let place = Place::new();
    let file = place.file(
        "x.jsonl",
        lines(&[vec![shell("c1", "echo ${MY_API_KEY-none} ${my_token-none} ${PLAIN-none}")]]),
    );
    let file = file.to_str().expect("text");
    let printed = |flags: &[&str]| {
        let args = [&["replay", "--json", "-C", "."][..], flags, &[file]].concat();
        let mut command = place.command(&args);
        let output = command.env("MY_API_KEY", "key").env("my_token", "token").env("PLAIN", "plain").output();
        commands(&support::Ran::from(output.expect("the program starts")))
    };
    let expected = |text: &str| vec![(text.to_owned(), 0)];
    assert_eq!(printed(&[]), expected("none none plain\n"));
    assert_eq!(printed(&["-s", "read-only"]), expected("none none plain\n"));
    assert_eq!(printed(&["-s", "danger-full-access"]), expected("key token plain\n"));
    let allowed = ["-c", "shell_environment_policy.ignore_default_excludes=true"];
    assert_eq!(printed(&allowed), expected("key token plain\n"));
}

/// A turn whose one patch is `patch`.
fn patch(patch: &str) -> Vec<Vec<Value>> {
    let call = json!({"type": "custom_tool_call", "name": "apply_patch", "call_id": "p1", "input": patch});
    vec![vec![call], vec![message("done")]]
}

/// The statuses of the patches. One that was refused has no item of its own kind.
fn patches(ran: &support::Ran) -> Vec<String> {
    let status = |item: &Value| item["status"].as_str().expect("a status").to_owned();
    ["file_change", "tool_call"]
        .iter()
        .flat_map(|kind| ran.completed(kind))
        .map(|item| status(&item))
        .collect()
}

/// All files below a folder, with what is in them.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.insert(path.clone(), std::fs::read(&path).expect("read"));
        }
    }
    found
}

#[test]
fn a_patch_is_held_to_the_mode_before_anything_is_written() {
    let place = Place::new();
    place.file("kept", "old\n");
    std::fs::create_dir(place.work().join(".git")).expect("made");
    place.file(".git/config", "old\n");
    let outside = place.home().join("outside");
    std::fs::write(&outside, "old\n").expect("written");
    std::os::unix::fs::symlink(&outside, place.work().join("link")).expect("linked");
    let update = |path: &str| format!("*** Update File: {path}\n@@\n-old\n+new\n");
    let whole = |parts: &[String]| format!("*** Begin Patch\n{}*** End Patch\n", parts.concat());
    let inside = [update("kept"), "*** Add File: added\n+text\n".to_owned()];
    let with = |path: &str| whole(&[&inside[..], &[update(path)]].concat());
    for (mode, text) in [
        ("read-only", whole(&inside)),
        // What comes first in a patch may be written; it is not, for the sake of what comes last.
        ("workspace-write", with(outside.to_str().expect("text"))),
        ("workspace-write", with("../home/outside")),
        ("workspace-write", with("link")),
        ("workspace-write", with(".git/config")),
        (
            "workspace-write",
            whole(&[&inside[..], &["*** Add File: ../home/new\n+text\n".to_owned()]].concat()),
        ),
        ("workspace-write", whole(&[inside[1].clone(), "*** Delete File: ../home/outside\n".to_owned()])),
        (
            "workspace-write",
            whole(&["*** Update File: kept\n*** Move to: ../home/moved\n@@\n-old\n+new\n".to_owned()]),
        ),
    ] {
        let file = place.file("x.jsonl", lines(&patch(&text)));
        let before = (files(&place.work()), place.home().join("new").exists());
        let file = file.to_str().expect("text");
        let ran = place.run(&[&["replay", "--json", "-s", mode, "-C", "."][..], &NO_TMP, &[file]].concat());
        assert_eq!(
            (ran.status, patches(&ran)),
            (Some(0), vec!["declined".to_owned()]),
            "{text}{}",
            ran.stdout
        );
        assert_eq!((files(&place.work()), place.home().join("new").exists()), before, "{mode}: {text}");
        assert_eq!(std::fs::read(&outside).expect("read"), b"old\n");
        assert!(!place.home().join("moved").exists());
    }
    let file = place.file("x.jsonl", lines(&patch(&whole(&inside))));
    let file = file.to_str().expect("text");
    let ran = place.run(&[&["replay", "--json", "-C", "."][..], &NO_TMP, &[file]].concat());
    assert_eq!(patches(&ran), ["completed"], "{}", ran.stdout);
    let read = |name: &str| std::fs::read_to_string(place.work().join(name)).expect("read");
    assert_eq!((read("kept"), read("added")), ("new\n".to_owned(), "text\n".to_owned()));
}
