//! Plans and commits on a real disk: what is written, what is said, what is refused.
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use std::sync::Arc;

use pretty_assertions::assert_eq;
use support::*;
use tenon_apply_patch::{
    ChangeKind, Delta, DeltaChange, DeltaKind, Failure, MAX_FILE_BYTES, RealFs, Watch, commit, failure_text,
    parse_patch, plan,
};

fn bytes(text: &str) -> Arc<Vec<u8>> {
    Arc::new(text.as_bytes().to_vec())
}

#[test]
fn the_three_operations_and_their_report() {
    let folder = Folder::with(&[("a.txt", b"x\n"), ("gone.txt", b"1\n"), ("m.txt", b"x\n")]);
    let body = "*** Delete File: gone.txt\n*** Update File: a.txt\n-x\n+y\n*** Add File: new/deep/b.txt\n+hello\n*** Update File: m.txt\n*** Move to: moved/n.txt\n-x\n+z";
    let done = apply(&folder, body);
    assert_eq!(
        done.summary.success_text(),
        "Success. Updated the following files:\nA new/deep/b.txt\nM a.txt\nM moved/n.txt\nD gone.txt\n"
    );
    assert_eq!(folder.text("a.txt"), "y\n");
    assert_eq!(folder.text("new/deep/b.txt"), "hello\n");
    assert_eq!(folder.text("moved/n.txt"), "z\n");
    assert!(!folder.exists("gone.txt") && !folder.exists("m.txt"));
    let names: Vec<String> = folder.tree().into_keys().collect();
    assert_eq!(names, ["a.txt", "moved", "moved/n.txt", "new", "new/deep", "new/deep/b.txt"]);
}

#[test]
fn the_delta_tells_before_and_after() {
    let folder = Folder::with(&[("a", b"1\n"), ("b", b"2\n"), ("c", b"3\n"), ("d", b"4\n"), ("e", b"5\n")]);
    let body = "*** Add File: a\n+one\n*** Delete File: b\n*** Update File: c\n-3\n+three\n*** Update File: d\n*** Move to: e\n-4\n+four\n*** Add File: f";
    let delta = apply(&folder, body).delta;
    let change = |name: &str, kind| DeltaChange { path: folder.at(name), kind };
    let expected = [
        change("a", DeltaKind::Add { content: bytes("one\n"), overwritten_content: Some(bytes("1\n")) }),
        change("b", DeltaKind::Delete { content: bytes("2\n") }),
        change(
            "c",
            DeltaKind::Update {
                move_path: None,
                old_content: bytes("3\n"),
                overwritten_move_content: None,
                new_content: bytes("three\n"),
            },
        ),
        change(
            "d",
            DeltaKind::Update {
                move_path: Some(folder.at("e")),
                old_content: bytes("4\n"),
                overwritten_move_content: Some(bytes("5\n")),
                new_content: bytes("four\n"),
            },
        ),
        change("f", DeltaKind::Add { content: bytes(""), overwritten_content: None }),
    ];
    assert_eq!(delta, Delta { changes: expected.to_vec(), exact: true });
}

#[test]
fn a_delta_of_bytes_that_are_no_text_is_not_exact() {
    let folder = Folder::with(&[("a", b"x\n\xff\n")]);
    let done = apply(&folder, "*** Update File: a\n-x\n+y");
    assert!(!done.delta.exact);
    assert_eq!(folder.read("a"), b"y\n\xff\n");
}

