//! Patches through a whole session: order, conflicts, events, hooks, the turn's diff, patches inside commands.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use pretty_assertions::assert_eq;
use serde_json::json;
use tenon_apply_patch::ApplyPatchTool;
use tenon_core::hooks::{Hook, PostToolUse, PostToolUseAction, PreToolUse, PreToolUseAction};
use tenon_core::{Policy, PolicyDecision, Session, SessionBuilder, SessionOptions, TurnEnd};
use tenon_exec::{ExecConfig, ExecService};
use tenon_protocol::{
    CallId, CustomToolCall, FileChangeEntry, FileChangeKind, FunctionCall, ItemKind, ItemStatus,
    ResponseEvent, ResponseItem, TurnItem,
};
use tenon_tools::{Effects, Event, EventSink, ScriptedModel, ScriptedTurn, ToolInvocation};
use tokio_util::sync::CancellationToken;

/// Keeps every event.
#[derive(Default)]
struct Ear(Mutex<Vec<Event>>);

impl EventSink for Ear {
    fn emit(&self, event: Event) {
        self.0.lock().unwrap().push(event);
    }
}

/// A folder, and a session in it that is about to be built.
struct Bench {
    _folder: tempfile::TempDir,
    root: PathBuf,
    ear: Arc<Ear>,
}

