use pretty_assertions::assert_eq;

use super::*;

fn given(text: &str) -> CommandInput {
    CommandInput { text: text.to_owned(), certain: !text.contains('$') }
}

/// The scripts of a command, and whether there is one that is not known; `$` is a word that is not.
fn scripts(line: &str, input: Option<&str>) -> (Vec<String>, bool) {
    let words = shlex::split(line).unwrap().into_iter().map(|word| (word != "$").then_some(word)).collect();
    let Scripts { known, unknown } = scripts_of(&FoundCommand { words, input: input.map(given) });
    (known, unknown)
}

#[test]
fn what_a_shell_is_given() {
    let rows = [
        ("sh -c x", None, &["x"][..], false),
        ("sh -c $", None, &[], true),
        ("sh -ec -- $", None, &[], true),
        ("sh -c x $", None, &["x"], false),
        ("sh", None, &[], true),
        ("sh -s a", None, &[], true),
        ("sh -s a", Some("x"), &["x"], false),
        ("sh -", None, &[], true),
        ("sh /dev/stdin", None, &[], true),
        ("sh -e file", None, &[], false),
        ("sh $", None, &[], true),
        ("bash -o pipefail", None, &[], true),
        ("bash -o pipefail file", None, &[], false),
        ("bash --rcfile a", None, &[], true),
        ("bash --version", None, &[], false),
        ("bash", Some("x"), &["x"], false),
        ("bash", Some("x $y"), &["x $y"], true),
        ("bash /dev/fd/3", None, &[], true),
        ("bash /proc/self/fd/0", Some("x"), &["x"], false),
        ("source file", None, &[], false),
        (". $", None, &[], true),
    ];
    for (line, input, known, unknown) in rows {
        let known = known.iter().map(ToString::to_string).collect();
        assert_eq!(scripts(line, input), (known, unknown), "{line}");
    }
}

#[test]
fn words_that_are_lines() {
    let rows = [
        ("eval a 'b c'", &["a b c"][..], false),
        ("eval a $", &["a"], true),
        ("alias a='b c' d", &["b c"], false),
        ("alias $", &[], true),
        ("trap 'a b' EXIT", &["a b"], false),
        ("trap $ EXIT", &[], true),
        ("env -S 'a b'", &["a b"], false),
        ("watch 'a b'", &["a b"], false),
        ("env make $", &[], false),
        ("ls 'a b' $", &[], false),
    ];
    for (line, known, unknown) in rows {
        let known = known.iter().map(ToString::to_string).collect();
        assert_eq!(scripts(line, None), (known, unknown), "{line}");
    }
}
