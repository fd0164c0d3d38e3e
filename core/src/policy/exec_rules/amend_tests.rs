use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::thread;

use pretty_assertions::assert_eq;

use super::*;

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

#[test]
fn a_rule_is_added_behind_what_is_there_byte_for_byte() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("rules");
    let mut rules = ExecRules::default();
    rules.allow_prefix(&words("git pull"), &folder).unwrap();
    let file = folder.join("default.rules");
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        "prefix_rule(pattern=[\"git\", \"pull\"], decision=\"allow\")\n"
    );
    let text = "# mine\r\n\r\nprefix_rule( pattern = ['ls',] )   # no line end";
    fs::write(&file, text).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    rules.allow_prefix(&[r#"a "b" \ "#.to_owned(), "c\td\n".to_owned()], &folder).unwrap();
    let added = r#"prefix_rule(pattern=["a \"b\" \\ ", "c\td\n"], decision="allow")"#;
    assert_eq!(fs::read_to_string(&file).unwrap(), format!("{text}\n{added}\n"));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    // What is written is what is read.
    let read = ExecRules::load(&folder).unwrap();
    assert_eq!(read.prefixes()[1..], rules.prefixes()[1..]);
    let names: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "the file and its lock: {names:?}");
}

#[test]
fn a_rule_that_is_there_is_not_written_again() {
    let home = tempfile::tempdir().unwrap();
    let mut rules = ExecRules::default();
    for _ in 0..2 {
        rules.allow_prefix(&words("git pull"), home.path()).unwrap();
    }
    assert_eq!(rules.prefixes().len(), 1);
    assert_eq!(fs::read_to_string(home.path().join("default.rules")).unwrap().lines().count(), 1);
}

#[test]
fn a_broken_file_is_left_as_it_is() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("default.rules");
    fs::write(&file, "prefix_rule").unwrap();
    let mut rules = ExecRules::default();
    let error = rules.allow_prefix(&words("git pull"), home.path()).unwrap_err();
    let file_name = file.canonicalize().unwrap();
    assert_eq!(
        error.to_string(),
        format!("{}:1:1: expected a call: `(` is missing behind the name", file_name.display())
    );
    assert_eq!((fs::read_to_string(&file).unwrap().as_str(), rules), ("prefix_rule", ExecRules::default()));
}

#[test]
fn a_link_stays_and_its_file_is_written() {
    let home = tempfile::tempdir().unwrap();
    let elsewhere = home.path().join("mine");
    fs::write(&elsewhere, "").unwrap();
    let folder = home.path().join("rules");
    fs::create_dir(&folder).unwrap();
    symlink(&elsewhere, folder.join("default.rules")).unwrap();
    ExecRules::default().allow_prefix(&words("git pull"), &folder).unwrap();
    assert!(fs::symlink_metadata(folder.join("default.rules")).unwrap().is_symlink());
    assert!(fs::read_to_string(&elsewhere).unwrap().starts_with("prefix_rule("));
}

#[test]
fn nobody_allows_everything() {
    let home = tempfile::tempdir().unwrap();
    let error = ExecRules::default().allow_prefix(&[], home.path()).unwrap_err();
    assert_eq!(error.to_string(), "a rule on an empty prefix would allow every command");
    assert!(!home.path().join("default.rules").exists());
}

#[test]
fn an_empty_word_is_none_of_a_rule() {
    let home = tempfile::tempdir().unwrap();
    let mut rules = ExecRules::default();
    let error = rules.allow_prefix(&["git".to_owned(), String::new()], home.path()).unwrap_err();
    assert_eq!(error.to_string(), "a rule cannot have an empty word in its prefix");
    assert!(rules == ExecRules::default() && !home.path().join("default.rules").exists());
}

/// What was written must be read when the program starts again.
#[test]
fn the_bound_of_the_file_is_exact() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("default.rules");
    let most = usize::try_from(MAX_FILE_BYTES).unwrap();
    let room = line(&words("git pull")).len();
    let text = |length: usize| format!("{}\n", "#".repeat(length - 1));
    fs::write(&file, text(most - room)).unwrap();
    ExecRules::default().allow_prefix(&words("git pull"), home.path()).unwrap();
    assert_eq!(ExecRules::load(home.path()).unwrap().prefixes().len(), 1);
    let too_long = text(most - room + 1);
    fs::write(&file, &too_long).unwrap();
    let mut rules = ExecRules::default();
    let error = rules.allow_prefix(&words("git pull"), home.path()).unwrap_err();
    let shown = file.canonicalize().unwrap();
    assert_eq!(
        error.to_string(),
        format!("{}: with one more rule it would be longer than 1048576 bytes", shown.display())
    );
    assert!(fs::read_to_string(&file).unwrap() == too_long && rules == ExecRules::default());
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig {
        failure_persistence: None,
        ..proptest::prelude::ProptestConfig::with_cases(200)
    })]

    /// Whatever the words, they are read as they were written, behind a file that stays as it is.
    #[test]
    fn any_prefix_comes_back(
        prefix in proptest::collection::vec("(?s:.{1,6})|[\"'\\\\\n\r\t #\\[\\],()=]{1,6}", 1..5),
        text in "(# ?[^\n]{0,9}\n|prefix_rule\\(pattern=\\['x'\\]\\)\r?\n|\n|;){0,5}(#[^\n]{0,9})?",
    ) {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("default.rules");
        fs::write(&file, &text).unwrap();
        let before = ExecRules::load(home.path()).unwrap();
        let mut rules = before.clone();
        rules.allow_prefix(&prefix, home.path()).unwrap();
        let written = fs::read_to_string(&file).unwrap();
        let rest = written.strip_prefix(&text).expect("the text as it was");
        let read = ExecRules::load(home.path()).unwrap();
        if before.prefixes.contains(&PrefixRule::allowing(&prefix)) {
            proptest::prop_assert_eq!(rest, "");
        } else {
            let (last, others) = read.prefixes.split_last().unwrap();
            proptest::prop_assert_eq!(last, &PrefixRule::allowing(&prefix));
            proptest::prop_assert_eq!(others, &before.prefixes[..]);
            proptest::prop_assert_eq!(rest.trim_start_matches('\n').lines().count(), 1);
        }
        proptest::prop_assert_eq!(&rules.prefixes.last(), &read.prefixes.last());
    }
}

#[test]
fn writers_at_the_same_time_lose_nothing() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path();
    thread::scope(|scope| {
        for writer in 0..4 {
            scope.spawn(move || {
                for rule in 0..8 {
                    let prefix = ["run".to_owned(), format!("{writer}-{rule}")];
                    ExecRules::default().allow_prefix(&prefix, folder).unwrap();
                }
            });
        }
    });
    assert_eq!(ExecRules::load(folder).unwrap().prefixes().len(), 32);
}
