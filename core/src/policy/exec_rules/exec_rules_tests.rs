use pretty_assertions::assert_eq;

use super::*;

fn rules() -> ExecRules {
    let text = r#"
prefix_rule(pattern=["git", ["status", "log"]])
prefix_rule(pattern=["git"], decision="prompt")
prefix_rule(pattern=["git", "push", "--force"], decision="forbidden")
prefix_rule(pattern=["known"])
host_executable(name="known", paths=["/usr/bin/known"])
"#;
    ExecRules::read(text, Path::new("x")).unwrap()
}

fn decision(words: &[&str], certain: bool) -> Option<Decision> {
    let words: Vec<Option<&str>> = words.iter().map(|word| (*word != "?").then_some(*word)).collect();
    rules().matching(&words, certain).map(|matched| matched.decision)
}

#[test]
fn the_strictest_rule_that_matches_decides() {
    let rows = [
        (&["git", "status"][..], Some(Decision::Prompt)),
        (&["git"], Some(Decision::Prompt)),
        (&["git", "push", "--force", "x"], Some(Decision::Forbidden)),
        (&["git", "push", "x", "--force"], Some(Decision::Prompt)),
        (&["known", "x"], Some(Decision::Allow)),
        (&["gits"], None),
        (&["ls"], None),
        (&[], None),
    ];
    for (words, expected) in rows {
        assert_eq!(decision(words, true), expected, "{words:?}");
    }
}

#[test]
fn what_is_not_certain_is_not_allowed() {
    assert_eq!(decision(&["known", "x"], false), None);
    assert_eq!(decision(&["git", "push", "--force"], false), Some(Decision::Forbidden));
}

#[test]
fn a_word_that_is_not_known_matches_nothing() {
    assert_eq!(decision(&["git", "?", "--force"], true), Some(Decision::Prompt));
    assert_eq!(decision(&["?", "push"], true), None);
}

#[test]
fn a_path_is_looked_up_by_its_name_to_restrict_and_where_it_is_known_to_allow() {
    let rows = [
        (&["/tmp/git", "push"][..], Some(Decision::Prompt)),
        (&["./git", "push", "--force"], Some(Decision::Forbidden)),
        (&["/usr/bin/known"], Some(Decision::Allow)),
        (&["/tmp/known"], None),
        (&["./known"], None),
    ];
    for (words, expected) in rows {
        assert_eq!(decision(words, true), expected, "{words:?}");
    }
}

#[test]
fn only_a_rule_that_restricts_passes_options_over_and_takes_words_for_what_they_may_be() {
    let rules = |decision: &str| {
        let text = format!("prefix_rule(pattern=['git', 'push'], decision='{decision}')");
        ExecRules::read(&text, Path::new("x")).unwrap()
    };
    let rows = [
        (&[Some("git"), Some("push")][..], true, true),
        (&[Some("git"), Some("-C"), Some("."), Some("push")], true, true),
        (&[Some("git"), None], false, true),
        (&[None], false, true),
        (&[Some("git"), Some("log"), None], false, false),
    ];
    for (words, matches, may) in rows {
        for decision in ["prompt", "forbidden"] {
            let rules = rules(decision);
            assert_eq!(
                (rules.matching(words, true).is_some(), rules.may_restrict(words)),
                (matches, may),
                "{words:?}"
            );
            assert!(rules.restricts());
        }
        let rules = rules("allow");
        let plain = words == [Some("git"), Some("push")];
        assert_eq!(
            (rules.matching(words, true).is_some(), rules.may_restrict(words)),
            (plain, false),
            "{words:?}"
        );
        assert!(!rules.restricts());
    }
}
