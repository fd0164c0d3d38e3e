use pretty_assertions::assert_eq;

use super::*;

/// The commands, each as a line; `?` for a word that is not known.
fn found(script: &str) -> Vec<String> {
    let line = |command: FoundCommand| {
        let words: Vec<String> =
            command.words.into_iter().map(|word| word.unwrap_or_else(|| "?".to_owned())).collect();
        let input = command
            .input
            .map(|input| format!(" <{:?}{}", input.text, if input.certain { "" } else { "?" }))
            .unwrap_or_default();
        words.join(" ") + &input
    };
    let mut lines: Vec<String> = commands_within(script).commands.into_iter().map(line).collect();
    lines.sort();
    lines
}

#[test]
fn every_place_is_searched() {
    let places = [
        "rm -f x",
        "a && rm -f x",
        "a; b | rm -f x",
        "a\nrm -f x",
        "a\n\\rm -f x",
        "a b\n\\rm -f x",
        "$(rm -f x)",
        "a `rm -f x`",
        "a \"b $(rm -f x)\"",
        "A=$(rm -f x)",
        "A=1 rm -f x",
        "(rm -f x)",
        "{ rm -f x; }",
        "rm -f x &",
        "! rm -f x",
        "rm -f x > /dev/null 2>&1",
        "> log rm -f x",
        "if true; then rm -f x; fi",
        "while rm -f x; do :; done",
        "for f in a; do rm -f x; done",
        "case a in a) rm -f x;; esac",
        "f() { rm -f x; }",
        "a <(rm -f x)",
        "cat <<EOF\n$(rm -f x)\nEOF\n",
        "a # comment\nrm -f x",
        "'rm' \"-f\" x",
        "r\"m\" -f x",
        "\\rm -f x",
        "rm \\\n -f x",
        "[[ -n $(rm -f x) ]]",
        "echo ${a:-$(rm -f x)}",
        "coproc rm -f x",
        "time rm -f x",
    ];
    for script in places {
        let all = found(script);
        let there = all.iter().any(|line| line == "rm -f x" || line.ends_with(" rm -f x"));
        assert!(there, "{script}: {all:?}");
    }
}

#[test]
fn words_that_are_not_known_keep_their_place() {
    assert_eq!(found("rm $x -f"), ["rm ? -f"]);
    assert_eq!(found("$x -f"), ["? -f"]);
    assert_eq!(found("a \"$b c\" d"), ["a ? d"]);
}

#[test]
fn what_is_read_belongs_to_its_command() {
    assert_eq!(found("bash <<'X'\nrm -f x\nX\n"), ["bash <\"rm -f x\\n\""]);
    assert_eq!(found("bash <<< 'rm -f x'"), ["bash <\"rm -f x\\n\""]);
    assert_eq!(found("bash -s < file"), ["bash -s"]);
}

#[test]
fn the_file_that_is_read_is_known_by_its_name() {
    let rows = [
        ("sh < x.sh", Some("x.sh")),
        ("sh 0<'x y' -s", Some("x y")),
        ("<x sh", Some("x")),
        ("sh <> x", Some("x")),
        ("sh < a < b", Some("b")),
        ("sh <<< a < b", Some("b")),
        ("sh < b <<< a", None),
        ("sh < $x", None),
        ("sh <(a)", None),
        ("sh 3< x", None),
        ("sh > x", None),
        ("sh <&3", None),
        ("sh", None),
    ];
    for (script, expected) in rows {
        let files: Vec<Option<String>> =
            commands_within(script).commands.into_iter().map(|command| command.input_file).collect();
        assert_eq!(files.last().unwrap().as_deref(), expected, "{script}");
    }
}

#[test]
fn a_heredoc_is_read_as_its_command_reads_it() {
    let rows = [
        // A bare delimiter: backslashes quote, expansions are made.
        ("sh <<E\n\\git push\nE", "sh <\"\\\\git push\\n\""),
        ("sh <<E\ngit \\\npush\nE\n", "sh <\"git push\\n\""),
        ("sh <<E\n\\$x \\`y\\` \\\\ \\z \"\nE\n", "sh <\"$x `y` \\\\ \\\\z \\\"\\n\""),
        ("sh <<E\ngit $x\nE\n", "sh <\"git $x\\n\"?"),
        ("sh <<E\na\\\nE\nE\n", "sh <\"aE\\n\""),
        // A quoted one: nothing.
        ("sh <<'E'\n\\git $x `y` a\\\nE\n", "sh <\"\\\\git $x `y` a\\\\\\n\""),
        ("sh <<\\E\n$x\nE\n", "sh <\"$x\\n\""),
        ("sh <<\"E\"F\n$x\nEF\n", "sh <\"$x\\n\""),
        ("sh <<'E F'\n$x\nE F\n", "sh <\"$x\\n\""),
        // Tabs before lines.
        ("sh <<-E\n\t\tgit push\n\tE\n", "sh <\"git push\\n\""),
        ("sh <<E\n\tE\nE\n", "sh <\"\\tE\\n\""),
        // What stands around it.
        ("sh <<E -s a >log\nb\nE\n", "sh -s a <\"b\\n\""),
        ("0<<E sh\nb\nE\n", "sh <\"b\\n\""),
        ("sh <<A <<B\na\nA\nb\nB\n", "sh <\"b\\n\""),
        ("sh <<A </dev/tty\na\nA\n", "sh"),
        ("sh 3<<A\na\nA\n", "sh"),
        ("sh {x}<<A\na\nA\n", "sh"),
        ("sh <<<a <<<'b c'", "sh <\"b c\\n\""),
        ("sh <<<\"$x\"", "sh"),
    ];
    for (script, expected) in rows {
        assert_eq!(found(script), [expected], "{script}");
        assert!(commands_within(script).complete, "{script}");
    }
}

