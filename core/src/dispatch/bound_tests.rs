use std::fs;

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
