use pretty_assertions::assert_eq;

use super::*;
use crate::policy::Decision;

#[test]
fn files_are_read_by_name_and_others_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let rule = |word: &str| format!("prefix_rule(pattern=[\"{word}\"], decision=\"prompt\")\n");
    for (name, text) in [("b.rules", rule("b")), ("a.rules", rule("a")), ("c.txt", "no rule".to_owned())] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let rules = ExecRules::load(folder.path()).unwrap();
    let words: Vec<&str> =
        rules.prefixes().iter().map(|rule| rule.pattern()[0].alternatives()[0].as_str()).collect();
    assert_eq!(words, ["a", "b"]);
    assert_eq!(rules.prefixes()[0].decision(), Decision::Prompt);
}

#[test]
fn no_folder_holds_no_rules() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(ExecRules::load(&folder.path().join("none")).unwrap(), ExecRules::default());
}

#[test]
fn one_bad_file_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let bad = folder.path().join("bad.rules");
    fs::write(folder.path().join("a.rules"), "").unwrap();
    fs::write(&bad, "# fine\n  prefix_rule").unwrap();
    let error = ExecRules::load(folder.path()).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("{}:2:3: expected a call: `(` is missing behind the name", bad.display())
    );
    assert_eq!(
        (error.file(), error.position().map(|at| (at.line, at.column))),
        (bad.as_path(), Some((2, 3)))
    );
}

#[test]
fn the_bound_is_exact() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("big.rules");
    let size = usize::try_from(MAX_FILE_BYTES).unwrap();
    fs::write(&file, "#".repeat(size)).unwrap();
    assert_eq!(ExecRules::load(folder.path()).unwrap(), ExecRules::default());
    fs::write(&file, "#".repeat(size + 1)).unwrap();
    let error = ExecRules::load(folder.path()).unwrap_err();
    assert_eq!(error.to_string(), format!("{}: longer than 1048576 bytes", file.display()));
}
