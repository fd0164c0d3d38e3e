use std::path::Path;

use pretty_assertions::assert_eq;
use tenon_tools::SandboxPolicy;

use super::{Denial, Limits};

fn limits() -> Limits {
    Limits::of(&SandboxPolicy::ReadOnly, Path::new("/"), None).expect("limits")
}

fn path(code: i32, printed: &str) -> Option<Option<String>> {
    Denial::find(&limits(), code, || printed.to_owned()).map(|denial| denial.path)
}

fn named(path: &str) -> Option<Option<String>> {
    Some(Some(path.to_owned()))
}

#[test]
fn the_words_of_a_refusal_in_a_failure_are_one() {
    for words in [
        "Operation not permitted",
        "PERMISSION DENIED",
        "Read-only file system",
        "seccomp",
        "in a Sandbox",
        "landlock",
        "Failed to write file",
    ] {
        assert_eq!(path(1, &format!("before\nx {words} y\nafter")), Some(None), "{words}");
        assert_eq!(path(127, words), Some(None), "{words}");
    }
}

#[test]
fn success_and_other_failures_are_none() {
    assert_eq!(path(0, "Permission denied"), None);
    for code in [1, 2, 126, 127, 137] {
        assert_eq!(path(code, "no such thing"), None);
    }
}

#[test]
fn a_death_by_seccomp_needs_no_words() {
    assert_eq!(path(159, ""), Some(None));
}

#[test]
fn the_path_is_taken_from_what_programs_print() {
    for (printed, expected) in [
        ("bash: line 1: /etc/x: Permission denied", "/etc/x"),
        ("touch: cannot touch '/etc/a b': Read-only file system", "/etc/a b"),
        ("touch: cannot touch ‘/etc/x’: Read-only file system", "/etc/x"),
        ("mkdir: cannot create directory 'new': Permission denied", "new"),
        ("PermissionError: [Errno 13] Permission denied: '/etc/x'", "/etc/x"),
        ("error: could not lock config file .git/config: Read-only file system", ".git/config"),
        ("sh: 1: cannot create /etc/x: Permission denied", "/etc/x"),
        ("/bin/bash: line 1: out.txt: Permission denied", "out.txt"),
        ("/bin/bash: line 12: a b/c d: Read-only file system", "a b/c d"),
        ("/bin/bash: line 1: ./x: Permission denied", "./x"),
        ("/usr/bin/tee: /etc/x: Read-only file system", "/etc/x"),
        ("/etc/x: Permission denied", "/etc/x"),
        ("I can't open \"/etc/x\": Permission denied", "/etc/x"),
    ] {
        assert_eq!(path(1, printed), named(expected), "{printed}");
    }
}

#[test]
fn where_no_path_is_named_none_is_made_up() {
    for printed in [
        "/usr/bin/curl: socket: Operation not permitted",
        "/bin/bash: line 1: socket: Operation not permitted",
        "/bin/sh: fork: retry",
        "socket: Operation not permitted",
        "https://example.com/a: Permission denied",
        "it can't, it won't: Permission denied",
        "'': Permission denied",
        "‘",
        "é': Permission denied",
    ] {
        assert_eq!(path(1, &format!("{printed} permission denied")), Some(None), "{printed}");
    }
}

#[test]
fn the_model_is_told_the_path_and_the_mode() {
    let told = |printed: &str| Denial::find(&limits(), 1, || printed.to_owned()).expect("a denial").line();
    assert_eq!(
        told("sh: /etc/x: Permission denied"),
        "[denied by the sandbox, as it seems: /etc/x (sandbox mode read-only)]"
    );
    assert_eq!(told("Permission denied"), "[denied by the sandbox, as it seems (sandbox mode read-only)]");
}
