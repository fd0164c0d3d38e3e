use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use pretty_assertions::assert_eq;

use crate::{SandboxPolicy, WorkspaceWrite};

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    (folder, path)
}

fn only_roots(roots: &[&Path]) -> SandboxPolicy {
    SandboxPolicy::WorkspaceWrite(WorkspaceWrite {
        writable_roots: roots.iter().map(|root| root.to_path_buf()).collect(),
        exclude_tmpdir_env_var: true,
        exclude_slash_tmp: true,
        ..WorkspaceWrite::default()
    })
}

fn paths(policy: &SandboxPolicy, cwd: &Path, tmpdir: Option<&Path>) -> Vec<PathBuf> {
    let roots = policy.writable_roots(cwd, tmpdir).expect("a limit");
    roots.iter().map(|root| root.path().to_owned()).collect()
}

#[test]
fn without_a_sandbox_there_is_no_limit() {
    for policy in [SandboxPolicy::DangerFullAccess, SandboxPolicy::ExternalSandbox] {
        assert_eq!(policy.writable_roots(Path::new("/"), None), None);
        assert!(policy.may_write(Path::new("/etc/passwd"), Path::new("/"), None));
    }
}

#[test]
fn read_only_has_no_root() {
    assert_eq!(paths(&SandboxPolicy::ReadOnly, Path::new("/"), None), [] as [PathBuf; 0]);
    assert!(!SandboxPolicy::ReadOnly.may_write(Path::new("/tmp/a"), Path::new("/tmp"), None));
}

#[test]
fn a_workspace_has_its_folder_its_roots_and_two_for_the_time_being() {
    let (_folder, path) = folder();
    let (cwd, more, temporary) = (path.join("cwd"), path.join("more"), path.join("temporary"));
    for folder in [&cwd, &more, &temporary] {
        fs::create_dir(folder).unwrap();
    }
    let all = SandboxPolicy::WorkspaceWrite(WorkspaceWrite {
        writable_roots: vec![more.clone(), path.join("missing"), cwd.clone()],
        ..WorkspaceWrite::default()
    });
    assert_eq!(paths(&all, &cwd, Some(&temporary)), [&cwd, &more, Path::new("/tmp"), &temporary]);
    assert_eq!(paths(&all, &cwd, Some(Path::new("relative"))), [&cwd, &more, Path::new("/tmp")]);
    assert_eq!(paths(&only_roots(&[]), &cwd, Some(&temporary)), [cwd]);
}

#[test]
fn links_to_a_root_are_followed() {
    let (_folder, path) = folder();
    fs::create_dir(path.join("real")).unwrap();
    symlink("real", path.join("link")).unwrap();
    assert_eq!(paths(&only_roots(&[]), &path.join("link"), None), [path.join("real")]);
}

#[test]
fn a_link_out_of_a_root_makes_no_root() {
    let (_folder, path) = folder();
    for folder in ["cwd", "elsewhere/below"] {
        fs::create_dir_all(path.join(folder)).unwrap();
    }
    let cwd = path.join("cwd");
    // What a command could make in the hope that it is taken for the configured folder.
    symlink("../elsewhere", cwd.join("cache")).unwrap();
    for root in [cwd.join("cache"), cwd.join("cache/below")] {
        assert_eq!(paths(&only_roots(&[&root]), &cwd, None), [cwd.as_path()]);
    }
    // By its own name it is one, and so is a folder that a link inside leads to.
    let elsewhere = path.join("elsewhere");
    assert_eq!(paths(&only_roots(&[&elsewhere]), &cwd, None), [cwd.as_path(), &elsewhere]);
    fs::create_dir(cwd.join("real")).unwrap();
    symlink("real", cwd.join("inner")).unwrap();
    assert_eq!(paths(&only_roots(&[&cwd.join("inner")]), &cwd, None), [cwd.as_path(), &cwd.join("real")]);
}

#[test]
fn what_is_protected_may_not_be_written_whether_it_is_there_or_not() {
    let (_folder, path) = folder();
    let policy = only_roots(&[]);
    for allowed in ["a", "a/b", ".gitignore", "sub/.git/config"] {
        assert!(policy.may_write(&path.join(allowed), &path, None), "{allowed}");
    }
    for refused in [".git", ".git/config", ".tenon/hooks.json", ".agents/x", "../x"] {
        let resolved = path.join(refused);
        let resolved = if refused == "../x" { path.with_file_name("x") } else { resolved };
        assert!(!policy.may_write(&resolved, &path, None), "{refused}");
    }
}

