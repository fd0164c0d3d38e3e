use std::path::Path;

use pretty_assertions::assert_eq;

use super::*;
use crate::policy::ExecRules;

/// How a rule on these words fits a command; `|` parts alternatives, `$` is a word that is not known.
fn fits(pattern: &str, command: &str) -> Fit {
    let words: Vec<Vec<&str>> = pattern.split(' ').map(|word| word.split('|').collect()).collect();
    let rules =
        ExecRules::read(&format!("prefix_rule(pattern={words:?}, decision='prompt')"), Path::new("x"))
            .unwrap();
    let words: Vec<Option<&str>> =
        command.split_whitespace().map(|word| (word != "$").then_some(word)).collect();
    fit(rules.prefixes()[0].pattern(), &words)
}

#[test]
fn options_before_the_subcommand_are_passed_over() {
    let rows = [
        ("git push", Fit::At(1)),
        ("git push --force", Fit::At(1)),
        ("/usr/bin/git push", Fit::At(1)),
        ("git -C . push", Fit::At(3)),
        ("git -c a.b=c push", Fit::At(3)),
        ("git --no-pager push", Fit::At(2)),
        ("git --git-dir x --work-tree y -p push", Fit::At(6)),
        ("git --git-dir=x --namespace n push", Fit::At(4)),
        ("git -C push push", Fit::At(3)),
        ("git", Fit::No),
        ("git -C push", Fit::No),
        ("git -C push log", Fit::No),
        ("git log push", Fit::No),
        ("git -p log push", Fit::No),
        ("git -C", Fit::No),
        ("hg push", Fit::No),
        ("", Fit::No),
    ];
    for (command, expected) in rows {
        assert_eq!(fits("git push", command), expected, "{command}");
    }
    assert_eq!(fits("git push --force|-f", "git -C . push -f"), Fit::At(3));
    assert_eq!(fits("git push --force|-f", "git -C . push x -f"), Fit::No);
    assert_eq!(fits("python3 -c", "python3 -I -c x"), Fit::At(2));
    assert_eq!(fits("cargo publish", "cargo +nightly -q publish"), Fit::At(3));
}

/// Which options of other programs take a value is not known.
#[test]
fn a_word_behind_an_option_may_be_its_value() {
    let rows = [
        ("kubectl delete pod", Fit::At(1)),
        ("kubectl --v=3 delete pod", Fit::At(2)),
        ("kubectl -n ns delete pod", Fit::Perhaps),
        ("kubectl -n ns -o json delete pod", Fit::Perhaps),
        ("kubectl -n ns get delete", Fit::No),
        ("kubectl get delete", Fit::No),
        ("kubectl --v=3 get delete", Fit::No),
    ];
    for (command, expected) in rows {
        assert_eq!(fits("kubectl delete", command), expected, "{command}");
    }
}

#[test]
fn what_is_not_known_may_be_anything() {
    let perhaps = [
        "$",
        "$ push",
        "git $",
        "git $ --force",
        "git -C $ log",
        "git -C . $",
        "git --no-pager $",
        "git pu*",
        "git {push,-f}",
        "git p[u]sh",
        "git -{C,c}",
        "/usr/bin/gi? push",
        "{git,push}",
        "git -c alias.p=push p",
        "git -c ALIAS.p=push p",
        "git --config-env=alias.p=A p",
        "git -c {a.b=c,push}",
    ];
    for command in perhaps {
        assert_eq!(fits("git push", command), Fit::Perhaps, "{command}");
    }
    for command in ["git log $", "git log *", "git fo*", "git -C . log $", "[ -f git ]", "ls $", "./run-*.sh"]
    {
        assert_eq!(fits("git push", command), Fit::No, "{command}");
    }
    assert_eq!(fits("git", "git $"), Fit::At(1));
}
