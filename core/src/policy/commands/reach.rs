//! What a command would have other programs run: behind `sudo`, `env` and the like, and in the scripts of nested
//! shells.

use std::collections::VecDeque;

use tenon_shell_parse::{FoundCommand, commands_within};

use super::behind::{Scripts, is_shell, scripts_of};
use super::name;

/// How deep shells may be nested in each other before it is no longer followed (runtime.md D10.3).
const MAX_DEPTH: usize = 8;
/// Commands that one line may have run before it is no longer followed.
const MAX_COMMANDS: usize = 512;

/// The longest word in a program's place that is taken apart at its braces: what it stands for may be far longer.
const MAX_BRACED_BYTES: usize = 256;

/// Programs that run their arguments, with the number of operands that stand before the command. Where it cannot be told
/// from the options which words are operands, a number that takes in some more.
const WRAPPERS: [(&str, usize); 57] = [
    ("sudo", 0),
    ("doas", 0),
    ("env", 0),
    ("nice", 0),
    ("ionice", 0),
    ("chrt", 1),
    ("taskset", 1),
    ("numactl", 0),
    ("prlimit", 0),
    ("setarch", 1),
    ("linux32", 0),
    ("linux64", 0),
    ("nohup", 0),
    ("setsid", 0),
    ("stdbuf", 0),
    ("unbuffer", 0),
    ("timeout", 1),
    ("time", 0),
    ("command", 0),
    ("exec", 0),
    ("builtin", 0),
    ("noglob", 0),
    ("nocorrect", 0),
    ("-", 0),
    ("repeat", 1),
    ("xargs", 0),
    ("parallel", 0),
    ("watch", 0),
    ("busybox", 0),
    ("chroot", 1),
    ("unshare", 0),
    ("nsenter", 0),
    ("bwrap", 8),
    ("fakeroot", 0),
    ("setpriv", 0),
    ("runuser", 0),
    ("pkexec", 0),
    ("gosu", 1),
    ("su-exec", 1),
    ("strace", 0),
    ("ltrace", 0),
    ("valgrind", 0),
    ("flock", 1),
    ("script", 1),
    ("systemd-run", 0),
    ("ssh-agent", 0),
    ("dbus-run-session", 0),
    ("xvfb-run", 0),
    ("proxychains4", 0),
    ("perf", 1),
    ("cpulimit", 0),
    ("firejail", 0),
    ("eatmydata", 0),
    ("torsocks", 0),
    ("rlwrap", 0),
    ("tini", 0),
    ("dumb-init", 0),
];
/// Those of them that start a shell, which reads what it runs, where no command stands behind them.
const START_SHELLS: [&str; 4] = ["chroot", "unshare", "nsenter", "parallel"];
/// Those that do where one of these letters is among their options.
const SHELL_LETTERS: [(&str, &str); 2] = [("sudo", "si"), ("doas", "s")];
/// What begins the names of the programs that git has for its subcommands: `/usr/lib/git-core/git-push`.
const GIT_PROGRAM: &str = "git-";
/// Programs that run what stands behind one of their options.
const FINDERS: [&str; 3] = ["find", "fd", "fdfind"];
/// Those options.
const FINDERS_RUN: [&str; 8] = ["-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"];
/// Those of them that may have the command in their own word.
const FINDERS_RUN_GLUED: [&str; 4] = ["--exec=", "--exec-batch=", "-x", "-X"];
/// Wrappers that put words of their own behind the command, or in the place of some.
const FILLERS: [&str; 2] = ["xargs", "parallel"];

/// The commands behind a command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::policy) struct Reached {
    /// Their words, as far as they are known. The command itself is the first.
    pub(in crate::policy) commands: Vec<Vec<Option<String>>>,
    /// The files that shells among them are given to read.
    pub(in crate::policy) read: Vec<String>,
    /// Whether there was more than is followed or understood: too deep, too many, no shell that we know, or a script
    /// that only the run makes known.
    pub(in crate::policy) too_much: bool,
}

/// Whether a program, given by its bare name, runs what it is given as its arguments.
pub(in crate::policy) fn runs_its_arguments(program: &str) -> bool {
    WRAPPERS.iter().any(|(wrapper, _)| *wrapper == program)
}

/// Finds what is behind a command.
pub(in crate::policy) fn reach(words: &[String]) -> Reached {
    let first = FoundCommand { words: words.iter().cloned().map(Some).collect(), ..FoundCommand::default() };
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
        let braced = braced(&command.words).map(|words| FoundCommand { words, ..command.clone() });
        queue.extend(braced.map(|inner| (inner, depth)));
        reached.read.extend(command.input_file.filter(|_| is_shell(&command.words)));
        reached.commands.push(command.words);
    }
    reached
}

/// What a brace list in a program's place stands for: `{rm,-f,x}`. One within another is taken apart in its turn.
fn braced(words: &[Option<String>]) -> Option<Vec<Option<String>>> {
    let (first, rest) = words.split_first()?;
    let first = first.as_ref().filter(|first| first.len() <= MAX_BRACED_BYTES)?;
    let (before, list) = first.split_once('{')?;
    let (list, behind) = list.split_once('}')?;
    let parts = list.split(',').map(|part| Some(format!("{before}{part}{behind}")));
    list.contains(',').then(|| parts.chain(rest.iter().cloned()).collect())
}

