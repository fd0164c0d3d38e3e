//! Commands: decided by rules, by the lists of known and dangerous ones, and by the approval policy (runtime.md D10).

use std::path::PathBuf;

use tenon_tools::{ApprovalPolicy, ApprovalScope, CommandEffect, SandboxPermissions, StepContext};

use super::no_sandbox_question;
use crate::policy::commands::{
    CommandLine, Reached, Segment, is_dangerous, is_known_safe, reach, runs_its_arguments,
};
use crate::policy::{Decision, ExecRules, Matched, PolicyDecision, PrefixRule, Question};

/// Why a dangerous command is refused where nobody may be asked (runtime.md D10.3).
const DANGEROUS: &str = "rm -f style commands are not permitted. Use a safer approach";
/// Why it is asked about where somebody may be.
const FORCED_RM: &str = "it is a forced rm";
/// Why a command is asked about that may be one which a rule restricts.
const NOT_KNOWN: &str = "what it runs is not known before it runs, and there are rules that restrict";
/// Why a rule's question is not asked under granular without `rules` (runtime.md D10.4).
const NO_RULE_QUESTION: &str =
    "approval required by policy rule, but AskForApproval::Granular.rules is false";

/// Why somebody is asked about a command that the sandbox has stopped (runtime.md D9.b).
const RETRY: &str = "command failed; retry without sandbox?";

/// Programs that run whatever they are given: a rule on one of them alone, or with the flag behind which its script
/// stands, would allow everything (runtime.md D10.5). So would one on a program that runs its arguments.
const TOO_WIDE: [&str; 29] = [
    "bash",
    "sh",
    "zsh",
    "dash",
    "ksh",
    "fish",
    "ash",
    "pwsh",
    "powershell",
    "git",
    "python",
    "python2",
    "python3",
    "pypy",
    "pypy3",
    "node",
    "deno",
    "bun",
    "perl",
    "ruby",
    "php",
    "lua",
    "osascript",
    "npx",
    "bunx",
    "pnpx",
    "uvx",
    "pipx",
    "eval",
];
/// Those flags.
const SCRIPT_FLAGS: [&str; 10] = ["-c", "-lc", "-ic", "-e", "-r", "-p", "-m", "-", "-Command", "run"];

/// What one command, or all of a line, comes to.
struct Verdict<'r> {
    decision: Decision,
    by: By<'r>,
}

/// What a verdict goes by.
enum By<'r> {
    /// A rule, and the words that it speaks of.
    Rule(&'r PrefixRule, Vec<String>),
    /// It is a forced `rm`.
    Dangerous,
    /// There is a rule that restricts, and it is not known whether it matches.
    NotKnown,
    /// The table.
    Table,
}

/// Decides on a command.
pub(super) fn decide(
    step: &StepContext,
    command: &CommandEffect,
    rules: &ExecRules,
    rule_file: Option<PathBuf>,
) -> PolicyDecision {
    let line = CommandLine::of(&command.argv);
    let judged: Vec<Verdict<'_>> =
        line.segments.iter().map(|segment| judge(step, command, segment, rules)).collect();
    let strictest = judged.iter().map(|verdict| verdict.decision).max().unwrap_or(Decision::Prompt);
    let deciding =
        || judged.iter().filter(|verdict| verdict.decision == strictest).map(|verdict| &verdict.by);
    // A rule says more than anything else, and that the words are not known less.
    let by = deciding().find(|by| matches!(by, By::Rule(..)));
    let by = by.or_else(|| deciding().find(|by| matches!(by, By::Dangerous)));
    let by = by.or_else(|| deciding().find(|by| matches!(by, By::NotKnown))).unwrap_or(&By::Table);
    match strictest {
        Decision::Allow if judged.iter().all(|verdict| matches!(verdict.by, By::Rule(..))) => {
            PolicyDecision::AllowUnsandboxed
        }
        Decision::Allow => PolicyDecision::Allow,
        Decision::Forbidden => refused(&match by {
            By::Rule(rule, words) => forbidden(&command.argv, rule, words),
            By::Dangerous | By::NotKnown | By::Table => DANGEROUS.to_owned(),
        }),
        Decision::Prompt => match no_question(step.approval, matches!(by, By::Rule(..))) {
            Some(text) => refused(text),
            None => {
                let mut scopes = vec![ApprovalScope::Once, ApprovalScope::Session];
                scopes.extend(rule_file.and_then(|file| offered(command, &line, rules, file)));
                PolicyDecision::Ask(Question {
                    reason: reason(command, by),
                    scopes,
                    unsandboxed: asks_to_leave(command),
                })
            }
        },
    }
}

