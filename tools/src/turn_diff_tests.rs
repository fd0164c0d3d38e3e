use pretty_assertions::assert_eq;

use super::*;

fn change(path: &str, before: Option<&str>, after: Option<&str>) -> FileVersions {
    let bytes = |text: &str| text.as_bytes().to_vec();
    FileVersions { path: path.into(), before: before.map(bytes), after: after.map(bytes) }
}

#[test]
fn nothing_is_known_of_nothing() {
    let diff = SharedTurnDiff::default();
    assert_eq!(diff.changes(), TurnChanges::Nothing);
    diff.record(Vec::new());
    assert_eq!(diff.changes(), TurnChanges::Nothing);
}

#[test]
fn the_first_before_and_the_last_after_stay() {
    let diff = SharedTurnDiff::default();
    diff.record(vec![change("/b", Some("1"), Some("2")), change("/a", None, Some("new"))]);
    diff.clone().record(vec![change("/b", Some("2"), None), change("/c", Some("x"), Some("y"))]);
    assert_eq!(
        diff.changes(),
        TurnChanges::Known(vec![
            change("/b", Some("1"), None),
            change("/a", None, Some("new")),
            change("/c", Some("x"), Some("y")),
        ])
    );
}

#[test]
fn what_is_not_known_exactly_stays_so() {
    let diff = SharedTurnDiff::default();
    diff.record(vec![change("/a", None, Some("1"))]);
    diff.invalidate();
    diff.record(vec![change("/a", Some("1"), Some("2"))]);
    assert_eq!(diff.changes(), TurnChanges::Inexact);
}
