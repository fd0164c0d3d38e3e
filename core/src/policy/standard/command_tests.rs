use pretty_assertions::assert_eq;
use tenon_tools::{GranularApproval, SandboxPolicy, WorkspaceWrite};

use super::*;

const UNTRUSTED: ApprovalPolicy = ApprovalPolicy::UnlessTrusted;
const ON_REQUEST: ApprovalPolicy = ApprovalPolicy::OnRequest;
const NEVER: ApprovalPolicy = ApprovalPolicy::Never;

const NEVER_TEXT: &str = "approval required by policy, but AskForApproval is set to Never";

/// Granular with these two switches.
fn granular(sandbox_approval: bool, rules: bool) -> ApprovalPolicy {
    ApprovalPolicy::Granular(GranularApproval { sandbox_approval, rules, ..GranularApproval::default() })
}

fn workspace() -> SandboxPolicy {
    SandboxPolicy::WorkspaceWrite(WorkspaceWrite::default())
}

fn effect(script: &str) -> CommandEffect {
    CommandEffect {
        argv: ["bash", "-lc", script].map(str::to_owned).into(),
        cwd: "/".into(),
        ..CommandEffect::default()
    }
}

fn escalated(script: &str) -> CommandEffect {
    let justification = Some("it dials".to_owned());
    CommandEffect {
        sandbox_permissions: SandboxPermissions::RequireEscalated,
        justification,
        ..effect(script)
    }
}

fn decided(
    approval: ApprovalPolicy,
    sandbox: SandboxPolicy,
    command: &CommandEffect,
    rules: &str,
) -> PolicyDecision {
    let step = StepContext { approval, sandbox, ..StepContext::default() };
    let rules = ExecRules::read(rules, "x.rules".as_ref()).unwrap();
    decide(&step, command, &rules, Some("/home/rules/default.rules".into()))
}

/// The decision in short: `allow`, `unsandboxed`, `ask`, or the refusal.
fn short(decision: PolicyDecision) -> String {
    match decision {
        PolicyDecision::Allow => "allow".to_owned(),
        PolicyDecision::AllowUnsandboxed => "unsandboxed".to_owned(),
        PolicyDecision::Ask(_) => "ask".to_owned(),
        PolicyDecision::Deny { text } => text,
    }
}

fn of(approval: ApprovalPolicy, script: &str, rules: &str) -> String {
    short(decided(approval, workspace(), &effect(script), rules))
}

fn question(decision: PolicyDecision) -> Question {
    match decision {
        PolicyDecision::Ask(question) => question,
        other => panic!("no question: {other:?}"),
    }
}

/// D10.3, what no rule speaks about.
#[test]
fn an_unmatched_command() {
    let rm = "exec command rejected: rm -f style commands are not permitted. Use a safer approach";
    let all = [UNTRUSTED, ON_REQUEST, granular(true, true), NEVER];
    let rows = [
        // Known to read alone.
        ("ls -la && git status | head", ["allow", "allow", "allow", "allow"]),
        // Dangerous, behind whatever.
        ("rm -f x", ["ask", "ask", "ask", rm]),
        ("sudo env A=1 rm -rf x", ["ask", "ask", "ask", rm]),
        ("bash -c 'sh -c \"rm -rf x\"'", ["ask", "ask", "ask", rm]),
        ("ls; echo $(rm -f x)", ["ask", "ask", "ask", rm]),
        ("{rm,-rf,x}", ["ask", "ask", "ask", rm]),
        // Neither.
        ("make", ["ask", "allow", "allow", "allow"]),
        ("ls > x", ["ask", "allow", "allow", "allow"]),
        ("ls; make", ["ask", "allow", "allow", "allow"]),
    ];
    for (script, expected) in rows {
        assert_eq!(all.map(|policy| of(policy, script, "")), expected, "{script}");
    }
}

