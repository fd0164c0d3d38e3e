//! A patch of five files on a disk that fails at every single operation in turn: either nothing has
//! changed, or what has is named; and the same patch can be tried again.
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use std::collections::BTreeSet;

use support::*;
use tenon_apply_patch::{CommitError, DeltaKind, RealFs, failure_text};

const BODY: &str = "*** Add File: new/dir/added.txt\n+added\n*** Update File: plain.txt\n one\n-two\n+TWO\n*** Update File: linked.txt\n-x\n+a much longer line than before\n*** Update File: moved.txt\n*** Move to: to/moved.txt\n-m\n+M\n*** Delete File: gone.txt";

fn folder() -> Folder {
    let folder = Folder::with(&[
        ("plain.txt", b"one\ntwo\n"),
        ("linked.txt", b"x\nrest\n"),
        ("moved.txt", b"m\n"),
        ("gone.txt", b"g\n"),
        ("bystander.txt", b"b\n"),
    ]);
    folder.set_mode("plain.txt", 0o755);
    // A file with two names is written in place.
    folder.hard_link("linked.txt", "other name.txt");
    folder
}

/// Temporary files and new directories may be left over when the disk fails for good.
fn without_leftovers(tree: Tree) -> Tree {
    let keep = |name: &str, thing: &Thing| !name.contains(".tenon-patch-") && *thing != Thing::Directory;
    tree.into_iter().filter(|(name, thing)| keep(name, thing)).collect()
}

/// The tree that `old` becomes by the changes that the error names.
fn expected(old: &Tree, new: &Tree, error: &CommitError) -> Tree {
    let named: BTreeSet<&str> = [&error.summary.added, &error.summary.modified, &error.summary.deleted]
        .into_iter()
        .flatten()
        .map(String::as_str)
        .collect();
    let mut tree = old.clone();
    let mut take = |name: &str| match new.get(name) {
        Some(thing) => {
            tree.insert(name.to_owned(), thing.clone());
        }
        None => {
            tree.remove(name);
        }
    };
    for name in named {
        take(name);
        match name {
            "linked.txt" => take("other name.txt"),
            "to/moved.txt" if error.summary.modified.iter().any(|file| file == name) => take("moved.txt"),
            _ => {}
        }
    }
    without_leftovers(tree)
}

fn final_tree() -> Tree {
    let folder = folder();
    apply(&folder, BODY);
    without_leftovers(folder.tree())
}

/// How many operations the patch takes on a sound disk.
fn operations() -> usize {
    let fs = OddFs::sound();
    assert!(matches!(attempt(&folder(), BODY, &fs), Outcome::Done(_)));
    fs.operations()
}

fn check_fault(fs: &OddFs, at: usize, for_good: bool, new: &Tree) {
    let folder = folder();
    let old = folder.tree();
    let error = match attempt(&folder, BODY, fs) {
        Outcome::Failed(error) => error,
        // A file whose attributes cannot be copied is written in place instead.
        Outcome::Done(_) if !for_good => {
            assert_eq!(&without_leftovers(folder.tree()), new, "operation {at}");
            return;
        }
        other => panic!("operation {at}: {other:?}"),
    };
    let text = failure_text(&error);
    let mut tree = without_leftovers(folder.tree());
    let mut wanted = expected(&old, new, &error);
    if let Some(torn) = &error.torn {
        assert!(for_good && text.contains("linked.txt is damaged"), "operation {at}: {text}");
        assert!(!error.delta.exact && torn.ends_with("linked.txt"));
        for name in ["linked.txt", "other name.txt"] {
            assert_ne!(tree.remove(name), wanted.remove(name), "operation {at}");
        }
    }
    assert_eq!(tree, wanted, "operation {at} (for good: {for_good}): {text}");
    if !for_good {
        assert_eq!(error.torn, None, "operation {at}");
        if error.summary.is_empty() {
            // No trace at all: no temporary file, no directory.
            assert_eq!(folder.tree(), old, "operation {at}: {text}");
        }
    }
    assert_eq!(error.delta.changes.is_empty(), error.summary.is_empty());
    retry(&folder, &error, new);
}

/// The same patch again, on a sound disk.
fn retry(folder: &Folder, error: &CommitError, new: &Tree) {
    let before = folder.tree();
    match attempt(folder, BODY, &RealFs) {
        Outcome::Done(_) => {
            // It can only fit where nothing but the added file has changed.
            assert!(error.summary.modified.is_empty() && error.summary.deleted.is_empty());
            assert_eq!(&without_leftovers(folder.tree()), new);
        }
        Outcome::Refused(_) => {
            assert!(!error.summary.is_empty() || error.torn.is_some());
            assert_eq!(folder.tree(), before);
        }
        Outcome::Failed(error) => panic!("{error}"),
    }
}

#[test]
fn one_operation_fails() {
    let new = final_tree();
    for at in 0..operations() {
        check_fault(&OddFs::failing_at(at), at, false, &new);
    }
}

#[test]
fn everything_fails_from_one_operation_on() {
    let new = final_tree();
    for at in 0..operations() {
        check_fault(&OddFs::failing_from(at), at, true, &new);
    }
}

#[test]
fn a_source_that_cannot_be_removed_is_told() {
    let body = "*** Update File: moved.txt\n*** Move to: to/moved.txt\n-m\n+M";
    let sound = OddFs::sound();
    assert!(matches!(attempt(&folder(), body, &sound), Outcome::Done(_)));
    let folder = folder();
    let Outcome::Failed(error) = attempt(&folder, body, &OddFs::failing_at(sound.operations() - 1)) else {
        panic!("the last operation removes the source")
    };
    assert_eq!(
        shown(&folder, &failure_text(&error)),
        "Failed to remove original <cwd>/moved.txt\nThe patch was applied in part. These changes stand:\nA to/moved.txt\n"
    );
    assert!(!error.delta.exact);
    assert!(matches!(error.delta.changes[..], [ref change] if matches!(change.kind, DeltaKind::Add { .. })));
    assert_eq!((folder.text("moved.txt"), folder.text("to/moved.txt")), ("m\n".to_owned(), "M\n".to_owned()));
}
