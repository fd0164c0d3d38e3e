use std::fs;
use std::path::{Path, PathBuf};

use pretty_assertions::assert_eq;
use tenon_tools::{SandboxPolicy, WorkspaceWrite, WritableRoot};

use super::places;

fn roots(cwd: &Path, more: &[&Path]) -> Vec<WritableRoot> {
    let policy = SandboxPolicy::WorkspaceWrite(WorkspaceWrite {
        writable_roots: more.iter().map(|path| path.to_path_buf()).collect(),
        exclude_tmpdir_env_var: true,
        exclude_slash_tmp: true,
        ..WorkspaceWrite::default()
    });
    policy.writable_roots(cwd, None).expect("roots")
}

fn folder(below: &[&str]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    for name in below {
        fs::create_dir_all(path.join(name)).unwrap();
    }
    (folder, path)
}

#[test]
fn roots_apart_are_mounted_and_what_is_protected_in_them_if_it_is_there() {
    let (_folder, path) = folder(&["a/.git", "b/.tenon"]);
    let (a, b) = (path.join("a"), path.join("b"));
    let (writable, read_only) = places(&roots(&a, &[&b]));
    assert_eq!(writable, [a.clone(), b.clone()]);
    assert_eq!(read_only, [a.join(".git"), b.join(".tenon")]);
}

#[test]
fn what_lies_between_two_roots_is_held_in_its_place() {
    let (_folder, path) = folder(&["x/y/inner"]);
    let (writable, read_only) = places(&roots(&path.join("x/y/inner"), &[&path]));
    assert_eq!(writable, [path.clone(), path.join("x"), path.join("x/y"), path.join("x/y/inner")]);
    assert_eq!(read_only, [] as [PathBuf; 0]);
}

#[test]
fn a_repository_that_a_pointer_leads_to_is_held_in_its_place_too() {
    let (_folder, path) = folder(&["work", "deep/main/.git/worktrees/w"]);
    let work = path.join("work");
    fs::write(work.join(".git"), "gitdir: ../deep/main/.git/worktrees/w").unwrap();
    let (writable, read_only) = places(&roots(&work, &[&path]));
    assert_eq!(
        writable,
        [
            path.clone(),
            path.join("deep"),
            work.clone(),
            path.join("deep/main"),
            path.join("deep/main/.git"),
            path.join("deep/main/.git/worktrees"),
        ]
    );
    assert_eq!(read_only, [work.join(".git"), path.join("deep/main/.git/worktrees/w")]);
}

#[test]
fn a_repository_outside_of_all_roots_needs_no_mount() {
    let (_folder, path) = folder(&["work", "main/.git/worktrees/w"]);
    let work = path.join("work");
    fs::write(work.join(".git"), "gitdir: ../main/.git/worktrees/w").unwrap();
    let (writable, read_only) = places(&roots(&work, &[]));
    assert_eq!((writable, read_only), (vec![work.clone()], vec![work.join(".git")]));
}
