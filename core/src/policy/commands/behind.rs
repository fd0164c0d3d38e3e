//! The scripts that a command hands to a shell, or that a shell is given.

use tenon_shell_parse::{CommandInput, FoundCommand};

use super::{git, name};

/// Shells, which run what stands behind `-c`, or what they are given to read. All of it is read as bash reads it.
/// `capsh` hands what stands behind `--` to one.
const SHELLS: [&str; 14] = [
    "bash",
    "sh",
    "zsh",
    "dash",
    "ksh",
    "ash",
    "mksh",
    "rbash",
    "fish",
    "csh",
    "tcsh",
    "pwsh",
    "powershell",
    "capsh",
];
/// Programs of which a word may be a line for a shell: `env -S 'rm -f x'`, `trap 'rm -f x' EXIT`, `watch 'rm -f x'`.
const TAKE_LINES: [&str; 12] = [
    "env",
    "trap",
    "watch",
    "parallel",
    "flock",
    "su",
    "runuser",
    "sg",
    "newgrp",
    "script",
    "strace",
    "hyperfine",
];
/// Those of them that run nothing else: each word may be a line, and what is not known of them is a line that is not
/// known.
const TAKE_ONLY_LINES: [&str; 7] = ["trap", "su", "runuser", "sg", "newgrp", "script", "hyperfine"];
/// Those of them that start a shell, to read what it runs, where no line and no command is given.
const START_SHELLS: [&str; 5] = ["su", "runuser", "sg", "newgrp", "script"];
/// Short options may stand in one word, the last with its value: the value may begin behind any of so many letters.
const MAX_GLUED: usize = 8;
/// Options of shells whose value is the next word.
const SHELL_VALUES: [&str; 6] = ["-o", "+o", "-O", "+O", "--rcfile", "--init-file"];
/// Options of shells with which they run nothing.
const ONLY_TELL: [&str; 2] = ["--version", "--help"];
/// Folders whose files hold what a command is given to read by another way, and are no scripts.
const INPUT_FOLDERS: [&str; 2] = ["/dev/", "/proc/"];

/// The scripts that a command runs.
#[derive(Debug, Default)]
pub(super) struct Scripts {
    /// Those that stand there.
    pub(super) known: Vec<String>,
    /// Whether it runs one that only comes to be: by a variable, a substitution or a pipe. A file that is named is not
    /// meant: what it holds is shown with the question, and is not read here.
    pub(super) unknown: bool,
}

/// Whether a command is a shell, or one that starts some, and so may run what it is given to read.
pub(super) fn is_shell(words: &[Option<String>]) -> bool {
    let program = words.first().and_then(|word| word.as_deref()).map(name);
    program.is_none_or(|name| SHELLS.contains(&name) || START_SHELLS.contains(&name))
}

/// The scripts of a command, as far as its words are known.
pub(super) fn scripts_of(command: &FoundCommand) -> Scripts {
    let Some((Some(program), arguments)) = command.words.split_first() else { return Scripts::default() };
    match name(program) {
        "eval" => joined(arguments),
        "alias" => named(arguments),
        "source" | "." => of_file(arguments, command.input.as_ref()),
        shell if SHELLS.contains(&shell) => of_shell(arguments, command.input.as_ref()),
        "git" => git::scripts_of(arguments),
        other if TAKE_LINES.contains(&other) => lines(other, arguments, command.input.as_ref()),
        _ => Scripts::default(),
    }
}

/// `eval`: its words make one script.
fn joined(arguments: &[Option<String>]) -> Scripts {
    let words: Vec<&str> = arguments.iter().flatten().map(String::as_str).collect();
    Scripts { known: vec![words.join(" ")], unknown: arguments.contains(&None) }
}

/// `alias name='rm -f'`. The words behind the name are known where it is used, if anywhere.
fn named(arguments: &[Option<String>]) -> Scripts {
    let values = arguments.iter().flatten().filter_map(|word| word.split_once('='));
    let known = values.map(|(_, value)| format!("{value} \"$@\"")).collect();
    Scripts { known, unknown: arguments.contains(&None) }
}