#[test]
fn refusals() {
    let folder = Folder::with(&[("a.txt", b"x\n"), ("d/x.txt", b"1\n"), ("u.txt", b"\xff\xfex\0\n\0")]);
    let before = folder.tree();
    let missing = "No such file or directory (os error 2)";
    for (body, expected) in [
        ("*** Update File: a.txt\n-nope\n+y", "Failed to find expected lines in <cwd>/a.txt:\nnope".to_owned()),
        ("*** Update File: ./d/../a.txt\n@@ ctx\n-x", "Failed to find context 'ctx' in <cwd>/a.txt".to_owned()),
        ("*** Update File: nope.txt\n-x", format!("Failed to read file to update <cwd>/nope.txt: {missing}")),
        ("*** Update File: d\n-x", "Failed to read file to update <cwd>/d: path `<cwd>/d` is not a file".to_owned()),
        ("*** Delete File: nope", format!("Failed to read <cwd>/nope: {missing}")),
        ("*** Delete File: d", "Failed to read <cwd>/d: path `<cwd>/d` is not a file".to_owned()),
        (
            "*** Delete File: a.txt/b",
            "Failed to read <cwd>/a.txt/b: Not a directory (os error 20)".to_owned(),
        ),
        (
            "*** Update File: u.txt\n-x",
            "Failed to read file to update <cwd>/u.txt: it is UTF-16 text, which a patch cannot change; convert it to UTF-8 first".to_owned(),
        ),
        (
            "*** Update File: a.txt\n-x\n*** Delete File: d/../a.txt",
            "invalid patch: multiple operations target <cwd>/a.txt".to_owned(),
        ),
        // One hunk that does not fit keeps all others from happening (A7.4).
        (
            "*** Add File: ok.txt\n+ok\n*** Delete File: a.txt\n*** Update File: d/x.txt\n-nope",
            "Failed to find expected lines in <cwd>/d/x.txt:\nnope".to_owned(),
        ),
    ] {
        assert_eq!(refusal(&folder, body), expected, "{body}");
        assert_eq!(folder.tree(), before, "{body}");
    }
}

#[test]
fn pipes_are_refused_and_not_waited_for() {
    let folder = Folder::new();
    rustix::fs::mkfifoat(rustix::fs::CWD, folder.at("pipe"), rustix::fs::Mode::RWXU).expect("made");
    let expected = "Failed to read file to update <cwd>/pipe: path `<cwd>/pipe` is not a file";
    assert_eq!(refusal(&folder, "*** Update File: pipe\n-x"), expected);
    assert_eq!(
        shown(&folder, &failure(&folder, "*** Add File: pipe\n+x").to_string()),
        "Failed to write file <cwd>/pipe"
    );
}

#[test]
fn devices_and_sockets_are_refused_and_not_opened_for_long() {
    let folder = Folder::new();
    let _listener = std::os::unix::net::UnixListener::bind(folder.at("socket")).expect("bound");
    folder.link("/dev/zero", "endless");
    for path in [folder.at("socket"), folder.at("endless"), "/dev/zero".into(), "/dev/tty".into()] {
        let path = path.display();
        let refused = refusal(&folder, &format!("*** Update File: {path}\n-x"));
        assert!(refused.ends_with(" is not a file"), "{refused}");
        let error = failure(&folder, &format!("*** Add File: new\n+1\n*** Add File: {path}\n+x"));
        assert!(error.to_string().starts_with("Failed to write file "), "{error}");
        assert!(!folder.exists("new"));
    }
}

#[test]
fn files_without_a_byte() {
    let folder = Folder::with(&[("a", b""), ("b", b""), ("c", b"")]);
    let done =
        apply(&folder, "*** Update File: a\n+1\n*** Delete File: b\n*** Update File: c\n*** Move to: d");
    assert!(done.delta.exact);
    assert_eq!((folder.text("a"), folder.text("d")), ("1\n".to_owned(), String::new()));
    assert_eq!(refusal(&folder, "*** Update File: d\n-x"), "Failed to find expected lines in <cwd>/d:\nx");
    apply(&folder, "*** Update File: a\n-1");
    assert_eq!(folder.read("a"), b"");
}

#[test]
fn odd_names_are_names() {
    let folder = Folder::with(&[(".git/config", b"x\n")]);
    let long = "n".repeat(255);
    for name in ["-rf", "a b", "'q\"", "~", "$HOME", "*", ".git/config", "\u{202e}txt", "a\\b", "...", &long]
    {
        apply(&folder, &format!("*** Add File: {name}\n+x"));
        apply(&folder, &format!("*** Update File: {name}\n-x\n+y"));
        assert_eq!(folder.text(name), "y\n", "{name}");
    }
    let error = failure(&folder, &format!("*** Add File: {long}n\n+x"));
    assert!(matches!(error.failure, Failure::Write(..)));
}

