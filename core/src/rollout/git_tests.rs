use std::fs;

use pretty_assertions::assert_eq;
use tempfile::TempDir;

use super::*;

const HASH: &str = "0123456789abcdef0123456789abcdef01234567";
const OTHER: &str = "fedcba9876543210fedcba9876543210fedcba98";

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn info(commit: Option<&str>, branch: Option<&str>, url: Option<&str>) -> Option<GitInfo> {
    let owned = |text: Option<&str>| text.map(str::to_owned);
    Some(GitInfo { commit_hash: owned(commit), branch: owned(branch), repository_url: owned(url) })
}

#[test]
fn a_branch_its_commit_and_the_address_of_origin() {
    let config = "[core]\n\turl = no\n[remote \"fork\"]\n\turl = no\n[remote \"origin\"]\n\tfetch = +refs\n\turl = git@host:a/b.git\n";
    let folder = folder(&[
        (".git/HEAD", "ref: refs/heads/feat/x\n"),
        (".git/refs/heads/feat/x", &format!("{HASH}\n")),
        (".git/config", config),
        ("sub/folder/file", ""),
    ]);
    let expected = info(Some(HASH), Some("feat/x"), Some("git@host:a/b.git"));
    assert_eq!(git_info(folder.path()), expected);
    assert_eq!(git_info(&folder.path().join("sub/folder")), expected);
}

#[test]
fn packed_references_and_a_head_without_a_branch() {
    let packed =
        format!("# pack-refs with: peeled\n{OTHER} refs/heads/other\n{HASH} refs/heads/main\n^{OTHER}\n");
    let on_branch = folder(&[(".git/HEAD", "ref: refs/heads/main\n"), (".git/packed-refs", &packed)]);
    assert_eq!(git_info(on_branch.path()), info(Some(HASH), Some("main"), None));
    let detached = folder(&[(".git/HEAD", &format!("{HASH}\n"))]);
    assert_eq!(git_info(detached.path()), info(Some(HASH), None, None));
    let unborn = folder(&[(".git/HEAD", "ref: refs/heads/main\n")]);
    assert_eq!(git_info(unborn.path()), info(None, Some("main"), None));
}

#[test]
fn a_work_tree_belongs_to_its_repository() {
    let folder = folder(&[
        ("repo/.git/HEAD", "ref: refs/heads/main\n"),
        ("repo/.git/refs/heads/tree", HASH),
        ("repo/.git/config", "[remote \"origin\"]\nurl = \"https://host/x\"\n"),
        ("repo/.git/worktrees/t/HEAD", "ref: refs/heads/tree\n"),
        ("repo/.git/worktrees/t/commondir", "../..\n"),
        ("tree/.git", "gitdir: ../repo/.git/worktrees/t\n"),
    ]);
    assert_eq!(git_info(&folder.path().join("tree")), info(Some(HASH), Some("tree"), Some("https://host/x")));
}

#[test]
fn secrets_in_an_address_are_not_kept() {
    let table = [
        ("https://user:secret@host/a/b", "https://host/a/b"),
        ("HTTPS://token@host", "HTTPS://host"),
        ("http://a@b:c@host:80/x@y", "http://host:80/x@y"),
        ("https://host/x@y", "https://host/x@y"),
        ("ssh://git@host/x", "ssh://git@host/x"),
        ("git@host:x", "git@host:x"),
    ];
    for (url, expected) in table {
        assert_eq!(without_user(url), expected);
    }
}

#[test]
fn a_head_that_leads_out_of_the_repository_is_not_followed() {
    let folder = folder(&[(".git/HEAD", "ref: ../../secret\n"), ("secret", HASH)]);
    assert_eq!(git_info(folder.path()), info(None, None, None));
}

#[test]
fn outside_of_a_repository_there_is_nothing() {
    assert_eq!(git_info(Path::new("/")), None);
}
