//! What a command would have other programs run: behind `sudo`, `env` and the like, and in the scripts of nested
//! shells.

use std::collections::VecDeque;

use tenon_shell_parse::{FoundCommand, commands_within};

use super::name;

/// How deep shells may be nested in each other before it is no longer followed (runtime.md D10.3).
const MAX_DEPTH: usize = 8;
/// Commands that one line may have run before it is no longer followed.
const MAX_COMMANDS: usize = 512;

/// Programs that run their arguments, with the number of operands that stand before the command.
const WRAPPERS: [(&str, usize); 24] = [
    ("sudo", 0),
    ("doas", 0),
    ("env", 0),
    ("nice", 0),
    ("ionice", 0),
    ("chrt", 1),
    ("taskset", 1),
    ("nohup", 0),
    ("setsid", 0),
    ("stdbuf", 0),
    ("timeout", 1),
    ("time", 0),
    ("command", 0),
    ("exec", 0),
    ("builtin", 0),
    ("xargs", 0),
    ("parallel", 0),
    ("watch", 0),
    ("busybox", 0),
    ("chroot", 1),
    ("unshare", 0),
    ("nsenter", 0),
    ("strace", 0),
    ("flock", 1),
];
/// Programs that run what stands behind one of their options.
const FINDERS: [&str; 3] = ["find", "fd", "fdfind"];
/// Those options.
const FINDERS_RUN: [&str; 8] = ["-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"];
/// Shells, which run what stands behind `-c`, or what they are given to read.
const SHELLS: [&str; 7] = ["bash", "sh", "zsh", "dash", "ksh", "ash", "mksh"];

/// The commands behind a command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::policy) struct Reached {
    /// Their words, as far as they are known. The command itself is the first.
    pub(in crate::policy) commands: Vec<Vec<Option<String>>>,
    /// Whether there was more than is followed or understood.
    pub(in crate::policy) too_much: bool,
}

/// Finds what is behind a command.
pub(in crate::policy) fn reach(words: &[String]) -> Reached {
    let first = FoundCommand { words: words.iter().cloned().map(Some).collect(), input: None };
    let mut queue = VecDeque::from([(first, 0)]);
    let mut reached = Reached::default();
    while let Some((command, depth)) = queue.pop_front() {
        if reached.commands.len() >= MAX_COMMANDS {
            reached.too_much = true;
            return reached;
        }
        let scripts = scripts_of(&command);
        if depth >= MAX_DEPTH && !scripts.is_empty() {
            reached.too_much = true;
        }
        for script in scripts.iter().filter(|_| depth < MAX_DEPTH) {
            let found = commands_within(script);
            reached.too_much |= !found.complete;
            queue.extend(found.commands.into_iter().map(|inner| (inner, depth + 1)));
        }
        queue.extend(starts_of(&command).into_iter().map(|inner| (inner, depth)));
        reached.commands.push(command.words);
    }
    reached
}

/// What a wrapper may run.
fn starts_of(command: &FoundCommand) -> Vec<FoundCommand> {
    let Some(Some(program)) = command.words.first() else { return Vec::new() };
    let program = name(program);
    let places = if FINDERS.contains(&program) {
        let runs =
            |word: &Option<String>| word.as_ref().is_some_and(|word| FINDERS_RUN.contains(&word.as_str()));
        let options = command.words.iter().enumerate().filter(|(_, word)| runs(word));
        options.map(|(place, _)| place + 1).collect()
    } else if let Some((_, operands)) = WRAPPERS.iter().find(|(wrapper, _)| *wrapper == program) {
        possible_starts(&command.words, *operands)
    } else {
        Vec::new()
    };
    let rest = |start| command.words.iter().skip(start).cloned().collect();
    places
        .into_iter()
        .map(|start| FoundCommand { words: rest(start), input: command.input.clone() })
        .collect()
}

/// Where a wrapper's command may begin: at its first word that is no option, no assignment and none of its own
/// operands. Behind an option, a word may be its argument as well, so that the next one is taken too: a guess too many
/// makes a decision stricter, one that is missed would make it weaker.
fn possible_starts(words: &[Option<String>], operands: usize) -> Vec<usize> {
    let (mut places, mut left, mut unsure) = (Vec::new(), operands, false);
    for (place, word) in words.iter().enumerate().skip(1) {
        let Some(word) = word else {
            unsure = true;
            continue;
        };
        if word.starts_with('-') && word.len() > 1 {
            unsure = word != "--";
        } else if is_assignment(word) {
            unsure = false;
        } else {
            places.push(place);
            if !unsure && left == 0 {
                break;
            }
            left = left.saturating_sub(usize::from(!unsure));
            unsure = false;
        }
    }
    places
}

fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// The scripts that a command runs.
fn scripts_of(command: &FoundCommand) -> Vec<String> {
    let Some((Some(program), arguments)) = command.words.split_first() else { return Vec::new() };
    let known = || arguments.iter().flatten();
    let name = name(program);
    if name == "eval" {
        let words: Vec<&str> = known().map(String::as_str).collect();
        return vec![words.join(" ")];
    }
    if name == "env" || name == "trap" {
        // `env -S 'rm -f x'` and `trap 'rm -f x' EXIT`: a word that is a line.
        let line = |word: &&String| word.contains(char::is_whitespace);
        return known().filter(line).map(|word| word.trim_start_matches("-S").to_owned()).collect();
    }
    if !SHELLS.contains(&name) {
        return Vec::new();
    }
    let flagged = |word: &String| word.starts_with('-') && !word.starts_with("--") && word.contains('c');
    let behind = arguments.iter().position(|word| word.as_ref().is_some_and(flagged));
    match behind {
        // Options may stand between the flag and the script, so each word behind it may be one.
        Some(flag) => {
            arguments.iter().skip(flag + 1).flatten().filter(|word| !word.starts_with('-')).cloned().collect()
        }
        None => command.input.iter().cloned().collect(),
    }
}

#[cfg(test)]
#[path = "reach_tests.rs"]
mod tests;
