use pretty_assertions::assert_eq;

use super::*;

fn preview(files: &[(&str, &str)]) -> Option<Preview> {
    Some(files.iter().map(|(path, text)| (path.to_string(), text.to_string())).collect())
}

#[test]
fn whole_lines_show_at_most_every_half_second() {
    let start = Instant::now();
    let at = |millis| start + Duration::from_millis(millis);
    let mut view = PatchPreview::default();
    // No header is complete yet.
    assert_eq!(view.push("*** Begin Patch\n*** Add File: a", at(0)), None);
    assert_eq!(view.push("\n", at(10)), preview(&[("a", "")]));
    assert_eq!(view.push("+one\n", at(11)), None);
    assert_eq!(view.push("+tw", at(509)), None);
    assert_eq!(view.push("o", at(510)), preview(&[("a", "one\n")]));
    // Nothing new, nothing to show.
    assert_eq!(view.push("", at(2000)), None);
    assert_eq!(view.push("\n", at(2001)), preview(&[("a", "one\ntwo\n")]));
    assert_eq!(view.push("*** Delete File: b\n", at(2002)), None);
    assert_eq!(view.finish(), preview(&[("a", "one\ntwo\n"), ("b", "")]));
    assert_eq!(view.finish(), None);
}

#[test]
fn updates_show_as_a_sketch() {
    let mut view = PatchPreview::default();
    let text = "*** Begin Patch\n*** Update File: a\n*** Move to: b\n same\n-old\n+new\n@@ A\n@@ B\n-x\n*** End of File\n*** Update File: c\n@@\n+y\n";
    let expected = "*** Move to: b\n@@\n-same\n-old\n+same\n+new\n@@ A\n@@ B\n-x\n*** End of File\n";
    assert_eq!(view.push(text, Instant::now()), preview(&[("a", expected), ("c", "@@\n+y\n")]));
}

#[test]
fn mistakes_are_not_told() {
    let mut view = PatchPreview::default();
    assert_eq!(view.push("junk\n", Instant::now()), None);
    assert_eq!(view.finish(), None);
    let mut view = PatchPreview::default();
    let text = "*** Begin Patch\n*** Delete File: a\nwhat\n*** Delete File: b\n";
    assert_eq!(view.push(text, Instant::now()), preview(&[("a", "")]));
}

#[test]
fn a_path_named_twice_shows_its_last_hunk() {
    let mut view = PatchPreview::default();
    let text = "*** Begin Patch\n*** Add File: a\n+1\n*** Add File: a\n+2\n";
    assert_eq!(view.push(text, Instant::now()), preview(&[("a", "2\n")]));
}