#[test]
fn a_folder_may_have_a_name_that_is_no_text() {
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new();
    let odd = folder.root.join(std::ffi::OsStr::from_bytes(b"\xff\xfe"));
    std::fs::create_dir(&odd).expect("made");
    let outcome = attempt_in(&odd, "*** Add File: a\n+x", &RealFs);
    assert!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");
    let outcome = attempt_in(&odd, "*** Update File: a\n-x\n+y", &RealFs);
    assert!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");
    assert_eq!(std::fs::read(odd.join("a")).expect("there"), b"y\n");
}

#[test]
fn places_that_cannot_be_written_leave_all_as_it_was() {
    let folder = Folder::with(&[("a.txt", b"x\n"), ("d/x.txt", b"1\n")]);
    let before = folder.tree();
    for (body, expected) in [
        ("*** Update File: a.txt\n-x\n+y\n*** Add File: a.txt/b\n+1", "Failed to write file <cwd>/a.txt/b\n"),
        ("*** Add File: new/x\n+1\n*** Add File: d\n+1", "Failed to write file <cwd>/d\n"),
        ("*** Add File: a.txt/b/c\n+1", "Failed to write file <cwd>/a.txt/b/c\n"),
        ("*** Update File: a.txt\n*** Move to: d\n-x", "Failed to write file <cwd>/d\n"),
        ("*** Update File: a.txt\n*** Move to: d", "Failed to write file <cwd>/d\n"),
    ] {
        let error = failure(&folder, body);
        assert_eq!(shown(&folder, &failure_text(&error)), expected, "{body}");
        assert_eq!(folder.tree(), before, "{body}");
        assert_eq!(error.delta, Delta::default());
    }
}

#[test]
fn an_empty_patch_plans_nothing() {
    let folder = Folder::new();
    let patch = parse_patch("*** Begin Patch\n*** End Patch").expect("parses");
    assert!(plan(&patch, &folder.root, &RealFs).expect("planned").changes().is_empty());
}

#[test]
fn plans_tell_what_they_would_touch() {
    let folder = Folder::with(&[("a", b"x\n"), ("b", b"2\n"), ("real", b"3\n")]);
    folder.link("real", "link");
    let text = "*** Begin Patch\n*** Update File: a\n*** Move to: b\n-x\n+y\n*** Update File: link\n-3\n+4\n*** Add File: c\n+1\n*** End Patch";
    let plan = plan(&parse_patch(text).expect("parses"), &folder.root, &RealFs).expect("planned");
    let sha256 = |bytes: &[u8]| -> Option<[u8; 32]> {
        use sha2::Digest;
        Some(sha2::Sha256::digest(bytes).into())
    };
    let seen: Vec<_> = plan
        .changes()
        .iter()
        .map(|change| {
            let writes: Vec<_> = change.writes().into_iter().map(|fact| (fact.path, fact.sha256)).collect();
            (change.kind(), change.path().to_owned(), change.move_to().map(ToOwned::to_owned), writes)
        })
        .collect();
    let expected = vec![
        (
            ChangeKind::Update,
            folder.at("a"),
            Some(folder.at("b")),
            vec![(folder.at("a"), sha256(b"x\n")), (folder.at("b"), sha256(b"2\n"))],
        ),
        (ChangeKind::Update, folder.at("link"), None, vec![(folder.at("real"), sha256(b"3\n"))]),
        (ChangeKind::Add, folder.at("c"), None, vec![(folder.at("c"), None)]),
    ];
    assert_eq!(seen, expected);
    assert_eq!(plan.changes()[0].unified_diff(), "@@ -1 +1 @@\n-x\n+y\n");
    assert_eq!(plan.changes()[2].unified_diff(), "@@ -0,0 +1 @@\n+1\n");
}

