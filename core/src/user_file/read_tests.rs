use std::os::unix::fs::symlink;

use pretty_assertions::assert_eq;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use tempfile::TempDir;

use super::read_user_file;

#[test]
fn a_regular_file_is_read_up_to_the_limit() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("f");
    assert_eq!(read_user_file(&file, 3).unwrap(), None);
    for (text, expected) in [("", ""), ("abc", "abc"), ("abcd", "abcd"), ("abcde", "abcd")] {
        std::fs::write(&file, text).unwrap();
        assert_eq!(read_user_file(&file, 3).unwrap().unwrap(), expected.as_bytes());
    }
    let link = folder.path().join("link");
    symlink(&file, &link).unwrap();
    assert_eq!(read_user_file(&link, 9).unwrap().unwrap(), b"abcde");
}

#[test]
fn what_is_no_regular_file_is_told_and_not_waited_for() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    symlink(at("gone"), at("dangling")).unwrap();
    symlink(at("loop"), at("loop")).unwrap();
    mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let error = |name: &str| read_user_file(&at(name), 9).unwrap_err().to_string();
    assert_eq!(error("dangling"), "it is a link to something that is not there");
    assert_eq!(error("pipe"), "it is a named pipe, and no regular file");
    assert_eq!(error("."), "it is a folder, and no regular file");
    assert!(error("loop").starts_with("Too many levels"), "{}", error("loop"));
    assert_eq!(
        read_user_file(std::path::Path::new("/dev/null"), 9).unwrap_err().to_string(),
        "it is a device, and no regular file"
    );
}
