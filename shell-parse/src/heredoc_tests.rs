use pretty_assertions::assert_eq;

use super::*;

fn call(cd: Option<&str>, command: &str, body: &str) -> Option<HeredocCall> {
    Some(HeredocCall { cd: cd.map(str::to_owned), command: command.to_owned(), body: body.to_owned() })
}

#[test]
fn the_two_forms() {
    let cases = [
        ("apply_patch <<EOF\na\nb\nEOF", call(None, "apply_patch", "a\nb")),
        ("apply_patch <<'EOF'\na $x `b` \\n\nEOF\n", call(None, "apply_patch", "a $x `b` \\n")),
        ("apply_patch <<\"END\"\na\nEND\n\n", call(None, "apply_patch", "a")),
        ("applypatch <<X\na ${y}\nX", call(None, "applypatch", "a ${y}")),
        ("  apply_patch  <<  X\na\nX", call(None, "apply_patch", "a")),
        ("cd sub && apply_patch <<X\na\nX", call(Some("sub"), "apply_patch", "a")),
        ("cd \"a b\" && apply_patch <<X\na\nX", call(Some("a b"), "apply_patch", "a")),
        ("cd 'a $b' && apply_patch <<X\na\nX", call(Some("a $b"), "apply_patch", "a")),
        ("cd ~/x* && apply_patch <<X\na\nX", call(Some("~/x*"), "apply_patch", "a")),
        ("cat <<X\na\nX", call(None, "cat", "a")),
    ];
    for (script, expected) in cases {
        assert_eq!(whole_script_heredoc(script), expected, "{script}");
    }
}

#[test]
fn the_body_is_exact() {
    let cases = [
        ("p <<X\nX", ""),
        ("p <<X\n\n  lead\n\ttab\n\n\nX", "\n  lead\n\ttab"),
        ("p <<'X'\n 漢字 \r\n XX\nX \nX", " 漢字 \r\n XX\nX "),
        ("p <<X\na\\\nb\nX", "a\\\nb"),
        ("p <<'X'\n\\\nX", "\\"),
        ("p <<'X'\n'\"`$(\nX", "'\"`$("),
        ("p <<X\n$(rm -rf /)\nX", "$(rm -rf /)"),
    ];
    for (script, body) in cases {
        let call = whole_script_heredoc(script).expect(script);
        assert_eq!(call.body, body, "{script:?}");
    }
}

#[test]
fn everything_else_is_not_recognised() {
    let cases = [
        "",
        "apply_patch",
        "apply_patch <<X",
        "apply_patch <<X\na\n",
        "apply_patch arg <<X\na\nX",
        "apply_patch <<-X\n\ta\nX",
        "apply_patch <<< X",
        "apply_patch < file",
        "apply_patch <<X\na\nX ",
        "apply_patch <<\\X\na\nX",
        "apply_patch <<''\na\n",
        "cd 'a<<b' && apply_patch <<X\na\nX",
        "apply_patch <<X > out\na\nX",
        "apply_patch <<X && ls\na\nX",
        "apply_patch <<X | cat\na\nX",
        "apply_patch <<X\na\nX\nls",
        "ls; apply_patch <<X\na\nX",
        "# why\napply_patch <<X\na\nX",
        "apply_patch <<X # why\na\nX",
        "A=1 apply_patch <<X\na\nX",
        "cd a; apply_patch <<X\na\nX",
        "cd a || apply_patch <<X\na\nX",
        "cd a && cd b && apply_patch <<X\na\nX",
        "cd -P a && apply_patch <<X\na\nX",
        "cd - && apply_patch <<X\na\nX",
        "cd && apply_patch <<X\na\nX",
        "cd '' && apply_patch <<X\na\nX",
        "cd a b && apply_patch <<X\na\nX",
        "cd $a && apply_patch <<X\na\nX",
        "cd \"$a\" && apply_patch <<X\na\nX",
        "cd a'b' && apply_patch <<X\na\nX",
        "pushd a && apply_patch <<X\na\nX",
        "(apply_patch <<X\na\nX\n)",
        "apply_patch <<X &\na\nX",
        "apply_patch <<X <<Y\na\nX\nb\nY",
        "! apply_patch <<X\na\nX",
    ];
    for script in cases {
        assert_eq!(whole_script_heredoc(script), None, "{script:?}");
    }
}

#[test]
fn the_bound_is_exact() {
    let frame = "cd  && p <<X".len();
    let fits = "y".repeat(MAX_HEREDOC_HEAD_BYTES - frame);
    assert!(whole_script_heredoc(&format!("cd {fits} && p <<X\nX")).is_some());
    assert_eq!(whole_script_heredoc(&format!("cd {fits}y && p <<X\nX")), None);
}

#[test]
fn large_bodies_pass() {
    let body = "+ it's \"$x\" \\\n".repeat(200_000);
    let call = whole_script_heredoc(&format!("apply_patch <<'X'\n{body}X\n")).expect("recognised");
    assert_eq!(call.body, body.trim_end_matches('\n'));
}
