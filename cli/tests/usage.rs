//! What cannot be done as it was asked: exit status 2, and words that say what would be right.
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "test code")]

mod support;

use pretty_assertions::assert_eq;
use support::{Place, lines, message};

fn refused(place: &Place, args: &[&str]) -> String {
    let ran = place.run(args);
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""), "{args:?}: {}", ran.stderr);
    ran.stderr
        .replace(place.home().to_str().expect("text"), "HOME")
        .replace(place.work().to_str().expect("text"), "WORK")
}

#[test]
fn a_mistake_on_the_command_line_shows_the_usage() {
    let place = Place::new();
    for args in [
        &["exec", "--nope"][..],
        &["exec", "-s", "open", "go"],
        &["replay"],
        &["nothing"],
        &["exec", "resume"],
        &["exec", "-c", "x", "go"],
    ] {
        let told = refused(&place, args);
        assert!(told.starts_with("error: "), "{told}");
        assert!(told.contains("Usage: tenon") || told.contains("--help"), "{told}");
    }
    assert!(refused(&place, &[]).contains("Usage: tenon"));
}

#[test]
fn help_and_version_are_no_mistakes() {
    let place = Place::new();
    let help = place.run(&["exec", "--help"]);
    assert_eq!((help.status, help.stderr.as_str()), (Some(0), ""));
    assert!(help.stdout.contains("--dangerously-bypass-approvals-and-sandbox"), "{}", help.stdout);
    let version = place.run(&["--version"]);
    assert_eq!((version.status, version.stdout), (Some(0), format!("tenon {}\n", env!("CARGO_PKG_VERSION"))));
}

#[test]
fn a_broken_configuration_is_one_line_with_its_place() {
    let place = Place::new();
    place.config("model = \"a\"\nsandbox_mode = \"open\"\n");
    let expected = "tenon: HOME/config.toml:2:16: unknown variant `open`, expected one of `read-only`, \
                    `workspace-write`, `danger-full-access`\n";
    for args in [&["exec", "go"][..], &["replay", "x"], &["tools"]] {
        assert_eq!(refused(&place, args), expected, "{args:?}");
    }
}

#[test]
fn a_configuration_that_cannot_be_read_is_one_line() {
    let place = Place::new();
    std::fs::create_dir(place.home().join("config.toml")).expect("made");
    let told = refused(&place, &["exec", "go"]);
    assert!(told.starts_with("tenon: cannot read HOME/config.toml: "), "{told}");
    assert_eq!(told.lines().count(), 1);
}

#[test]
fn what_is_missing_is_named() {
    let place = Place::new();
    let full = ["-s", "danger-full-access"];
    let with = |args: &[&str]| refused(&place, &[args, &full[..]].concat());
    assert_eq!(
        with(&["exec", "go"]),
        "tenon: the provider OpenAI wants a key in the environment variable OPENAI_API_KEY, which is not set\n"
    );
    assert_eq!(
        with(&["exec", "-c", "model_provider=x", "go"]),
        "tenon: model_provider: there is no [model_providers.x]; known providers: openai\n"
    );
    assert_eq!(
        with(&["exec", "-C", "nowhere", "go"]),
        "tenon: the working folder WORK/nowhere cannot be used: No such file or directory (os error 2)\n"
    );
    let local = ["-c", "model_provider=l", "-c", "model_providers.l.base_url=http://127.0.0.1:9/v1"];
    assert_eq!(
        with(&[&["exec", "resume", "0190"][..], &local].concat()),
        "tenon: there is no session 0190 in HOME/sessions\n"
    );
    assert_eq!(
        with(&[&["exec", "resume", "--last"][..], &local].concat()),
        "tenon: there is no session of the folder WORK in HOME/sessions\n"
    );
    assert_eq!(with(&[&["exec"][..], &local].concat()), "tenon: the prompt is empty\n");
    assert!(with(&["replay", "nowhere.jsonl"]).starts_with("tenon: cannot read WORK/nowhere.jsonl: "));
}

#[test]
fn without_a_home_nothing_is_written() {
    let place = Place::new();
    let ran =
        place.command(&["tools"]).env_remove("HOME").env_remove("TENON_HOME").output().expect("it starts");
    assert_eq!(ran.status.code(), Some(2));
    let told = String::from_utf8(ran.stderr).expect("text");
    assert_eq!(told, "tenon: neither TENON_HOME nor HOME is set: set one, so that there is a home folder\n");
}

