//! Commands that are known to read alone, whatever they are given (runtime.md D10.3).
//!
//! A list for convenience and no boundary: what it lets through is still sandboxed. It is kept short, and each command
//! with an option that writes or runs something has its options named.

use super::{Segment, name};

/// Where programs are looked for that may count as known by their path.
const SYSTEM_FOLDERS: [&str; 3] = ["/bin", "/usr/bin", "/usr/local/bin"];

/// Programs that write nothing and run nothing, whatever their arguments.
const READERS: [&str; 25] = [
    "cat", "cd", "cut", "echo", "expr", "false", "grep", "head", "id", "ls", "nl", "numfmt", "paste", "pwd",
    "rev", "seq", "stat", "tac", "tail", "tr", "true", "uname", "wc", "which", "whoami",
];
/// Options of `find` that run, write or remove.
const FIND_ACTS: [&str; 9] =
    ["-exec", "-execdir", "-ok", "-okdir", "-delete", "-fls", "-fprint", "-fprint0", "-fprintf"];
/// Options of `rg` that run another program.
const RG_RUNS: [&str; 4] = ["--pre", "--hostname-bin", "--search-zip", "-z"];
/// What `git` may be asked for.
const GIT_READS: [&str; 4] = ["status", "log", "diff", "show"];
/// Options of them that write a file or run a program.
const GIT_ACTS: [&str; 4] = ["--output", "--ext-diff", "--textconv", "--exec"];
/// What `git branch` may be given.
const GIT_BRANCH_LISTS: [&str; 8] =
    ["--list", "-l", "--show-current", "-a", "--all", "-r", "--remotes", "-v"];

/// Whether a command is known to read alone.
pub(in crate::policy) fn is_known_safe(segment: &Segment) -> bool {
    let Some((program, arguments)) = segment.words.split_first() else { return false };
    let Some(program) = known_name(program) else { return false };
    if READERS.contains(&program) {
        return true;
    }
    // What a glob makes of the arguments may be an option.
    segment.certain && has_only_safe_options(program, arguments)
}

/// The name of a program that is looked for where it should be. A file of the same name elsewhere is another program.
fn known_name(program: &str) -> Option<&str> {
    match program.rsplit_once('/') {
        None => Some(program),
        Some((folder, _)) => SYSTEM_FOLDERS.contains(&folder).then(|| name(program)),
    }
}

fn has_only_safe_options(program: &str, arguments: &[String]) -> bool {
    let none_of =
        |acts: &[&str]| !arguments.iter().any(|argument| acts.iter().any(|act| is_option(argument, act)));
    match program {
        "base64" => {
            !arguments.iter().any(|argument| has_letter(argument, 'o') || argument.starts_with("--o"))
        }
        "find" => none_of(&FIND_ACTS),
        "rg" => none_of(&RG_RUNS) && !arguments.iter().any(|argument| has_letter(argument, 'z')),
        // The second operand is written.
        "uniq" => operands(arguments) <= 1,
        "sed" => is_plain_print(arguments),
        "git" => git_reads(arguments),
        _ => false,
    }
}

/// How many arguments may be operands: `-` is one, and so is each behind `--`.
fn operands(arguments: &[String]) -> usize {
    let options = arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len());
    let before =
        arguments.iter().take(options).filter(|argument| *argument == "-" || !argument.starts_with('-'));
    before.count() + arguments.len().saturating_sub(options + 1)
}

/// The option itself, or it with a value behind `=`.
fn is_option(argument: &str, option: &str) -> bool {
    argument.strip_prefix(option).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
}

/// Whether a cluster of short options has this letter.
fn has_letter(argument: &str, letter: char) -> bool {
    argument.starts_with('-') && !argument.starts_with("--") && argument.contains(letter)
}

/// `sed -n 3p FILE` or `sed -n 3,5p FILE`: everything else of sed may write or run.
fn is_plain_print(arguments: &[String]) -> bool {
    let [flag, script, rest @ ..] = arguments else { return false };
    let range = script.strip_suffix('p').unwrap_or_default();
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let lines = match range.split_once(',') {
        Some((from, to)) => number(from) && number(to),
        None => number(range),
    };
    flag == "-n" && lines && rest.len() <= 1 && !rest.iter().any(|file| file.starts_with('-'))
}

/// Options before the subcommand may name programs to run, so none are taken.
fn git_reads(arguments: &[String]) -> bool {
    let Some((subcommand, rest)) = arguments.split_first() else { return false };
    if subcommand == "branch" {
        return rest.iter().all(|argument| GIT_BRANCH_LISTS.contains(&argument.as_str()));
    }
    // Long options may be shortened, so every beginning of one that acts is one.
    let acts = |argument: &String| {
        let option = argument.split('=').next().unwrap_or_default();
        option.len() > 2 && GIT_ACTS.iter().any(|act| act.starts_with(option)) || option == "-o"
    };
    GIT_READS.contains(&subcommand.as_str()) && !rest.iter().any(acts)
}

#[cfg(test)]
#[path = "safe_tests.rs"]
mod tests;
