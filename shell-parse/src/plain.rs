//! Lists of plain commands.

use tree_sitter::Node;

use crate::commands::{FoundCommand, commands_within};
use crate::syntax::{children, parse, text};
use crate::word::word;

/// Longest script that is looked at. Longer ones are "not plain": what policy is shown should be
/// readable, and a hostile script must not keep the parser busy.
pub const MAX_PLAIN_SCRIPT_BYTES: usize = 64 * 1024;

/// Words that mean something of their own where a command begins, unless they are quoted. The grammar takes some of them
/// for programs, above all behind `time`.
const RESERVED: [&str; 20] = [
    "if", "then", "else", "elif", "fi", "while", "until", "do", "done", "for", "select", "case", "esac",
    "function", "coproc", "time", "{", "}", "!", "[[",
];

/// What joins a command to the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Joint {
    /// `&&`
    And,
    /// `||`
    Or,
    /// `;` or a line end
    Sequence,
    /// `|`
    Pipe,
}

/// One command of a plain list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlainCommand {
    /// Program and arguments, quotes taken off. Never empty.
    pub words: Vec<String>,
    /// What stands between the command before and this one; `None` for the first.
    pub joined_by: Option<Joint>,
    /// A word holds an unquoted glob, brace list or tilde, so the program may get other words than
    /// `words`. A rule that allows should then not match; a rule that forbids still may.
    pub expands: bool,
}

/// Splits `script` into its commands when it consists of plain words joined by `&&`, `||`, `;`, `|`
/// and line ends only (runtime.md D10.3).
///
/// `None` ("not plain") for everything else: expansions, substitutions, assignments, redirections,
/// background jobs, control flow, reserved words, functions, comments, errors, an empty script, and scripts of more
/// than [`MAX_PLAIN_SCRIPT_BYTES`].
///
/// ```
/// use tenon_shell_parse::{Joint, plain_command_list};
/// let list = plain_command_list("git add 'a b' && git status").expect("plain");
/// assert_eq!(list[0].words, ["git", "add", "a b"]);
/// assert_eq!(list[1].joined_by, Some(Joint::And));
/// assert_eq!(plain_command_list("echo $(date)"), None);
/// ```
#[must_use]
pub fn plain_command_list(script: &str) -> Option<Vec<PlainCommand>> {
    if script.len() > MAX_PLAIN_SCRIPT_BYTES {
        return None;
    }
    let tree = parse(script)?;
    let mut list = Vec::new();
    let mut joint = None;
    let mut gaps = Gaps { script, end: 0 };
    // Lists nest to the left as deep as they are long, so the walk keeps its own stack.
    let mut stack = vec![tree.root_node()];
    while let Some(node) = stack.pop() {
        match node.kind() {
            "program" | "list" | "pipeline" => stack.extend(children(node).into_iter().rev()),
            "command" => list.push(command(node, &mut gaps, joint.take(), list.is_empty())?),
            kind => {
                gaps.step(node, false)?;
                if joint.replace(joint_of(kind)?).is_some() || list.is_empty() {
                    return None;
                }
            }
        }
    }
    let complete = matches!(joint, None | Some(Joint::Sequence)) && gaps.blank_until(script.len(), false);
    (complete && !list.is_empty() && is_scanned_alike(script, &list)).then_some(list)
}

/// Whether reading by the shell's own rules finds the same commands. The grammar takes a line that begins with a
/// continuation (a backslash, a line end) for a part of the command before it.
fn is_scanned_alike(script: &str, list: &[PlainCommand]) -> bool {
    let words = |command: FoundCommand| command.words;
    let found = commands_within(script).commands.into_iter().map(words);
    found.eq(list.iter().map(|plain| plain.words.iter().cloned().map(Some).collect::<Vec<_>>()))
}

fn joint_of(kind: &str) -> Option<Joint> {
    match kind {
        "&&" => Some(Joint::And),
        "||" => Some(Joint::Or),
        ";" | "\n" => Some(Joint::Sequence),
        "|" => Some(Joint::Pipe),
        _ => None,
    }
}

/// Reads a command node. Two commands without a token between them stand on two lines.
fn command(node: Node<'_>, gaps: &mut Gaps<'_>, joint: Option<Joint>, first: bool) -> Option<PlainCommand> {
    let joined_by = if first { None } else { joint.or(Some(Joint::Sequence)) };
    let mut found = PlainCommand { words: Vec::new(), joined_by, expands: false };
    for child in children(node) {
        let child = if child.kind() == "command_name" {
            let [name] = children(child)[..] else { return None };
            name
        } else {
            child
        };
        gaps.step(child, !found.words.is_empty())?;
        let read = word(child, gaps.script)?;
        if found.words.is_empty() && is_reserved(text(child, gaps.script)?) {
            return None;
        }
        found.expands |= read.expands;
        found.words.push(read.text);
    }
    // An empty command name is an error at run time and nothing a rule could speak about.
    let named = found.words.first().is_some_and(|name| !name.is_empty());
    named.then_some(found)
}

fn is_reserved(raw: &str) -> bool {
    RESERVED.contains(&raw.replace("\\\n", "").as_str())
}

/// Watches what lies between the tokens. The grammar skips more than a shell does: a carriage return
/// is a letter to bash, and two words with nothing but a continued line between them are one word.
struct Gaps<'s> {
    script: &'s str,
    end: usize,
}

impl Gaps<'_> {
    /// Goes on to `token`; `None` when what was skipped is not what a shell would skip. `apart`: some
    /// blank has to stand there.
    fn step(&mut self, token: Node<'_>, apart: bool) -> Option<()> {
        let blank = self.blank_until(token.start_byte(), apart);
        self.end = token.end_byte();
        blank.then_some(())
    }

    fn blank_until(&self, start: usize, apart: bool) -> bool {
        // A line end that joins commands is a token of no width or none at all, so gaps may hold it.
        let gap = self.script.get(self.end..start.max(self.end)).unwrap_or_default().replace("\\\n", "");
        gap.chars().all(|c| matches!(c, ' ' | '\t' | '\n')) && !(apart && gap.is_empty())
    }
}

#[cfg(test)]
#[path = "plain_tests.rs"]
mod tests;
