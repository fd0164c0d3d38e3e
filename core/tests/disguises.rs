//! Splitting a command line never weakens the decision on it, and no disguise that a shell would see through does.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::process::{Command, Stdio};
use std::sync::Arc;

use proptest::prelude::*;
use tenon_core::policy::ExecRules;
use tenon_core::{Policy, PolicyDecision, StandardPolicy};
use tenon_protocol::ToolName;
use tenon_tools::{
    ApprovalPolicy, CommandEffect, Effects, SandboxPolicy, StepContext, ToolInvocation, ToolPayload,
};

const RULES: &str = "prefix_rule(pattern=['fine'])\nprefix_rule(pattern=['ask', 'me'], decision='prompt')\n\
                     prefix_rule(pattern=['never'], decision='forbidden')\n";

/// Commands of every kind: allowed, asked about and forbidden by a rule; known, dangerous, and none of it.
const COMMANDS: [&str; 7] = ["fine x", "ask me y", "never z", "ls -l", "rm -f x", "make", "sudo rm -rf /y"];
/// Those whose decision is worth hiding from.
const RESTRICTED: [&str; 4] = ["ask me y", "never z", "rm -f x", "rm --force y"];
const POLICIES: [ApprovalPolicy; 3] =
    [ApprovalPolicy::UnlessTrusted, ApprovalPolicy::OnRequest, ApprovalPolicy::Never];

/// How strict the decision on a script is: 0 for one that lets it out of the sandbox, 3 for a refusal.
fn strictness(script: &str, approval: ApprovalPolicy) -> u8 {
    let policy = StandardPolicy::new().with_rules(ExecRules::read(RULES, "x".as_ref()).unwrap());
    let command = CommandEffect {
        argv: ["bash", "-lc", script].map(str::to_owned).into(),
        cwd: "/".into(),
        ..CommandEffect::default()
    };
    let step = Arc::new(StepContext { approval, sandbox: SandboxPolicy::ReadOnly, ..StepContext::default() });
    let payload = ToolPayload::Function { arguments: String::new() };
    let call = ToolInvocation { step, ..ToolInvocation::detached(ToolName::plain("t"), payload) };
    let effects = Effects { command: Some(command), ..Effects::none() };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    match runtime.block_on(policy.decide(&call, &effects)) {
        PolicyDecision::AllowUnsandboxed => 0,
        PolicyDecision::Allow => 1,
        PolicyDecision::Ask(_) => 2,
        PolicyDecision::Deny { .. } => 3,
    }
}

