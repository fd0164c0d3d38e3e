use std::fs;
use std::os::unix::fs::PermissionsExt;

use pretty_assertions::assert_eq;
use tempfile::TempDir;

use super::*;

const PASSWD: &[u8] = b"root:x:0:0:root:/root:/bin/bash
# not an entry
broken:x:7
daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin
ann:x:1000:1000:Ann,,,:/home/ann:/usr/bin/zsh
empty:x:1001:1001::/home/empty:
ann2:x:1000:1000::/home/ann2:/bin/sh
";

/// A folder with executables of these names.
fn folder(names: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for name in names {
        let path = folder.path().join(name);
        fs::write(&path, "").expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("executable");
    }
    folder
}

fn finder(account: Option<PathBuf>, path: &[&TempDir]) -> ShellFinder {
    let path = std::env::join_paths(path.iter().map(|folder| folder.path())).expect("a path");
    ShellFinder::new(account, Some(&path))
}

#[test]
fn reads_the_password_file() {
    assert_eq!(account_shell(PASSWD, 0), Some(PathBuf::from("/bin/bash")));
    assert_eq!(account_shell(PASSWD, 1), Some(PathBuf::from("/usr/sbin/nologin")));
    assert_eq!(account_shell(PASSWD, 1000), Some(PathBuf::from("/usr/bin/zsh")));
    assert_eq!(account_shell(PASSWD, 1001), None);
    assert_eq!(account_shell(PASSWD, 7), None);
    assert_eq!(account_shell(b"", 0), None);
}

#[test]
fn the_account_decides_the_users_shell() {
    let home = folder(&["zsh"]);
    let zsh = home.path().join("zsh");
    let found = finder(Some(zsh.clone()), &[]).user_shell();
    assert_eq!(found, Shell { kind: ShellKind::Zsh, path: zsh });
}

#[test]
fn an_account_without_a_known_shell_gets_bash() {
    let path = folder(&["bash", "sh"]);
    let found = finder(Some(PathBuf::from("/usr/bin/fish")), &[&path]).user_shell();
    assert_eq!(found, Shell { kind: ShellKind::Bash, path: path.path().join("bash") });
}

#[test]
fn a_requested_shell_is_found_by_kind_alone() {
    let first = folder(&["sh"]);
    let second = folder(&["sh", "bash"]);
    let finder = finder(Some(PathBuf::from("/no/such/bash")), &[&first, &second]);
    assert_eq!(finder.requested("/opt/custom/bash").path, second.path().join("bash"));
    assert_eq!(finder.requested("sh").path, first.path().join("sh"));
}

#[test]
fn the_account_comes_before_the_path() {
    let own = folder(&["bash"]);
    let path = folder(&["bash"]);
    let finder = finder(Some(own.path().join("bash")), &[&path]);
    assert_eq!(finder.requested("bash").path, own.path().join("bash"));
}

#[test]
fn an_unknown_kind_is_bin_sh() {
    let path = folder(&["fish"]);
    for asked in ["fish", "/bin/fish", "", "..", "pwsh", "bash5"] {
        assert_eq!(finder(None, &[&path]).requested(asked).path, PathBuf::from("/bin/sh"), "{asked}");
    }
}

#[test]
fn what_cannot_be_executed_is_no_shell() {
    let plain = folder(&[]);
    fs::write(plain.path().join("bash"), "").expect("written");
    fs::create_dir(plain.path().join("zsh")).expect("made");
    let good = folder(&["bash", "zsh"]);
    let finder = finder(None, &[&plain, &good]);
    assert_eq!(finder.requested("bash").path, good.path().join("bash"));
    assert_eq!(finder.requested("zsh").path, good.path().join("zsh"));
}

#[test]
fn login_is_one_letter() {
    let shell = Shell { kind: ShellKind::Bash, path: PathBuf::from("/bin/bash") };
    assert_eq!(shell.argv("echo hi", true), ["/bin/bash", "-lc", "echo hi"]);
    assert_eq!(shell.argv("", false), ["/bin/bash", "-c", ""]);
}
