use super::*;

fn dangerous(line: &str) -> bool {
    let words: Vec<Option<String>> =
        shlex::split(line).unwrap().into_iter().map(|word| (word != "?").then_some(word)).collect();
    is_dangerous(&words)
}

#[test]
fn a_forced_rm_however_it_is_written() {
    for line in [
        "rm -f x",
        "rm -rf x",
        "rm -fr x",
        "rm -Rvf x",
        "rm -r -f x",
        "rm x -f",
        "rm --force x",
        "rm --forc x",
        "rm --f x",
        "/bin/rm -f x",
        "./rm -rf x",
        "rm ? -f",
        "rm {-r,-f} x",
    ] {
        assert!(dangerous(line), "{line}");
    }
}

#[test]
fn and_nothing_else() {
    for line in [
        "rm x",
        "rm -r x",
        "rm -- -f",
        "rm -i x",
        "rm --recursive x",
        "rm f",
        "rmdir -f x",
        "cp -f a b",
        "? -f",
        "",
    ] {
        assert!(!dangerous(line), "{line}");
    }
}
