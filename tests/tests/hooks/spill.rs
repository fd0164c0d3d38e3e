//! Long words of a hook, and where they go.

use pretty_assertions::assert_eq;

use crate::support::{Place, exec, hook, run};

#[tokio::test]
async fn a_long_context_lies_in_a_file_that_the_model_is_told_of() {
    let place = Place::new();
    let command = "printf '{\"hookSpecificOutput\": {\"hookEventName\": \"PreToolUse\", \"additionalContext\": \"'; \
                   head -c 20000 /dev/zero | tr '\\0' x; printf '\"}}'";
    let came = run(&place, &hook("PreToolUse", command), vec![vec![exec("a", "echo ran")]]).await;
    let (preview, path) = came.told[0].split_once("\n\nFull hook output saved to: ").unwrap();
    assert!(preview.len() < 10_100, "{}", preview.len());
    assert_eq!(std::fs::read_to_string(path).unwrap(), "x".repeat(20_000));
    let folder = place.home().join("hook_outputs");
    assert!(std::path::Path::new(path).starts_with(&folder));
    // The file and the model's own view are all there is of it.
    assert!(!came.rollout.contains(&"x".repeat(11_000)));
}
