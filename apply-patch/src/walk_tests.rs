use std::os::unix::fs::symlink;

use pretty_assertions::assert_eq;

use super::*;
use crate::fs::{Fs, Kind};

/// A folder with `real/file`, and `link` to `real`.
fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().canonicalize().expect("exists");
    std::fs::create_dir(root.join("real")).expect("made");
    std::fs::write(root.join("real/file"), "x").expect("written");
    symlink("real", root.join("link")).expect("linked");
    (folder, root)
}

fn code<T: fmt::Debug>(outcome: io::Result<T>) -> Option<i32> {
    outcome.expect_err("a link is on the way").raw_os_error()
}

#[test]
fn no_operation_goes_through_a_link() {
    let (_folder, root) = folder();
    let (through, other, plain) = (root.join("link/file"), root.join("link/other"), root.join("real/file"));
    let stopped = Some(Errno::LOOP.raw_os_error());
    assert_eq!(code(RealFs.facts(&through)), stopped);
    assert_eq!(code(RealFs.read_link(&through)), stopped);
    assert_eq!(code(RealFs.read(&through)), stopped);
    assert_eq!(code(RealFs.holds(&through, b"x")), stopped);
    assert_eq!(code(RealFs.may_write(&through)), stopped);
    assert_eq!(code(RealFs.create(&other, 0o600)), stopped);
    assert_eq!(code(RealFs.open_existing(&through)), stopped);
    assert_eq!(code(RealFs.rename(&through, &other)), stopped);
    assert_eq!(code(RealFs.rename(&plain, &other)), stopped);
    assert_eq!(code(RealFs.rename_new(&plain, &other)), stopped);
    assert_eq!(code(RealFs.names(&root.join("link/deep"), "", 10)), stopped);
    assert_eq!(code(RealFs.remove(&through)), stopped);
    assert_eq!(code(RealFs.create_dir(&other)), stopped);
    assert_eq!(code(RealFs.remove_dir(&other)), stopped);
    let names: Vec<_> = std::fs::read_dir(root.join("real")).expect("there").collect();
    assert_eq!((names.len(), std::fs::read(&plain).expect("there")), (1, b"x".to_vec()));
}

#[test]
fn both_ways_to_open_a_folder_agree() {
    let (_folder, root) = folder();
    std::fs::create_dir_all(root.join("a/b/c")).expect("made");
    for path in ["", "a/b/c", "a/b/c/missing", "real/file", "real/file/x", "link", "link/x"] {
        let path = root.join(path);
        let identity = |opened: io::Result<OwnedFd>| {
            let stat = rustix::fs::fstat(opened.ok()?).expect("open");
            Some((stat.st_dev, stat.st_ino))
        };
        assert_eq!(identity(open_resolved(&path)), identity(open_name_by_name(&path)), "{path:?}");
    }
    assert!(open_resolved(Path::new("/")).is_ok() && open_name_by_name(Path::new("/")).is_ok());
}

#[test]
fn who_may_go_anywhere_follows_links_in_folders() {
    let (_folder, root) = folder();
    symlink("file", root.join("real/last")).expect("linked");
    for near in [NearFs::new(&root), NearFs::new(Path::new("/")), NearFs::new(&root.join("missing"))] {
        assert_eq!(near.read(&root.join("link/file")).expect("read").1, b"x");
        assert_eq!(near.facts(&root.join("link/last")).expect("there").kind, Kind::Link);
        assert_eq!(near.read_link(&root.join("link/last")).expect("a link"), Path::new("file"));
        assert_eq!(near.names(&root.join("link"), "fi", 10).expect("listed"), ["file"]);
        assert_eq!(near.names(&root, "li", 10).expect("listed"), ["link"]);
    }
}

#[test]
fn a_folder_is_no_beginning_of_another_name() {
    let (_folder, root) = folder();
    std::fs::create_dir(root.join("real2")).expect("made");
    std::fs::write(root.join("real2/file"), "y").expect("written");
    let near = NearFs::new(&root.join("real"));
    assert_eq!(near.read(&root.join("real2/file")).expect("read").1, b"y");
    assert_eq!(near.read(&root.join("real/file")).expect("read").1, b"x");
    assert_eq!(near.facts(&root.join("real")).expect("there").kind, Kind::Directory);
    assert_eq!(
        near.read(Path::new(&format!("{}//file", root.join("real").display()))).expect("read").1,
        b"x"
    );
}

/// Where the folder is moved away meanwhile, all that happens below its path happens in it.
#[test]
fn the_folder_is_the_one_that_was_opened() {
    let (_folder, root) = folder();
    let near = NearFs::new(&root.join("real"));
    std::fs::rename(root.join("real"), root.join("moved")).expect("moved");
    std::fs::create_dir(root.join("real")).expect("made");
    std::fs::write(root.join("real/file"), "other").expect("written");
    let at = |name: &str| root.join("real").join(name);
    assert_eq!(near.read(&at("file")).expect("read").1, b"x");
    near.create_dir(&at("new")).expect("made");
    near.remove_dir(&at("new")).expect("removed");
    near.create_dir(&at("kept")).expect("made");
    near.create(&at("kept/a"), 0o600).expect("made");
    near.rename(&at("kept/a"), &at("kept/b")).expect("renamed");
    near.remove(&at("file")).expect("removed");
    assert_eq!(std::fs::read(at("file")).expect("there"), b"other");
    assert!(root.join("moved/kept/b").exists() && !root.join("moved/file").exists() && !at("kept").exists());
}

#[test]
fn a_file_that_was_looked_at_is_read_with_what_was_seen() {
    let (_folder, root) = folder();
    let near = NearFs::new(&root);
    let from = root.join("real/file");
    let seen = near.facts(&from).expect("there");
    std::fs::write(&from, "longer").expect("written");
    let (facts, bytes) = near.read_seen(&from, &seen).expect("read");
    assert_eq!((facts, bytes), (crate::Facts { no_xattrs: true, ..seen }, b"longer".to_vec()));
    assert!(!facts.same_content(&near.facts(&from).expect("there")), "so that a later look tells");
    if rustix::fs::setxattr(&from, "user.k", b"v", rustix::fs::XattrFlags::empty()).is_err() {
        // The file system has none.
        return;
    }
    let (facts, _) = near.read_seen(&from, &seen).expect("read");
    assert!(!facts.no_xattrs);
    let to = root.join("to");
    near.copy_attributes(&from, &facts, &near.create(&to, 0o600).expect("made")).expect("copied");
    let mut value = Vec::with_capacity(8);
    rustix::fs::getxattr(&to, "user.k", rustix::buffer::spare_capacity(&mut value)).expect("there");
    assert_eq!(value, b"v");
}
