use std::process::{Command, Stdio};

use pretty_assertions::assert_eq;

use super::*;
use crate::stage::Stager;
use crate::walk::RealFs;

fn name(owner: &Owner, number: u64) -> String {
    format!("{}{number}{SUFFIX}", owner.names())
}

#[test]
fn a_name_says_whose_file_it_is() {
    let me = Owner::me();
    assert_eq!(me.process, std::process::id());
    assert!(me.start > 0 && me.world.as_ref().is_some_and(|world| world.len() == 8), "{me:?}");
    assert_eq!(Owner::of(name(me, 7).as_ref()), Some(me.clone()));
    assert_eq!(Owner::my_name(7), name(me, 7));
    let foreign = [
        "a",
        ".tenon-patch-1-2.tmp",
        ".tenon-patch-00000000-1-2-3",
        ".tenon-patch-00000000-x-2-3.tmp",
        ".tenon-patch-00000000-1-2-x.tmp",
        ".tenon-patch-00000000-1-2-3-4.tmp",
    ];
    for name in foreign {
        assert_eq!(Owner::of(name.as_ref()), None, "{name}");
    }
}

#[test]
fn only_those_of_the_dead_are_removed() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut dead = Command::new("true").spawn().expect("runs");
    dead.wait().expect("ends");
    let mut alive = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("runs");
    let start = start_of(alive.id()).expect("it runs");
    let me = Owner::me();
    let owner = |process, start| Owner { process, start, ..me.clone() };
    let elsewhere = Owner { world: Some("00000000".to_owned()), ..owner(dead.id(), 1) };
    let kept = [
        name(me, u64::MAX),
        name(&owner(alive.id(), start), 1),
        name(&elsewhere, 1),
        // Not a number that a process can have.
        name(&owner(0, 1), 1),
        name(&owner(u32::MAX, 1), 1),
        ".tenon-patch-notes.txt".to_owned(),
    ];
    // A number that is in use again is another process's.
    let gone = [
        name(&owner(dead.id(), 1), 1),
        name(&owner(dead.id(), 1), 2),
        name(&owner(alive.id(), start + 1), 1),
    ];
    for name in kept.iter().chain(&gone) {
        fs::write(folder.path().join(name), "x").expect("written");
    }
    let directory = folder.path().join(name(&owner(dead.id(), 1), 3));
    fs::create_dir(&directory).expect("made");

    sweep(&RealFs, folder.path());
    for name in &kept {
        assert!(folder.path().join(name).exists(), "{name}");
    }
    for name in &gone {
        assert!(!folder.path().join(name).exists(), "{name}");
    }
    assert!(directory.exists());
    drop(alive.stdin.take());
    alive.wait().expect("ends");
}

#[test]
fn a_large_folder_is_not_read_to_its_end() {
    let folder = tempfile::tempdir().expect("a folder");
    for number in 0..10 {
        fs::write(folder.path().join(format!("a{number}")), "").expect("written");
    }
    let names = |prefix, limit| RealFs.names(folder.path(), prefix, limit).expect("read").len();
    assert_eq!((names("a", 10), names("a", 9), names("a3", 100), names("b", 100)), (10, 9, 1, 0));
    assert!(RealFs.names(&folder.path().join("none"), "a", 1).is_err());
}

#[test]
fn a_stager_sweeps_where_it_writes() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut dead = Command::new("true").spawn().expect("runs");
    dead.wait().expect("ends");
    let left = folder.path().join(name(&Owner { process: dead.id(), start: 1, ..Owner::me().clone() }, 0));
    let text = format!("*** Begin Patch\n*** Add File: {}/a\n+x\n*** End Patch", folder.path().display());
    let patch = crate::parse_patch(&text).expect("parses");
    let plan = crate::plan(&patch, folder.path(), &RealFs).expect("fits");
    fs::write(&left, "").expect("written");
    let staged = Stager::new(&RealFs).stage(&plan.changes[0]).expect("staged");
    assert!(!left.exists());
    let names: Vec<_> = RealFs.names(folder.path(), PREFIX, 10).expect("read");
    assert!(matches!(&names[..], [name] if Owner::of(name).as_ref() == Some(Owner::me())), "{names:?}");
    drop(staged);
    assert_eq!(RealFs.names(folder.path(), "", 10).expect("read").len(), 0);
}
