use std::path::{Path, PathBuf};
use std::sync::Mutex;

use pretty_assertions::assert_eq;
use serde_json::json;
use tenon_protocol::{CallFact, FileChangeEntry, FileChangeKind, ItemStatus, ResponseInputItem, TurnItem};
use tenon_tools::{
    Host, Progress, SharedTurnDiff, ShownAs, StepContext, ToolOutput, TruncationPolicy, TurnChanges,
};

use super::*;

/// Hears everything.
#[derive(Debug, Default)]
struct Ear {
    events: Mutex<Vec<Event>>,
    facts: Mutex<Vec<CallFact>>,
}

impl EventSink for Ear {
    fn emit(&self, event: Event) {
        self.events.lock().expect("unbroken").push(event);
    }
}

impl Progress for Ear {
    fn record(&self, fact: CallFact) {
        self.facts.lock().expect("unbroken").push(fact);
    }
}

struct Bench {
    _guard: tempfile::TempDir,
    root: PathBuf,
    ear: Arc<Ear>,
    tracker: SharedTurnDiff,
}

impl Bench {
    fn with(files: &[(&str, &str)]) -> Self {
        let guard = tempfile::tempdir().expect("a folder");
        let root = guard.path().canonicalize().expect("exists");
        for (path, text) in files {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().expect("inside")).expect("made");
            std::fs::write(path, text).expect("written");
        }
        Self { _guard: guard, root, ear: Arc::default(), tracker: SharedTurnDiff::default() }
    }

    fn call(&self, payload: ToolPayload) -> ToolInvocation {
        let mut call = ToolInvocation::detached(ToolName::plain(NAME), payload);
        call.step = Arc::new(StepContext { cwd: self.root.clone(), ..StepContext::default() });
        let (events, progress) = (self.ear.clone(), self.ear.clone());
        call.host = Host { events, progress, ..Host::detached() };
        call.tracker = self.tracker.clone();
        call
    }

    fn custom(&self, body: &str) -> ToolInvocation {
        self.call(ToolPayload::Custom { input: framed(body) })
    }

    /// What the model reads, with the folder's path as `<cwd>`.
    async fn answer(&self, call: &ToolInvocation) -> Result<String, String> {
        let shown = |text: &str| text.replace(&*self.root.to_string_lossy(), "<cwd>");
        let refused = |error: FunctionCallError| shown(error.text());
        let prepared = ApplyPatchTool::default().prepare(call).await.map_err(refused)?;
        let output = prepared.run(call).await.map_err(refused)?;
        Ok(shown(&text_of(output.as_ref(), call)))
    }

    fn text(&self, path: &str) -> String {
        std::fs::read_to_string(self.root.join(path)).expect(path)
    }

    fn items(&self) -> Vec<TurnItem> {
        let events = self.ear.events.lock().expect("unbroken");
        let item = |event: &Event| match event {
            Event::ItemCompleted(item) => item.clone(),
            other => panic!("only the end is told here: {other:?}"),
        };
        events.iter().map(item).collect()
    }

    fn facts(&self) -> Vec<(String, bool)> {
        let facts = self.ear.facts.lock().expect("unbroken");
        let fact = |fact: &CallFact| match fact {
            CallFact::File { path, done } => {
                (path.strip_prefix(&self.root).expect("inside").to_string_lossy().into_owned(), *done)
            }
            other => panic!("files only: {other:?}"),
        };
        facts.iter().map(fact).collect()
    }
}

fn framed(body: &str) -> String {
    format!("*** Begin Patch\n{body}\n*** End Patch\n")
}

fn text_of(output: &dyn ToolOutput, call: &ToolInvocation) -> String {
    match output.to_response_item(&call.call_id, &call.payload) {
        ResponseInputItem::CustomToolCallOutput { output, name: None, .. } => {
            output.body.to_text().expect("text")
        }
        other => panic!("a custom call's output: {other:?}"),
    }
}

