use std::os::unix::fs::{PermissionsExt, symlink};

use pretty_assertions::assert_eq;

use super::*;
use crate::walk::RealFs;

#[test]
fn files_are_read_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    for size in [0, 1, COMPARE_BYTES - 1, COMPARE_BYTES, 3 * COMPARE_BYTES + 5] {
        let path = folder.path().join(size.to_string());
        let content: Vec<u8> = (0..size).map(|index| (index % 251) as u8).collect();
        std::fs::write(&path, &content).expect("written");
        let (facts, bytes) = RealFs.read(&path).expect("read");
        assert_eq!((facts.len, facts.kind), (size as u64, Kind::File));
        assert!(bytes == content, "{size}");
        assert!(RealFs.holds(&path, &content).expect("compared"));
        if let Some(last) = bytes.len().checked_sub(1) {
            let mut other = content.clone();
            other[last] ^= 1;
            assert!(!RealFs.holds(&path, &other).expect("compared"), "{size}");
            assert!(!RealFs.holds(&path, &content[..last]).expect("compared"));
        }
    }
}

#[test]
fn only_regular_files_are_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe"), Mode::RUSR).expect("made");
    symlink("pipe", at("link")).expect("linked");
    // Nobody writes to the pipe: a plain open would wait for ever.
    assert_eq!(RealFs.read(&at("pipe")).expect("opened").0.kind, Kind::Other);
    assert_eq!(RealFs.read(folder.path()).expect("opened").0.kind, Kind::Directory);
    assert_eq!(RealFs.read(&at("link")).expect_err("a link").raw_os_error(), Some(40));
    assert!(!RealFs.holds(&at("pipe"), b"").expect("opened"));
}

#[test]
fn a_rename_to_a_new_name_replaces_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("a"), "a").expect("written");
    std::fs::write(at("b"), "b").expect("written");
    let error = RealFs.rename_new(&at("a"), &at("b")).expect_err("taken");
    assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
    RealFs.rename_new(&at("a"), &at("c")).expect("free");
    assert_eq!(std::fs::read(at("c")).expect("there"), b"a");
}

#[test]
fn attributes_go_along() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("from"), "x").expect("written");
    std::fs::set_permissions(at("from"), PermissionsExt::from_mode(0o6751)).expect("set");
    let has_xattrs = rustix::fs::setxattr(at("from"), "user.k", b"v", XattrFlags::empty()).is_ok();
    let facts = RealFs.facts(&at("from")).expect("there");
    let to = RealFs.create(&at("to"), 0o600).expect("made");
    RealFs.copy_attributes(&at("from"), &facts, &to).expect("copied");
    assert_eq!(RealFs.facts(&at("to")).expect("there").mode, 0o6751);
    if has_xattrs {
        let mut value = Vec::with_capacity(8);
        rustix::fs::getxattr(at("to"), "user.k", rustix::buffer::spare_capacity(&mut value)).expect("there");
        assert_eq!(value, b"v");
    }
}
