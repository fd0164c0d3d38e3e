//! The bash syntax tree, parsed or refused.

use tree_sitter::{Node, Parser, Tree};

/// Parses `script` as bash. `None` when any part of it is not understood: a tree with an error in it
/// says nothing reliable about the rest.
pub(crate) fn parse(script: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    parser.parse(seen_by_grammar(script), None).filter(|tree| !tree.root_node().has_error())
}

/// The script with a letter in place of each byte beyond ASCII: a character of a word for the shell, whatever it is. The
/// grammar's scanner asks C's `isdigit` and its like of whole characters, which for large ones read memory that is not
/// theirs. The nodes lie at the same bytes.
fn seen_by_grammar(script: &str) -> Vec<u8> {
    script.bytes().map(|byte| if byte.is_ascii() { byte } else { b'x' }).collect()
}

/// The text of `node`. `None` never happens for nodes of this script; it spares a panic if it did.
pub(crate) fn text<'s>(node: Node<'_>, script: &'s str) -> Option<&'s str> {
    script.get(node.byte_range())
}

/// All children, anonymous tokens included.
pub(crate) fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).collect()
}
