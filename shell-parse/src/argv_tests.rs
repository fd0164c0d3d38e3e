use pretty_assertions::assert_eq;

use super::*;

fn read(argv: &[&str]) -> Option<(Shell, String)> {
    let argv: Vec<String> = argv.iter().map(ToString::to_string).collect();
    script_of(&argv).map(|found| (found.shell, found.script.to_owned()))
}

#[test]
fn recognised_shapes() {
    let script = || "ls".to_owned();
    assert_eq!(read(&["bash", "-lc", "ls"]), Some((Shell::Posix, script())));
    assert_eq!(read(&["/usr/bin/zsh", "-c", "ls"]), Some((Shell::Posix, script())));
    assert_eq!(read(&["sh", "-c", "ls"]), Some((Shell::Posix, script())));
    assert_eq!(read(&["pwsh", "-Command", "ls"]), Some((Shell::PowerShell, script())));
    assert_eq!(
        read(&["C:\\x\\powershell.exe", "-noprofile", "-command", "ls"]),
        Some((Shell::PowerShell, script()))
    );
    assert_eq!(read(&["cmd", "/c", "ls"]), Some((Shell::Cmd, script())));
}

#[test]
fn other_shapes() {
    for argv in [
        &[][..],
        &["bash"],
        &["bash", "-lc"],
        &["bash", "-x", "ls"],
        &["bash", "-lc", "ls", "more"],
        &["fish", "-c", "ls"],
        &["bash5", "-c", "ls"],
        &["pwsh", "-NoProfile", "ls"],
        &["cmd", "-c", "ls"],
        &["ls"],
    ] {
        assert_eq!(read(argv), None, "{argv:?}");
    }
}
