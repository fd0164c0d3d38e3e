//! Commands: decided by rules, by the lists of known and dangerous ones, and by the approval policy (runtime.md D10).

use std::path::PathBuf;

use tenon_tools::{ApprovalPolicy, ApprovalScope, CommandEffect, SandboxPermissions, StepContext};

use super::no_sandbox_question;
use crate::policy::commands::{CommandLine, Reached, Segment, is_dangerous, is_known_safe, reach};
use crate::policy::{Decision, ExecRules, Matched, PolicyDecision, PrefixRule, Question};

/// Why a dangerous command is refused where nobody may be asked (runtime.md D10.3).
const DANGEROUS: &str = "rm -f style commands are not permitted. Use a safer approach";
/// Why a rule's question is not asked under granular without `rules` (runtime.md D10.4).
const NO_RULE_QUESTION: &str =
    "approval required by policy rule, but AskForApproval::Granular.rules is false";

/// Programs that run whatever they are given: a rule on one of them alone, or with the flag behind which its script
/// stands, would allow everything (runtime.md D10.5).
const TOO_WIDE: [&str; 36] = [
    "bash",
    "sh",
    "zsh",
    "dash",
    "ksh",
    "fish",
    "ash",
    "pwsh",
    "powershell",
    "env",
    "sudo",
    "doas",
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
    "xargs",
    "eval",
    "exec",
    "busybox",
    "nohup",
];
/// Those flags.
const SCRIPT_FLAGS: [&str; 10] = ["-c", "-lc", "-ic", "-e", "-r", "-p", "-m", "-", "-Command", "run"];

/// What one command, or all of a line, comes to.
struct Verdict<'r> {
    decision: Decision,
    /// The rules that say so, and the words they match; none where a list or the approval policy does.
    rule: Option<(&'r PrefixRule, Vec<String>)>,
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
    let by_rule =
        || judged.iter().filter(|verdict| verdict.decision == strictest).find_map(|v| v.rule.as_ref());
    match strictest {
        Decision::Allow if judged.iter().all(|verdict| verdict.rule.is_some()) => {
            PolicyDecision::AllowUnsandboxed
        }
        Decision::Allow => PolicyDecision::Allow,
        Decision::Forbidden => refused(&match by_rule() {
            Some((rule, words)) => forbidden(&command.argv, rule, words),
            None => DANGEROUS.to_owned(),
        }),
        Decision::Prompt => match no_question(step.approval, by_rule().is_some()) {
            Some(text) => refused(text),
            None => {
                let reason = by_rule().map(|(rule, _)| required(&command.argv, rule));
                let mut scopes = vec![ApprovalScope::Once, ApprovalScope::Session];
                scopes.extend(rule_file.and_then(|file| offered(command, &line, rules, file)));
                PolicyDecision::Ask(Question {
                    reason: reason.or_else(|| command.justification.clone()),
                    scopes,
                    unsandboxed: asks_to_leave(command),
                })
            }
        },
    }
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
        let known: Vec<Option<&str>> = words.iter().map(Option::as_deref).collect();
        let matched = rules.matching(&known, false)?;
        let words: Vec<String> = words.iter().map_while(Clone::clone).collect();
        Some(verdict_of(&matched, &words))
    });
    let judged = own.unwrap_or_else(|| Verdict {
        decision: unmatched(step, command, segment, &behind, rules),
        rule: None,
    });
    hidden.fold(judged, |judged, hidden| if hidden.decision > judged.decision { hidden } else { judged })
}

/// The longest rule that decides speaks for all, one with a justification before one without.
fn verdict_of<'r>(matched: &Matched<'r>, words: &[String]) -> Verdict<'r> {
    let speaks = |rule: &&&PrefixRule| (rule.justification().is_some(), rule.pattern().len());
    let rule = matched.rules.iter().max_by_key(speaks).map(|rule| {
        let words = words.iter().take(rule.pattern().len()).cloned().collect();
        (*rule, words)
    });
    Verdict { decision: matched.decision, rule }
}

/// The table of D10.3 for what no rule speaks about. The first row that holds counts.
fn unmatched(
    step: &StepContext,
    command: &CommandEffect,
    segment: &Segment,
    behind: &Reached,
    rules: &ExecRules,
) -> Decision {
    if is_known_safe(segment) {
        return Decision::Allow;
    }
    if behind.commands.iter().any(|words| is_dangerous(words)) {
        return match step.approval {
            ApprovalPolicy::Never => Decision::Forbidden,
            ApprovalPolicy::UnlessTrusted | ApprovalPolicy::OnRequest | ApprovalPolicy::Granular(_) => {
                Decision::Prompt
            }
        };
    }
    // What a rule restricts could be anywhere in what was not looked through.
    if behind.too_much && rules.prefixes().iter().any(|rule| rule.decision() > Decision::Allow) {
        return Decision::Prompt;
    }
    match step.approval {
        ApprovalPolicy::Never => Decision::Allow,
        ApprovalPolicy::UnlessTrusted => Decision::Prompt,
        ApprovalPolicy::OnRequest | ApprovalPolicy::Granular(_) => {
            let leaves = command.sandbox_permissions != SandboxPermissions::UseDefault;
            if leaves && !step.sandbox.is_unrestricted() { Decision::Prompt } else { Decision::Allow }
        }
    }
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
    if !certain || is_too_wide(&prefix) {
        return None;
    }
    let speaks_for = |segment: &Segment| {
        let behind = reach(&segment.words);
        let known = |words: &Vec<Option<String>>| {
            let words: Vec<Option<&str>> = words.iter().map(Option::as_deref).collect();
            rules.matching(&words, true).is_some()
        };
        segment.words.starts_with(&prefix)
            && !behind.commands.iter().any(|words| known(words) || is_dangerous(words))
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
    bare && TOO_WIDE.contains(&program)
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

fn required(argv: &[String], rule: &PrefixRule) -> String {
    let command = shown(argv);
    match rule.justification() {
        Some(justification) => format!("`{command}` requires approval: {justification}"),
        None => format!("`{command}` requires approval by policy"),
    }
}

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