impl Bench {
    fn with(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for (path, text) in files {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Self { _folder: folder, root, ear: Arc::default() }
    }

    /// The model says `turn` and, when it has heard of it, that it is done.
    fn session(&self, turn: ScriptedTurn) -> SessionBuilder {
        let model = Arc::new(ScriptedModel::new([turn]));
        SessionBuilder::new(SessionOptions::new("a-model", &self.root), model)
            .tool(ApplyPatchTool::default())
            .events(self.ear.clone())
    }

    /// Runs the turn; what the model was told of its calls, the folder's path as `<cwd>`.
    async fn run(&self, builder: SessionBuilder) -> Vec<String> {
        let mut session = builder.build().await.unwrap();
        let end = session.run_turn("Go.", &CancellationToken::new()).await;
        assert!(matches!(end, TurnEnd::Completed { .. }), "{end:?}");
        outputs(&session).iter().map(|output| self.shown(output)).collect()
    }

    fn shown(&self, text: &str) -> String {
        text.replace(&*self.root.to_string_lossy(), "<cwd>")
    }

    fn text(&self, path: &str) -> String {
        std::fs::read_to_string(self.root.join(path)).expect(path)
    }

    fn events(&self) -> Vec<Event> {
        self.ear.0.lock().unwrap().clone()
    }

    /// The changes of the items that started or completed, in order.
    fn changes(&self) -> Vec<(String, ItemStatus, Vec<FileChangeEntry>)> {
        let change = |event: &Event| match event {
            Event::ItemStarted(TurnItem::FileChange { id, changes, status })
            | Event::ItemCompleted(TurnItem::FileChange { id, changes, status }) => {
                Some((id.clone(), *status, changes.clone()))
            }
            _ => None,
        };
        self.events().iter().filter_map(change).collect()
    }

    fn entry(&self, path: &str, kind: FileChangeKind) -> FileChangeEntry {
        FileChangeEntry { path: self.root.join(path), kind }
    }

    fn diffs(&self) -> Vec<String> {
        let diff = |event: &Event| match event {
            Event::TurnDiff { unified_diff } => Some(self.shown(unified_diff)),
            _ => None,
        };
        self.events().iter().filter_map(diff).collect()
    }
}

/// What the model was told, without what varies: the text behind `Output:`, with the exit code before it.
fn outputs(session: &Session) -> Vec<String> {
    let text = |item: &Arc<ResponseItem>| match item.kind() {
        ItemKind::FunctionCallOutput(output) => Some(output.output.to_string()),
        ItemKind::CustomToolCallOutput(output) => Some(output.output.to_string()),
        _ => None,
    };
    let code = |text: &str| Some(text.strip_prefix("Exit code: ")?.split_once('\n')?.0.to_owned());
    let steady = |text: String| match (code(&text), text.split_once("\nOutput:\n")) {
        (Some(code), Some((_, output))) => format!("{code} {output}"),
        _ => text,
    };
    session.history().items().iter().filter_map(text).map(steady).collect()
}

fn framed(body: &str) -> String {
    format!("*** Begin Patch\n{body}\n*** End Patch")
}

fn patch(call_id: &str, input: &str) -> ResponseItem {
    ResponseItem::new(ItemKind::CustomToolCall(CustomToolCall {
        id: Some(format!("item_{call_id}")),
        call_id: Some(call_id.to_owned()),
        name: "apply_patch".to_owned(),
        input: input.to_owned(),
        ..CustomToolCall::default()
    }))
}

const DONE: &str = "0 Success. Updated the following files:\n";

#[tokio::test]
async fn two_patches_on_one_file_both_land_in_their_order() {
    let bench = Bench::with(&[("a", "1\n2\n")]);
    let turn = ScriptedTurn::items([
        patch("first", &framed("*** Update File: a\n-1\n+one")),
        // It fits only what the first one leaves.
        patch("second", &framed("*** Update File: a\n one\n-2\n+two")),
    ]);
    let told = bench.run(bench.session(turn)).await;
    assert_eq!(told, [format!("{DONE}M a\n"), format!("{DONE}M a\n")]);
    assert_eq!(bench.text("a"), "one\ntwo\n");
    let entries = vec![bench.entry("a", FileChangeKind::Update)];
    let told = |id: &str, status| (id.to_owned(), status, entries.clone());
    assert_eq!(
        bench.changes(),
        [
            told("first", ItemStatus::InProgress),
            told("first", ItemStatus::Completed),
            told("second", ItemStatus::InProgress),
            told("second", ItemStatus::Completed),
        ]
    );
}

#[tokio::test]
async fn a_late_patch_that_does_not_fit_any_more_fails_plainly() {
    let bench = Bench::with(&[("a", "1\n2\n")]);
    let turn = ScriptedTurn::items([
        patch("first", &framed("*** Update File: a\n-1\n+one")),
        patch("second", &framed("*** Update File: a\n-1\n+ONE\n*** Add File: b\n+1")),
    ]);
    let told = bench.run(bench.session(turn)).await;
    assert_eq!(told[0], format!("{DONE}M a\n"));
    assert_eq!(told[1], "apply_patch verification failed: Failed to find expected lines in <cwd>/a:\n1");
    assert_eq!((bench.text("a"), bench.root.join("b").exists()), ("one\n2\n".to_owned(), false));
    assert_eq!(bench.changes().len(), 2, "the second has not begun to change anything");
}

/// Changes a file between the look at it and the leave to change it, as a person might who is asked for it.
struct Meddler(PathBuf);

#[async_trait]
impl Policy for Meddler {
    async fn decide(&self, _: &ToolInvocation, effects: &Effects) -> PolicyDecision {
        assert!(effects.writes.iter().any(|file| file.path == self.0 && file.content.is_some()));
        std::fs::write(&self.0, "theirs\n").unwrap();
        PolicyDecision::Allow
    }
}

#[tokio::test]
async fn a_file_that_changed_meanwhile_is_a_conflict_and_keeps_its_change() {
    let bench = Bench::with(&[("a", "1\n"), ("b", "1\n")]);
    let turn =
        ScriptedTurn::items([patch("c", &framed("*** Update File: b\n-1\n+2\n*** Update File: a\n-1\n+2"))]);
    let policy = Arc::new(Meddler(bench.root.join("a")));
    let told = bench.run(bench.session(turn).policy(policy)).await;
    let conflict = "1 <cwd>/a changed after the patch was verified; read it again before patching it\n";
    assert_eq!(told, [conflict]);
    assert_eq!((bench.text("a"), bench.text("b")), ("theirs\n".to_owned(), "1\n".to_owned()));
    let statuses: Vec<_> = bench.changes().into_iter().map(|(_, status, _)| status).collect();
    assert_eq!(statuses, [ItemStatus::InProgress, ItemStatus::Failed]);
    assert_eq!(bench.diffs(), [""; 0]);
}

#[tokio::test]
async fn the_turns_diff_tells_all_patches_of_the_turn() {
    let bench = Bench::with(&[("a", "1\n2\n3\n"), ("gone", "g\n")]);
    let turn = ScriptedTurn::items([
        patch("first", &framed("*** Update File: a\n-1\n+one\n*** Add File: b\n+b")),
        patch("second", &framed("*** Update File: a\n-one\n+ONE\n*** Delete File: gone\n*** Delete File: b")),
    ]);
    bench.run(bench.session(turn)).await;
    let diff = "diff --git a<cwd>/a b<cwd>/a\n--- a<cwd>/a\n+++ b<cwd>/a\n@@ -1,3 +1,3 @@\n-1\n+ONE\n 2\n 3\n\
                diff --git a<cwd>/gone b<cwd>/gone\n--- a<cwd>/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-g\n";
    assert_eq!(bench.diffs().last().map(String::as_str), Some(diff));
    let last = bench.changes().pop().unwrap();
    let expected = [
        bench.entry("a", FileChangeKind::Update),
        bench.entry("b", FileChangeKind::Delete),
        bench.entry("gone", FileChangeKind::Delete),
    ];
    assert_eq!(last, ("second".to_owned(), ItemStatus::Completed, expected.to_vec()));
}

#[tokio::test]
async fn a_patch_shows_while_it_streams_in() {
    let bench = Bench::with(&[]);
    let input = framed("*** Add File: a\n+one\n+two");
    let (first, rest) = input.split_at(input.find("+two").unwrap());
    let delta = |text: &str| ResponseEvent::CustomToolCallInputDelta {
        item_id: Some("item_c".to_owned()),
        call_id: None,
        delta: text.to_owned(),
    };
    let turn = ScriptedTurn::events([
        ResponseEvent::Created { response_id: None },
        ResponseEvent::OutputItemAdded { item: Box::new(patch("c", "")) },
        delta(first),
        delta(rest),
        ResponseEvent::OutputItemDone { item: Box::new(patch("c", &input)) },
        ResponseEvent::Completed { response_id: None, usage: None, end_turn: None },
    ]);
    bench.run(bench.session(turn)).await;
    let progress = |event: &Event| match event {
        Event::PatchProgress { call_id, changes } => Some((call_id.clone(), changes.clone())),
        _ => None,
    };
    let events = bench.events();
    let told: Vec<_> = events.iter().filter_map(progress).collect();
    let shown = |text: &str| (CallId::from("c"), vec![("a".to_owned(), text.to_owned())]);
    assert_eq!(told, [shown("one\n"), shown("one\ntwo\n")]);
    let last = events.iter().rposition(|event| progress(event).is_some());
    let started =
        events.iter().position(|event| matches!(event, Event::ItemStarted(TurnItem::FileChange { .. })));
    assert!(last < started, "{events:?}");
    assert_eq!(bench.text("a"), "one\ntwo\n");
}

/// Lets patches be written to another file, and keeps what it was shown.
#[derive(Default)]
struct Rewriter(Mutex<Vec<serde_json::Value>>);

#[async_trait]
impl Hook for Rewriter {
    fn matches(&self, tool_name: &str, aliases: &[&str]) -> bool {
        assert_eq!((tool_name, aliases), ("apply_patch", &["Write", "Edit"][..]));
        aliases.contains(&"Edit")
    }

