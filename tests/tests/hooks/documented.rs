//! The hooks of docs/hooks.md do what it says.

use std::collections::BTreeMap;

use pretty_assertions::assert_eq;
use serde_json::Value;

use crate::support::{Came, Place, exec, patch, run};

const GUIDE: &str = include_str!("../../../docs/hooks.md");

/// The files of a section of the guide, by name.
fn files(section: &str) -> BTreeMap<String, String> {
    let (_, rest) = GUIDE.split_once(&format!("\n## {section}\n")).expect("the section");
    let rest = rest.split("\n## ").next().unwrap();
    let blocks = rest.split("\n```").skip(1).step_by(2);
    let named = blocks.filter_map(|block| block.split_once('\n')).filter_map(|(head, text)| {
        let (_, name) = head.split_once("file=")?;
        Some((name.to_owned(), format!("{text}\n")))
    });
    named.collect()
}

/// Runs calls with the hooks of a section.
async fn with(place: &Place, section: &str, calls: Vec<tenon_protocol::ResponseItem>) -> Came {
    let mut files = files(section);
    let hooks: Value = serde_json::from_str(&files.remove("hooks.json").expect("hooks.json")).unwrap();
    assert_eq!(files.len(), 1, "{section}");
    for (name, text) in files {
        std::fs::write(place.home().join(name), text).unwrap();
    }
    let came = run(place, &hooks["hooks"], vec![calls]).await;
    assert_eq!(came.events.warnings(), Vec::<String>::new());
    came
}

#[tokio::test]
async fn the_formatter_formats_what_a_patch_has_touched_and_says_so() {
    let place = Place::new();
    std::fs::write(place.work().join("b.txt"), "one  \n").unwrap();
    let text = "*** Begin Patch\n*** Add File: a.txt\n+x  \n+y\n*** Add File: c.txt\n+clean\n*** End Patch\n";
    let came =
        with(&place, "Format what the model has patched", vec![patch("a", text), exec("b", "cat a.txt")])
            .await;
    assert_eq!((place.read("a.txt"), place.read("b.txt")), ("x\ny\n".to_owned(), "one  \n".to_owned()));
    assert_eq!(came.told, ["Formatted after the patch: a.txt. Read them again before the next patch."]);
    // The patch is exclusive: what came after it saw what the hook had left.
    assert!(came.outputs["b"].ends_with("Output:\nx\ny\n"), "{}", came.outputs["b"]);
}

#[tokio::test]
async fn the_guard_blocks_commands_and_files_however_they_are_reached() {
    let place = Place::new();
    let secret = "*** Begin Patch\n*** Add File: secrets/key\n+x\n*** End Patch\n";
    let calls = vec![
        exec("push", "cd . && git push origin --force main"),
        exec("fine", "echo fine"),
        patch("patch", secret),
        exec("inside", &format!("apply_patch <<'EOF'\n{secret}EOF\n")),
        patch("other", "*** Begin Patch\n*** Add File: open/key\n+x\n*** End Patch\n"),
    ];
    let came = with(&place, "Keep commands and files out of reach", calls).await;
    let blocked = |reason: &str| format!("Command blocked by PreToolUse hook: {reason}. Command: ");
    assert!(
        came.outputs["push"].starts_with(&blocked("this command is not allowed here")),
        "{:?}",
        came.outputs
    );
    assert!(came.outputs["patch"].starts_with(&blocked("secrets must not be changed")), "{:?}", came.outputs);
    assert!(
        came.outputs["inside"].starts_with(&blocked("secrets must not be changed")),
        "{:?}",
        came.outputs
    );
    assert!(came.outputs["fine"].ends_with("fine\n"));
    assert!(!place.work().join("secrets").exists());
    assert_eq!(place.read("open/key"), "x\n");
}

#[tokio::test]
async fn the_filter_hides_secrets_from_the_model_from_clients_and_from_the_file() {
    let place = Place::new();
    let secret = "EXAMPLE-0123456789abcdef";
    std::fs::write(place.work().join("env"), format!("TOKEN={secret}\n")).unwrap();
    let calls = vec![
        exec("cat", "cat env; exit 3"),
        exec("clean", "echo clean"),
        // A patch that does not fit: its error shows lines of the file.
        patch("patch", "*** Begin Patch\n*** Update File: env\n@@\n-TOKEN=other\n+x\n*** End Patch\n"),
    ];
    let came = with(&place, "Keep secrets from the model and from every file", calls).await;
    assert!(
        came.outputs["cat"]
            .ends_with("Process exited with code 3\nOriginal token count: 4\nOutput:\nTOKEN=[hidden]\n"),
        "{:?}",
        came.outputs
    );
    assert!(came.outputs["clean"].ends_with("Output:\nclean\n"));
    assert!(came.outputs["patch"].contains("TOKEN=[hidden]"), "{:?}", came.outputs);
    assert!(!came.rollout.contains(secret));
    assert!(!came.events.text().contains(secret));
    for file in walk(&place.home()) {
        assert!(!std::fs::read_to_string(&file).unwrap_or_default().contains(secret), "{}", file.display());
    }
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}
