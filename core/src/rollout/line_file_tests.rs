use std::fs;
use std::os::unix::fs::PermissionsExt;

use pretty_assertions::assert_eq;
use tempfile::TempDir;

use super::*;

fn folder() -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("rollout.jsonl");
    (folder, path)
}

#[test]
fn a_created_file_is_the_users_alone_and_new() {
    let (_folder, path) = folder();
    let mut file = AppendFile::create(&path).unwrap();
    assert_eq!(file.write(b"one\n").unwrap(), 4);
    file.sync_data().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"one\n");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let error = AppendFile::create(&path).unwrap_err().to_string();
    assert!(error.starts_with(&format!("cannot create {}: ", path.display())), "{error}");
}

#[test]
fn a_last_line_without_an_end_gets_one() {
    for (before, after) in
        [("", ""), ("one\n", "one\n"), ("one\ntor", "one\ntor\n"), ("one\n\0\0", "one\n\0\0\n")]
    {
        let (_folder, path) = folder();
        fs::write(&path, before).unwrap();
        let mut file = AppendFile::open(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), after);
        file.write(b"two\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("{after}two\n"));
        // It counts what it has added itself.
        assert_eq!(file.reopen().unwrap(), Tail::Intact);
    }
}

#[test]
fn a_file_has_one_writer() {
    let (_folder, path) = folder();
    let first = AppendFile::create(&path).unwrap();
    let error = AppendFile::open(&path).unwrap_err();
    assert!(matches!(&error, RolloutError::Locked(locked) if *locked == path));
    assert_eq!(
        error.to_string(),
        format!("{} is being written by another session: end it first, or start a new one", path.display())
    );
    drop(first);
    let mut second = AppendFile::open(&path).unwrap();
    // Opening afresh keeps the lock.
    second.reopen().unwrap();
    assert!(AppendFile::open(&path).is_err());
}

#[test]
fn a_missing_file_is_told() {
    let (_folder, path) = folder();
    let error = AppendFile::open(&path).unwrap_err().to_string();
    assert!(error.starts_with(&format!("cannot open {}: No such file", path.display())), "{error}");
}

#[test]
fn reopening_tells_whether_the_end_is_still_ours() {
    let (_folder, path) = folder();
    let mut file = AppendFile::create(&path).unwrap();
    file.write(b"one\ntw").unwrap();
    assert_eq!(file.reopen().unwrap(), Tail::Intact);
    OpenOptions::new().write(true).open(&path).unwrap().set_len(5).unwrap();
    assert_eq!(file.reopen().unwrap(), Tail::Changed);
    file.write(b"\ntwo\n").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"one\nt\ntwo\n");
    assert_eq!(file.reopen().unwrap(), Tail::Intact);
}

#[test]
fn another_file_in_its_place_is_not_written() {
    let (folder, path) = folder();
    let mut file = AppendFile::create(&path).unwrap();
    fs::rename(&path, folder.path().join("moved")).unwrap();
    assert_eq!(file.reopen().unwrap_err().kind(), io::ErrorKind::NotFound);
    fs::write(&path, "other").unwrap();
    let error = file.reopen().unwrap_err().to_string();
    assert_eq!(error, "the file was moved away, and another one is in its place");
    assert_eq!(fs::read(&path).unwrap(), b"other");
}

#[test]
fn what_a_failed_sync_may_have_forgotten_is_written_again_in_place() {
    let (_folder, path) = folder();
    let mut file = AppendFile::create(&path).unwrap();
    let long = "x".repeat(3 * REWRITE_CHUNK + 1);
    file.write(b"one\n").unwrap();
    file.sync_data().unwrap();
    file.write(long.as_bytes()).unwrap();
    // What sync_data does when the system says that it has failed.
    file.tainted = true;
    assert_eq!((file.synced, file.len), (4, 4 + long.len() as u64));
    assert_eq!(file.reopen().unwrap(), Tail::Intact);
    assert!(!file.tainted);
    file.sync_data().unwrap();
    assert_eq!(file.synced, file.len);
    assert_eq!(fs::read_to_string(&path).unwrap(), format!("one\n{long}"));
}
