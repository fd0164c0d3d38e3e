//! A process that is killed in the middle of a patch: what it leaves behind, and who clears it away.
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::Command;

use support::*;

/// Says to the victim which folder it works in, and at which operation it dies.
const VICTIM: &str = "TENON_TEST_VICTIM";

const BODY: &str = "*** Add File: new/dir/added.txt\n+added\n*** Update File: plain.txt\n one\n-two\n+TWO\n*** Update File: moved.txt\n*** Move to: to/moved.txt\n-m\n+M";

fn folder() -> Folder {
    Folder::with(&[("plain.txt", b"one\ntwo\n"), ("moved.txt", b"m\n"), ("to/x", b"")])
}

fn leftovers(folder: &Folder) -> Vec<String> {
    folder.tree().into_keys().filter(|name| name.contains(".tenon-patch-")).collect()
}

/// What the victim does.
fn die(told: &str) -> ! {
    let (at, root) = told.split_once(' ').expect("as told");
    let fs = OddFs { kills: true, ..OddFs::failing_at(at.parse().expect("a number")) };
    let outcome = attempt_in(&PathBuf::from(root), BODY, &fs);
    panic!("it should be dead: {outcome:?}");
}

#[test]
fn what_a_killed_process_leaves_the_next_patch_removes() {
    if let Ok(told) = std::env::var(VICTIM) {
        die(&told);
    }
    let sound = OddFs::sound();
    assert!(matches!(attempt(&folder(), BODY, &sound), Outcome::Done(_)));
    let mut left = 0;
    for at in 0..sound.operations() {
        let folder = folder();
        let ended = Command::new(std::env::current_exe().expect("known"))
            .args(["--exact", "what_a_killed_process_leaves_the_next_patch_removes"])
            .env(VICTIM, format!("{at} {}", folder.root.display()))
            .output()
            .expect("runs");
        assert_eq!(ended.status.signal(), Some(9), "operation {at}: {ended:?}");
        left += leftovers(&folder).len();
        // The next patch is another one, in the same folders.
        apply(
            &folder,
            "*** Add File: new/dir/other\n+1\n*** Add File: other\n+2\n*** Add File: to/other\n+3",
        );
        assert_eq!(leftovers(&folder), [""; 0], "operation {at}");
    }
    assert!(left > 0, "or nothing was tested");
}
