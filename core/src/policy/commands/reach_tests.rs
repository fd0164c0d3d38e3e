use pretty_assertions::assert_eq;

use tenon_shell_parse::MAX_PLAIN_SCRIPT_BYTES;

use super::*;

fn words(line: &str) -> Vec<String> {
    shlex::split(line).unwrap()
}

/// Whether `rm -f x` is found behind a command.
fn reaches(line: &str) -> bool {
    let wanted = ["rm", "-f", "x"].map(|word| Some(word.to_owned()));
    reach(&words(line)).commands.iter().any(|found| found.starts_with(&wanted))
}

#[test]
fn wrappers_and_shells_are_looked_behind() {
    let lines = [
        "rm -f x",
        "sudo rm -f x",
        "sudo -u bob -H rm -f x",
        "sudo -n -- rm -f x",
        "sudo A=1 B=2 rm -f x",
        "doas rm -f x",
        "env rm -f x",
        "env -i PATH=/bin A=b rm -f x",
        "env -u A -C / rm -f x",
        "env -S 'rm -f x'",
        "/usr/bin/env -- rm -f x",
        "nice -n 5 rm -f x",
        "nohup setsid rm -f x",
        "timeout -k 5 10 rm -f x",
        "timeout 10s rm -f x",
        "stdbuf -o L rm -f x",
        "command rm -f x",
        "exec -a name rm -f x",
        "xargs -n 1 rm -f x",
        "find . -name y -exec rm -f x ;",
        "flock /tmp/lock rm -f x",
        "chroot /dir rm -f x",
        "busybox rm -f x",
        "eval rm -f x",
        "eval 'rm -f' x",
        "bash -c 'rm -f x'",
        "sh -lc 'a && rm -f x'",
        "/bin/zsh -ec 'rm -f x'",
        "bash -c -- 'rm -f x'",
        "bash -o pipefail -c 'rm -f x'",
        "bash -c 'echo $(rm -f x)'",
        "sudo env A=1 bash -lc 'nice rm -f x'",
        "sudo sh -c \"sh -c 'rm -f x'\"",
        "trap 'rm -f x' EXIT",
        "builtin exec rm -f x",
        "{rm,-f,x}",
        "{rm,-f} x",
        "sudo {rm,-f,x}",
        "noglob rm -f x",
        "- rm -f x",
        "repeat 3 rm -f x",
        "setarch -R rm -f x",
        "bwrap --bind / / --dev /dev --proc /proc rm -f x",
        "systemd-run --user --scope rm -f x",
        "runuser -u bob -- rm -f x",
        "gosu bob rm -f x",
        "perf stat -e x rm -f x",
        "cpulimit -l 5 rm -f x",
        "tini -- rm -f x",
        "sg bobs -c 'rm -f x'",
        "fd y -xrm -f x",
        "fd y --exec=rm -f x",
        "su bob '-crm -f x'",
        "env '-iSrm -f x'",
        "git rebase -x 'rm -f x' y",
        "git submodule foreach rm -f x",
    ];
    for line in lines {
        assert!(reaches(line), "{line}: {:?}", reach(&words(line)));
    }
}

#[test]
fn what_is_an_argument_is_no_command() {
    for line in
        ["echo rm -f x", "sudo echo rm -f x", "env A=1 echo rm -f x", "xargs grep rm -f x", "find . -name rm"]
    {
        assert!(!reaches(line), "{line}");
    }
}

#[test]
fn a_program_of_git_is_its_subcommand() {
    let reached = reach(&words("/usr/lib/git-core/git-push -f x")).commands;
    let expected = ["git", "push", "-f", "x"].map(|word| Some(word.to_owned()));
    assert!(reached.iter().any(|found| *found == expected), "{reached:?}");
}

/// What runs a shell that reads its script, without anybody knowing which.
#[test]
fn what_starts_a_shell_is_not_known() {
    let lines = [
        "sudo -s",
        "sudo -u bob -i",
        "sudo --login",
        "doas -s",
        "chroot /dir",
        "unshare -r",
        "nsenter -t 1",
        "parallel",
        "parallel -j 4",
        "su",
        "script log",
    ];
    for line in lines {
        assert!(reach(&words(line)).too_much, "{line}");
    }
    for line in
        ["sudo make", "sudo -n -- make", "doas make", "chroot /dir make", "parallel -j 4 make", "su -c make"]
    {
        assert!(!reach(&words(line)).too_much, "{line}");
    }
}

/// Words that a wrapper puts others in the place of.
#[test]
fn what_a_wrapper_fills_in_is_not_known() {
    let lines = [
        "xargs git",
        "xargs -I X git X",
        "xargs -rIX git X",
        "xargs -tI X git aXb",
        "xargs -iX git X",
        "xargs --replace=X git X",
        "xargs -n1 git {}",
        "parallel git {.}",
        "parallel git {1} ::: push",
    ];
    for line in lines {
        let reached = reach(&words(line)).commands;
        let filled = |found: &Vec<Option<String>>| found[0].as_deref() == Some("git") && found[1].is_none();
        assert!(reached.iter().any(filled), "{line}: {reached:?}");
    }
}

#[test]
fn what_a_shell_reads_is_a_script() {
    for script in ["bash <<'X'\nrm -f x\nX\n", "sh -s <<< 'rm -f x'", "sudo bash <<X\nrm -f x\nX\n"] {
        assert!(reaches(&format!("bash -c {}", shlex::try_quote(script).unwrap())), "{script}");
    }
}

/// `rm -f x` within so many shells.
fn nested(depth: usize) -> Vec<String> {
    (0..depth).fold(words("rm -f x"), |inner, _| {
        let script = shlex::try_join(inner.iter().map(String::as_str)).unwrap();
        vec!["sh".to_owned(), "-c".to_owned(), script]
    })
}

#[test]
fn the_bound_of_nested_shells_is_exact() {
    let wanted = ["rm", "-f", "x"].map(|word| Some(word.to_owned()));
    let found = |depth| {
        let reached = reach(&nested(depth));
        (reached.commands.iter().any(|found| *found == wanted), reached.too_much)
    };
    assert_eq!(found(MAX_DEPTH), (true, false));
    assert_eq!(found(MAX_DEPTH + 1), (false, true));
}

#[test]
fn the_bound_of_commands_is_exact() {
    let script = |commands: usize| words(&format!("sh -c '{}'", vec!["a"; commands].join(";")));
    // The shell itself is one.
    assert!(!reach(&script(MAX_COMMANDS - 1)).too_much);
    assert!(reach(&script(MAX_COMMANDS)).too_much);
    assert!(reach(&["sh".to_owned(), "-c".to_owned(), "x".repeat(MAX_PLAIN_SCRIPT_BYTES + 1)]).too_much);
}

#[test]
fn the_bound_of_braces_is_exact() {
    let list = |length: usize| format!("{{rm,-f,x,{}}}", "y".repeat(length - "{rm,-f,x,}".len()));
    assert!(reaches(&list(MAX_BRACED_BYTES)));
    assert!(!reaches(&list(MAX_BRACED_BYTES + 1)));
    // Many of them in a row end as well.
    assert!(reach(&["{a,b}".repeat(MAX_BRACED_BYTES / 5)]).commands.len() <= MAX_BRACED_BYTES);
}

proptest::proptest! {
    #[test]
    fn no_command_panics(words in proptest::collection::vec("(sudo|env|bash|-c|find|-exec|A=1|'|\\$\\(|[ -~]{0,5})", 0..12)) {
        let _ = reach(&words);
    }
}
