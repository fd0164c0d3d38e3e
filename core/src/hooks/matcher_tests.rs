use super::*;

fn matches(matcher: Option<&str>, subjects: &[&str]) -> bool {
    Matcher::parse(matcher).expect("an expression").matches(subjects.iter().copied())
}

#[test]
fn an_expression_is_found_anywhere_in_the_name_or_an_alias() {
    let rows: &[(Option<&str>, &[&str], bool)] = &[
        (None, &["Bash"], true),
        (Some(""), &["Bash"], true),
        (Some("*"), &["Bash"], true),
        (Some("Bash"), &["Bash"], true),
        (Some("Bash"), &["BashOutput"], true),
        (Some("Edit"), &["NotebookEdit"], true),
        (Some("bash"), &["Bash"], false),
        (Some("^Bash$"), &["BashOutput"], false),
        (Some("Write|Edit"), &["apply_patch", "Write", "Edit"], true),
        (Some("Write|Edit"), &["apply_patch"], false),
        (Some("mcp__fixture__.*"), &["mcp__fixture__echo"], true),
        (Some("mcp__fixture__.*"), &["mcp__other__echo"], false),
        (Some(" "), &["Bash"], false),
        (Some("resume"), &["startup"], false),
    ];
    for (matcher, subjects, expected) in rows {
        assert_eq!(matches(*matcher, subjects), *expected, "{matcher:?} {subjects:?}");
    }
}

#[test]
fn what_is_no_expression_says_so() {
    assert!(Matcher::parse(Some("(")).is_err());
    assert!(Matcher::parse(Some("**")).is_err());
}
