//! Every command that stands anywhere in a script.

use crate::plain::MAX_PLAIN_SCRIPT_BYTES;
use crate::scan::Scanner;

/// One command found in a script, plain or not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FoundCommand {
    /// Program and arguments, quotes taken off. A word whose value depends on anything outside the script (a
    /// variable, a substitution) is `None`. Assignments and redirections are left out.
    pub words: Vec<Option<String>>,
    /// What a heredoc or a here-string gives it to read; none where nothing does, or where it is a file or not known.
    pub input: Option<CommandInput>,
    /// The file that it is given to read instead, where its name is known.
    pub input_file: Option<String>,
}

/// What a command is given to read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommandInput {
    /// The text, as the command reads it: of a heredoc with a bare delimiter the shell has taken the backslashes that
    /// quote. Expansions stand as they are written.
    pub text: String,
    /// Whether there are no expansions in it.
    pub certain: bool,
}

/// The commands of a script.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FoundCommands {
    /// Each of them.
    pub commands: Vec<FoundCommand>,
    /// Whether the whole script was understood. Else it may hold more.
    pub complete: bool,
}

/// Finds every command of `script` at any depth: behind joins, in substitutions, subshells, functions, loops and
/// conditions. For looking out for what must not run, not for what may: a script can run more than is found here
/// (through a variable, `eval`, a file), and less.
///
/// Parts that are not understood are searched as far as it goes; in scripts of more than [`MAX_PLAIN_SCRIPT_BYTES`]
/// nothing is, nor what is nested deeper than [`MAX_NESTING`](crate::MAX_NESTING). None of these are
/// [`complete`](FoundCommands::complete).
///
/// ```
/// use tenon_shell_parse::commands_within;
/// let found = commands_within("echo \"$(git push)\" > log");
/// let words = |i: usize| found.commands[i].words.iter().flatten().map(String::as_str).collect::<Vec<_>>();
/// assert_eq!(words(0), ["git", "push"]);
/// assert_eq!(words(1), ["echo"]);
/// ```
#[must_use]
pub fn commands_within(script: &str) -> FoundCommands {
    if script.len() > MAX_PLAIN_SCRIPT_BYTES {
        return FoundCommands::default();
    }
    let mut scanner = Scanner::new(script);
    scanner.list(false);
    scanner.finish()
}

#[cfg(test)]
#[path = "commands_tests.rs"]
mod tests;