/// Whether bash takes it for a script.
fn bash_accepts(script: &str) -> bool {
    let mut bash = Command::new("bash");
    bash.args(["-n", "-c", script]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    bash.status().unwrap().success()
}

fn quoted(text: &str) -> String {
    shlex::try_quote(text).unwrap().into_owned()
}

/// Ways to run a script without its first word being the first word. The first group takes a simple command and gives
/// one; the second takes one and gives a script; the third takes any script.
const SIMPLE: [&str; 23] = [
    "env A=1 {}",
    "env -u B {}",
    "sudo {}",
    "sudo -n -u root {}",
    "nice -n 5 {}",
    "timeout 5 {}",
    "nohup {}",
    "command {}",
    "xargs {}",
    "/usr/bin/env {}",
    "'{0}'{1}",
    "\"{0}\"{1}",
    "\\{}",
    "busybox {}",
    "builtin {}",
    "stdbuf -o L {}",
    "doas -u x {}",
    "builtin exec {}",
    "noglob {}",
    "setarch -R {}",
    "setsid -w {}",
    "bwrap --bind / / --proc /proc {}",
    "git submodule foreach {}",
];
const TO_SCRIPT: [&str; 7] =
    ["A=1 {}", "A=1 B='x y' {}", "{} > /dev/null", "2>&1 {}", "{} < in >> out 2>&1", "! {}", "time {}"];
const SCRIPT: [&str; 37] = [
    "bash -c {q}",
    "sh -lc {q}",
    "/bin/bash -c {q}",
    "eval {q}",
    "env -S {q}",
    "sudo bash -c {q}",
    "bash -o pipefail -c {q}",
    "ls && {}",
    "ls; {}",
    "ls || {}",
    "ls | {}",
    "ls\n{}",
    "\n\n{}\n",
    "  {}",
    "( {} )",
    "{ {}; }",
    "echo $( {} )",
    "echo \"a $( {} ) b\"",
    "A=$( {} )",
    "if true; then {}; fi",
    "for f in a b; do {}; done",
    "while {}; do break; done",
    "f() { {}; }; f",
    "cat <( {} )",
    "{} &",
    "case a in *) {};; esac",
    "[[ -n x ]] && {}",
    "coproc { {}; }",
    "trap {q} EXIT",
    "sh -c -- {q}",
    "su x -c {q}",
    "sg x -c {q}",
    "capsh -- -c {q}",
    "env --split-string={q}",
    "git rebase --exec {q} HEAD~1",
    "shopt -s expand_aliases\nalias p={q}\np",
    "ls() { {}; }; ls",
];

/// A script that runs what `script` runs. `simple`: whether it is one command of plain words.
fn disguise(script: &str, simple: bool, choice: usize) -> (String, bool) {
    let (form, stays_simple) = if simple {
        let all = [&SIMPLE[..], &TO_SCRIPT, &SCRIPT].concat();
        let choice = choice % all.len();
        (all[choice], choice < SIMPLE.len())
    } else {
        (SCRIPT[choice % SCRIPT.len()], false)
    };
    let first = script.split(' ').next().unwrap();
    let rest = script.strip_prefix(first).unwrap();
    // Quotes around quotes would be another program.
    let quotes = form.contains("{0}") || form.starts_with('\\');
    let form = if quotes && !first.chars().all(char::is_alphanumeric) { "env A=1 {}" } else { form };
    let plain = form.contains("{0}").then(|| form.replace("{0}", first).replace("{1}", rest));
    let disguised = plain.unwrap_or_else(|| form.replace("{q}", &quoted(script)).replacen("{}", script, 1));
    (disguised, stays_simple)
}

fn policy() -> impl Strategy<Value = ApprovalPolicy> {
    prop::sample::select(POLICIES.to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

    /// The decision on a list is the strictest of those on its commands.
    #[test]
    fn a_list_is_as_strict_as_the_strictest_of_its_commands(
        commands in prop::collection::vec(prop::sample::select(COMMANDS.to_vec()), 1..5),
        joints in prop::collection::vec(prop::sample::select(vec![" && ", " || ", "; ", " | ", "\n"]), 4),
        approval in policy(),
    ) {
        let mut script = commands[0].to_owned();
        for (joint, command) in joints.iter().zip(&commands[1..]) {
            script.push_str(joint);
            script.push_str(command);
        }
        let strictest = commands.iter().map(|command| strictness(command, approval)).max().unwrap();
        prop_assert_eq!(strictness(&script, approval), strictest, "{}", script);
    }

    /// What a shell would run all the same is decided on at least as strictly.
    #[test]
    fn no_disguise_weakens_a_decision(
        command in prop::sample::select(RESTRICTED.to_vec()),
        choices in prop::collection::vec(any::<prop::sample::Index>(), 1..4),
        approval in policy(),
    ) {
        let (mut script, mut simple) = (command.to_owned(), true);
        for choice in choices {
            (script, simple) = disguise(&script, simple, choice.index(1 << 16));
        }
        prop_assume!(bash_accepts(&script));
        let (disguised, plain) = (strictness(&script, approval), strictness(command, approval));
        prop_assert!(disguised >= plain, "{approval:?}: {disguised} for {script:?}, {plain} for {command:?}");
    }

    /// Whatever is run unasked under `untrusted` runs the commands it seems to run, and no others: bash is asked.
    #[test]
    fn what_runs_unasked_runs_what_it_seems_to(pieces in prop::collection::vec(
        prop::sample::select(vec![
            "fine", "fine x", "ls", " ", " ", ";", "&&", "|", "\n", "$(", ")", "`", "'", "\"", "\\", "never", "ne", "ver",
            "$x", "${x}", ">", "<", "<<EOF\n", "\nEOF\n", "(", "{", "}", "A=1", "&", "!", "#", "*", "~", "if", "fi", "\r",
        ]), 1..10))
    {
        let script = pieces.concat();
        if strictness(&script, ApprovalPolicy::UnlessTrusted) < 2 {
            let ran = ran_by_bash(&script);
            prop_assert!(ran.iter().all(|name| name == "fine" || name == "ls"), "{script:?} runs {ran:?}");
        }
    }
}

/// The names of the commands that bash runs of a script, in a folder of its own where no program is found.
fn ran_by_bash(script: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let tells = "command_not_found_handle() { printf '%s\\0' \"$1\" >> log; }; PATH=; eval \"$1\"";
    let mut bash = Command::new("bash");
    bash.args(["--norc", "--noprofile", "-c", tells, "bash", script]).current_dir(folder.path());
    bash.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    let log = std::fs::read_to_string(folder.path().join("log")).unwrap_or_default();
    log.split_terminator('\0').map(str::to_owned).collect()
}

/// What no reader of the text can see through is never taken for something known.
#[test]
fn what_depends_on_anything_outside_the_script_is_never_known() {
    for script in [
        "x=never; $x z",
        "${x:-never} z",
        "$(echo never) z",
        "`echo never` z",
        "n''ever z; $0 -c 'never'",
        "$'never' z",
        "$'\\x6eever' z",
        "ne{ve,}r z",
        "nev?r z",
        "n*r z",
        ". ./file",
        "source file",
        "echo bmV2ZXI= | base64 -d | sh",
        "alias fine=never; fine x",
        "fine() { never; }; fine x",
        "fine x > ~/.bashrc",
        "fine x & never",
        "PATH=/tmp fine x",
        "fine\\\nx",
        "set -- never; \"$@\"",
        "IFS=_; c=never_z; $c",
        "fine x # \\\nnever",
    ] {
        assert!(bash_accepts(script), "{script}");
        assert!(strictness(script, ApprovalPolicy::UnlessTrusted) >= 2, "{script}");
        assert!(strictness(script, ApprovalPolicy::OnRequest) >= 1, "{script}");
    }
}

/// What is known to read alone is known as it stands there: with nothing before it that gives its name to another
/// program, nothing in it that runs one, and nothing behind it that is written.
#[test]
fn what_is_known_is_not_taken_for_known_in_a_disguise() {
    for script in [
        "PATH=. ls",
        "export PATH=.; ls",
        "LD_PRELOAD=x ls",
        "env ls",
        "GIT_SSH_COMMAND=x git log",
        "GIT_EXTERNAL_DIFF=x git diff",
        "BASH_ENV=x bash -c ls",
        "PROMPT_COMMAND=x",
        "ls() { x; }; ls",
        "alias ls=x\nls",
        "hash -p x ls; ls",
        "enable -f x ls; ls",
        "./ls",
        "~/bin/ls",
        "git -c core.pager=x log",
        "git --exec-path=x log",
        "git --git-dir=x log",
        "git log --output=x",
        "git diff --ext-diff",
        "git branch x",
        "rg --pre x y",
        "find . -fprint x",
        "find . -delete",
        "sed -n '1w x'",
        "sed -n 1p x -i",
        "sort -o x y",
        "uniq a b",
        "uniq - b",
        "base64 -do x y",
        "tee x",
        "cat <(x)",
        "cat < x",
        "ls > x",
        "ls >> x",
        "ls 2> x",
        "ls &",
        "ls & x",
        "echo x | sh",
        "base64 -d x | sh",
        "sh <<< ls",
        "trap ls EXIT",
        "printf x | xargs ls",
        "time ls",
        "! ls",
        "command ls",
        "coproc ls",
        "[[ -n x ]] && ls",
        "case x in x) ls;; esac",
        "ls $x",
        "ls $(x)",
        "ls `x`",
        "ls \"$(x)\"",
        "ls ${x:-y}",
        "$'l\\x73'",
        "{ls,-l}",
        "l?",
        "ls\u{a0}-l",
        "ls\r",
        "ls -l\r\nx",
        "ls\u{2028}x",
        "ls #\nx",
        "ls \\\n; x",
    ] {
        let came = strictness(script, ApprovalPolicy::UnlessTrusted);
        assert!(came >= 2, "{script:?}: {came}");
    }
}

/// Words that make a program which reads one which writes or runs.
const TURNS: [&str; 48] = [
    "-",
    "--",
    "a",
    "b",
    "out",
    "-out",
    "-o",
    "-o out",
    "-oout",
    "-do",
    "-c",
    "-n",
    "-n1",
    "1p",
    "1,2p",
    "1w out",
    "-i",
    "-i.bak",
    "-e",
    "-s",
    "--in-place",
    "--output",
    "--output=out",
    "--outp=out",
    "--expression=w out",
    "-fprint out",
    "-fprint",
    "-fls",
    "-delete",
    "-exec",
    "-execdir",
    "-ok",
    "touch",
    "{}",
    ";",
    "+",
    ".",
    "-name",
    "--pre",
    "--pre=touch",
    "--hostname-bin=touch",
    "log",
    "diff",
    "branch",
    "--no-index",
    "-D",
    "--ext-diff",
    "+1",
];
const READERS: [&str; 18] = [
    "cat", "cut", "echo", "grep", "head", "ls", "nl", "paste", "seq", "stat", "tail", "tr", "wc", "uniq",
    "base64", "find", "sed", "git",
];

/// Every file below a folder, but for those of git, with what is in it.
fn tree(folder: &std::path::Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| !path.ends_with(".git"));
    let mut all: Vec<_> =
        files.map(|path| (path.clone(), std::fs::read(&path).unwrap_or_default())).collect();
    all.sort();
    all
}

/// A folder with two files in it, a repository where that is asked for and there is a git.
fn folder_of_files(repository: bool) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in ["a", "b"] {
        std::fs::write(folder.path().join(file), "one\ntwo\n").unwrap();
    }
    if repository {
        let _ = Command::new("git")
            .args(["init", "-q"])
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .status();
    }
    folder
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    /// What runs unasked under `untrusted` writes nothing: it is run.
    #[test]
    fn what_is_known_to_read_alone_writes_nothing(
        program in prop::sample::select(READERS.to_vec()),
        words in prop::collection::vec(prop::sample::select(TURNS.to_vec()), 0..5),
    ) {
        let words: Vec<&str> = std::iter::once(program).chain(words).collect();
        let script = words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
        // Following a file has no end.
        let ends = program != "tail" && !words.contains(&"-f");
        if ends && strictness(&script, ApprovalPolicy::UnlessTrusted) < 2 {
            let folder = folder_of_files(program == "git");
            let before = tree(folder.path());
            let mut bash = Command::new("bash");
            bash.args(["--norc", "--noprofile", "-c", &script]).current_dir(folder.path());
            bash.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
            prop_assert_eq!(tree(folder.path()), before, "{}", script);
        }
    }
}

/// Heredocs and here-strings into a shell, which the generated disguises leave out.
#[test]
fn a_shell_that_reads_its_script_hides_nothing() {
    for command in RESTRICTED {
        for form in [
            "bash <<'EOF'\n{}\nEOF\n",
            "sh -s <<EOF\nls\n{}\nEOF\n",
            "sudo bash <<< '{}'",
            "ls; bash <<'X' | cat\n{}\nX\n",
        ] {
            let script = form.replace("{}", command);
            assert!(bash_accepts(&script), "{script}");
            for approval in POLICIES {
                assert!(
                    strictness(&script, approval) >= strictness(command, approval),
                    "{approval:?} {script}"
                );
            }
        }
    }
}
