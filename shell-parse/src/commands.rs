//! Every command that stands anywhere in a script.

use tree_sitter::Node;

use crate::plain::MAX_PLAIN_SCRIPT_BYTES;
use crate::syntax::{children, parse_all, text};
use crate::word::word;

/// One command found in a script, plain or not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FoundCommand {
    /// Program and arguments, quotes taken off. A word whose value depends on anything outside the script (a
    /// variable, a substitution) is `None`. Assignments and redirections are left out.
    pub words: Vec<Option<String>>,
    /// What a heredoc or a here-string gives it to read, word for word.
    pub input: Option<String>,
}

/// The commands of a script.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FoundCommands {
    /// Each of them, in the order of their beginnings.
    pub commands: Vec<FoundCommand>,
    /// Whether the whole script was understood. Else it may hold more.
    pub complete: bool,
}

/// Finds every command of `script` at any depth: behind joins, in substitutions, subshells, functions, loops and
/// conditions. For looking out for what must not run, not for what may: a script can run more than is found here
/// (through a variable, `eval`, a file), and less.
///
/// Parts that the grammar does not understand are searched as far as it goes; in scripts of more than
/// [`MAX_PLAIN_SCRIPT_BYTES`] nothing is. Both are not [`complete`](FoundCommands::complete).
///
/// ```
/// use tenon_shell_parse::commands_within;
/// let found = commands_within("echo \"$(git push)\" > log");
/// let words = |i: usize| found.commands[i].words.iter().flatten().map(String::as_str).collect::<Vec<_>>();
/// assert_eq!(words(0), ["echo"]);
/// assert_eq!(words(1), ["git", "push"]);
/// ```
#[must_use]
pub fn commands_within(script: &str) -> FoundCommands {
    let tree = if script.len() > MAX_PLAIN_SCRIPT_BYTES { None } else { parse_all(script) };
    let Some(tree) = tree else { return FoundCommands::default() };
    let mut found = Vec::new();
    // Trees nest as deep as a script is long, so the walk keeps its own stack.
    let mut stack = vec![(tree.root_node(), None)];
    while let Some((node, input)) = stack.pop() {
        if node.kind() == "command" {
            let input = input.clone().or_else(|| input_of(node, script));
            let commands = words_of(node, script).into_iter().filter(|words| !words.is_empty());
            found.extend(commands.map(|words| FoundCommand { words, input: input.clone() }));
        }
        let inner = (node.kind() == "redirected_statement").then(|| input_of(node, script)).flatten();
        for child in children(node).into_iter().rev() {
            // What is read goes to the statement that it stands at, and not to those inside of its substitutions.
            let reads =
                if child.kind() == "command" { inner.clone().or_else(|| input.clone()) } else { None };
            stack.push((child, reads));
        }
    }
    FoundCommands { commands: found, complete: !tree.root_node().has_error() }
}

/// Program and arguments of a command node. The grammar takes a line end before a backslash into the word behind it,
/// where to bash another command begins.
fn words_of(command: Node<'_>, script: &str) -> Vec<Vec<Option<String>>> {
    let (mut commands, mut words) = (Vec::new(), Vec::new());
    for child in children(command) {
        let child = match child.kind() {
            "command_name" => match children(child)[..] {
                [name] => name,
                _ => {
                    words.push(None);
                    continue;
                }
            },
            "variable_assignment" | "file_redirect" | "herestring_redirect" | "heredoc_redirect" => continue,
            _ => child,
        };
        let mut value = word(child, script).map(|word| word.text);
        if text(child, script).is_some_and(|raw| raw.starts_with('\n')) {
            commands.push(std::mem::take(&mut words));
            value = value.map(|value| value.trim_start_matches('\n').to_owned());
        }
        words.push(value);
    }
    commands.push(words);
    commands
}

/// What the redirections of a node give to read.
fn input_of(node: Node<'_>, script: &str) -> Option<String> {
    children(node).into_iter().find_map(|child| match child.kind() {
        "herestring_redirect" => word(*children(child).last()?, script).map(|word| word.text),
        "heredoc_redirect" => {
            let body = children(child).into_iter().find(|part| part.kind() == "heredoc_body")?;
            text(body, script).map(str::to_owned)
        }
        _ => None,
    })
}

#[cfg(test)]
#[path = "commands_tests.rs"]
mod tests;