/// Words that may be lines: those with blanks in them, or all.
fn lines(program: &str, arguments: &[Option<String>], input: Option<&CommandInput>) -> Scripts {
    let (only, known) = (TAKE_ONLY_LINES.contains(&program), arguments.iter().flatten());
    let given = |word: &String| {
        let short = word.starts_with('-') && !word.starts_with("--");
        (short && word.contains(['c', 'u'])) || word.starts_with("--command") || word.starts_with("--user")
    };
    let shell = START_SHELLS.contains(&program) && !known.clone().any(given);
    let read = if shell { of_file(&[], input) } else { Scripts::default() };
    let lines = known.flat_map(|word| match word.strip_prefix('-') {
        Some(option) => glued(option),
        None if only || word.contains(char::is_whitespace) => vec![word.clone()],
        None => Vec::new(),
    });
    Scripts {
        known: lines.chain(read.known).collect(),
        unknown: read.unknown || (only && arguments.contains(&None)),
    }
}

/// The values that may stand in one word with an option, the dash of which has been read: `--split-string=rm -f x`,
/// `-iSrm -f x`.
pub(super) fn glued(option: &str) -> Vec<String> {
    if let Some(long) = option.strip_prefix('-') {
        return long.split_once('=').map(|(_, value)| value.to_owned()).into_iter().collect();
    }
    let letters = option.char_indices().take_while(|(_, c)| c.is_ascii_alphanumeric()).take(MAX_GLUED);
    let values = letters.filter_map(|(place, c)| option.get(place + c.len_utf8()..));
    values.filter(|value| !value.is_empty()).map(str::to_owned).collect()
}

fn of_shell(arguments: &[Option<String>], input: Option<&CommandInput>) -> Scripts {
    let flagged =
        |word: &String| is_flags(word) && (word.contains('c') || word.eq_ignore_ascii_case("-command"));
    let behind = arguments.iter().position(|word| word.as_ref().is_some_and(flagged));
    let Some(flag) = behind else { return of_file(arguments, input) };
    // Options may stand between the flag and the script, so each word behind it may be one.
    let (before, rest) = arguments.split_at_checked(flag + 1).unwrap_or((arguments, &[]));
    let known = rest.iter().flatten().filter(|word| !is_flags(word) && *word != "--").cloned();
    let first = rest.iter().find(|word| !word.as_ref().is_some_and(|word| word.starts_with('-')));
    Scripts { known: known.collect(), unknown: first == Some(&None) || before.contains(&None) }
}

/// `-x`, or several such letters in one word.
fn is_flags(word: &str) -> bool {
    let letters = word.strip_prefix('-');
    letters.is_some_and(|letters| letters.chars().all(|c| c.is_ascii_alphabetic()))
}

/// The first operand is a file; without one, or where it stands for that, the script is what there is to read.
fn of_file(arguments: &[Option<String>], input: Option<&CommandInput>) -> Scripts {
    let is = |word: &Option<String>, some: &[&str]| {
        word.as_ref().is_some_and(|word| some.contains(&word.as_str()))
    };
    let input_file =
        |word: &String| word == "-" || INPUT_FOLDERS.iter().any(|folder| word.starts_with(folder));
    let reads = arguments.iter().any(|word| is(word, &["-s"]) || word.as_ref().is_some_and(input_file));
    let mut words = arguments.iter();
    let operand = loop {
        match words.next() {
            Some(word) if is(word, &SHELL_VALUES) => drop(words.next()),
            Some(Some(word)) if word.starts_with(['-', '+']) => {}
            other => break other,
        }
    };
    let unknown = match operand {
        Some(None) => true,
        Some(Some(_)) if !reads => false,
        Some(Some(_)) | None => {
            !input.is_some_and(|input| input.certain) && !arguments.iter().any(|word| is(word, &ONLY_TELL))
        }
    };
    Scripts { known: input.map(|input| input.text.clone()).into_iter().collect(), unknown }
}

#[cfg(test)]
#[path = "behind_tests.rs"]
mod tests;
