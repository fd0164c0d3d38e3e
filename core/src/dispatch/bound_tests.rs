use std::fs;
use std::os::unix::fs::symlink;

use pretty_assertions::assert_eq;

use super::*;

fn effects(folder: &Path, script: &str) -> Effects {
    let command = CommandEffect {
        argv: ["bash", "-lc", script].map(str::to_owned).into(),
        cwd: folder.to_owned(),
        ..CommandEffect::default()
    };
    Effects { command: Some(command), ..Effects::none() }
}

#[tokio::test]
async fn a_script_is_part_of_what_a_command_would_do() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("x.sh");
    let effects = effects(folder.path(), "sh x.sh && cat notes");
    let missing = Bound::of(&effects).await;
    assert_eq!(missing.effects().reads, []);
    fs::write(&script, "one").unwrap();
    fs::write(folder.path().join("notes"), "one").unwrap();
    let before = Bound::of(&effects).await;
    let [read] = &before.effects().reads[..] else { panic!("{before:?}") };
    assert_eq!(read.path, script.canonicalize().unwrap());
    assert_ne!(before, missing);
    // What a command only reads is not its script.
    fs::write(folder.path().join("notes"), "two").unwrap();
    assert_eq!(Bound::of(&effects).await, before);
    fs::write(&script, "two").unwrap();
    assert_ne!(Bound::of(&effects).await, before);
    fs::write(&script, "one").unwrap();
    assert_eq!(Bound::of(&effects).await, before);
    fs::remove_file(&script).unwrap();
    assert_eq!(Bound::of(&effects).await, missing);
}

#[tokio::test]
async fn the_bound_of_a_script_is_exact() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("x.sh");
    let effects = effects(folder.path(), "./x.sh");
    let at = |length: u64| {
        let file = fs::File::create(&script).unwrap();
        file.set_len(length).unwrap();
        file
    };
    let epoch = std::time::UNIX_EPOCH;
    let file = at(MAX_SCRIPT_BYTES);
    file.set_modified(epoch).unwrap();
    let before = Bound::of(&effects).await;
    file.set_modified(epoch + std::time::Duration::from_secs(1)).unwrap();
    assert_eq!(Bound::of(&effects).await, before, "its content is looked at");
    let file = at(MAX_SCRIPT_BYTES + 1);
    file.set_modified(epoch).unwrap();
    let before = Bound::of(&effects).await;
    file.set_modified(epoch + std::time::Duration::from_secs(1)).unwrap();
    assert_ne!(Bound::of(&effects).await, before, "only its length and its time are");
}

/// Each row: a line, and what is changed while it waits. All of it makes another call of it.
#[tokio::test]
async fn nothing_that_the_line_names_can_be_changed_past_it() {
    type Change = fn(&Path);
    let write: Change = |folder| fs::write(folder.join("x.sh"), "two").unwrap();
    let replace: Change = |folder| {
        fs::write(folder.join("new"), "two").unwrap();
        fs::rename(folder.join("new"), folder.join("x.sh")).unwrap();
    };
    let switch: Change = |folder| {
        fs::remove_file(folder.join("link.sh")).unwrap();
        symlink("other.sh", folder.join("link.sh")).unwrap();
    };
    let switch_folder: Change = |folder| {
        fs::remove_file(folder.join("here")).unwrap();
        symlink("sub", folder.join("here")).unwrap();
    };
    let sub: Change = |folder| fs::write(folder.join("sub/x.sh"), "two").unwrap();
    let rows: [(&str, Change); 16] = [
        ("./x.sh", write),
        ("sh x.sh", replace),
        ("sh -e ./x.sh a", write),
        ("env A=1 sh x.sh", write),
        ("bash x.sh && ls", write),
        ("source x.sh", write),
        (". ./x.sh; ls", write),
        ("if ls; then sh x.sh; fi", write),
        ("bash <<'E'\nsh x.sh\nE\n", write),
        ("bash < x.sh", write),
        ("sh -c 'sh x.sh'", write),
        ("sh link.sh", switch),
        ("sh link.sh", write),
        ("sh here/x.sh", switch_folder),
        ("cd sub && sh x.sh", sub),
        ("cd sub\n./x.sh", sub),
    ];
    for (line, change) in rows {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        fs::create_dir(path.join("sub")).unwrap();
        for file in ["x.sh", "other.sh", "sub/x.sh"] {
            fs::write(path.join(file), "one").unwrap();
        }
        symlink("x.sh", path.join("link.sh")).unwrap();
        symlink(".", path.join("here")).unwrap();
        let before = Bound::of(&effects(path, line)).await;
        assert_eq!(Bound::of(&effects(path, line)).await, before, "{line}");
        change(path);
        assert_ne!(Bound::of(&effects(path, line)).await, before, "{line}");
    }
}

/// The folder of a line is the one it was, not another of its name.
#[tokio::test]
async fn a_folder_that_is_switched_is_another() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a", "b"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    let link = folder.path().join("link");
    symlink("a", &link).unwrap();
    let before = Bound::of(&effects(&link, "make")).await;
    assert_eq!(Bound::of(&effects(&link, "make")).await, before);
    fs::remove_file(&link).unwrap();
    symlink("b", &link).unwrap();
    assert_ne!(Bound::of(&effects(&link, "make")).await, before);
}

/// What a script reads in its turn is not looked at, nor what a pipe brings: the approval says nothing of it.
#[tokio::test]
async fn what_the_line_does_not_name_is_not_bound() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.sh"), ". ./b.sh").unwrap();
    for line in ["sh ./a.sh", "make", "cat b.sh | sh"] {
        fs::write(folder.path().join("b.sh"), "one").unwrap();
        let before = Bound::of(&effects(folder.path(), line)).await;
        fs::write(folder.path().join("b.sh"), "two").unwrap();
        assert_eq!(Bound::of(&effects(folder.path(), line)).await, before, "{line}");
    }
}