/// Why it is asked about: our own reason before the model's.
fn reason(command: &CommandEffect, by: &By<'_>) -> Option<String> {
    let own = match by {
        By::Rule(rule, _) => Some(required(&command.argv, rule.justification())),
        By::Dangerous => Some(required(&command.argv, Some(FORCED_RM))),
        By::NotKnown => Some(required(&command.argv, Some(NOT_KNOWN))),
        By::Table => None,
    };
    own.or_else(|| command.justification.clone())
}

/// The decision on one segment: by the strictest rule on it or on anything behind it, else by the table of D10.3.
fn judge<'r>(
    step: &StepContext,
    command: &CommandEffect,
    segment: &Segment,
    rules: &'r ExecRules,
) -> Verdict<'r> {
    let behind = reach(&segment.words);
    let own: Vec<Option<&str>> = segment.words.iter().map(|word| Some(word.as_str())).collect();
    let own = rules.matching(&own, segment.certain).map(|matched| verdict_of(&matched, &segment.words));
    let hidden = behind.commands.iter().filter_map(|words| {
        let matched = rules.matching(&known(words), false)?;
        let words: Vec<String> = words.iter().map_while(Clone::clone).collect();
        Some(verdict_of(&matched, &words))
    });
    let not_known =
        is_not_known(&behind, rules).then_some(Verdict { decision: Decision::Prompt, by: By::NotKnown });
    let judged = own.unwrap_or_else(|| unmatched(step, command, segment, &behind));
    let stricter =
        |one: Verdict<'r>, other: Verdict<'r>| if other.decision > one.decision { other } else { one };
    hidden.chain(not_known).fold(judged, stricter)
}

/// Whether a rule that restricts may match without anybody knowing.
fn is_not_known(behind: &Reached, rules: &ExecRules) -> bool {
    let may = |words: &Vec<Option<String>>| rules.may_restrict(&known(words));
    (behind.too_much && rules.restricts()) || behind.commands.iter().any(may)
}

fn known(words: &[Option<String>]) -> Vec<Option<&str>> {
    words.iter().map(Option::as_deref).collect()
}

/// The longest rule that decides speaks for all, one with a justification before one without.
fn verdict_of<'r>(matched: &Matched<'r>, words: &[String]) -> Verdict<'r> {
    let speaks = |rule: &&&PrefixRule| (rule.justification().is_some(), rule.pattern().len());
    let rule = matched.rules.iter().max_by_key(speaks);
    let by = rule.map_or(By::Table, |rule| By::Rule(rule, rule.spoken_of(words)));
    Verdict { decision: matched.decision, by }
}

/// The table of D10.3 for what no rule speaks about. The first row that holds counts.
fn unmatched<'r>(
    step: &StepContext,
    command: &CommandEffect,
    segment: &Segment,
    behind: &Reached,
) -> Verdict<'r> {
    let by_table = |decision| Verdict { decision, by: By::Table };
    if is_known_safe(segment) {
        return by_table(Decision::Allow);
    }
    if behind.commands.iter().any(|words| is_dangerous(words)) {
        let decision = match step.approval {
            ApprovalPolicy::Never => Decision::Forbidden,
            ApprovalPolicy::UnlessTrusted | ApprovalPolicy::OnRequest | ApprovalPolicy::Granular(_) => {
                Decision::Prompt
            }
        };
        return Verdict { decision, by: By::Dangerous };
    }
    by_table(match step.approval {
        ApprovalPolicy::Never => Decision::Allow,
        ApprovalPolicy::UnlessTrusted => Decision::Prompt,
        ApprovalPolicy::OnRequest | ApprovalPolicy::Granular(_) => {
            let leaves = command.sandbox_permissions != SandboxPermissions::UseDefault;
            if leaves && !step.sandbox.is_unrestricted() { Decision::Prompt } else { Decision::Allow }
        }
    })
}

