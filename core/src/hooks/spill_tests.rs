use std::os::unix::fs::PermissionsExt;

use pretty_assertions::assert_eq;

use super::*;

/// Four bytes are one token.
const EDGE: usize = HOOK_TEXT_MAX_TOKENS * 4;

#[tokio::test]
async fn a_text_within_the_bound_stays_and_writes_nothing() {
    let home = tempfile::tempdir().expect("a folder");
    let text = "x".repeat(EDGE);
    assert_eq!(Spill::new(Some(home.path()), "t").bounded(text.clone()).await, text);
    assert!(!home.path().join(FOLDER).exists());
}

#[tokio::test]
async fn a_longer_one_is_whole_in_a_file_and_its_ends_in_the_preview() {
    let home = tempfile::tempdir().expect("a folder");
    let text = format!("start{}end", "x".repeat(EDGE - 7));
    let shown = Spill::new(Some(home.path()), "thread").bounded(text.clone()).await;
    let folder = home.path().join("hook_outputs/thread");
    let file = std::fs::read_dir(&folder).expect("there").next().expect("one file").expect("readable").path();
    assert_eq!(std::fs::read_to_string(&file).expect("text"), text);
    let (preview, path) = shown.split_once("\n\nFull hook output saved to: ").expect("the footer");
    assert_eq!(path, file.to_str().expect("text"));
    assert!(preview.starts_with("start") && preview.ends_with("end"), "{preview}");
    assert!(preview.contains("tokens truncated…"), "{preview}");
    assert!(approx_token_count(preview) < HOOK_TEXT_MAX_TOKENS + 10);
    assert_eq!(file.extension().and_then(|end| end.to_str()), Some("txt"));
    assert!(uuid::Uuid::parse_str(file.file_stem().and_then(|stem| stem.to_str()).expect("text")).is_ok());
    let mode = |path: &Path| std::fs::metadata(path).expect("there").permissions().mode() & 0o777;
    assert_eq!((mode(&file), mode(&folder)), (0o600, 0o700));
}

#[tokio::test]
async fn without_a_place_for_it_a_text_is_cut_all_the_same() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let text = "x".repeat(EDGE + 1);
    for spill in [Spill::default(), Spill::new(Some(file.path()), "t")] {
        let shown = spill.bounded(text.clone()).await;
        assert!(shown.contains("tokens truncated…") && !shown.contains("saved to"), "{shown}");
    }
}