#[test]
fn a_mistake_of_a_command_shows_the_usage_of_that_command() {
    let place = Place::new();
    let both = ["-s", "read-only", "--dangerously-bypass-approvals-and-sandbox"];
    for (args, usage) in [
        ([&["exec", "go"][..], &both].concat(), "Usage: tenon exec [OPTIONS] [PROMPT]\n"),
        ([&["replay", "x"][..], &both].concat(), "Usage: tenon replay [OPTIONS] <FILE>\n"),
        (vec!["exec", "resume"], "Usage: tenon exec [OPTIONS] [PROMPT]\n"),
        (vec!["exec", "resume", "--last", "a", "b"], "Usage: tenon exec [OPTIONS] [PROMPT]\n"),
        (vec!["exec", "go", "resume", "--last"], "Usage: tenon exec [OPTIONS] [PROMPT]\n"),
    ] {
        let told = refused(&place, &args);
        assert!(told.contains(usage), "{args:?}: {told}");
    }
}

#[test]
fn help_is_a_command_and_of_exec_a_prompt() {
    let place = Place::new();
    let long = place.run(&["exec", "--help"]);
    let help = place.run(&["help", "exec"]);
    assert_eq!((help.status, help.stderr.as_str()), (Some(0), ""));
    assert_eq!(help.stdout, long.stdout);
    let all = place.run(&["help"]);
    assert_eq!(
        (all.status, all.stdout.contains("Usage: tenon <COMMAND>")),
        (Some(0), true),
        "{}",
        all.stdout
    );
    // It goes as far as the key for the model.
    assert!(refused(&place, &["exec", "-s", "danger-full-access", "help"]).contains("OPENAI_API_KEY"));
}

#[test]
fn a_model_without_a_name_is_refused() {
    let place = Place::new();
    assert_eq!(refused(&place, &["exec", "-m", "", "go"]), "tenon: --model: a model has a name\n");
    place.config("model = \" \"\n");
    assert_eq!(refused(&place, &["exec", "go"]), "tenon: model: a model has a name\n");
}

#[test]
fn the_file_for_the_last_message_is_no_folder() {
    let place = Place::new();
    let file = place.file("x.jsonl", lines(&[vec![message("one")]]));
    let file = file.to_str().expect("text");
    let replay = ["replay", "-s", "danger-full-access"];
    assert_eq!(
        refused(&place, &[&replay[..], &["-o", ".", file]].concat()),
        "tenon: --output-last-message: WORK/. cannot be written: it is a folder\n"
    );
    assert_eq!(
        refused(&place, &[&replay[..], &["-o", "no/x", file]].concat()),
        "tenon: --output-last-message: WORK/no/x cannot be written: no such folder\n"
    );
}

#[test]
fn a_configuration_that_is_a_link_to_nothing_is_no_missing_one() {
    let place = Place::new();
    std::os::unix::fs::symlink("gone.toml", place.home().join("config.toml")).expect("linked");
    assert_eq!(
        refused(&place, &["tools"]),
        "tenon: cannot read HOME/config.toml: it is a link to something that is not there\n"
    );
}

#[test]
fn a_session_that_is_not_there_is_told_before_a_key_is_asked_for() {
    let place = Place::new();
    let told = refused(&place, &["exec", "-s", "danger-full-access", "resume", "nope", "go"]);
    assert_eq!(told, "tenon: there is no session nope in HOME/sessions\n");
}

#[test]
fn a_folder_of_add_dir_that_is_none_is_told() {
    let place = Place::new();
    let file = place.file("x.jsonl", lines(&[vec![message("bye")]]));
    let missing = place.work().join("missing");
    let args = ["replay", "-C", ".", "--add-dir", "missing", "--add-dir", ".", file.to_str().expect("text")];
    let ran = place.run(&args);
    let told = format!("--add-dir: {} is no folder, and nothing can be written there", missing.display());
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert_eq!(ran.stderr.matches("--add-dir").count(), 1, "{}", ran.stderr);
    assert!(ran.stderr.contains(&told), "{}", ran.stderr);
}

#[test]
fn a_replay_that_cannot_begin_leaves_no_scratch_folder() {
    let place = Place::new();
    let file = place.file("x.jsonl", lines(&[vec![message("bye")]]));
    let mut command = place.command(&["replay", "-s", "danger-full-access", file.to_str().expect("text")]);
    let ran = support::Ran::from(command.env("TENON_HOME", "/proc/nope").output().expect("it runs"));
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    let left = std::fs::read_dir(place.work().parent().expect("a place").join("tmp")).expect("there").count();
    assert_eq!(left, 0, "{}", ran.stdout);
}
