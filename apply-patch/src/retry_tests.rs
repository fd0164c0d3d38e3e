use pretty_assertions::assert_eq;

use super::*;
use crate::walk::RealFs;
use crate::{commit, parse_patch};

const BODY: &str = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch";

fn remember(retries: &Retries, number: usize) {
    let left = Left { shown: "/none".into(), path: "/none".into(), sha256: None };
    let standing =
        vec![Standing { hunk: 0, kind: ChangeKind::Add, listed: "a".to_owned(), left: vec![left] }];
    let key = key(&number.to_string(), Path::new("/"));
    retries.remember(Failed { key, standing, torn: None });
}

fn stands(retries: &Retries, text: &str) -> bool {
    let mut patch = parse_patch(BODY).expect("parses");
    let attempt = retries.attempt(text, &mut patch, Path::new("/"), &RealFs);
    assert_eq!(patch.hunks.is_empty(), !attempt.stood().is_empty());
    !attempt.stood().is_empty()
}

#[test]
fn so_many_are_remembered() {
    let retries = Retries::default();
    for number in 0..MAX_REMEMBERED {
        remember(&retries, number);
    }
    assert!(stands(&retries, "0"));
    // Again the same is no further one, and the newest.
    remember(&retries, 0);
    assert!(stands(&retries, "1"));
    remember(&retries, MAX_REMEMBERED);
    assert!(!stands(&retries, "1"));
    assert!(stands(&retries, "0") && stands(&retries, &MAX_REMEMBERED.to_string()));
    assert_eq!(retries.lock().len(), MAX_REMEMBERED);
}

#[test]
fn the_same_patch_is_the_same_text_for_the_same_folder() {
    let here = Path::new("/here");
    assert_eq!(key("\n patch\n", here), key("patch", here));
    assert_ne!(key("patch", here), key("patch", Path::new("/there")));
    assert_ne!(key("ab", Path::new("/")), key("b", Path::new("/a")));
}

#[test]
fn a_damaged_file_is_known_by_its_bytes() {
    let old = Content::new(b"old".to_vec());
    let torn = Torn { path: "/a".into(), sha256: hash(b"torn"), old: Arc::clone(&old) };
    assert_eq!(torn.mend(Path::new("/a"), b"torn"), Some(old));
    assert_eq!(torn.mend(Path::new("/a"), b"other"), None);
    assert_eq!(torn.mend(Path::new("/b"), b"torn"), None);
}

#[test]
fn the_last_change_of_a_path_says_what_is_left_there() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("a"), "1\n").expect("written");
    let text = "*** Begin Patch\n*** Update File: a\n*** Move to: b\n-1\n+2\n*** Update File: b\n-2\n+3\n*** End Patch";
    let root = folder.path().canonicalize().expect("there");
    let plan = crate::plan(&parse_patch(text).expect("parses"), &root, &RealFs).expect("fits");
    commit(&plan, &RealFs, &mut ()).expect("lands");
    let mut standing: Vec<Standing> =
        plan.changes.iter().enumerate().map(|(hunk, change)| Standing::of(change, hunk)).collect();
    settle(&mut standing);
    let left: Vec<_> = standing.iter().flat_map(|change| &change.left).map(|left| left.sha256).collect();
    assert_eq!(left, [None, Some(hash(b"3\n")), Some(hash(b"3\n"))]);
    assert_eq!(still_standing(standing.clone(), &RealFs).len(), 2);
    std::fs::write(root.join("b"), "4\n").expect("written");
    assert_eq!(still_standing(standing, &RealFs).len(), 0);
}