/// What is asked where the sandbox has stopped a command (runtime.md D9.b, rows 5 and 6). A patch has no such question:
/// no sandbox confines it, and where its files lie was asked about before.
pub(super) fn retry(policy: ApprovalPolicy) -> Option<Question> {
    let may_ask = match policy {
        ApprovalPolicy::Never | ApprovalPolicy::OnRequest => false,
        ApprovalPolicy::UnlessTrusted => true,
        ApprovalPolicy::Granular(granular) => granular.sandbox_approval,
    };
    let reason = Some(RETRY.to_owned());
    may_ask.then(|| Question { reason, scopes: vec![ApprovalScope::Once], unsandboxed: true })
}

/// Why a question is not asked; none where it is.
fn no_question(policy: ApprovalPolicy, by_rule: bool) -> Option<&'static str> {
    match policy {
        ApprovalPolicy::Granular(granular) if by_rule => (!granular.rules).then_some(NO_RULE_QUESTION),
        ApprovalPolicy::Granular(_)
        | ApprovalPolicy::UnlessTrusted
        | ApprovalPolicy::OnRequest
        | ApprovalPolicy::Never => no_sandbox_question(policy),
    }
}

fn asks_to_leave(command: &CommandEffect) -> bool {
    match command.sandbox_permissions {
        SandboxPermissions::RequireEscalated => true,
        SandboxPermissions::UseDefault | SandboxPermissions::WithAdditionalPermissions => false,
    }
}

/// The lasting rule that is offered: what the model proposes with an escalation, else the words of a plain command
/// (runtime.md D10.5). It must be one that speaks for every segment, where no rule has spoken, and not too wide.
fn offered(
    command: &CommandEffect,
    line: &CommandLine,
    rules: &ExecRules,
    file: PathBuf,
) -> Option<ApprovalScope> {
    let certain = line.split && line.segments.iter().all(|segment| segment.certain);
    let prefix = match (&command.prefix_rule, &line.segments[..]) {
        (Some(proposed), _) if asks_to_leave(command) => proposed.clone(),
        (_, [only]) => only.words.clone(),
        (_, _) => return None,
    };
    // An empty word is no part of a rule.
    if !certain || is_too_wide(&prefix) || prefix.iter().any(String::is_empty) {
        return None;
    }
    let speaks_for = |segment: &Segment| {
        let behind = reach(&segment.words);
        let spoken = |words: &Vec<Option<String>>| rules.matching(&known(words), true).is_some();
        segment.words.starts_with(&prefix)
            && !is_not_known(&behind, rules)
            && !behind.commands.iter().any(|words| spoken(words) || is_dangerous(words))
    };
    line.segments.iter().all(speaks_for).then_some(ApprovalScope::Prefix { prefix, file })
}

/// Whether a rule on these words would allow about everything (runtime.md D10.5).
pub(super) fn is_too_wide(prefix: &[String]) -> bool {
    let Some((program, rest)) = prefix.split_first() else { return true };
    let program = program.rsplit('/').next().unwrap_or(program);
    let bare = match rest {
        [] => true,
        [flag] => SCRIPT_FLAGS.contains(&flag.as_str()),
        _ => false,
    };
    bare && (TOO_WIDE.contains(&program) || runs_its_arguments(program))
}

/// Words as a shell would read them.
pub(super) fn shown(words: &[String]) -> String {
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "))
}

fn refused(reason: &str) -> PolicyDecision {
    PolicyDecision::Deny { text: format!("exec command rejected: {reason}") }
}

fn forbidden(argv: &[String], rule: &PrefixRule, words: &[String]) -> String {
    let command = shown(argv);
    match rule.justification() {
        Some(justification) => format!("`{command}` rejected: {justification}"),
        None if !words.is_empty() => {
            format!("`{command}` rejected: policy forbids commands starting with `{}`", shown(words))
        }
        None => format!("`{command}` rejected: blocked by policy"),
    }
}

fn required(argv: &[String], justification: Option<&str>) -> String {
    let command = shown(argv);
    match justification {
        Some(justification) => format!("`{command}` requires approval: {justification}"),
        None => format!("`{command}` requires approval by policy"),
    }
}

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
