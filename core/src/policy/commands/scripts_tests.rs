use pretty_assertions::assert_eq;

use super::*;

/// The names below the folder of the line.
fn named(script: &str) -> Vec<String> {
    let argv = ["/bin/bash", "-lc", script].map(str::to_owned);
    let all = named_scripts(&argv, Path::new("/w")).into_iter();
    let names = all.map(|path| path.strip_prefix("/w").unwrap_or(&path).display().to_string());
    // The shell's own script is none of the files.
    names.filter(|name| !name.ends_with(script.trim_start_matches("./"))).collect()
}

#[test]
fn programs_by_path_and_what_interpreters_are_given() {
    let rows: [(&str, &[&str]); 27] = [
        ("./x.sh a", &["x.sh"]),
        ("sub/x a", &["sub/x"]),
        ("sh x.sh a", &["a", "x.sh"]),
        ("sudo -n bash -x x.sh", &["x.sh"]),
        ("python3.12 x.py", &["x.py"]),
        ("python3 -u x.py --flag", &["x.py"]),
        ("source env.sh", &["env.sh"]),
        (". ./env.sh", &["env.sh"]),
        ("if true; then ./x.sh > log; fi", &["x.sh"]),
        ("A=1 node x.js", &["x.js"]),
        ("cat x.txt", &[]),
        ("make test", &[]),
        ("git commit -F x", &[]),
        ("./$x", &[]),
        ("/opt/x a", &["/opt/x"]),
        ("env sh x.sh", &["x.sh"]),
        ("bash x.sh && ls", &["x.sh"]),
        ("bash < x.sh", &["x.sh"]),
        ("sudo bash -s < x.sh", &["x.sh"]),
        ("cat < x.txt", &[]),
        ("bash <<'E'\n./x.sh\nE\n", &["x.sh"]),
        ("cd sub && ./x.sh", &["sub/./x.sh", "x.sh"]),
        ("cd /opt; sh x.sh", &["/opt/x.sh", "x.sh"]),
        ("(cd a; cd b; sh x)", &["a/b/x", "a/x", "b/x", "x"]),
        ("find . -exec ./x.sh {} +", &["x.sh"]),
        ("trap ./x.sh EXIT", &["x.sh"]),
        ("eval \"./x.sh\"", &["x.sh"]),
    ];
    for (script, expected) in rows {
        assert_eq!(named(script), expected, "{script}");
    }
}

#[test]
fn the_bound_of_folders_is_exact() {
    let count = |lines: usize| named(&format!("{}./x.sh", "cd a\n".repeat(lines))).len();
    // One folder more with each line, and no other.
    assert_eq!(count(MAX_FOLDERS.ilog2() as usize), 5);
    let different = |lines: usize| {
        let lines: String = (0..lines).map(|line| format!("cd a{line}\n")).collect();
        named(&format!("{lines}./x.sh")).len()
    };
    assert_eq!([3, 4, 5].map(different), [8, MAX_FOLDERS, MAX_FOLDERS]);
}