fn change_item(root: &Path, changes: &[(&str, FileChangeKind)], status: ItemStatus) -> TurnItem {
    let entry =
        |(path, kind): &(&str, FileChangeKind)| FileChangeEntry { path: root.join(path), kind: *kind };
    TurnItem::FileChange { id: "call".to_owned(), changes: changes.iter().map(entry).collect(), status }
}

const DONE: &str = "Exit code: 0\nWall time: 0 seconds\nOutput:\n";
const FAILED: &str = "Exit code: 1\nWall time: 0 seconds\nOutput:\n";

/// Wall time is all that varies.
fn steady(text: &str) -> String {
    let line = |line: &str| {
        if line.starts_with("Wall time: ") { "Wall time: 0 seconds\n".to_owned() } else { line.to_owned() }
    };
    text.split_inclusive('\n').map(line).collect()
}

#[test]
fn what_the_model_is_offered() {
    let tool = ApplyPatchTool::default();
    let spec = serde_json::to_value(tool.spec()).expect("written");
    assert_eq!(spec["type"], "custom");
    assert_eq!(spec["name"], "apply_patch");
    assert_eq!(spec["format"]["type"], "grammar");
    assert_eq!(spec["format"]["syntax"], "lark");
    assert_eq!(spec["format"]["definition"], LARK_GRAMMAR);
    assert_eq!(ToolExecutor::name(&tool), &ToolName::plain("apply_patch"));
    assert!(tool.accepts(&ToolPayload::Custom { input: String::new() }));
    assert!(!tool.accepts(&ToolPayload::Function { arguments: "{}".to_owned() }));
    assert!(!tool.parallel());
    assert!(tool.waits_for_cancellation());
}

#[test]
fn what_hooks_see_and_rewrite() {
    let identity = ApplyPatchTool::default().hook_identity().expect("hooks see it");
    assert_eq!((identity.tool_name.as_ref(), identity.aliases), ("apply_patch", &["Write", "Edit"][..]));
    assert!(identity.pre && identity.post);
    let payload = ToolPayload::Custom { input: "old".to_owned() };
    assert_eq!(identity.input(&payload), Some(json!({"command": "old"})));
    let rewritten = identity.rewrite(&payload, &json!({"command": "new"})).expect("rewritten");
    assert_eq!(rewritten, ToolPayload::Custom { input: "new".to_owned() });
}

#[tokio::test]
async fn a_patch_that_lands() {
    let bench = Bench::with(&[("a.txt", "x\n"), ("gone.txt", "g\n"), ("m.txt", "m\n")]);
    let call = bench.custom(
        "*** Update File: a.txt\n-x\n+y\n*** Add File: n/b.txt\n+1\n*** Delete File: gone.txt\n*** Update File: m.txt\n*** Move to: m2.txt\n-m\n+M",
    );
    let prepared = ApplyPatchTool::default().prepare(&call).await.expect("verified");
    let changes = [
        ("a.txt", FileChangeKind::Update),
        ("gone.txt", FileChangeKind::Delete),
        ("m.txt", FileChangeKind::Update),
        ("n/b.txt", FileChangeKind::Add),
    ];
    let item = |status| change_item(&bench.root, &changes, status);
    assert_eq!(prepared.shown_as(), ShownAs::Item(item(ItemStatus::InProgress)));
    assert!(bench.ear.events.lock().expect("unbroken").is_empty(), "nothing has happened");

    let output = prepared.run(&call).await.expect("lands");
    let expected = "Success. Updated the following files:\nA n/b.txt\nM a.txt\nM m2.txt\nD gone.txt\n";
    let text = text_of(output.as_ref(), &call);
    assert_eq!(steady(&text), format!("{DONE}{expected}"));
    assert_eq!(output.code_mode_result(&call.payload), json!({}));
    assert_eq!(output.post_tool_use_response(&call.call_id, &call.payload), Some(json!(text)));
    assert_eq!(bench.items(), [item(ItemStatus::Completed)]);
    let fact = |path: &str, done| (path.to_owned(), done);
    assert_eq!(
        bench.facts(),
        [
            fact("a.txt", false),
            fact("a.txt", true),
            fact("n/b.txt", false),
            fact("n/b.txt", true),
            fact("gone.txt", false),
            fact("gone.txt", true),
            fact("m.txt", false),
            fact("m2.txt", false),
            fact("m.txt", true),
            fact("m2.txt", true),
        ]
    );
    let TurnChanges::Known(files) = bench.tracker.changes() else { panic!("known") };
    let text = |bytes: &Option<Vec<u8>>| bytes.clone().map(|bytes| String::from_utf8(bytes).expect("UTF-8"));
    let seen: Vec<_> = files
        .iter()
        .map(|file| {
            let name = file.path.file_name().expect("a name").to_string_lossy().into_owned();
            (name, text(&file.before), text(&file.after))
        })
        .collect();
    let version = |name: &str, before: Option<&str>, after: Option<&str>| {
        (name.to_owned(), before.map(str::to_owned), after.map(str::to_owned))
    };
    assert_eq!(
        seen,
        [
            version("a.txt", Some("x\n"), Some("y\n")),
            version("b.txt", None, Some("1\n")),
            version("gone.txt", Some("g\n"), None),
            version("m.txt", Some("m\n"), None),
            version("m2.txt", None, Some("M\n")),
        ]
    );
}