/// D10.3, a sandbox override.
#[test]
fn leaving_the_sandbox_is_asked_about_where_there_is_one() {
    for sandbox in [workspace(), SandboxPolicy::ReadOnly] {
        let asked = question(decided(ON_REQUEST, sandbox, &escalated("make"), ""));
        assert_eq!((asked.unsandboxed, asked.reason.as_deref()), (true, Some("it dials")));
    }
    for sandbox in [SandboxPolicy::DangerFullAccess, SandboxPolicy::ExternalSandbox] {
        assert_eq!(short(decided(ON_REQUEST, sandbox, &escalated("make"), "")), "allow");
    }
    // A list never lets a command out (D10.6).
    assert_eq!(short(decided(ON_REQUEST, workspace(), &escalated("ls"), "")), "allow");
    let refused = "exec command rejected: approval required by policy, but \
                   AskForApproval::Granular.sandbox_approval is false";
    assert_eq!(short(decided(granular(false, true), workspace(), &escalated("make"), "")), refused);
    assert!(!question(decided(UNTRUSTED, workspace(), &effect("make"), "")).unsandboxed);
}

/// D10.3: the strictest decision wins.
#[test]
fn the_strictest_segment_decides() {
    let rules = "prefix_rule(pattern=['a'])\nprefix_rule(pattern=['p'], decision='prompt')\n\
                 prefix_rule(pattern=['f'], decision='forbidden')";
    let forbidden = |script: &str| {
        format!(
            "exec command rejected: `bash -lc '{script}'` rejected: policy forbids commands starting with `f`"
        )
    };
    let rows = [
        ("a", "unsandboxed".to_owned()),
        ("a 1 && a 2 | a", "unsandboxed".to_owned()),
        ("a && ls", "allow".to_owned()),
        ("a && make", "allow".to_owned()),
        ("a && p", "ask".to_owned()),
        ("p || f x", forbidden("p || f x")),
        ("a; f", forbidden("a; f")),
        ("a $(b)", "allow".to_owned()),
        ("a *", "allow".to_owned()),
        ("a $(f)", forbidden("a $(f)")),
        ("sudo f", forbidden("sudo f")),
    ];
    for (script, expected) in rows {
        assert_eq!(of(ON_REQUEST, script, rules), expected, "{script}");
    }
}

/// D10.4, each text.
#[test]
fn the_texts_of_refusals() {
    let never = "exec command rejected: approval required by policy, but AskForApproval is set to Never";
    let sandbox = "exec command rejected: approval required by policy, but \
                   AskForApproval::Granular.sandbox_approval is false";
    let rules = "exec command rejected: approval required by policy rule, but \
                 AskForApproval::Granular.rules is false";
    let prompt = "prefix_rule(pattern=['x'], decision='prompt')";
    let rows = [
        (
            NEVER,
            "x y",
            "prefix_rule(pattern=['x'], decision='forbidden', justification='no x here')",
            "exec command rejected: `bash -lc 'x y'` rejected: no x here",
        ),
        (
            ON_REQUEST,
            "x y z",
            "prefix_rule(pattern=['x'], decision='forbidden')\nprefix_rule(pattern=['x', 'y'], decision='forbidden')",
            "exec command rejected: `bash -lc 'x y z'` rejected: policy forbids commands starting with `x y`",
        ),
        (NEVER, "x", prompt, never),
        (granular(true, false), "x", prompt, rules),
        (granular(false, true), "x", prompt, "ask"),
        (granular(false, true), "rm -f x", "", sandbox),
        (granular(true, false), "rm -f x", "", "ask"),
        (UNTRUSTED, "x", prompt, "ask"),
    ];
    for (policy, script, rules, expected) in rows {
        assert_eq!(of(policy, script, rules), expected, "{policy:?} {script}");
    }
}

#[test]
fn the_texts_of_questions() {
    let reason = |rules: &str| question(decided(ON_REQUEST, workspace(), &effect("x y"), rules)).reason;
    assert_eq!(
        reason("prefix_rule(pattern=['x'], decision='prompt')").as_deref(),
        Some("`bash -lc 'x y'` requires approval by policy")
    );
    assert_eq!(
        reason("prefix_rule(pattern=['x'], decision='prompt', justification='look first')").as_deref(),
        Some("`bash -lc 'x y'` requires approval: look first")
    );
    assert_eq!(question(decided(UNTRUSTED, workspace(), &effect("x y"), "")).reason, None);
}

