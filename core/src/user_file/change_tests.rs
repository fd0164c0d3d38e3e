use std::os::unix::fs::{PermissionsExt as _, chown, symlink};

use pretty_assertions::assert_eq;
use tempfile::TempDir;

use super::*;

const LIMIT: u64 = 100;

fn append(file: &Path, more: &str) -> std::result::Result<(), UserFileError> {
    change_user_file(file, LIMIT, |_, text| Ok(Some(format!("{text}{more}"))))
}

/// The error without the folder, which is another one each time.
fn why(folder: &TempDir, error: &UserFileError) -> String {
    let root = folder.path().canonicalize().unwrap();
    error.to_string().replace(root.to_str().unwrap(), "FOLDER")
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_file_comes_into_being_and_keeps_permissions_and_owner() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("f");
    append(&file, "a").unwrap();
    let mode = |mode| fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
    let owner = || {
        let about = fs::metadata(&file).unwrap();
        (about.mode() & 0o777, about.uid(), about.gid())
    };
    mode(0o604);
    // Only root may give a file away; without, it is our own either way.
    let _ = chown(&file, Some(4242), Some(4343));
    let before = owner();
    append(&file, "b").unwrap();
    assert_eq!((fs::read_to_string(&file).unwrap().as_str(), owner()), ("ab", before));
    assert_eq!(names(folder.path()), ["f", "f.lock"]);
}

#[test]
fn what_is_to_be_left_is_left() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("f");
    fs::write(&file, "a").unwrap();
    let before = fs::metadata(&file).unwrap().ino();
    change_user_file::<UserFileError>(&file, LIMIT, |_, _| Ok(None)).unwrap();
    assert_eq!(fs::metadata(&file).unwrap().ino(), before);
    append(&file, "b").unwrap();
    assert_ne!(fs::metadata(&file).unwrap().ino(), before, "it is another file in its place");
}

/// Who comes by a link and who does not change the same file under the same lock.
#[test]
fn a_link_stays_and_its_file_is_changed() {
    let (folder, elsewhere) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let (link, target) = (folder.path().join("f"), elsewhere.path().join("g"));
    fs::write(&target, "a").unwrap();
    symlink(&target, &link).unwrap();
    append(&link, "b").unwrap();
    append(&target, "c").unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&target).unwrap(), "abc");
    assert_eq!(
        (names(folder.path()), names(elsewhere.path())),
        (vec!["f".into()], vec!["g".into(), "g.lock".into()])
    );
}

#[test]
fn what_cannot_be_changed_is_as_it_was() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("read-only"), "a").unwrap();
    fs::set_permissions(at("read-only"), fs::Permissions::from_mode(0o444)).unwrap();
    fs::write(at("binary"), b"\xff").unwrap();
    fs::create_dir(at("folder")).unwrap();
    symlink(at("gone"), at("dangling")).unwrap();
    fs::write(at("locked"), "a").unwrap();
    fs::create_dir(at("locked.lock")).unwrap();
    // The name of the new file beside it is longer than a name may be.
    let long = "x".repeat(240);
    fs::write(at(&long), "a").unwrap();
    let before = names(folder.path());
    let rows = [
        ("read-only", "it is marked read-only"),
        ("binary", "it is no UTF-8 text"),
        ("folder", "it is a folder, and no regular file"),
        ("dangling", "it is a link to something that is not there"),
        ("locked", "Is a directory (os error 21)"),
        (&long, "File name too long (os error 36)"),
    ];
    for (name, expected) in rows {
        let error = append(&at(name), "b").unwrap_err();
        assert_eq!(why(&folder, &error), format!("FOLDER/{name}: {expected}"));
    }
    assert_eq!(fs::read(at("binary")).unwrap(), b"\xff");
    assert_eq!(fs::read_to_string(at("read-only")).unwrap(), "a");
    assert_eq!(fs::read_to_string(at(&long)).unwrap(), "a");
    let left = names(folder.path()).into_iter().filter(|name| !name.ends_with(".lock")).collect::<Vec<_>>();
    assert_eq!(left, before.into_iter().filter(|name| !name.ends_with(".lock")).collect::<Vec<_>>());
}

#[test]
fn the_bound_of_bytes_is_exact() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("f");
    append(&file, &"x".repeat(100)).unwrap();
    append(&file, "").unwrap();
    let error = append(&file, "y").unwrap_err();
    assert_eq!(why(&folder, &error), "FOLDER/f: it would be larger than 100 bytes");
    assert_eq!(fs::read_to_string(&file).unwrap().len(), 100);
    fs::write(&file, "x".repeat(101)).unwrap();
    assert!(change_user_file::<UserFileError>(&file, LIMIT, |_, _| panic!("it is too long")).is_err());
}

#[test]
fn a_lock_that_is_held_is_waited_for_and_no_longer_than_said() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("f.lock");
    let held = lock(&path, Duration::ZERO).unwrap();
    let error = lock(&path, Duration::ZERO).unwrap_err();
    assert_eq!(error.to_string(), "another program is changing it and does not end");
    thread::scope(|scope| {
        let waits = scope.spawn(|| lock(&path, MAX_LOCK_WAIT));
        drop(held);
        waits.join().unwrap().unwrap();
    });
}

#[test]
fn a_pipe_in_place_of_the_lock_is_not_waited_for() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("f");
    let pipe = folder.path().join("f.lock");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let error = append(&file, "a").unwrap_err();
    assert_eq!(why(&folder, &error), "FOLDER/f: No such device or address (os error 6)");
    assert_eq!(names(folder.path()), ["f.lock"]);
}
