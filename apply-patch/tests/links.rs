//! What an edit must not lose: links, modes, owners, attributes, further names.
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use std::os::unix::fs::MetadataExt;

use pretty_assertions::assert_eq;
use rustix::fs::XattrFlags;
use support::*;
use tenon_apply_patch::{FileFact, PlannedChange, RealFs, Watch, parse_patch, plan};

const EDIT: &str = "-x\n+y";

fn edit(path: &str) -> String {
    format!("*** Update File: {path}\n{EDIT}")
}

#[test]
fn modes_stay() {
    for mode in [0o755, 0o600, 0o4755, 0o2750, 0o644, 0o666, 0o400 | 0o200] {
        let folder = Folder::with(&[("a", b"x\n")]);
        folder.set_mode("a", mode);
        apply(&folder, &edit("a"));
        assert_eq!((folder.text("a"), folder.mode("a")), ("y\n".to_owned(), mode), "{mode:o}");
        apply(&folder, "*** Add File: a\n+z");
        assert_eq!((folder.text("a"), folder.mode("a")), ("z\n".to_owned(), mode), "{mode:o}");
        apply(&folder, "*** Update File: a\n*** Move to: n/b\n-z\n+w");
        assert_eq!((folder.text("n/b"), folder.mode("n/b")), ("w\n".to_owned(), mode), "{mode:o}");
    }
}

#[test]
fn owners_stay() {
    let folder = Folder::with(&[("a", b"x\n")]);
    if std::os::unix::fs::chown(folder.at("a"), Some(1234), Some(4321)).is_err() {
        // Only root can give a file away; then there is nothing to keep either.
        return;
    }
    folder.set_mode("a", 0o6711);
    apply(&folder, &edit("a"));
    let metadata = folder.at("a").metadata().expect("there");
    assert_eq!((metadata.uid(), metadata.gid(), folder.mode("a")), (1234, 4321, 0o6711));
    assert_eq!(folder.text("a"), "y\n");
}

#[test]
fn extended_attributes_stay() {
    let folder = Folder::with(&[("a", b"x\n")]);
    for (name, value) in [("user.one", &b"1"[..]), ("user.two", b"\0\xff"), ("user.empty", b"")] {
        if rustix::fs::setxattr(folder.at("a"), name, value, XattrFlags::empty()).is_err() {
            // The file system has none.
            return;
        }
    }
    apply(&folder, &edit("a"));
    assert_eq!(folder.text("a"), "y\n");
    for (name, value) in [("user.one", &b"1"[..]), ("user.two", b"\0\xff"), ("user.empty", b"")] {
        let mut found = Vec::with_capacity(16);
        rustix::fs::getxattr(folder.at("a"), name, rustix::buffer::spare_capacity(&mut found)).expect(name);
        assert_eq!(found, value, "{name}");
    }
}

#[test]
fn further_names_stay() {
    let folder = Folder::with(&[("a", b"x\n")]);
    folder.set_mode("a", 0o6755);
    folder.hard_link("a", "b");
    let number = folder.at("a").metadata().expect("there").ino();
    apply(&folder, &edit("a"));
    assert_eq!((folder.text("a"), folder.text("b")), ("y\n".to_owned(), "y\n".to_owned()));
    let metadata = folder.at("b").metadata().expect("there");
    assert_eq!((metadata.ino(), metadata.nlink(), folder.mode("a")), (number, 2, 0o6755));
    // Shorter and longer content, and a whole new one.
    apply(&folder, "*** Add File: b\n+a much longer line\n+and another");
    assert_eq!(folder.text("a"), "a much longer line\nand another\n");
    apply(&folder, "*** Update File: a\n-a much longer line\n-and another");
    assert_eq!(folder.text("b"), "");
}

#[test]
fn one_file_under_two_names_is_one_target() {
    let folder = Folder::with(&[("a", b"x\nz\n")]);
    folder.hard_link("a", "b");
    let body = format!("{}\n*** Update File: b\n-z", edit("a"));
    assert_eq!(refusal(&folder, &body), "invalid patch: multiple operations target <cwd>/b");
    let folder = Folder::with(&[("a", b"x\nz\n")]);
    folder.link("a", "l");
    let body = format!("{}\n*** Update File: l\n-z", edit("a"));
    assert_eq!(refusal(&folder, &body), "invalid patch: multiple operations target <cwd>/l");
}

