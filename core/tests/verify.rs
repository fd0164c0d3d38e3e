//! A session is played again: the same one is the same, and what was changed is named.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pretty_assertions::assert_eq;
use support::{call, said};
use tempfile::TempDir;
use tenon_core::verify::{Difference, DifferentPart};
use tenon_core::{SessionBuilder, SessionOptions, Verification, VerifyError, verify};
use tenon_tools::{FnTool, ScriptedModel};
use tokio_util::sync::CancellationToken;

type Arguments = BTreeMap<String, String>;

fn model() -> Arc<ScriptedModel> {
    let note = |id: &str| call(id, "note", "t");
    let turns = vec![vec![note("c1"), note("c2")], vec![said("one")], vec![note("c3")], vec![said("two")]];
    Arc::new(ScriptedModel::new(turns))
}

fn note(description: &str, answer: &'static str) -> FnTool<Arguments> {
    FnTool::new("note", description, move |_: Arguments, _| async move { Ok::<_, String>(answer.to_owned()) })
}

fn builder(instructions: &str, tool: FnTool<Arguments>) -> SessionBuilder {
    let options = SessionOptions { instructions: instructions.to_owned(), ..SessionOptions::new("m", "/") };
    SessionBuilder::new(options, model()).tool(tool)
}

/// A session of two turns, with two calls in the first.
async fn recorded(home: &Path) -> PathBuf {
    let mut session = builder("be kind", note("Notes.", "noted")).rollout_in(home).build().await.unwrap();
    for prompt in ["begin", "go on"] {
        session.run_turn(prompt, &CancellationToken::new()).await;
    }
    let path = session.rollout_path().unwrap().to_owned();
    session.shutdown().await;
    path
}

fn change(path: &Path, from: &str, to: &str) {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{from} in {text}");
    std::fs::write(path, text.replacen(from, to, 1)).unwrap();
}

async fn difference(path: &Path, builder: SessionBuilder) -> Difference {
    match verify(path, builder).await.unwrap() {
        Verification::Differs(difference) => difference,
        same @ Verification::Same { .. } => panic!("{same:?}"),
    }
}

#[tokio::test]
async fn the_same_session_is_the_same_and_its_handlers_do_not_run() {
    let home = TempDir::new().unwrap();
    let path = recorded(home.path()).await;
    let before = std::fs::read(&path).unwrap();
    // What the tool would say now is not asked.
    let verified = verify(&path, builder("be kind", note("Notes.", "something else"))).await.unwrap();
    assert_eq!(verified, Verification::Same { requests: 4 });
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[tokio::test]
async fn a_changed_output_is_named_by_item_and_byte() {
    let home = TempDir::new().unwrap();
    let path = recorded(home.path()).await;
    let line = |text: &str| text.contains("\"type\":\"response_item\"") && text.contains("noted");
    let text = std::fs::read_to_string(&path).unwrap();
    let changed: Vec<String> = text
        .lines()
        .scan(false, |done, text| {
            let now = if !*done && line(text) { text.replace("noted", "nosed") } else { text.to_owned() };
            *done |= now != text;
            Some(now)
        })
        .collect();
    std::fs::write(&path, changed.join("\n") + "\n").unwrap();
    let difference = difference(&path, builder("be kind", note("Notes.", "noted"))).await;
    assert_eq!(difference.request, 2);
    let DifferentPart::Item { index: Some(_), now: Some(now), at: Some(at) } = difference.part else {
        panic!("{difference:?}")
    };
    assert_eq!(now, "function_call_output c1");
    assert!(at.recorded.starts_with("ted") && at.now.starts_with("sed"), "{at:?}");
}

#[tokio::test]
async fn a_changed_prompt_is_named_by_item_and_byte() {
    let home = TempDir::new().unwrap();
    let path = recorded(home.path()).await;
    change(&path, "\"text\":\"begin\"", "\"text\":\"begun\"");
    let difference = difference(&path, builder("be kind", note("Notes.", "noted"))).await;
    assert_eq!(difference.request, 1);
    let DifferentPart::Item { now: Some(now), at: Some(at), .. } = &difference.part else {
        panic!("{difference:?}")
    };
    assert_eq!(now, "message");
    assert!(at.recorded.starts_with("in\"") && at.now.starts_with("un\""), "{at:?}");
}

#[tokio::test]
async fn a_changed_tool_and_changed_instructions_are_named() {
    let home = TempDir::new().unwrap();
    let path = recorded(home.path()).await;
    let tool = difference(&path, builder("be kind", note("Keeps notes.", "noted"))).await;
    let name = Some("note".to_owned());
    let part = DifferentPart::Tool { index: Some(0), recorded: name.clone(), now: name };
    assert_eq!((tool.request, tool.part), (1, part));
    let told = difference(&path, builder("be kinder", note("Notes.", "noted"))).await;
    let words = format!(
        "request 1 (line {}): the instructions differ from byte 7 on: it was \"\" and is \"er\"",
        told.line
    );
    assert_eq!(told.to_string(), words);
}

#[tokio::test]
async fn a_file_without_requests_is_not_called_the_same() {
    let home = TempDir::new().unwrap();
    let path = recorded(home.path()).await;
    let text = std::fs::read_to_string(&path).unwrap();
    let rest: Vec<&str> = text.lines().filter(|line| !line.contains("\"model_request\"")).collect();
    std::fs::write(&path, rest.join("\n") + "\n").unwrap();
    let error = verify(&path, builder("be kind", note("Notes.", "noted"))).await.unwrap_err();
    assert!(matches!(error, VerifyError::NothingToCompare(_)), "{error}");
}