/// The prefix that is offered, if any.
fn prefix(command: &CommandEffect, rules: &str) -> Option<String> {
    let policy =
        if command.sandbox_permissions == SandboxPermissions::UseDefault { UNTRUSTED } else { ON_REQUEST };
    let scopes = question(decided(policy, workspace(), command, rules)).scopes;
    assert_eq!(scopes[..2], [ApprovalScope::Once, ApprovalScope::Session]);
    scopes.into_iter().find_map(|scope| match scope {
        ApprovalScope::Prefix { prefix, file } => {
            assert_eq!(file, std::path::Path::new("/home/rules/default.rules"));
            Some(prefix.join(" "))
        }
        ApprovalScope::Once | ApprovalScope::Session | ApprovalScope::McpTool { .. } => None,
    })
}

/// D10.5.
#[test]
fn a_lasting_rule_is_offered_where_it_speaks_for_all_and_is_not_too_wide() {
    let proposing = |script: &str, prefix: &[&str]| CommandEffect {
        prefix_rule: Some(prefix.iter().map(ToString::to_string).collect()),
        ..escalated(script)
    };
    let offered = [
        (proposing("git pull --rebase", &["git", "pull"]), "git pull"),
        (proposing("npm i && npm test", &["npm"]), "npm"),
        (proposing("python3 x.py", &["python3", "x.py"]), "python3 x.py"),
        (effect("make test"), "make test"),
        (escalated("make test"), "make test"),
    ];
    for (command, expected) in offered {
        assert_eq!(prefix(&command, "").as_deref(), Some(expected), "{command:?}");
    }
    let not_offered = [
        proposing("git pull", &["git"]),
        proposing("git pull", &[]),
        proposing("python3 -c x", &["python3", "-c"]),
        proposing("python3 -c x", &["python3"]),
        proposing("sudo make", &["sudo"]),
        proposing("env make", &["env"]),
        proposing("bash -lc make", &["bash", "-lc"]),
        proposing("/bin/bash -c make", &["/bin/bash"]),
        proposing("npx x", &["npx"]),
        proposing("timeout 5 x", &["timeout"]),
        proposing("/usr/bin/time x", &["/usr/bin/time"]),
        proposing("git commit -m ''", &["git", "commit", "-m", ""]),
        effect("make ''"),
        proposing("git pull", &["git", "push"]),
        proposing("git pull && make", &["git", "pull"]),
        proposing("git pull *", &["git", "pull"]),
        proposing("git pull $x", &["git", "pull"]),
        effect("make && ./x"),
        effect("rm -rf x"),
        effect("git"),
        effect("make > x"),
    ];
    for command in not_offered {
        assert_eq!(prefix(&command, ""), None, "{command:?}");
    }
    // A proposal without an escalation is none; the command itself is.
    let unasked = CommandEffect { prefix_rule: Some(vec!["make".to_owned()]), ..effect("make test") };
    assert_eq!(prefix(&unasked, "").as_deref(), Some("make test"));
    assert_eq!(prefix(&proposing("x y", &["x"]), "prefix_rule(pattern=['x'], decision='prompt')"), None);
}

#[test]
fn what_is_not_looked_through_is_asked_about_where_a_rule_restricts() {
    let long = format!("x=1; {}", "a".repeat(70_000));
    for script in [&long, "a; if then"] {
        assert_eq!(of(ON_REQUEST, script, ""), "allow");
        assert_eq!(of(ON_REQUEST, script, "prefix_rule(pattern=['y'])"), "allow");
        assert_eq!(of(ON_REQUEST, script, "prefix_rule(pattern=['y'], decision='forbidden')"), "ask");
    }
}

