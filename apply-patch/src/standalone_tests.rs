use std::os::unix::ffi::OsStringExt;

use pretty_assertions::assert_eq;

use super::*;

struct Ran {
    status: u8,
    out: String,
    err: String,
}

fn run_with(cwd: &Path, args: &[OsString], mut stdin: &[u8]) -> Ran {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let status = run_program(args, &mut stdin, cwd, &mut out, &mut err).expect("written");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8").replace(&*cwd.to_string_lossy(), "<cwd>");
    Ran { status, out: text(out), err: text(err) }
}

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (path, text) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().expect("inside")).expect("made");
        std::fs::write(path, text).expect("written");
    }
    folder
}

fn run(folder: &tempfile::TempDir, body: &str) -> Ran {
    run_with(folder.path(), &[format!("*** Begin Patch\n{body}\n*** End Patch").into()], b"")
}

fn text(folder: &tempfile::TempDir, path: &str) -> String {
    std::fs::read_to_string(folder.path().join(path)).expect(path)
}

fn fails(folder: &tempfile::TempDir, body: &str, expected: &str) {
    let ran = run(folder, body);
    assert_eq!((ran.status, ran.out.as_str(), ran.err.as_str()), (1, "", expected), "{body}");
}

#[test]
fn a_patch_by_argument_or_by_standard_input() {
    let patch = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\n";
    let expected = "Success. Updated the following files:\nA a\n";
    let here = folder(&[]);
    let ran = run_with(here.path(), &[patch.into()], b"ignored");
    assert_eq!((ran.status, ran.out.as_str(), ran.err.as_str()), (0, expected, ""));
    assert_eq!(text(&here, "a"), "x\n");
    let here = folder(&[]);
    let ran = run_with(here.path(), &[], patch.as_bytes());
    assert_eq!((ran.status, ran.out.as_str(), ran.err.as_str()), (0, expected, ""));
}

#[test]
fn wrong_usage() {
    let here = folder(&[]);
    let ran = run_with(here.path(), &[], b"");
    let usage = "Usage: apply_patch 'PATCH'\n       echo 'PATCH' | apply_patch\n";
    assert_eq!((ran.status, ran.out.as_str(), ran.err.as_str()), (2, "", usage));
    let ran = run_with(here.path(), &["a".into(), "b".into()], b"");
    assert_eq!((ran.status, ran.err.as_str()), (2, "Error: apply_patch accepts exactly one argument.\n"));
    let broken = OsString::from_vec(vec![0xff]);
    let ran = run_with(here.path(), &[broken], b"");
    assert_eq!((ran.status, ran.err.as_str()), (1, "Error: apply_patch requires a UTF-8 PATCH argument.\n"));
    let ran = run_with(here.path(), &[], b"\xff");
    assert_eq!(ran.status, 1);
    assert_eq!(ran.err, "Error: Failed to read PATCH from stdin.\nstream did not contain valid UTF-8\n");
}

#[test]
fn texts_of_parse_errors() {
    let here = folder(&[]);
    let ran = run_with(here.path(), &["junk".into()], b"");
    assert_eq!(ran.status, 1);
    assert_eq!(ran.err, "Invalid patch: The first line of the patch must be '*** Begin Patch'\n");
    let empty = "Invalid patch hunk on line 2: Update file hunk for path 'a' is empty\n";
    fails(&here, "*** Update File: a", empty);
    let ran = run_with(here.path(), &["*** Begin Patch\n*** End Patch".into()], b"");
    assert_eq!((ran.status, ran.err.as_str()), (1, "No files were modified.\n"));
}

#[test]
fn texts_of_failures() {
    let here = folder(&[("a.txt", "x\n"), ("d/y", "1\n")]);
    fails(&here, "*** Update File: a.txt\n-nope", "Failed to find expected lines in <cwd>/a.txt:\nnope\n");
    fails(&here, "*** Update File: a.txt\n@@ c\n-x", "Failed to find context 'c' in <cwd>/a.txt\n");
    let missing = "Failed to read file to update <cwd>/b: No such file or directory (os error 2)\n";
    fails(&here, "*** Update File: b\n-x", missing);
    fails(&here, "*** Delete File: b", "Failed to delete file <cwd>/b\n");
    fails(&here, "*** Delete File: d", "Failed to delete file <cwd>/d\n");
    fails(&here, "*** Add File: d\n+x", "Failed to write file <cwd>/d\n");
    fails(&here, "*** Add File: a.txt/b\n+x", "Failed to write file <cwd>/a.txt/b\n");
    assert_eq!((text(&here, "a.txt"), text(&here, "d/y")), ("x\n".to_owned(), "1\n".to_owned()));
}

#[test]
fn the_first_failure_stops_and_what_was_done_stands() {
    let here = folder(&[("a", "x\n"), ("b", "x\n")]);
    let body =
        "*** Add File: n/ok\n+1\n*** Update File: a\n-x\n+y\n*** Delete File: gone\n*** Update File: b\n-x";
    fails(&here, body, "Failed to delete file <cwd>/gone\n");
    assert_eq!(
        (text(&here, "n/ok"), text(&here, "a"), text(&here, "b")),
        ("1\n".into(), "y\n".into(), "x\n".into())
    );
}

#[test]
fn hunks_see_what_earlier_hunks_did() {
    let here = folder(&[("a", "1\n")]);
    let body = "*** Update File: a\n-1\n+2\n*** Update File: a\n-2\n+3\n*** Update File: a\n*** Move to: b\n-3\n+4\n*** Delete File: b\n*** Add File: b\n+5";
    let ran = run(&here, body);
    assert_eq!(ran.out, "Success. Updated the following files:\nA b\nM a\nM a\nM b\nD b\n");
    assert_eq!(text(&here, "b"), "5\n");
    assert!(!here.path().join("a").exists());
}

#[test]
fn links_are_followed_and_kept() {
    let here = folder(&[("real", "x\n")]);
    std::os::unix::fs::symlink("real", here.path().join("link")).expect("linked");
    assert_eq!(run(&here, "*** Update File: link\n-x\n+y").status, 0);
    assert_eq!(text(&here, "real"), "y\n");
    assert!(here.path().join("link").is_symlink());
    assert_eq!(run(&here, "*** Delete File: link").status, 0);
    assert_eq!(text(&here, "real"), "y\n");
}

#[test]
fn no_temporary_file_stays() {
    let here = folder(&[("a", "x\n")]);
    run(&here, "*** Update File: a\n-x\n+y\n*** Add File: d\n+1\n*** Add File: d/e\n+1");
    let names: Vec<_> = std::fs::read_dir(here.path())
        .expect("readable")
        .map(|entry| entry.expect("read").file_name())
        .collect();
    assert_eq!(names.len(), 2, "{names:?}");
}
