//! However a push is spelled, it does not run unasked where a rule restricts pushes.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use proptest::prelude::*;

use super::{NEVER, NO_PUSH, ON_REQUEST, of};

fn runs_unasked(script: &str) -> bool {
    [ON_REQUEST, NEVER].into_iter().any(|policy| {
        let decided = of(policy, script, NO_PUSH);
        decided != "ask" && !decided.starts_with("exec command rejected: ")
    })
}

/// Levels of a shell's quoting, within each of which a push may stand. `{}` stands for the script, written so that the
/// level gives it on unchanged.
#[derive(Debug, Clone, Copy)]
enum Level {
    /// Text around the script itself.
    Plain(&'static str, &'static str),
    /// A word in single quotes, in double ones, or with each letter behind a backslash.
    Single(&'static str, &'static str),
    Double(&'static str, &'static str),
    Backslashed(&'static str, &'static str),
    /// What an expanding heredoc, or one pair of backticks, takes backslashes from.
    Expanded(&'static str, &'static str),
    /// What `<<-` takes tabs from.
    Indented(&'static str, &'static str),
}

use Level::{Backslashed, Double, Expanded, Indented, Plain, Single};

const LEVELS: [Level; 62] = [
    Plain("( ", " )"),
    Plain("{\n", "\n}"),
    Plain("true && ", ""),
    Plain("true |\n", ""),
    Plain("true\n", "\ntrue"),
    Plain("true \\\n&& ", " # it's"),
    Plain("# it's \" `\n", ""),
    Plain("if true; then\n", "\nfi"),
    Plain("for x in a b; do\n", "\ndone"),
    Plain("for ((i=0;i<1;i++)); do\n", "\ndone"),
    Plain("while true; do\n", "\nbreak; done"),
    Plain("until false; do ", "\nbreak\ndone"),
    Plain("case a in b) true;; (a|c)\n", "\n;; esac"),
    Plain("[[ a < b && ( c =~ (c|d) ) ]] && ", ""),
    Plain("((1<<2)); ", ""),
    Plain("f() {\n", "\n}; f"),
    Plain("function f {\n", "\n}\nf"),
    Plain("time -p ", ""),
    Plain("! ", ""),
    Plain("coproc N {\n", "\n}\nwait"),
    Plain("true $(", "\n) b"),
    Plain("x=\"a $(", "\n) b\"; true"),
    Plain("x=(a $(", "\n)); true"),
    Plain("true <(", "\n); wait"),
    Plain("true ${x:-$(", "\n)}"),
    Plain("true $((1+$(", "\n)1))"),
    Plain("cat <<E1\n$(", "\n)\nE1"),
    Plain("cat <<E2 >/dev/null; ", "\na\nE2"),
    Plain("cat <<'E3' && true\nit's `$(\nE3\n", ""),
    Plain("cat <<E4\na\\\nE4\nE4\n", ""),
    Plain("cat <<-E5\n\ta\n\tE5\n", ""),
    Plain("cat <<A <<B\nA\nA \nA\nB\n", ""),
    Plain("sh <<'E6'\n", "\nE6"),
    Plain("sh <<\\E7 -s\n", "\nE7"),
    Plain("sh 0<<\"E8\"\n", "\nE8"),
    Plain("cat <<'E9' | sh\n", "\nE9"),
    Plain("{ sh; } <<'EA'\n", "\nEA"),
    Plain("sh /dev/fd/3 3<<'EB'\n", "\nEB"),
    Single("sh -c ", ""),
    Double("sh -c ", " x"),
    Backslashed("sh -ec ", ""),
    Single("sh <<< ", ""),
    Double("sh <<<true <<<", ""),
    Backslashed("bash -s a <<<", ""),
    Single("eval ", ""),
    Double("eval true \\; ", ""),
    Backslashed("eval ", ""),
    Single("trap ", " EXIT"),
    Single("echo ", " | sh"),
    Single("env -S 'sh -c' ", ""),
    Expanded("sh <<EC\n", "\nEC"),
    Expanded("sh <<ED 2>&1 | cat\n", "\nED"),
    Expanded("true `", "`"),
    Indented("sh <<-EE\n", "\n\tEE"),
    Single("shopt -s expand_aliases\nalias p=", "\np"),
    Single("sh -c -- ", ""),
    Single("trap -- ", " EXIT"),
    Single("true | xargs -rI% true; sh -ec ", ""),
    Single("xargs sh -c ", " </dev/null"),
    Single("find . -maxdepth 0 -exec sh -c ", " \\;"),
    Plain("until ! {\n", "\n}; do break; done"),
    Plain("[ -n \"$(\n", "\n)\" ]"),
];

/// A backslash before each of these letters.
fn behind_backslashes(script: &str, letters: &str) -> String {
    let one = |c: char| if letters.contains(c) { format!("\\{c}") } else { c.to_string() };
    script.chars().map(one).collect()
}