    async fn pre_tool_use(&self, event: &PreToolUse) -> PreToolUseAction {
        self.0.lock().unwrap().push(event.tool_input.clone());
        let command = event.tool_input["command"].as_str().unwrap().replace("File: a", "File: b");
        PreToolUseAction::rewrite(json!({"command": command}))
    }

    async fn post_tool_use(&self, event: &PostToolUse) -> PostToolUseAction {
        self.0.lock().unwrap().push(event.tool_input.clone());
        PostToolUseAction::default()
    }
}

#[tokio::test]
async fn a_hook_rewrites_a_patch() {
    let bench = Bench::with(&[("a", "1\n"), ("b", "1\n")]);
    let input = framed("*** Update File: a\n-1\n+2");
    let hook = Arc::new(Rewriter::default());
    let builder = bench.session(ScriptedTurn::items([patch("c", &input)])).hook(hook.clone());
    assert_eq!(bench.run(builder).await, [format!("{DONE}M b\n")]);
    assert_eq!((bench.text("a"), bench.text("b")), ("1\n".to_owned(), "2\n".to_owned()));
    let rewritten = input.replace("File: a", "File: b");
    assert_eq!(*hook.0.lock().unwrap(), [json!({"command": input}), json!({"command": rewritten})]);
    assert_eq!(bench.changes()[0].2, [bench.entry("b", FileChangeKind::Update)]);
}

#[tokio::test]
async fn a_folder_whose_name_is_no_text() {
    use std::os::unix::ffi::OsStrExt;
    let mut bench = Bench::with(&[]);
    bench.root.push(std::ffi::OsStr::from_bytes(b"odd \xff"));
    std::fs::create_dir(&bench.root).unwrap();
    std::fs::write(bench.root.join("a"), "1\n").unwrap();
    let turn = ScriptedTurn::items([patch("c", &framed("*** Update File: a\n-1\n+2"))]);
    assert_eq!(bench.run(bench.session(turn)).await, [format!("{DONE}M a\n")]);
    assert_eq!(bench.text("a"), "2\n");
    assert_eq!(bench.changes().len(), 2);
    assert!(bench.diffs().last().is_some_and(|diff| diff.ends_with("-1\n+2\n")), "{:?}", bench.diffs());
}

/// A session with commands, whose model runs `command`; what the model was told.
async fn run_command(bench: &Bench, command: &str) -> Vec<String> {
    let variables = std::env::vars_os().filter(|(name, _)| name == "PATH" || name == "HOME").collect();
    let exec = ExecService::new(ExecConfig::new(variables));
    let call = ResponseItem::new(ItemKind::FunctionCall(FunctionCall {
        call_id: Some("c".to_owned()),
        name: "exec_command".to_owned(),
        arguments: json!({"cmd": command}).to_string(),
        ..FunctionCall::default()
    }));
    let tool = ApplyPatchTool::default();
    let builder = bench
        .session(ScriptedTurn::items([call]))
        .tools(exec.tools())
        .interceptor(Arc::new(tool))
        .commands(exec.command_runner());
    let told = bench.run(builder).await;
    exec.shutdown().await;
    told
}

#[tokio::test]
async fn a_heredoc_behind_cd_is_taken_out_of_a_command() {
    let bench = Bench::with(&[("sub/a", "1\n")]);
    let body = framed("*** Update File: a\n-1\n+2");
    let told = run_command(&bench, &format!("cd sub && apply_patch <<'EOF'\n{body}\nEOF\n")).await;
    let [told] = &told[..] else { panic!("{told:?}") };
    assert!(told.starts_with("Wall time: 0.0000 seconds\nOutput:\n"), "{told}");
    assert!(told.ends_with("Success. Updated the following files:\nM a\n"), "{told}");
    assert_eq!(bench.text("sub/a"), "2\n");
    let entries = vec![bench.entry("sub/a", FileChangeKind::Update)];
    let last = bench.changes().pop();
    assert_eq!(last, Some(("c".to_owned(), ItemStatus::Completed, entries)));
    assert!(bench.diffs().last().is_some_and(|diff| diff.contains("-1\n+2\n")), "{:?}", bench.diffs());
}

#[tokio::test]
async fn a_patch_in_a_command_that_does_not_fit_is_told_and_not_run() {
    let bench = Bench::with(&[("sub/a", "1\n")]);
    let body = framed("*** Update File: a\n-nope\n+2");
    let told = run_command(&bench, &format!("cd sub && apply_patch <<'EOF'\n{body}\nEOF")).await;
    let expected = "apply_patch verification failed: Failed to find expected lines in <cwd>/sub/a:\nnope";
    assert_eq!(told, [expected]);
    assert_eq!(bench.text("sub/a"), "1\n");
}

#[tokio::test]
async fn a_command_that_is_more_than_a_patch_is_a_command() {
    let bench = Bench::with(&[]);
    let body = framed("*** Add File: a\n+1");
    let script = format!("apply_patch() {{ cat > seen; }}\napply_patch <<'EOF'\n{body}\nEOF\n");
    let told = run_command(&bench, &script).await;
    assert!(told[0].contains("Process exited with code 0"), "{told:?}");
    assert_eq!((bench.text("seen"), exists(&bench.root, "a")), (body + "\n", false));
}

fn exists(root: &Path, name: &str) -> bool {
    root.join(name).exists()
}