#[test]
fn a_root_inside_a_root_keeps_its_protection() {
    let (_folder, path) = folder();
    let inner = path.join("inner");
    fs::create_dir(&inner).unwrap();
    let policy = only_roots(&[&inner]);
    assert!(!policy.may_write(&inner.join(".git/config"), &path, None));
    assert!(policy.may_write(&inner.join("file"), &path, None));
}

#[test]
fn a_protected_folder_that_is_named_as_a_root_is_one() {
    let (_folder, path) = folder();
    fs::create_dir_all(path.join(".git/hooks")).unwrap();
    let policy = only_roots(&[&path.join(".git/hooks")]);
    assert!(policy.may_write(&path.join(".git/hooks/x"), &path, None));
    let policy = only_roots(&[&path.join(".git")]);
    assert!(policy.may_write(&path.join(".git/config"), &path, None));
    assert!(!policy.may_write(&path.join(".tenon/x"), &path, None));
}

#[test]
fn what_the_host_protects_stays_read_only_wherever_it_lies() {
    let (_folder, path) = folder();
    let (home, kept) = (path.join("a/b/settings"), path.join("kept"));
    fs::create_dir_all(path.join("a/b")).unwrap();
    fs::create_dir(&kept).unwrap();
    let protecting = |protected: &[&Path], roots: &[&Path]| match only_roots(roots) {
        SandboxPolicy::WorkspaceWrite(workspace) => SandboxPolicy::WorkspaceWrite(WorkspaceWrite {
            protected: protected.iter().map(|path| path.to_path_buf()).collect(),
            ..workspace
        }),
        other => other,
    };
    let policy = protecting(&[&home], &[]);
    for there in [false, true] {
        assert!(!policy.may_write(&home, &path, None), "{there}");
        assert!(!policy.may_write(&home.join("rules/x.rules"), &path, None), "{there}");
        assert!(policy.may_write(&path.join("a/b/settings.d"), &path, None), "{there}");
        fs::create_dir_all(&home).unwrap();
    }
    // By another way, and a link as well as what it leads to.
    symlink("a/b", path.join("way")).unwrap();
    assert!(!protecting(&[&path.join("way/settings")], &[]).may_write(&home, &path, None));
    symlink("kept", path.join("link")).unwrap();
    let policy = protecting(&[&path.join("link")], &[]);
    for refused in ["link", "kept/x"] {
        assert!(!policy.may_write(&path.join(refused), &path, None), "{refused}");
    }
    // Who works in it, or names it as a root, wants to have it written.
    assert!(protecting(&[&home], &[]).may_write(&home.join("x"), &home, None));
    assert!(protecting(&[&home], &[&home]).may_write(&home.join("x"), &path, None));
}

#[test]
fn a_link_and_what_it_leads_to_are_protected() {
    let (_folder, path) = folder();
    fs::create_dir(path.join("repository")).unwrap();
    symlink("repository", path.join(".git")).unwrap();
    let policy = only_roots(&[]);
    assert!(!policy.may_write(&path.join(".git"), &path, None));
    assert!(!policy.may_write(&path.join("repository/config"), &path, None));
}

#[test]
fn a_pointer_where_it_points_and_what_that_shares_are_protected() {
    let (_folder, path) = folder();
    let own = path.join("main/.git/worktrees/w");
    fs::create_dir_all(&own).unwrap();
    fs::create_dir(path.join("work")).unwrap();
    fs::write(path.join("work/.git"), "gitdir: ../main/.git/worktrees/w\n").unwrap();
    fs::write(own.join("commondir"), "../..\n").unwrap();
    let policy = only_roots(&[&path]);
    for refused in ["work/.git", "main/.git/worktrees/w/HEAD", "main/.git/config"] {
        assert!(!policy.may_write(&path.join(refused), &path.join("work"), None), "{refused}");
    }
    assert!(policy.may_write(&path.join("main/file"), &path.join("work"), None));
}
