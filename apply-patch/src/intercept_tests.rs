use pretty_assertions::assert_eq;

use super::*;

const PATCH: &str = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch";

fn read(argv: &[&str]) -> Option<PatchCommand> {
    let argv: Vec<String> = argv.iter().map(ToString::to_string).collect();
    patch_command(&argv)
}

fn explicit(patch: &str, cd: Option<&str>) -> Option<PatchCommand> {
    Some(PatchCommand::Explicit { patch: patch.to_owned(), cd: cd.map(str::to_owned) })
}

#[test]
fn calls_of_the_tool() {
    assert_eq!(read(&["apply_patch", PATCH]), explicit(PATCH, None));
    assert_eq!(read(&["applypatch", "junk"]), explicit("junk", None));
    let heredoc = format!("apply_patch <<'EOF'\n{PATCH}\nEOF\n");
    for argv in [
        ["bash", "-lc", &heredoc],
        ["/bin/zsh", "-c", &heredoc],
        ["sh", "-c", &heredoc],
        ["pwsh", "-Command", &heredoc],
        ["cmd", "/c", &heredoc],
    ] {
        assert_eq!(read(&argv), explicit(PATCH, None), "{argv:?}");
    }
    assert_eq!(read(&["powershell", "-NoProfile", "-Command", &heredoc]), explicit(PATCH, None));
    let moved = format!("cd 'some where' && applypatch <<EOF\n{PATCH}\nEOF");
    assert_eq!(read(&["bash", "-lc", &moved]), explicit(PATCH, Some("some where")));
}

#[test]
fn bare_patches() {
    assert_eq!(read(&[PATCH]), Some(PatchCommand::Implicit));
    assert_eq!(read(&["bash", "-lc", PATCH]), Some(PatchCommand::Implicit));
}

#[test]
fn other_commands() {
    let heredoc = |before: &str, after: &str| format!("{before}apply_patch <<'EOF'\n{PATCH}\nEOF\n{after}");
    for argv in [
        vec!["ls".to_owned()],
        vec![],
        vec!["apply_patch".to_owned()],
        vec!["apply_patch".to_owned(), PATCH.to_owned(), "more".to_owned()],
        vec!["bash".to_owned(), "-lc".to_owned(), heredoc("", "ls")],
        vec!["bash".to_owned(), "-lc".to_owned(), heredoc("ls; ", "")],
        vec!["bash".to_owned(), "-lc".to_owned(), heredoc("cd a; ", "")],
        vec!["bash".to_owned(), "-x".to_owned(), heredoc("", "")],
        vec!["bash".to_owned(), "-lc".to_owned(), format!("cat <<'EOF'\n{PATCH}\nEOF")],
        vec!["bash".to_owned(), "-lc".to_owned(), format!("apply_patch '{PATCH}'")],
        vec!["bash".to_owned(), "-lc".to_owned(), "*** Begin Patch".to_owned()],
    ] {
        assert_eq!(patch_command(&argv), None, "{argv:?}");
    }
}
