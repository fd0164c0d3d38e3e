use pretty_assertions::assert_eq;

use super::*;

fn named(script: &str) -> Vec<String> {
    let argv = ["bash", "-lc", script].map(str::to_owned);
    // The shell's own script is none of the files.
    named_scripts(&argv).into_iter().filter(|name| name != script).collect()
}

#[test]
fn programs_by_path_and_what_interpreters_are_given() {
    let rows: [(&str, &[&str]); 14] = [
        ("./x.sh a", &["./x.sh"]),
        ("sub/x a", &["sub/x"]),
        ("sh x.sh a", &["a", "x.sh"]),
        ("sudo -n bash -x x.sh", &["x.sh"]),
        ("python3.12 x.py", &["x.py"]),
        ("python3 -u x.py --flag", &["x.py"]),
        ("source env.sh", &["env.sh"]),
        (". ./env.sh", &["./env.sh"]),
        ("if true; then ./x.sh > log; fi", &["./x.sh"]),
        ("A=1 node x.js", &["x.js"]),
        ("cat x.txt", &[]),
        ("make test", &[]),
        ("git commit -F x", &[]),
        ("./$x", &[]),
    ];
    for (script, expected) in rows {
        assert_eq!(named(script), expected, "{script}");
    }
}