const NO_PUSH: &str = "prefix_rule(pattern=['git', 'push'], decision='forbidden', justification='no push')";
/// A push that can be read off the line, however it is written.
const PUSHES: [&str; 81] = [
    "git push",
    "git\tpush",
    "\\git push",
    "\"git\" push",
    "g\"\"it pu''sh",
    "git -C . push",
    "git -c a.b=c push",
    "git --no-pager push",
    "git --git-dir .git --work-tree . push --force",
    "cd x && /usr/bin/git -C 'a b' push",
    "GIT_DIR=. git push",
    "env git push",
    "env -S 'git push'",
    "command git push",
    "exec git push",
    "busybox git push",
    "eval 'git push'",
    "alias p='git push'; p",
    "if true; then git push; fi",
    "sh -c 'git -C . push'",
    "xargs git push < /dev/null",
    "timeout 5 git push",
    "nice git --no-pager push",
    "! git push",
    "time git push",
    "nohup git push",
    "watch 'git push'",
    "find . -maxdepth 0 -exec git push \\;",
    "sh <<< 'git push'",
    "trap 'git push' EXIT",
    "sh <<EOF\n\\git push\nEOF",
    "sh <<'EOF'\n\\git push\nEOF",
    "sh <<-EOF\n\tgi\\\nt push\n\tEOF\n",
    "sh <<EOF\nsh -c \"\\\\git push\"\nEOF\n",
    "cat <<EOF\n`git push`\nEOF\n",
    "cat <<EOF >/dev/null; git push\na\nEOF\n",
    "git > log push",
    "git <<< a push",
    "time -p until false; do git push\nbreak\ndone",
    "time ! git push",
    "builtin exec git push",
    "{git,push}",
    "fish -c 'git push'",
    "/usr/lib/git-core/git-push origin",
    "sudo git-push",
    "nice -n 5 git push",
    "stdbuf -oL git push",
    "setsid git push",
    "coproc git push",
    "[[ -n x ]] && git push",
    "case x in x) git push;; esac",
    "shopt -s expand_aliases\nalias p='git push'\np",
    "ls() { git push; }; ls",
    "PATH=.:$PATH git push",
    "LD_PRELOAD=x git push",
    "GIT_SSH_COMMAND=x git push",
    "git -c core.pager=x push",
    "git --exec-path=/x push",
    "cat <(git push)",
    "cat > >(git push)",
    "ls > file; git push",
    "$'git' push",
    "sh -c -- 'git push'",
    "trap -- 'git push' EXIT",
    "env --split-string='git push'",
    "env -iS'git push'",
    "su bob -c'git push'",
    "git rebase --exec 'git push' HEAD~1",
    "git submodule foreach git push",
    "parallel git push ::: a",
    "noglob git push",
    "fd x -xgit push",
    "bwrap --bind / / git push",
    "xargs -a file git push",
    "select x in a; do git push; done",
    "until git push; do :; done",
    "echo ${x:=$(git push)}",
    "for x in $(git push); do :; done",
    "export X=$(git push)",
    "test -n \"$(git push)\"",
    "ls #\ngit push",
];
/// What may be one, for all that can be read off the line.
const MAY_PUSH: [&str; 57] = [
    "git pu$x",
    "git $(echo push)",
    "git `echo push`",
    "git \"$x\"",
    "git $x --force",
    "x=push; git $x",
    "g=git; $g push",
    "f(){ git \"$@\"; }; f push",
    "\"$@\"",
    "git pu*",
    "git {push,origin}",
    "git -C $x log",
    "git -C . $x",
    "git -c alias.p=push p",
    "echo 'git push' | sh",
    "echo 'git push' | bash -s",
    "echo 'git push' | bash -o pipefail",
    "echo 'git push' | sudo bash -",
    "echo 'git push' | sh /dev/stdin",
    "curl https://x | sh",
    "bash",
    "bash < s.sh",
    "bash <(echo git push)",
    "source <(echo git push)",
    "sh -c \"$x\"",
    "sh -c \"git $x\"",
    "eval $x",
    "eval \"$(cat x)\"",
    "echo push | xargs git",
    "echo push | xargs -I X git X",
    "echo 'git push' | xargs -I% sh -c %",
    "sudo $x push",
    "env $x",
    "trap \"$x\" EXIT",
    "sh <<EOF\necho $x\nEOF\n",
    "sh <<EOF\n\\$x push\nEOF\n",
    "sh <<< ls < s.sh",
    "sh /dev/fd/3 3<<EOF\ngit push\nEOF\n",
    "sh <<EOF",
    "${x:-git} push",
    "$'\\x67it' push",
    "shopt -s expand_aliases\nalias g=git\ng push",
    "printf push | xargs git",
    "printf push | xargs -rIX git X",
    "printf push | xargs --replace=X git X",
    "printf 'git push' | parallel",
    "parallel git ::: push",
    "echo Z2l0IHB1c2g= | base64 -d | sh",
    "echo 'git push' | sudo -s",
    "echo 'git push' | su",
    "echo 'git push' | unshare -r",
    "bash --rcfile <(echo git push) -ic true",
    "sh -c '\"$@\"' _ git push",
    "sh -c '$0 push' git",
    "set -- git push; \"$@\"",
    "git rebase --exec \"$x\"",
    "find . -name push -exec git {} \\;",
];

