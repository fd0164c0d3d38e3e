use pretty_assertions::assert_eq;

use super::*;

fn words(script: &str) -> Option<Vec<Vec<String>>> {
    Some(plain_command_list(script)?.into_iter().map(|command| command.words).collect())
}

fn joints(script: &str) -> Vec<Option<Joint>> {
    plain_command_list(script).expect("plain").into_iter().map(|command| command.joined_by).collect()
}

#[test]
fn every_joint_splits() {
    let script = "a 1 && b || c; d | e\nf";
    let expected = [vec!["a", "1"], vec!["b"], vec!["c"], vec!["d"], vec!["e"], vec!["f"]];
    assert_eq!(words(script).expect("plain"), expected);
    let expected = [
        None,
        Some(Joint::And),
        Some(Joint::Or),
        Some(Joint::Sequence),
        Some(Joint::Pipe),
        Some(Joint::Sequence),
    ];
    assert_eq!(joints(script), expected);
}

#[test]
fn quotes_and_escapes_come_off() {
    let cases: &[(&str, &[&str])] = &[
        (r#"echo "a b" 'c d'"#, &["echo", "a b", "c d"]),
        (r"ls a\ b \*", &["ls", "a b", "*"]),
        (r#"echo "q \" \\ \n""#, &["echo", r#"q " \ \n"#]),
        (r#"x"y"'z' 5"#, &["xyz", "5"]),
        ("echo '' \"\"", &["echo", "", ""]),
        ("echo 'a\nb'", &["echo", "a\nb"]),
        ("echo a \\\n b", &["echo", "a", "b"]),
        ("FOO bar;", &["FOO", "bar"]),
        ("\\do 'time' if", &["do", "time", "if"]),
        ("git commit -m '漢字'", &["git", "commit", "-m", "漢字"]),
    ];
    for (script, expected) in cases {
        assert_eq!(words(script).expect(script), [expected.to_vec()], "{script}");
    }
}

#[test]
fn everything_else_is_not_plain() {
    let cases = [
        "ls\n\\\nrm x",
        "",
        "   ",
        "# only a comment",
        "ls # comment",
        "echo $x",
        "echo ${x}",
        "echo \"$x\"",
        "echo $(date)",
        "echo `date`",
        "echo $'a'",
        "echo <(ls)",
        "ls > out",
        "ls 2>&1",
        "cat <<< x",
        "cat <<EOF\nx\nEOF",
        "FOO=1 ls",
        "FOO=1",
        "ls &",
        "a & b",
        "a |& b",
        "! ls",
        "time ls",
        "time until false; do ls; done",
        "a; d\\\no ls",
        "(ls)",
        "{ ls; }",
        "if true; then ls; fi",
        "for x in a; do ls; done",
        "f() { ls; }",
        "[ -f x ]",
        "[[ -f x ]]",
        "ls &&",
        "&& ls",
        "ls ;; ls",
        "ls 'open",
        "echo {1..3}",
        "'' x",
        // Bash joins these to `rm`, and gives `ls` a carriage return.
        "r\\\nm x",
        "ls\r",
        "ls\r\nls",
        "ls\u{c}-l",
    ];
    for script in cases {
        assert_eq!(words(script), None, "{script}");
    }
}

#[test]
fn expansions_of_words_are_told() {
    for script in ["ls *.rs", "ls a?", "ls [ab]", "ls {a,b}", "ls ~", "ls =x", "*"] {
        assert!(plain_command_list(script).expect(script)[0].expands, "{script}");
    }
    for script in ["ls '*'", "ls \"~\"", "ls a~", "ls \\*", "ls a=b"] {
        assert!(!plain_command_list(script).expect(script)[0].expands, "{script}");
    }
}

/// Each of these places has the grammar's scanner ask for a class of the character.
#[test]
fn large_characters_are_letters() {
    for large in ['\u{e9}', '\u{6f22}', '\u{1f600}', '\u{10ffff}'] {
        let read = |script: String| words(&script).map(|list| list.concat());
        let braces = format!("echo {{{large}");
        let _ = [
            &braces,
            &format!("{{1{large}..2}}"),
            &format!("{{1..{large}}}"),
            &format!("${{a[{large}]:{large}"),
        ]
        .map(|script| plain_command_list(script));
        let word = |word: &str| Some(vec!["echo".to_owned(), word.to_owned()]);
        assert_eq!(read(format!("echo a{large}b")), word(&format!("a{large}b")));
        assert_eq!(read(format!("echo '{{{large}}}'")), word(&format!("{{{large}}}")));
    }
}

#[test]
fn the_bound_is_exact() {
    let fits = format!("echo {}", "x".repeat(MAX_PLAIN_SCRIPT_BYTES - 5));
    assert!(plain_command_list(&fits).is_some());
    assert_eq!(plain_command_list(&format!("{fits}x")), None);
}

#[test]
fn long_lists_need_no_deep_stack() {
    let script = vec!["a"; 10_000].join("&&");
    assert_eq!(plain_command_list(&script).expect("plain").len(), 10_000);
}
