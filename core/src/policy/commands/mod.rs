//! What a command line stands for: the commands that rules and lists are asked about.
//!
//! A script of plain words joined by `&&`, `||`, `;`, `|` is split; anything else is one opaque command (runtime.md
//! D10.3). Splitting alone would let a forbidden command hide in what is not plain, so everything that can be found
//! behind the words ([`reach`]) is looked at too. It can make a decision stricter, and never weaker.

mod behind;
mod dangerous;
mod git;
mod reach;
mod safe;
mod scripts;

use tenon_shell_parse::{Joint, Shell, plain_command_list, script_of};

pub(super) use dangerous::is_dangerous;
pub(super) use reach::{Reached, reach, runs_its_arguments};
pub(super) use safe::is_known_safe;
pub(crate) use scripts::named_scripts;

/// A command line, taken apart as far as its meaning is plain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CommandLine {
    /// The commands it consists of, at least one.
    pub(super) segments: Vec<Segment>,
    /// Whether it was split; else its only segment is the whole argument vector.
    pub(super) split: bool,
}

/// One command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Segment {
    /// Program and arguments.
    pub(super) words: Vec<String>,
    /// Whether the program will get exactly these words.
    pub(super) certain: bool,
    /// What joins it to the one before.
    pub(super) joined_by: Option<Joint>,
}

impl CommandLine {
    /// Takes an argument vector apart.
    pub(super) fn of(argv: &[String]) -> Self {
        let script = script_of(argv).filter(|found| found.shell == Shell::Posix);
        let list = script.and_then(|found| plain_command_list(found.script));
        match list {
            Some(list) => {
                let segments = list.into_iter().map(|command| Segment {
                    certain: !command.expands,
                    joined_by: command.joined_by,
                    words: command.words,
                });
                Self { segments: segments.collect(), split: true }
            }
            None => {
                let whole = Segment { words: argv.to_vec(), certain: true, joined_by: None };
                Self { segments: vec![whole], split: false }
            }
        }
    }
}

/// The bare name of a program.
fn name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

#[cfg(test)]
#[path = "commands_tests.rs"]
mod tests;