#[test]
fn a_rule_that_forbids_is_not_got_round_by_spelling() {
    for script in PUSHES {
        let command = shown(&effect(script).argv);
        for policy in [ON_REQUEST, UNTRUSTED, granular(true, true), NEVER] {
            let expected = format!("exec command rejected: `{command}` rejected: no push");
            assert_eq!(of(policy, script, NO_PUSH), expected, "{policy:?} {script}");
        }
    }
    for script in MAY_PUSH {
        for policy in [ON_REQUEST, UNTRUSTED, granular(true, true)] {
            assert_eq!(of(policy, script, NO_PUSH), "ask", "{policy:?} {script}");
        }
        assert_eq!(of(NEVER, script, NO_PUSH), format!("exec command rejected: {NEVER_TEXT}"), "{script}");
        // Without a rule that restricts there is nothing to get round.
        for rules in ["", "prefix_rule(pattern=['git', 'push'])"] {
            assert_eq!(of(ON_REQUEST, script, rules), "allow", "{script}");
        }
    }
}

#[test]
fn a_rule_that_allows_speaks_of_its_very_words() {
    let rules = "prefix_rule(pattern=['git', 'push'])";
    assert_eq!(of(ON_REQUEST, "git push", rules), "unsandboxed");
    for script in PUSHES.iter().filter(|script| !matches!(**script, "git push" | "git\tpush")) {
        let plain = of(ON_REQUEST, script, rules);
        let quoted = script.starts_with(['"', '\\']) || script.starts_with("g\"\"");
        assert_eq!(plain, if quoted { "unsandboxed" } else { "allow" }, "{script}");
    }
}

/// An allowing rule on what runs others does not lift one that restricts those.
#[test]
fn what_is_not_known_is_asked_about_whatever_allows_the_rest() {
    let rules = format!("{NO_PUSH}\nprefix_rule(pattern=['xargs'])\nprefix_rule(pattern=['echo'])");
    assert_eq!(of(ON_REQUEST, "echo push | xargs git", &rules), "ask");
    assert_eq!(of(ON_REQUEST, "echo push | xargs make", &rules), "unsandboxed");
}

#[test]
fn what_cannot_be_one_runs() {
    let scripts = [
        "git log -1",
        "git commit -m \"$x\"",
        "git -C . log $x",
        "git -C push log",
        "git stash push",
        "for f in *; do git add \"$f\"; done",
        "x=1; echo $x | grep 1",
        "bash s.sh",
        "bash --version",
        "make \"$x\"",
        "cat <<EOF\ngit push\nEOF\n",
        "ls | xargs grep push",
        "[ -f x ] && ls *",
        "env A=1 make \"$x\"",
        "rg 'git push'",
        "source venv/bin/activate",
    ];
    for script in scripts {
        assert_eq!(of(ON_REQUEST, script, NO_PUSH), "allow", "{script}");
    }
}

#[test]
fn the_reason_is_named() {
    let reason = |script: &str| question(decided(ON_REQUEST, workspace(), &effect(script), NO_PUSH)).reason;
    assert_eq!(
        reason("rm -rf x").as_deref(),
        Some("`bash -lc 'rm -rf x'` requires approval: it is a forced rm")
    );
    assert_eq!(
        reason("git $x").as_deref(),
        Some(
            "`bash -lc 'git $x'` requires approval: what it runs is not known before it runs, and there are rules \
             that restrict"
        )
    );
    let plain = "prefix_rule(pattern=['git', 'push'], decision='forbidden')";
    assert_eq!(
        of(ON_REQUEST, "git -C . push x", plain),
        "exec command rejected: `bash -lc 'git -C . push x'` rejected: policy forbids commands starting with `git \
         push`"
    );
}

#[path = "spelling_tests.rs"]
mod spelling;