#[test]
fn what_stands_behind_a_heredoc_is_read_as_well() {
    let rows = [
        ("cat <<E; git push\na\nE\n", &["cat <\"a\\n\"", "git push"][..]),
        ("cat <<E | sh && b\na\nE\nc", &["b", "c", "cat <\"a\\n\"", "sh"]),
        ("cat <<E\n`git push`\nE\n", &["cat <\"`git push`\\n\"?", "git push"]),
        ("cat <<E\n${x:-`git push`}\nE\n", &["cat <\"${x:-`git push`}\\n\"?", "git push"]),
        ("cat <<E\n\\`a\\` \\$(b)\nE\n", &["cat <\"`a` $(b)\\n\""]),
        ("a \"$(cat <<'E'\n)\"'\nE\n)\" b\nc", &["a ? b", "c", "cat <\")\\\"'\\n\""]),
        ("a <<E \"\nE\n\"\nb\nE\nc", &["a \nE\n <\"b\\n\"", "c"]),
    ];
    for (script, expected) in rows {
        assert_eq!(found(script), expected, "{script}");
        assert!(commands_within(script).complete, "{script}");
    }
}

#[test]
fn words_stand_on_both_sides_of_redirections() {
    for script in [
        "git > log push",
        ">log git push",
        "git 2>&1 push",
        "git &> log push",
        "{x}>log git push",
        "git <<< a push",
        "git <<E push\na\nE\n",
        "git >| log push",
        "git < <(:) push",
        "A=1 B[2]=3 C+=4 D=(5 6) git push",
        "g\\\nit push",
        "git p$'us'h",
        "git $\"push\"",
    ] {
        let all = found(script);
        let there = all.iter().any(|line| line.starts_with("git push"));
        assert!(there && commands_within(script).complete, "{script}: {all:?}");
    }
}

#[test]
fn what_is_no_command_is_none() {
    let rows = [
        ("((1<<2)); a", &["a"][..]),
        ("for ((i=0;i<3;i++)); do a; done", &["a"]),
        ("for x in git push; do a; done", &["a"]),
        ("for x do a; done", &["a"]),
        ("for x\nin b\ndo a; done", &["a", "in b"]),
        ("[[ a && git < push || ( $x =~ (b|c) ) ]] && a", &["a"]),
        ("case $x in git|push) a;; (b) c;; esac; d", &["a", "c", "d"]),
        ("case x in esac; a", &["a"]),
        ("x=(git push); a", &["a"]),
        ("# git push\na # b", &["a"]),
        ("function f { a; }; f () ( b )", &["a", "b"]),
        ("coproc N { a; }; coproc b c", &["a", "b c"]),
        ("time -p a; time { b; }", &["a", "b"]),
        ("((a); (b))", &["a", "b"]),
        ("a $((1 + $(b))) $[1]", &["a ? ?", "b"]),
    ];
    for (script, expected) in rows {
        assert_eq!(found(script), expected, "{script}");
        assert!(commands_within(script).complete, "{script}");
    }
}

#[test]
fn what_is_not_understood_is_said() {
    for script in [
        "a; if then",
        "a)",
        "(a",
        "'a",
        "\"a",
        "`a",
        "$(a",
        "${a",
        "a <<E",
        "a <<E\nb\n",
        "a <<$x\nb\n$x\n",
        "a <",
        "case a",
        "case a in b",
        "[[ a",
        "x=(a",
        "fi",
        "{ a; fi",
        "a (b)",
        "$(a <<E)\nb\nE\n",
        "$'a",
    ] {
        assert!(!commands_within(script).complete, "{script}");
    }
}

#[test]
fn the_bound_of_nesting_is_exact() {
    let nested = |depth: usize| format!("{}git push{}", "$(".repeat(depth), ")".repeat(depth));
    let of = |depth| {
        let there = found(&nested(depth)).contains(&"git push".to_owned());
        (there, commands_within(&nested(depth)).complete)
    };
    assert_eq!(of(crate::MAX_NESTING), (true, true));
    assert_eq!(of(crate::MAX_NESTING + 1), (false, false));
    let heredocs = |depth: usize| {
        (0..depth).fold("git push".to_owned(), |inner, n| format!("a <<E{n}\n$({inner}\n)\nE{n}\n"))
    };
    assert!(commands_within(&heredocs(crate::MAX_NESTING / 2)).complete);
    assert!(!commands_within(&heredocs(crate::MAX_NESTING)).complete);
}

#[test]
fn a_script_with_a_fault_is_searched_as_far_as_it_goes() {
    assert!(found("rm -f x; if").contains(&"rm -f x".to_owned()));
    assert!(!commands_within("rm -f x; if").complete);
    assert_eq!(found(""), Vec::<String>::new());
    assert!(commands_within("").complete && commands_within("f() { a; }; f > x").complete);
}

#[test]
fn the_bound_is_exact() {
    let fits = format!("echo {}", "x".repeat(MAX_PLAIN_SCRIPT_BYTES - 5));
    let of = |script: &str| (commands_within(script).commands.len(), commands_within(script).complete);
    assert_eq!(of(&fits), (1, true));
    assert_eq!(of(&format!("{fits}x")), (0, false));
}