#[test]
fn later_hunks_see_what_earlier_ones_leave() {
    let folder = Folder::with(&[("a", b"1\n"), ("b", b"2\n"), ("c", b"3\n")]);
    // b goes, a takes its place; two moves write one path, the last one stands.
    let body = "*** Delete File: b\n*** Update File: a\n*** Move to: b\n-1\n+one\n*** Update File: c\n*** Move to: b\n-3\n+three";
    let done = apply(&folder, body);
    assert_eq!(done.summary.modified, ["b", "b"]);
    assert_eq!(folder.text("b"), "three\n");
    assert!(!folder.exists("a") && !folder.exists("c"));

    // What a move put in place is what the next hunk has to fit.
    let folder = Folder::with(&[("a", b"1\n"), ("b", b"2\n")]);
    let body = "*** Update File: a\n*** Move to: b\n-1\n+one\n*** Update File: b\n-one\n+two";
    apply(&folder, body);
    assert_eq!(folder.text("b"), "two\n");
    let folder = Folder::with(&[("a", b"1\n"), ("b", b"2\n")]);
    let body = "*** Update File: a\n*** Move to: b\n-1\n+one\n*** Update File: b\n-2\n+two";
    assert_eq!(refusal(&folder, body), "Failed to find expected lines in <cwd>/b:\n2");
}

#[test]
fn a_move_onto_itself_keeps_the_file() {
    for to in ["a.txt", "./a.txt", "d/../a.txt"] {
        let folder = Folder::with(&[("a.txt", b"x\n"), ("d/y", b"")]);
        let done = apply(&folder, &format!("*** Update File: a.txt\n*** Move to: {to}\n-x\n+y"));
        assert_eq!(done.summary.modified, [to]);
        assert_eq!(folder.text("a.txt"), "y\n");
        apply(&folder, &format!("*** Update File: a.txt\n*** Move to: {to}"));
        assert_eq!(folder.text("a.txt"), "y\n");
    }
}

#[test]
fn a_pure_rename_keeps_every_byte() {
    let content = b"\xff\xfe\0no text\r\nat all";
    let folder = Folder::with(&[("a", content), ("old", b"1")]);
    folder.set_mode("a", 0o751);
    apply(&folder, "*** Update File: a\n*** Move to: deep/er/b");
    assert_eq!((folder.read("deep/er/b"), folder.mode("deep/er/b")), (content.to_vec(), 0o751));
    apply(&folder, "*** Update File: deep/er/b\n*** Move to: old");
    assert_eq!(folder.read("old"), content);
    assert!(!folder.exists("deep/er/b"));
}

/// Changes files while the commit runs, or stops it.
struct Meddler<F: FnMut()> {
    before: F,
    stop: bool,
}

impl<F: FnMut()> Watch for Meddler<F> {
    fn cancelled(&self) -> bool {
        self.stop
    }

    fn before(&mut self, _: &std::path::Path) {
        (self.before)();
    }
}

#[test]
fn a_file_that_changed_meanwhile_is_a_conflict() {
    let body = "*** Begin Patch\n*** Update File: a\n-x\n+y\n*** Update File: b\n-x\n+y\n*** Add File: c\n+1\n*** End Patch";
    type Meddle = fn(&Folder);
    let meddle: [(&str, Meddle); 5] = [
        ("b", |folder| folder.write("b", b"z\n")),
        ("b", |folder| std::fs::remove_file(folder.at("b")).expect("there")),
        ("b", |folder| {
            std::fs::remove_file(folder.at("b")).expect("there");
            folder.link("a", "b");
        }),
        ("c", |folder| folder.write("c", b"taken\n")),
        ("c", |folder| folder.link("nowhere", "c")),
    ];
    for (name, meddle) in meddle {
        let folder = Folder::with(&[("a", b"x\n"), ("b", b"x\n")]);
        let plan = plan(&parse_patch(body).expect("parses"), &folder.root, &RealFs).expect("planned");
        meddle(&folder);
        let after = folder.tree();
        let error = commit(&plan, &RealFs, &mut ()).expect_err("a conflict");
        let expected =
            format!("<cwd>/{name} changed after the patch was verified; read it again before patching it\n");
        assert_eq!(shown(&folder, &failure_text(&error)), expected);
        assert!(matches!(error.failure, Failure::Conflict(_)));
        assert_eq!(folder.tree(), after);
    }
}

