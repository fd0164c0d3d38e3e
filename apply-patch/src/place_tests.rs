use std::os::unix::fs::symlink;

use pretty_assertions::assert_eq;

use super::*;
use crate::walk::{NearFs, RealFs};

fn root() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().canonicalize().expect("exists");
    (folder, path)
}

#[test]
fn dots_go_by_the_text() {
    let at = |spelled| absolute(Path::new("/w/d"), spelled);
    assert_eq!(at("a.txt"), Path::new("/w/d/a.txt"));
    assert_eq!(at("./a/../b//c/."), Path::new("/w/d/b/c"));
    assert_eq!(at("../../../../x"), Path::new("/x"));
    assert_eq!(at("/etc/../x"), Path::new("/x"));
    assert_eq!(at(" a"), Path::new("/w/d/ a"));
    assert_eq!(at(".."), Path::new("/w"));
}

#[test]
fn links_are_resolved_as_far_as_anything_exists() {
    let (_folder, root) = root();
    std::fs::create_dir(root.join("real")).expect("made");
    std::fs::write(root.join("real/file"), "x").expect("written");
    symlink("real", root.join("dir")).expect("linked");
    symlink("../dir/file", root.join("real/back")).expect("linked");
    symlink(root.join("nowhere/deep"), root.join("dangling")).expect("linked");
    let locate =
        |spelled: &str| Locator::thorough(&RealFs).locate(absolute(&root, spelled)).expect("no circle");

    let plain = locate("real/file");
    assert_eq!((plain.entry, plain.target), (root.join("real/file"), root.join("real/file")));
    let through = locate("dir/file");
    assert_eq!(through.shown, root.join("dir/file"));
    assert_eq!((through.entry, through.target), (root.join("real/file"), root.join("real/file")));
    let back = locate("dir/back");
    assert!(back.is_link());
    assert_eq!((back.entry, back.target), (root.join("real/back"), root.join("real/file")));
    let dangling = locate("dangling");
    assert!(dangling.is_link());
    assert_eq!(dangling.target, root.join("nowhere/deep"));
    let missing = locate("dir/new/x");
    assert_eq!((missing.entry_facts, missing.target), (None, root.join("real/new/x")));
}

#[test]
fn the_quick_way_leaves_directories_to_the_kernel() {
    let (_folder, root) = root();
    std::fs::create_dir(root.join("real")).expect("made");
    std::fs::write(root.join("real/file"), "x").expect("written");
    symlink("real", root.join("dir")).expect("linked");
    symlink("file", root.join("real/link")).expect("linked");
    let near = NearFs::new(&root);
    let mut locator = Locator::quick(&near);
    assert_eq!(locator.locate(absolute(&root, "dir/file")).expect("found").target, root.join("dir/file"));
    assert_eq!(locator.locate(absolute(&root, "dir/link")).expect("found").target, root.join("real/file"));
}

#[test]
fn circles_are_found() {
    let (_folder, root) = root();
    symlink("b", root.join("a")).expect("linked");
    symlink("a", root.join("b")).expect("linked");
    let error = Locator::thorough(&RealFs).locate(absolute(&root, "a")).expect_err("a circle");
    assert_eq!(error.to_string(), "Too many levels of symbolic links (os error 40)");
    let error = Locator::thorough(&RealFs).locate(absolute(&root, "a/x")).expect_err("a circle");
    assert_eq!(error.raw_os_error(), Some(40));
}

#[test]
fn the_bound_of_links_is_exact() {
    let (_folder, root) = root();
    std::fs::write(root.join("0"), "x").expect("written");
    for index in 0..=MAX_LINKS {
        symlink(index.to_string(), root.join((index + 1).to_string())).expect("linked");
    }
    let mut locator = Locator::thorough(&RealFs);
    assert_eq!(locator.locate(absolute(&root, &MAX_LINKS.to_string())).expect("fits").target, root.join("0"));
    assert!(locator.locate(absolute(&root, &(MAX_LINKS + 1).to_string())).is_err());
}
