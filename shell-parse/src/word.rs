//! One shell word whose value is known without running anything.

use tree_sitter::Node;

use crate::syntax::{children, text};

/// A word with its quotes taken off.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) text: String,
    /// An unquoted glob, brace or tilde stands in it: the shell may pass something else than `text`.
    pub(crate) expands: bool,
}

/// Reads a word node. `None` when its value depends on anything outside the script.
pub(crate) fn word(node: Node<'_>, script: &str) -> Option<Word> {
    let mut word = Word::default();
    if node.kind() == "concatenation" {
        let mut end = node.start_byte();
        for part in children(node) {
            // Parts of one word touch; the grammar lets a continued line stand between them.
            if part.start_byte() != end {
                return None;
            }
            end = part.end_byte();
            push_part(part, script, &mut word)?;
        }
    } else {
        push_part(node, script, &mut word)?;
    }
    Some(word)
}

/// Appends one part of a word: bare text, `"..."`, `'...'` or a number.
fn push_part(node: Node<'_>, script: &str, word: &mut Word) -> Option<()> {
    let raw = text(node, script)?;
    match node.kind() {
        "word" | "number" if node.child_count() == 0 => push_bare(raw, word),
        "raw_string" => word.text.push_str(raw.strip_prefix('\'')?.strip_suffix('\'')?),
        "string" => {
            let plain = |part: &Node<'_>| matches!(part.kind(), "\"" | "string_content");
            if !children(node).iter().all(plain) {
                return None;
            }
            push_double_quoted(raw.strip_prefix('"')?.strip_suffix('"')?, word);
        }
        // A foreign vocabulary: the node kinds of the grammar. What is not named above is not plain.
        _ => return None,
    }
    Some(())
}

/// Unquoted text: a backslash quotes the next character, and disappears with a newline.
fn push_bare(raw: &str, word: &mut Word) {
    if word.text.is_empty() && raw.starts_with(['~', '=']) {
        word.expands = true;
    }
    let mut chars = raw.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('\n') => {}
                Some(quoted) => word.text.push(quoted),
                None => word.text.push('\\'),
            },
            _ => {
                word.expands |= matches!(c, '*' | '?' | '[' | '{');
                word.text.push(c);
            }
        }
    }
}

/// Text between double quotes: a backslash quotes only `$`, backtick, `"`, `\` and a newline.
fn push_double_quoted(raw: &str, word: &mut Word) {
    let mut chars = raw.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            word.text.push(c);
            continue;
        }
        match chars.next() {
            Some('\n') => {}
            Some(quoted @ ('$' | '`' | '"' | '\\')) => word.text.push(quoted),
            Some(other) => word.text.extend(['\\', other]),
            None => word.text.push('\\'),
        }
    }
}