fn within(script: String, level: Level) -> String {
    let (open, written, close) = match level {
        Plain(open, close) => (open, script, close),
        Single(open, close) => (open, format!("'{}'", script.replace('\'', "'\\''")), close),
        Double(open, close) => (open, format!("\"{}\"", behind_backslashes(&script, "$`\"\\")), close),
        Backslashed(open, close) => {
            let one = |c| if c == '\n' { "'\n'".to_owned() } else { format!("\\{c}") };
            (open, script.chars().map(one).collect(), close)
        }
        Expanded(open, close) => (open, behind_backslashes(&script, "$`\\"), close),
        Indented(open, close) => {
            let written = behind_backslashes(&script, "$`\\");
            (open, written.lines().map(|line| format!("\t\t{line}\n")).collect(), close)
        }
    };
    format!("{open}{written}{close}")
}

const PUSHES: [&str; 30] = [
    "git push",
    "\\git push",
    "g\\it pu\\\nsh",
    "'git' \"push\"",
    "g''it $'push'",
    "git $\"push\"",
    "git > /dev/null push",
    ">/dev/null git push",
    "git 2>&1 push",
    "git &>/dev/null push",
    "{x}>/dev/null git push",
    "git <<< a push",
    "git <<EF push\na\nEF",
    "git < <(true) push",
    "A=1 B=(2 3) git push",
    "x=push; git $x",
    "git pu${x}sh",
    "git ${x:-push}",
    "g=git; $g push",
    "git $(echo push)",
    "git `echo push`",
    "git {push,a}",
    "builtin command git push",
    "(exec git push)",
    "$'\\x67it' push",
    "sh -c '$0 push' git",
    "set -- git push; \"$@\"",
    "echo push | xargs -rIX git X",
    "find . -maxdepth 0 -exec git push \\;",
    "GIT_DIR=. PATH=$PATH git push",
];

/// Whether bash gets to run `git push`, and is done in time. There is no other program of that name on its path.
fn is_run_by_bash(script: &str, folder: &Path) -> bool {
    let pushed = folder.join("pushed");
    let _ = std::fs::remove_file(&pushed);
    let bash = ["/bin/bash", "/usr/bin/bash"].into_iter().find(|path| Path::new(path).exists()).unwrap();
    let ran = Command::new("timeout")
        .args(["10", bash, "-c", script])
        .env_clear()
        .env("PATH", format!("{}:/usr/bin:/bin", folder.display()))
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    ran.unwrap();
    pushed.exists()
}

fn with_a_git_of_its_own() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let git = folder.path().join("git");
    std::fs::write(&git, "#!/bin/sh\n[ \"$1\" = push ] && : > \"${0%/*}/pushed\"\n").unwrap();
    std::fs::set_permissions(&git, PermissionsExt::from_mode(0o755)).unwrap();
    folder
}

/// Each level by itself, so that the property below is one about pushes that are run.
#[test]
fn bash_runs_a_push_within_each_level() {
    let folder = with_a_git_of_its_own();
    for script in PUSHES {
        assert!(is_run_by_bash(script, folder.path()), "{script}");
    }
    for level in LEVELS {
        let script = within("\\git pu''sh".to_owned(), level);
        assert!(is_run_by_bash(&script, folder.path()), "{script}");
        assert!(
            runs_unasked(&within("git log".to_owned(), level))
                || of(ON_REQUEST, &within("git log".to_owned(), level), NO_PUSH) == "ask"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// What bash runs is asked about or refused, whatever levels of quoting it is within.
    #[test]
    fn no_push_that_bash_runs_runs_unasked(
        push in proptest::sample::select(&PUSHES[..]),
        levels in proptest::collection::vec(proptest::sample::select(&LEVELS[..]), 0..4),
    ) {
        let script = levels.into_iter().fold(push.to_owned(), within);
        if runs_unasked(&script) {
            let folder = with_a_git_of_its_own();
            prop_assert!(!is_run_by_bash(&script, folder.path()), "{}", script);
        }
    }

    /// Whatever stands before and around it, a push does not run unasked.
    #[test]
    fn no_spelling_of_a_push_runs(
        before in "((sudo|nice|env|time|command|exec|nohup|timeout 5|xargs) ){0,3}",
        options in "((-C [a-z.]{1,4}|-c a[.]b=c|--no-pager|-p|--git-dir=x|--work-tree x|-C \"[$]d\") ){0,4}",
        git in "(git|[$]g|\\\\git|\"git\"|/usr/bin/git|gi[$]t|[$][(]echo git[)])",
        push in "(push|pu[$]x|[$]x|\"[$]@\"|[$][(]echo push[)]|pu[*]|'push'|p[{]u,[}]sh)",
        level in proptest::sample::select(&LEVELS[..]),
    ) {
        let script = within(format!("{before}{git} {options}{push}"), level);
        prop_assert!(!runs_unasked(&script), "{}", script);
    }
}
