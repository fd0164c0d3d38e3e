//! What a command would have other programs run: behind `sudo`, `env` and the like, and in the scripts of nested
//! shells.

use std::collections::VecDeque;

use tenon_shell_parse::{FoundCommand, commands_within};

use super::behind::{Scripts, scripts_of};
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
/// Wrappers that put words of their own behind the command, or in the place of some.
const FILLERS: [&str; 2] = ["xargs", "parallel"];

/// The commands behind a command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::policy) struct Reached {
    /// Their words, as far as they are known. The command itself is the first.
    pub(in crate::policy) commands: Vec<Vec<Option<String>>>,
    /// Whether there was more than is followed or understood: too deep, too many, no shell that we know, or a script
    /// that only the run makes known.
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
        let Scripts { known, unknown } = scripts_of(&command);
        reached.too_much |= unknown || (depth >= MAX_DEPTH && !known.is_empty());
        for script in known.iter().filter(|_| depth < MAX_DEPTH) {
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
    let rest = |start| {
        let words = command.words.get(start..).unwrap_or_default();
        if FILLERS.contains(&program) { filled(&command.words, words) } else { words.to_vec() }
    };
    places
        .into_iter()
        .map(|start| FoundCommand { words: rest(start), input: command.input.clone() })
        .collect()
}

/// The command of a wrapper that adds to it: what it adds comes last, or in the place of a word that it is told of.
fn filled(wrapper: &[Option<String>], command: &[Option<String>]) -> Vec<Option<String>> {
    let option = wrapper.iter().zip(wrapper.iter().skip(1)).find_map(|(option, next)| {
        let glued = option.as_ref()?.strip_prefix("-I")?;
        if glued.is_empty() { next.as_deref() } else { Some(glued) }
    });
    let replaced = option.unwrap_or("{}");
    let own = command.iter().take_while(|word| !word.as_ref().is_some_and(|word| word.starts_with(":::")));
    let own = own.map(|word| word.clone().filter(|word| !word.contains(replaced)));
    own.chain([None]).collect()
}

/// Where a wrapper's command may begin: at its first word that is no option, no assignment and none of its own
/// operands. Behind an option, a word may be its argument as well, so that the next one is taken too, and a word that is
/// not known may be anything: a guess too many makes a decision stricter, one that is missed would make it weaker.
fn possible_starts(words: &[Option<String>], operands: usize) -> Vec<usize> {
    let (mut places, mut left, mut unsure) = (Vec::new(), operands, false);
    for (place, word) in words.iter().enumerate().skip(1) {
        let Some(word) = word else {
            places.push(place);
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

#[cfg(test)]
#[path = "reach_tests.rs"]
mod tests;