#[tokio::test]
async fn effects_name_files_and_hashes() {
    let bench = Bench::with(&[("a.txt", "abc")]);
    let call = bench.custom("*** Update File: a.txt\n-abc\n+x\n*** Add File: b.txt\n+1");
    let prepared = ApplyPatchTool::default().prepare(&call).await.expect("verified");
    let effects = serde_json::to_value(prepared.effects()).expect("written");
    let path = |name: &str| bench.root.join(name);
    // The hash of `abc` by the standard.
    let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let expected = json!({"writes": [{"path": path("a.txt"), "content": hash}, {"path": path("b.txt")}]});
    assert_eq!(effects, expected);
}

/// An approval is bound to the effects: what is changed meanwhile, wherever the patch writes, gives others.
#[tokio::test]
async fn what_changes_meanwhile_gives_other_effects_or_fits_no_more() {
    type Change = Box<dyn Fn(&Path)>;
    let write = |name: &'static str| -> Change {
        Box::new(move |root| std::fs::write(root.join(name), "0\nm\n").expect("written"))
    };
    let switch = |link: &'static str, to: &'static str| -> Change {
        Box::new(move |root| {
            std::fs::remove_file(root.join(link)).expect("removed");
            std::os::unix::fs::symlink(to, root.join(link)).expect("linked");
        })
    };
    let rows = [
        ("*** Add File: new.txt\n+1", write("new.txt")),
        ("*** Add File: a.txt\n+1", write("a.txt")),
        ("*** Delete File: a.txt", write("a.txt")),
        ("*** Update File: m.txt\n-m\n+M", write("m.txt")),
        ("*** Update File: m.txt\n*** Move to: new.txt", write("new.txt")),
        ("*** Update File: m.txt\n*** Move to: a.txt", write("a.txt")),
        ("*** Update File: m.txt\n*** Move to: a.txt\n-m\n+M", write("m.txt")),
        ("*** Update File: link\n-m\n+M", switch("link", "a.txt")),
        ("*** Add File: here/new.txt\n+1", switch("here", "sub")),
    ];
    for (patch, change) in rows {
        let bench = Bench::with(&[("a.txt", "m\n"), ("m.txt", "m\n"), ("sub/x", "")]);
        std::os::unix::fs::symlink("m.txt", bench.root.join("link")).expect("linked");
        std::os::unix::fs::symlink(".", bench.root.join("here")).expect("linked");
        let tool = ApplyPatchTool::default();
        let effects = async || {
            let prepared = tool.prepare(&bench.custom(patch)).await;
            prepared.map(|prepared| prepared.effects().clone()).map_err(|error| error.to_string())
        };
        let before = effects().await;
        assert!(before.is_ok(), "{patch}: {before:?}");
        assert_eq!(effects().await, before, "{patch}");
        change(&bench.root);
        assert_ne!(effects().await, before, "{patch}");
    }
}