/// What a command may start with its own words.
fn starts_of(command: &FoundCommand) -> Vec<FoundCommand> {
    let Some(Some(program)) = command.words.first() else { return Vec::new() };
    let program = name(program);
    let started = if FINDERS.contains(&program) {
        found(program, &command.words)
    } else if let Some((_, operands)) = WRAPPERS.iter().find(|(wrapper, _)| *wrapper == program) {
        wrapped(program, &command.words, *operands)
    } else if let Some(subcommand) = program.strip_prefix(GIT_PROGRAM) {
        let words = ["git", subcommand].map(|word| Some(word.to_owned()));
        vec![words.into_iter().chain(command.words.iter().skip(1).cloned()).collect()]
    } else {
        Vec::new()
    };
    // It reads what the command is given to read.
    started.into_iter().map(|words| FoundCommand { words, ..command.clone() }).collect()
}

/// What a finder runs.
fn found(program: &str, words: &[Option<String>]) -> Vec<Vec<Option<String>>> {
    let behind = |(place, word): (usize, &Option<String>)| {
        let (word, rest) = (word.as_deref()?, words.get(place + 1..).unwrap_or_default());
        if FINDERS_RUN.contains(&word) {
            return Some(rest.to_vec());
        }
        let mut options = FINDERS_RUN_GLUED.iter().filter(|_| program != "find");
        let glued = options.find_map(|option| word.strip_prefix(option))?;
        Some(std::iter::once(Some(glued.to_owned())).chain(rest.iter().cloned()).collect())
    };
    words.iter().enumerate().filter_map(behind).collect()
}

/// What a wrapper runs, for each place where its command may begin.
fn wrapped(program: &str, words: &[Option<String>], operands: usize) -> Vec<Vec<Option<String>>> {
    let (places, sure) = possible_starts(words, operands);
    let rest = |start: usize| {
        let rest = words.get(start..).unwrap_or_default();
        if FILLERS.contains(&program) { filled(words, rest) } else { rest.to_vec() }
    };
    let shell = !sure && starts_shell(program, words);
    let shell = shell.then(|| vec![Some("sh".to_owned())]);
    places.into_iter().map(rest).chain(shell).collect()
}

/// Whether a wrapper starts a shell where no command stands behind it.
fn starts_shell(program: &str, words: &[Option<String>]) -> bool {
    let letters = SHELL_LETTERS.iter().find(|(wrapper, _)| *wrapper == program).map(|(_, letters)| *letters);
    let asks = |letters: &str| {
        words.iter().flatten().any(|word| {
            let short = word.strip_prefix('-').filter(|short| !short.starts_with('-'));
            short.is_some_and(|short| short.contains(|c| letters.contains(c)))
                || ["--shell", "--login"].contains(&word.as_str())
        })
    };
    START_SHELLS.contains(&program) || letters.is_some_and(asks)
}

/// The command of a wrapper that adds to it: what it adds comes last, or in the place of a word that it is told of. Any
/// word with a brace in it may be such a place: `{}`, `{.}`, `{1}`.
fn filled(wrapper: &[Option<String>], command: &[Option<String>]) -> Vec<Option<String>> {
    let replaced = replaced(wrapper);
    let own = command.iter().take_while(|word| !word.as_ref().is_some_and(|word| word.starts_with(":::")));
    let stays =
        |word: &String| !word.contains('{') && !replaced.iter().any(|replaced| word.contains(replaced));
    let own = own.map(|word| word.clone().filter(stays));
    own.chain([None]).collect()
}

/// What a wrapper may be told to put words in the place of: `-I X`, `-rIX`, `-iX`, `--replace=X`.
fn replaced(wrapper: &[Option<String>]) -> Vec<&str> {
    let words = || wrapper.iter().map(Option::as_deref);
    let told = words().zip(words().skip(1).chain([None])).filter_map(|(option, next)| {
        let option = option?;
        if let Some(value) = option.strip_prefix("--replace=") {
            return Some(value);
        }
        let short = option.strip_prefix('-').filter(|short| !short.starts_with('-'))?;
        let (_, glued) = short.split_once(['I', 'i'])?;
        if glued.is_empty() { next } else { Some(glued) }
    });
    told.filter(|text| !text.is_empty()).collect()
}

/// Where a wrapper's command may begin: at its first word that is no option, no assignment and none of its own
/// operands. Behind an option, a word may be its argument as well, so that the next one is taken too, and a word that is
/// not known may be anything: a guess too many makes a decision stricter, one that is missed would make it weaker. And
/// whether one of them is no guess.
fn possible_starts(words: &[Option<String>], operands: usize) -> (Vec<usize>, bool) {
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
                return (places, true);
            }
            left = left.saturating_sub(usize::from(!unsure));
            unsure = false;
        }
    }
    (places, false)
}

fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

#[cfg(test)]
#[path = "reach_tests.rs"]
mod tests;