#[test]
fn links_are_followed_and_stay() {
    let folder = Folder::with(&[("real/a", b"x\n")]);
    folder.set_mode("real/a", 0o751);
    folder.link("real/a", "link");
    folder.link(folder.at("real"), "dir");
    let done = apply(&folder, &edit("link"));
    assert!(!done.delta.exact);
    assert_eq!((folder.text("real/a"), folder.mode("real/a")), ("y\n".to_owned(), 0o751));
    assert_eq!(folder.at("link").read_link().expect("a link"), std::path::Path::new("real/a"));
    apply(&folder, "*** Update File: dir/a\n-y\n+z");
    assert_eq!(folder.text("real/a"), "z\n");
    apply(&folder, "*** Add File: link\n+w");
    assert_eq!(folder.text("real/a"), "w\n");
    assert!(folder.at("link").is_symlink());
}

#[test]
fn a_plan_names_the_file_behind_a_link() {
    let folder = Folder::with(&[("inside", b"x\n")]);
    let outside = Folder::with(&[("out", b"x\n")]);
    folder.link(outside.at("out"), "link");
    folder.link(&outside.root, "dir");
    let writes = |body: &str| -> Vec<_> {
        let patch = parse_patch(&format!("*** Begin Patch\n{body}\n*** End Patch")).expect("parses");
        let plan = plan(&patch, &folder.root, &RealFs).expect("planned");
        plan.changes().iter().flat_map(PlannedChange::writes).map(|FileFact { path, .. }| path).collect()
    };
    assert_eq!(writes(&edit("link")), [outside.at("out")]);
    assert_eq!(writes("*** Add File: dir/new/x\n+1"), [outside.at("new/x")]);
    assert_eq!(writes("*** Delete File: link"), [folder.at("link")]);
    assert_eq!(writes("*** Update File: inside\n*** Move to: dir/y"), [folder.at("inside"), outside.at("y")]);
}

#[test]
fn a_link_put_in_the_way_is_a_conflict() {
    let outside = Folder::with(&[("x", b"x\n")]);
    let folder = Folder::with(&[("d/x", b"x\n")]);
    let patch = parse_patch(&format!("*** Begin Patch\n{}\n*** End Patch", edit("d/x"))).expect("parses");
    let plan = plan(&patch, &folder.root, &RealFs).expect("planned");
    std::fs::rename(folder.at("d"), folder.at("e")).expect("moved");
    folder.link(&outside.root, "d");
    let error = tenon_apply_patch::commit(&plan, &RealFs, &mut ()).expect_err("a conflict");
    assert!(error.to_string().contains("changed after the patch was verified"));
    assert_eq!((outside.text("x"), folder.text("e/x")), ("x\n".to_owned(), "x\n".to_owned()));
}

/// Puts a link in the place of a folder at the last moment: after the last look at the path.
struct Swap<'a> {
    folder: &'a Folder,
    outside: &'a Folder,
}

impl Watch for Swap<'_> {
    fn before(&mut self, _: &std::path::Path) {
        if !self.folder.at("d").is_symlink() {
            std::fs::rename(self.folder.at("d"), self.folder.at("e")).expect("moved");
            self.folder.link(&self.outside.root, "d");
        }
    }
}