#[tokio::test]
async fn refusals_before_anything_happens() {
    let bench = Bench::with(&[("a.txt", "x\n")]);
    let refusal = async |call: &ToolInvocation| bench.answer(call).await.expect_err("refused");
    let junk = bench.call(ToolPayload::Custom { input: "junk".to_owned() });
    assert_eq!(
        refusal(&junk).await,
        "apply_patch verification failed: invalid patch: The first line of the patch must be '*** Begin Patch'"
    );
    assert_eq!(
        refusal(&bench.custom("*** Update File: a.txt\n-nope")).await,
        "apply_patch verification failed: Failed to find expected lines in <cwd>/a.txt:\nnope"
    );
    let empty = bench.call(ToolPayload::Custom { input: "*** Begin Patch\n*** End Patch".to_owned() });
    assert_eq!(refusal(&empty).await, "patch rejected: empty patch");
    assert_eq!(
        refusal(&bench.custom("*** Environment ID: x\n*** Delete File: a.txt")).await,
        "apply_patch environment selection is unavailable for this turn"
    );
    let function = bench.call(ToolPayload::Function { arguments: "{}".to_owned() });
    assert_eq!(refusal(&function).await, "apply_patch handler received unsupported payload");
    assert_eq!(bench.text("a.txt"), "x\n");
    assert!(bench.items().is_empty());
    assert_eq!(bench.tracker.changes(), TurnChanges::Nothing);
}

#[tokio::test]
async fn a_file_changed_after_approval_is_a_conflict() {
    let bench = Bench::with(&[("a.txt", "x\n")]);
    let call = bench.custom("*** Update File: a.txt\n-x\n+y");
    let prepared = ApplyPatchTool::default().prepare(&call).await.expect("verified");
    std::fs::write(bench.root.join("a.txt"), "other\n").expect("written");
    let error = prepared.run(&call).await.map(|_| ()).expect_err("a conflict");
    let path = bench.root.join("a.txt");
    let expected = format!(
        "{FAILED}{} changed after the patch was verified; read it again before patching it\n",
        path.display()
    );
    assert_eq!(steady(error.text()), expected);
    assert_eq!(bench.text("a.txt"), "other\n");
    let changes = [("a.txt", FileChangeKind::Update)];
    assert_eq!(bench.items(), [change_item(&bench.root, &changes, ItemStatus::Failed)]);
    assert_eq!(bench.tracker.changes(), TurnChanges::Nothing);
}

#[tokio::test]
async fn a_write_that_cannot_be_is_a_failed_output() {
    let bench = Bench::with(&[("d/x", "1\n")]);
    let answer = bench.answer(&bench.custom("*** Add File: d\n+1")).await.expect_err("fails");
    assert_eq!(steady(&answer), format!("{FAILED}Failed to write file <cwd>/d\n"));
}

#[tokio::test]
async fn a_cancelled_call_says_so_and_leaves_nothing() {
    let bench = Bench::with(&[("a.txt", "x\n")]);
    let call = bench.custom("*** Update File: a.txt\n-x\n+y");
    let prepared = ApplyPatchTool::default().prepare(&call).await.expect("verified");
    call.cancellation.cancel();
    let output = prepared.run(&call).await.expect("an answer");
    assert!(!output.success_for_logging());
    assert_eq!(text_of(output.as_ref(), &call), "aborted by user after 0.1s");
    assert_eq!(bench.text("a.txt"), "x\n");
}