#[test]
fn a_file_written_again_with_the_same_bytes_is_no_conflict() {
    let folder = Folder::with(&[("a", b"x\n")]);
    let text = "*** Begin Patch\n*** Update File: a\n-x\n+y\n*** End Patch";
    let plan = plan(&parse_patch(text).expect("parses"), &folder.root, &RealFs).expect("planned");
    folder.write("a", b"x\n");
    commit(&plan, &RealFs, &mut ()).expect("no conflict");
    assert_eq!(folder.text("a"), "y\n");
}

#[test]
fn a_conflict_half_way_names_what_stands() {
    let folder = Folder::with(&[("a", b"x\n"), ("b", b"x\n")]);
    let text = "*** Begin Patch\n*** Update File: a\n-x\n+y\n*** Update File: b\n-x\n+y\n*** End Patch";
    let plan = plan(&parse_patch(text).expect("parses"), &folder.root, &RealFs).expect("planned");
    let mut meddler = Meddler { before: || folder.write("b", b"other\n"), stop: false };
    let error = commit(&plan, &RealFs, &mut meddler).expect_err("a conflict");
    assert_eq!(
        shown(&folder, &failure_text(&error)),
        "<cwd>/b changed after the patch was verified; read it again before patching it\n\
         The patch was applied in part. These changes stand:\nM a\n"
    );
    assert_eq!((folder.text("a"), folder.text("b")), ("y\n".to_owned(), "other\n".to_owned()));
    assert_eq!(error.delta.changes.len(), 1);
    assert!(error.delta.exact);
}

#[test]
fn a_cancelled_commit_leaves_nothing() {
    let folder = Folder::with(&[("a", b"x\n")]);
    let before = folder.tree();
    let text = "*** Begin Patch\n*** Update File: a\n-x\n+y\n*** Add File: n/b\n+1\n*** End Patch";
    let plan = plan(&parse_patch(text).expect("parses"), &folder.root, &RealFs).expect("planned");
    let mut meddler = Meddler { before: || (), stop: true };
    let error = commit(&plan, &RealFs, &mut meddler).expect_err("cancelled");
    assert!(matches!(error.failure, Failure::Cancelled));
    assert_eq!(folder.tree(), before);
}

#[test]
fn two_patches_on_one_file() {
    let folder = Folder::with(&[("a", b"1\n2\n")]);
    let make = |body: &str| {
        let text = format!("*** Begin Patch\n*** Update File: a\n{body}\n*** End Patch");
        plan(&parse_patch(&text).expect("parses"), &folder.root, &RealFs).expect("planned")
    };
    // Planned one after the other, both land.
    commit(&make("-1\n+one"), &RealFs, &mut ()).expect("lands");
    commit(&make("-2\n+two"), &RealFs, &mut ()).expect("lands");
    assert_eq!(folder.text("a"), "one\ntwo\n");
    // Planned together, the late one fails plainly.
    let (first, second) = (make("-one\n+1"), make("-two\n+2"));
    commit(&first, &RealFs, &mut ()).expect("lands");
    assert!(matches!(commit(&second, &RealFs, &mut ()).expect_err("late").failure, Failure::Conflict(_)));
    assert_eq!(folder.text("a"), "1\ntwo\n");
}

#[test]
fn a_large_patch_is_no_matter() {
    let folder = Folder::new();
    let line = "+".to_owned() + &"x".repeat(99) + "\n";
    apply(&folder, &format!("*** Add File: big\n{}", line.repeat(3000).trim_end()));
    assert_eq!(folder.read("big").len(), 300_000);
}

#[test]
fn the_bound_of_file_sizes_is_exact() {
    let folder = Folder::with(&[("a", b"x\n")]);
    let body = "*** Update File: a\n-x\n+y";
    let claiming = |len| OddFs { claimed_len: Some(len), ..OddFs::sound() };
    let Outcome::Refused(error) = attempt(&folder, body, &claiming(MAX_FILE_BYTES + 1)) else {
        panic!("too large")
    };
    assert_eq!(
        shown(&folder, &error.to_string()),
        "Failed to read file to update <cwd>/a: it has 4294967296 bytes, and a patch can change files of up to 4294967295 bytes"
    );
    assert!(matches!(attempt(&folder, body, &claiming(MAX_FILE_BYTES)), Outcome::Done(_)));
}
