use pretty_assertions::assert_eq;

use super::*;

#[test]
fn files_are_listed_by_kind_and_in_order() {
    let list = |names: &[&str]| names.iter().map(ToString::to_string).collect();
    let summary =
        Summary { added: list(&["b", "a"]), modified: list(&["./c d"]), deleted: list(&["/abs/e"]) };
    let expected = "Success. Updated the following files:\nA b\nA a\nM ./c d\nD /abs/e\n";
    assert_eq!(summary.success_text(), expected);
    assert!(!summary.is_empty());
    assert!(Summary::default().is_empty());
}