#[tokio::test]
async fn changes_that_are_not_exact_take_the_diff_away() {
    let bench = Bench::with(&[("a.txt", "x\n"), ("b.txt", "x\n")]);
    std::os::unix::fs::symlink("b.txt", bench.root.join("link")).expect("linked");
    bench.answer(&bench.custom("*** Update File: a.txt\n-x\n+y")).await.expect("lands");
    assert!(matches!(bench.tracker.changes(), TurnChanges::Known(_)));
    bench.answer(&bench.custom("*** Update File: link\n-x\n+y")).await.expect("lands");
    assert_eq!(bench.tracker.changes(), TurnChanges::Inexact);
}

#[tokio::test]
async fn long_outputs_are_cut_by_the_steps_policy() {
    let bench = Bench::with(&[]);
    let body: Vec<String> = (0..50).map(|index| format!("*** Add File: file{index}")).collect();
    let mut call = bench.custom(&body.join("\n"));
    let truncation = TruncationPolicy::Bytes(40);
    call.step = Arc::new(StepContext { cwd: bench.root.clone(), truncation, ..StepContext::default() });
    let answer = steady(&bench.answer(&call).await.expect("lands"));
    assert!(
        answer.starts_with("Exit code: 0\nWall time: 0 seconds\nTotal output lines: 51\nOutput:\n"),
        "{answer}"
    );
    assert!(answer.contains("chars truncated"), "{answer}");
}

#[tokio::test]
async fn patches_in_commands_are_taken_over() {
    let bench = Bench::with(&[("sub/a.txt", "x\n")]);
    let call = bench.call(ToolPayload::Function { arguments: "{}".to_owned() });
    let intercept = async |script: &str| {
        let argv = ["bash", "-lc", script].map(str::to_owned);
        ApplyPatchTool::default().intercept(&argv, &bench.root, &call).await
    };
    assert!(intercept("ls").await.is_none());

    let patch = framed("*** Update File: a.txt\n-x\n+y");
    let taken = intercept(&format!("cd sub && apply_patch <<'EOF'\n{patch}EOF")).await.expect("taken");
    let prepared = taken.map_err(|error| error.text().to_owned()).expect("verified");
    assert_eq!(prepared.effects().writes[0].path, bench.root.join("sub/a.txt"));
    assert_eq!(bench.text("sub/a.txt"), "x\n");
    let output = prepared.run(&call).await.expect("lands");
    assert_eq!(bench.text("sub/a.txt"), "y\n");
    let item = output.to_response_item(&call.call_id, &call.payload);
    assert!(matches!(item, ResponseInputItem::FunctionCallOutput { .. }), "{item:?}");

    let refused = async |script: &str| match intercept(script).await {
        Some(Err(error)) => error.text().replace(&*bench.root.to_string_lossy(), "<cwd>"),
        Some(Ok(_)) => panic!("refused"),
        None => panic!("taken"),
    };
    let missing = "apply_patch verification failed: Failed to read file to update <cwd>/a.txt: No such file or directory (os error 2)";
    assert_eq!(refused(&format!("apply_patch <<'EOF'\n{patch}EOF")).await, missing);
    assert_eq!(
        refused(&patch).await,
        "apply_patch verification failed: patch detected without explicit call to apply_patch. Rerun as [\"apply_patch\", \"<patch>\"]"
    );
}

#[test]
fn a_patch_shows_while_it_is_written() {
    let tool = ApplyPatchTool::default();
    let ear = Ear::default();
    let mut observer = tool.input_observer(Some(CallId::from("c1"))).expect("observes");
    observer.delta("*** Begin Patch\n*** Add File: a\n+o", &ear);
    observer.delta("ne\n", &ear);
    observer.done(&CallId::from("c1"), &ear);
    observer.done(&CallId::from("c1"), &ear);
    let seen: Vec<_> = ear
        .events
        .lock()
        .expect("unbroken")
        .iter()
        .map(|event| match event {
            Event::PatchProgress { call_id, changes } => (call_id.to_string(), changes.clone()),
            other => panic!("{other:?}"),
        })
        .collect();
    let shown = |text: &str| ("c1".to_owned(), vec![("a".to_owned(), text.to_owned())]);
    assert_eq!(seen, [shown(""), shown("one\n")]);
}