#[test]
fn a_link_put_in_the_way_at_the_last_moment_leads_nowhere() {
    for body in [
        edit("d/x"),
        "*** Delete File: d/x".to_owned(),
        "*** Add File: d/new\n+1".to_owned(),
        "*** Update File: d/x\n*** Move to: y".to_owned(),
        "*** Update File: y\n*** Move to: d/y".to_owned(),
        "*** Update File: y\n*** Move to: d/y\n-y\n+z".to_owned(),
        edit("d/linked"),
    ] {
        let outside = Folder::with(&[("x", b"x\n"), ("linked", b"x\n"), ("other", b"")]);
        let folder = Folder::with(&[("d/x", b"x\n"), ("y", b"y\n"), ("d/linked", b"x\n")]);
        folder.hard_link("d/linked", "d/other name");
        let before = outside.tree();
        let patch = parse_patch(&format!("*** Begin Patch\n{body}\n*** End Patch")).expect("parses");
        let plan = plan(&patch, &folder.root, &RealFs).expect("planned");
        let mut swap = Swap { folder: &folder, outside: &outside };
        let error = tenon_apply_patch::commit(&plan, &RealFs, &mut swap).expect_err("stopped");
        assert!(error.summary.is_empty() && error.torn.is_none(), "{body}: {error:?}");
        assert_eq!(outside.tree(), before, "{body}");
        assert_eq!((folder.text("e/x"), folder.text("y")), ("x\n".to_owned(), "y\n".to_owned()), "{body}");
    }
}

/// Plans an edit of `a`, lets something else happen to it, and commits.
fn edit_after(meddle: fn(&Folder)) -> Folder {
    let folder = Folder::with(&[("a", b"x\n")]);
    folder.set_mode("a", 0o755);
    let patch = parse_patch(&format!("*** Begin Patch\n{}\n*** End Patch", edit("a"))).expect("parses");
    let plan = plan(&patch, &folder.root, &RealFs).expect("planned");
    meddle(&folder);
    tenon_apply_patch::commit(&plan, &RealFs, &mut ()).expect("its bytes are the same");
    assert_eq!(folder.text("a"), "y\n");
    folder
}

#[test]
fn what_was_done_to_a_file_meanwhile_stays() {
    let folder = edit_after(|folder| folder.set_mode("a", 0o600));
    assert_eq!(folder.mode("a"), 0o600);
    let folder = edit_after(|folder| folder.hard_link("a", "b"));
    assert_eq!((folder.text("b"), folder.mode("b")), ("y\n".to_owned(), 0o755));
}

#[test]
fn a_file_that_cannot_be_replaced_is_written_in_place() {
    let folder = Folder::with(&[("a", b"x\n"), ("b", b"1\n")]);
    folder.set_mode("a", 0o751);
    let number = folder.at("a").metadata().expect("there").ino();
    let fs = OddFs { bars_renames: true, ..OddFs::sound() };
    let body = format!("{}\n*** Add File: b\n+2\n*** Add File: c\n+3", edit("a"));
    assert!(matches!(attempt(&folder, &body, &fs), Outcome::Done(_)));
    let texts = ["a", "b", "c"].map(|name| folder.text(name));
    assert_eq!(texts, ["y\n", "2\n", "3\n"]);
    assert_eq!((folder.at("a").metadata().expect("there").ino(), folder.mode("a")), (number, 0o751));
    let names: Vec<String> = folder.tree().into_keys().collect();
    assert_eq!(names, ["a", "b", "c"], "no temporary file is left");
}

#[test]
fn deleting_a_link_deletes_the_link() {
    let folder = Folder::with(&[("real/a", b"x\n")]);
    folder.link("real/a", "link");
    folder.link("nowhere", "dangling");
    folder.link("real", "dir");
    let done = apply(&folder, "*** Delete File: link\n*** Delete File: dangling\n*** Delete File: dir");
    assert!(!done.delta.exact);
    let left: Vec<String> = folder.tree().into_keys().collect();
    assert_eq!(left, ["real", "real/a"]);
}

#[test]
fn dangling_links() {
    let folder = Folder::new();
    folder.link("deep/er/target", "link");
    let missing = "Failed to read file to update <cwd>/link: No such file or directory (os error 2)";
    assert_eq!(refusal(&folder, &edit("link")), missing);
    // A file added through it lands where it points.
    apply(&folder, "*** Add File: link\n+x");
    assert_eq!(folder.text("deep/er/target"), "x\n");
    assert!(folder.at("link").is_symlink());
}

