use std::time::Duration;

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

#[test]
fn the_layout_of_the_output() {
    let layout = |millis, output, shown| freeform_output(0, Duration::from_millis(millis), output, shown);
    assert_eq!(layout(0, "a\n", "a\n"), "Exit code: 0\nWall time: 0 seconds\nOutput:\na\n");
    assert_eq!(layout(49, "", ""), "Exit code: 0\nWall time: 0 seconds\nOutput:\n");
    assert_eq!(layout(50, "", ""), "Exit code: 0\nWall time: 0.1 seconds\nOutput:\n");
    assert_eq!(layout(1_000, "", ""), "Exit code: 0\nWall time: 1 seconds\nOutput:\n");
    assert_eq!(layout(12_340, "", ""), "Exit code: 0\nWall time: 12.3 seconds\nOutput:\n");
    let cut = layout(0, "a\nb\nc\n", "a\n...");
    assert_eq!(cut, "Exit code: 0\nWall time: 0 seconds\nTotal output lines: 3\nOutput:\na\n...");
    assert!(freeform_output(1, Duration::ZERO, "", "").starts_with("Exit code: 1\n"));
}
