use pretty_assertions::assert_eq;

use super::*;

fn given(text: &str) -> CommandInput {
    CommandInput { text: text.to_owned(), certain: !text.contains('$') }
}

/// The scripts of a command, and whether there is one that is not known; `$` is a word that is not.
fn scripts(line: &str, input: Option<&str>) -> (Vec<String>, bool) {
    let words = shlex::split(line).unwrap().into_iter().map(|word| (word != "$").then_some(word)).collect();
    let Scripts { known, unknown } =
        scripts_of(&FoundCommand { words, input: input.map(given), input_file: None });
    (known, unknown)
}

#[test]
fn what_a_shell_is_given() {
    let rows = [
        ("sh -c x", None, &["x"][..], false),
        ("sh -c $", None, &[], true),
        ("sh -ec -- $", None, &[], true),
        ("sh -c x $", None, &["x"], false),
        ("sh -c -- '-x; y'", None, &["-x; y"], false),
        ("bash --rcfile $ -ic x", None, &["x"], true),
        ("bash -o $ -c x", None, &["x"], true),
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
        ("fish -c 'x y'", None, &["x y"], false),
        ("tcsh", None, &[], true),
        ("pwsh -NoProfile -Command 'x y'", None, &["x y"], false),
        ("bash /proc/self/fd/0", Some("x"), &["x"], false),
        ("source file", None, &[], false),
        (". $", None, &[], true),
    ];
    for (line, input, known, unknown) in rows {
        let known = known.iter().map(ToString::to_string).collect();
        assert_eq!(scripts(line, input), (known, unknown), "{line}");
    }
}

/// Programs that start a shell themselves, unless they are told what to run.
#[test]
fn what_a_shell_that_another_program_starts_is_given() {
    let rows = [
        ("su", None, &[][..], true),
        ("su - bob", None, &["bob"], true),
        ("su bob", Some("x"), &["bob", "x"], false),
        ("script -q log", None, &["log"], true),
        ("runuser -l bob", None, &["bob"], true),
        ("su bob -c x", None, &["bob", "x"], false),
        ("newgrp bobs", Some("x"), &["bobs", "x"], false),
        ("sg bobs", None, &["bobs"], true),
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
        ("alias a='b c' d", &["b c \"$@\""], false),
        ("alias $", &[], true),
        ("trap 'a b' EXIT", &["a b", "EXIT"], false),
        ("trap -- a EXIT", &["a", "EXIT"], false),
        ("trap - EXIT", &["EXIT"], false),
        ("trap $ EXIT", &["EXIT"], true),
        ("env -S 'a b'", &["a b"], false),
        ("env '-iSa b'", &["Sa b", "a b", " b"], false),
        ("env '--split-string=a b'", &["a b"], false),
        ("watch 'a b'", &["a b"], false),
        ("su -c a", &["a"], false),
        ("su bob '-ca b'", &["bob", "a b", " b"], false),
        ("su --command=a", &["a"], false),
        ("runuser -u bob a", &["bob", "a"], false),
        ("sg bobs -c 'a b'", &["bobs", "a b"], false),
        ("capsh --drop=all -- -c 'a b'", &["a b"], false),
        ("script -qc 'a b' x", &["c", "a b", "x"], false),
        ("git rebase -x 'a b' x", &["a b"], false),
        ("git rebase --exec a --exec='b c'", &["a", "b c"], false),
        ("git rebase '-xa b'", &["a b", " b"], false),
        ("git rebase -x $", &[""], true),
        ("git -C . submodule --quiet foreach --recursive 'a b'", &["a b"], false),
        ("git submodule foreach a b $", &["a b"], true),
        ("git bisect run a b", &["a b"], false),
        ("git filter-branch --tree-filter 'a b' x", &["a b"], false),
        ("git log -x a run b", &[], false),
        ("env make $", &[], false),
        ("ls 'a b' $", &[], false),
    ];
    for (line, known, unknown) in rows {
        let known = known.iter().map(ToString::to_string).collect();
        assert_eq!(scripts(line, None), (known, unknown), "{line}");
    }
}