#[test]
fn moves_of_and_onto_links() {
    // A moved link: its file's bytes are at the new path, the link is gone, the file stays.
    for chunk in ["", "\n-x\n+y"] {
        let folder = Folder::with(&[("real", b"x\n")]);
        folder.link("real", "link");
        apply(&folder, &format!("*** Update File: link\n*** Move to: new{chunk}"));
        let expected = if chunk.is_empty() { "x\n" } else { "y\n" };
        assert_eq!((folder.text("new"), folder.text("real")), (expected.to_owned(), "x\n".to_owned()));
        assert!(!folder.exists("link") && !folder.at("new").is_symlink());
    }
    // Onto a link: its file is overwritten.
    for chunk in ["", "\n-x\n+y"] {
        let folder = Folder::with(&[("a", b"x\n"), ("real", b"old\n")]);
        folder.link("real", "link");
        apply(&folder, &format!("*** Update File: a\n*** Move to: link{chunk}"));
        let expected = if chunk.is_empty() { "x\n" } else { "y\n" };
        assert_eq!(folder.text("real"), expected);
        assert!(folder.at("link").is_symlink() && !folder.exists("a"));
    }
    // Onto a link to itself: the file must not vanish.
    for chunk in ["", "\n-x\n+y"] {
        let folder = Folder::with(&[("a", b"x\n")]);
        folder.link("a", "link");
        apply(&folder, &format!("*** Update File: a\n*** Move to: link{chunk}"));
        let expected = if chunk.is_empty() { "x\n" } else { "y\n" };
        assert_eq!(folder.text("link"), expected);
        assert!(!folder.at("link").is_symlink() && !folder.exists("a"));
    }
    // A link onto its own file.
    let folder = Folder::with(&[("real", b"x\n")]);
    folder.link("real", "link");
    apply(&folder, "*** Update File: link\n*** Move to: real\n-x\n+y");
    assert_eq!(folder.text("real"), "y\n");
    assert!(!folder.exists("link"));
}

#[test]
fn a_link_replaced_in_the_same_patch_is_not_followed() {
    let folder = Folder::with(&[("a", b"x\n"), ("real", b"r\n")]);
    folder.link("real", "link");
    apply(&folder, "*** Delete File: link\n*** Update File: a\n*** Move to: link\n-x\n+y");
    assert_eq!((folder.text("link"), folder.text("real")), ("y\n".to_owned(), "r\n".to_owned()));
    assert!(!folder.at("link").is_symlink());
}

#[test]
fn moves_between_names_of_one_file() {
    // Two hard links: the new name holds the edit, the old name goes.
    let folder = Folder::with(&[("a", b"x\n")]);
    folder.hard_link("a", "b");
    apply(&folder, "*** Update File: a\n*** Move to: b\n-x\n+y");
    assert_eq!(folder.text("b"), "y\n");
    assert!(!folder.exists("a"));
    let folder = Folder::with(&[("a", b"x\n")]);
    folder.hard_link("a", "b");
    apply(&folder, "*** Update File: a\n*** Move to: b");
    assert_eq!(folder.text("b"), "x\n");
    assert!(!folder.exists("a"));
}

#[test]
fn temporary_files_are_never_wider_than_the_file() {
    let folder = Folder::with(&[("a", b"x\n")]);
    folder.set_mode("a", 0o600);
    // The mode is asked for when the file is made, before a byte is in it.
    let spy = OddFs::sound();
    assert!(matches!(attempt(&folder, &edit("a"), &spy), Outcome::Done(_)));
    assert_eq!(*spy.modes.lock().expect("unbroken"), [0o600]);
    // A group has its part when the file has its group; until then everybody's part is nobody's more.
    for (mode, made) in [(0o644, 0o644), (0o755, 0o755), (0o640, 0o600), (0o664, 0o600), (0o4755, 0o755)] {
        folder.write("b", b"x\n");
        folder.set_mode("b", mode);
        let spy = OddFs::sound();
        assert!(matches!(attempt(&folder, &edit("b"), &spy), Outcome::Done(_)));
        assert_eq!(*spy.modes.lock().expect("unbroken"), [made], "{mode:o}");
        assert_eq!(folder.mode("b"), mode, "{mode:o}");
    }
}

