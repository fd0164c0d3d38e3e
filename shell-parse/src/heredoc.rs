//! Scripts that are one command fed by one heredoc.

use tree_sitter::Node;

use crate::syntax::{children, parse, text};
use crate::word::word;

/// Longest text before the body that is looked at: room for a longest path and some blanks. The body
/// itself has no bound here; it is cut out by lines and never parsed.
pub const MAX_HEREDOC_HEAD_BYTES: usize = 8 * 1024;

/// A script that is nothing but `[cd DIR &&] COMMAND <<X ... X`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeredocCall {
    /// The directory of a leading `cd`, as written: no `~`, variable or glob is expanded.
    pub cd: Option<String>,
    /// The command word.
    pub command: String,
    /// The heredoc's lines, nothing expanded, trailing newlines removed (runtime.md A8.4).
    pub body: String,
}

/// Recognises a script whose whole text is `COMMAND <<X ... X` or `cd DIR && COMMAND <<X ... X`
/// (runtime.md A8.2, A8.3).
///
/// The delimiter is arbitrary, quoted or not. `DIR` is one bare word, one double-quoted or one
/// single-quoted string. `None` for anything before or after, arguments, other joins or
/// redirections, `<<-` (the shell would strip tabs), `cd` with options, and more than
/// [`MAX_HEREDOC_HEAD_BYTES`] before the body.
///
/// ```
/// use tenon_shell_parse::whole_script_heredoc;
/// let call = whole_script_heredoc("cd sub && apply_patch <<'X'\nhello\nX\n").expect("recognised");
/// assert_eq!(call.cd.as_deref(), Some("sub"));
/// assert_eq!(call.command, "apply_patch");
/// assert_eq!(call.body, "hello");
/// ```
#[must_use]
pub fn whole_script_heredoc(script: &str) -> Option<HeredocCall> {
    let parts = Parts::split(script)?;
    // The grammar is asked about the frame alone: bodies of patches hold backslashes and quotes that
    // lead it astray, and may be large.
    let frame = format!("{}\nbody\n{}\n", parts.head, parts.delimiter);
    let tree = parse(&frame)?;
    let [statement] = children(tree.root_node())[..] else { return None };
    if statement.kind() != "redirected_statement" {
        return None;
    }
    let [inner, redirect] = children(statement)[..] else { return None };
    let (cd, command) = commands(inner, &frame)?;
    let whole = is_lone_heredoc(redirect, parts.operator_at);
    whole.then(|| HeredocCall { cd, command, body: parts.body.trim_end_matches('\n').to_owned() })
}

/// A script cut at its first heredoc operator, by lines.
struct Parts<'s> {
    /// Everything up to the end of the line with the operator.
    head: &'s str,
    /// Where in `head` the operator stands, in bytes.
    operator_at: usize,
    /// The delimiter without its quotes.
    delimiter: &'s str,
    /// The lines up to the delimiter's own.
    body: &'s str,
}

impl<'s> Parts<'s> {
    fn split(script: &'s str) -> Option<Self> {
        let operator_at = script.find("<<")?;
        let head_end = operator_at + script.get(operator_at..)?.find('\n')?;
        let head = script.get(..head_end)?;
        if head.len() > MAX_HEREDOC_HEAD_BYTES {
            return None;
        }
        let delimiter = unquote(head.get(operator_at + 2..)?.trim_matches([' ', '\t']))?;
        let rest = script.get(head_end + 1..)?;
        let mut end = 0;
        for line in rest.split_inclusive('\n') {
            if line.strip_suffix('\n').unwrap_or(line) == delimiter {
                let after = rest.get(end + line.len()..)?;
                let body = rest.get(..end)?;
                return after.trim().is_empty().then_some(Self { head, operator_at, delimiter, body });
            }
            end += line.len();
        }
        None
    }
}

/// The delimiter behind `word`: bare, or wholly in one kind of quotes, and nothing cleverer.
fn unquote(word: &str) -> Option<&str> {
    let inner = ['\'', '"'].iter().find_map(|quote| word.strip_prefix(*quote)?.strip_suffix(*quote));
    let delimiter = inner.unwrap_or(word);
    let clever =
        |c: char| matches!(c, '\'' | '"' | '\\' | '$' | '`' | '\r') || (inner.is_none() && c.is_whitespace());
    (!delimiter.is_empty() && !delimiter.contains(clever)).then_some(delimiter)
}

/// `COMMAND`, or `cd DIR && COMMAND`.
fn commands(node: Node<'_>, script: &str) -> Option<(Option<String>, String)> {
    if node.kind() == "command" {
        return Some((None, lone_word(node, script)?));
    }
    if node.kind() != "list" {
        return None;
    }
    let [cd, and, command] = children(node)[..] else { return None };
    if and.kind() != "&&" {
        return None;
    }
    Some((Some(cd_path(cd, script)?), lone_word(command, script)?))
}

/// The name of a command without arguments.
fn lone_word(command: Node<'_>, script: &str) -> Option<String> {
    let [name] = children(command)[..] else { return None };
    (command.kind() == "command").then(|| text(name, script).map(str::to_owned))?
}

fn cd_path(command: Node<'_>, script: &str) -> Option<String> {
    let [name, path] = children(command)[..] else { return None };
    let simple = matches!(path.kind(), "word" | "string" | "raw_string");
    if command.kind() != "command" || text(name, script)? != "cd" || !simple {
        return None;
    }
    let path = word(path, script)?.text;
    (!path.is_empty() && !path.starts_with('-')).then_some(path)
}

/// Nothing but `<<`, a delimiter and the body, at the place where the script was cut.
fn is_lone_heredoc(redirect: Node<'_>, operator_at: usize) -> bool {
    let [operator, start, content, end] = children(redirect)[..] else { return false };
    let kinds = [redirect.kind(), operator.kind(), start.kind(), content.kind(), end.kind()];
    kinds == ["heredoc_redirect", "<<", "heredoc_start", "heredoc_body", "heredoc_end"]
        && operator.start_byte() == operator_at
}

#[cfg(test)]
#[path = "heredoc_tests.rs"]
mod tests;
