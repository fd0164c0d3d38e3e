//! The files that a command line names as scripts: an approval of the line is one of their content (cases.md L4).

use std::collections::BTreeSet;

use super::reach::reach;
use super::{CommandLine, name};

/// Programs that run the file they are given. A version may stand behind the name (`python3.12`).
const INTERPRETERS: [&str; 21] = [
    "bash", "sh", "zsh", "dash", "ksh", "ash", "fish", "python", "pypy", "node", "deno", "bun", "perl",
    "ruby", "php", "lua", "awk", "gawk", "Rscript", "source", ".",
];

/// The files, as they are named: a program given by its path, and what an interpreter is given. Which of them are
/// there, nobody has looked.
pub(crate) fn named_scripts(argv: &[String]) -> BTreeSet<String> {
    let line = CommandLine::of(argv);
    let mut named = BTreeSet::new();
    for words in line.segments.iter().flat_map(|segment| reach(&segment.words).commands) {
        let Some((Some(program), arguments)) = words.split_first() else { continue };
        if program.contains('/') {
            named.insert(program.clone());
        }
        if is_interpreter(program) {
            named.extend(arguments.iter().flatten().filter(|word| !word.starts_with('-')).cloned());
        }
    }
    named
}

fn is_interpreter(program: &str) -> bool {
    let name = name(program).trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    INTERPRETERS.contains(&name) || program == "."
}

#[cfg(test)]
#[path = "scripts_tests.rs"]
mod tests;