#[test]
fn a_move_that_changes_only_the_case_of_a_name() {
    // On a disk that is blind to case both names are one file, which must not be removed.
    for chunk in ["", "\n-x\n+y"] {
        let folder = Folder::with(&[("readme", b"x\n")]);
        let body = format!("*** Update File: readme\n*** Move to: README{chunk}");
        let fs = OddFs { blind_to_case: true, ..OddFs::sound() };
        let outcome = attempt(&folder, &body, &fs);
        assert!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");
        let expected = if chunk.is_empty() { "x\n" } else { "y\n" };
        assert_eq!(folder.text("readme"), expected);
    }
}

#[test]
fn a_new_case_that_cannot_be_given_leaves_the_file_as_it_was() {
    let body = "*** Update File: readme\n*** Move to: README\n+y";
    let disk = |at| OddFs { blind_to_case: true, ..OddFs::failing_at(at) };
    for at in 0.. {
        let folder = Folder::with(&[("readme", b"x\n")]);
        match attempt(&folder, body, &disk(at)) {
            Outcome::Done(_) if folder.text("readme") == "x\ny\n" => break,
            Outcome::Done(_) => panic!("{at}"),
            Outcome::Failed(error) => {
                assert!(error.summary.is_empty() && error.torn.is_none(), "{at}: {error:?}");
                assert_eq!(folder.text("readme"), "x\n", "{at}");
            }
            Outcome::Refused(error) => panic!("{error}"),
        }
    }
}

#[test]
fn a_file_in_a_closed_directory_is_written_in_place() {
    let folder = Folder::with(&[("a", b"x\n")]);
    let number = folder.at("a").metadata().expect("there").ino();
    let fs = OddFs { closed_directories: true, ..OddFs::sound() };
    assert!(matches!(attempt(&folder, &edit("a"), &fs), Outcome::Done(_)));
    assert_eq!(
        (folder.text("a"), folder.at("a").metadata().expect("there").ino()),
        ("y\n".to_owned(), number)
    );
    // A new file has no place there.
    let Outcome::Failed(error) = attempt(&folder, "*** Add File: b\n+1", &fs) else { panic!("closed") };
    assert_eq!(shown(&folder, &error.to_string()), "Failed to write file <cwd>/b");
}

#[test]
fn a_write_protected_file_is_not_replaced() {
    let folder = Folder::with(&[("a", b"x\n"), ("b", b"x\n")]);
    let before = folder.tree();
    let fs = OddFs { write_protected: true, ..OddFs::sound() };
    let body = format!("*** Add File: new\n+1\n{}", edit("a"));
    let Outcome::Failed(error) = attempt(&folder, &body, &fs) else { panic!("protected") };
    assert_eq!(shown(&folder, &error.to_string()), "Failed to write file <cwd>/a");
    assert_eq!(folder.tree(), before);
    // Nor by a file that is moved to its place.
    for chunk in ["", "\n-x\n+y"] {
        let body = format!("*** Update File: a\n*** Move to: b{chunk}");
        let Outcome::Failed(error) = attempt(&folder, &body, &fs) else { panic!("protected") };
        assert_eq!(shown(&folder, &error.to_string()), "Failed to write file <cwd>/b");
        assert_eq!(folder.tree(), before);
    }
}

#[test]
fn moves_between_file_systems() {
    let Ok(guard) = tempfile::tempdir_in("/dev/shm") else { return };
    let there = guard.path().canonicalize().expect("exists");
    for chunk in ["", "\n-x\n+y"] {
        let folder = Folder::with(&[("a", b"x\n")]);
        if folder.root.metadata().expect("there").dev() == there.metadata().expect("there").dev() {
            return;
        }
        folder.set_mode("a", 0o741);
        let to = there.join("new/b");
        let done = apply(&folder, &format!("*** Update File: a\n*** Move to: {}{chunk}", to.display()));
        assert!(done.delta.exact);
        let expected = if chunk.is_empty() { "x\n" } else { "y\n" };
        assert_eq!(std::fs::read_to_string(&to).expect("moved"), expected);
        assert_eq!(to.metadata().expect("there").mode() & 0o7777, 0o741);
        assert!(!folder.exists("a"));
        std::fs::remove_file(to).expect("there");
    }
}
