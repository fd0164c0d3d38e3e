use pretty_assertions::assert_eq;

use super::*;

/// The commands, each as a line; `?` for a word that is not known.
fn found(script: &str) -> Vec<String> {
    let line = |command: FoundCommand| {
        let words: Vec<String> =
            command.words.into_iter().map(|word| word.unwrap_or_else(|| "?".to_owned())).collect();
        let input = command.input.map(|input| format!(" <{input:?}")).unwrap_or_default();
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
    assert_eq!(found("bash <<< 'rm -f x'"), ["bash <\"rm -f x\""]);
    assert_eq!(found("bash -s < file"), ["bash -s"]);
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
