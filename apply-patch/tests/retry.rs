//! A patch that failed half-way, sent again by the model: the files end as if it had been sent once.
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use pretty_assertions::assert_eq;
use support::*;
use tenon_apply_patch::ApplyPatchTool;
use tenon_protocol::{ResponseInputItem, ToolName};
use tenon_tools::{CommandInterceptor, StepContext, ToolExecutor, ToolInvocation, ToolPayload};

/// Every hunk fits again after it has landed, were it not for the memory: it only adds. One builds on
/// another; one is written in place; one moves.
const BODY: &str = "*** Add File: new/dir/added.txt\n+added\n*** Update File: plain.txt\n+more\n*** Update File: linked.txt\n x\n+a much longer line than before\n*** Update File: moved.txt\n*** Move to: to/moved.txt\n+more\n*** Update File: to/moved.txt\n+and more\n*** Delete File: gone.txt\n*** Update File: last.txt\n+more";
const LISTED: &str = "A new/dir/added.txt\nM plain.txt\nM linked.txt\nM to/moved.txt\nM to/moved.txt\nM last.txt\nD gone.txt\n";

fn folder() -> Folder {
    let folder = Folder::with(&[
        ("plain.txt", b"one\ntwo\n"),
        ("linked.txt", b"x\nrest\n"),
        ("moved.txt", b"m\n"),
        ("gone.txt", b"g\n"),
        ("last.txt", b"l\n"),
    ]);
    folder.hard_link("linked.txt", "other name.txt");
    folder
}

fn without_leftovers(tree: Tree) -> Tree {
    let keep = |name: &str, thing: &Thing| !name.contains(".tenon-patch-") && *thing != Thing::Directory;
    tree.into_iter().filter(|(name, thing)| keep(name, thing)).collect()
}

fn call(cwd: &Path, input: &str) -> ToolInvocation {
    let payload = ToolPayload::Custom { input: input.to_owned() };
    let mut call = ToolInvocation::detached(ToolName::plain("apply_patch"), payload);
    call.step = Arc::new(StepContext { cwd: cwd.to_owned(), ..StepContext::default() });
    call
}

fn framed(body: &str) -> String {
    format!("*** Begin Patch\n{body}\n*** End Patch\n")
}

/// What the model reads of a call of the tool: the output behind its header, and whether it is a success.
async fn send(tool: &ApplyPatchTool, folder: &Folder, body: &str) -> Result<String, String> {
    let call = call(&folder.root, &framed(body));
    let shown = |text: &str| {
        let text = shown(folder, text);
        text.split_once("Output:\n").map_or(text.clone(), |(_, output)| output.to_owned())
    };
    let prepared = tool.prepare(&call).await.map_err(|error| shown(error.text()))?;
    let output = prepared.run(&call).await.map_err(|error| shown(error.text()))?;
    match output.to_response_item(&call.call_id, &call.payload) {
        ResponseInputItem::CustomToolCallOutput { output, .. } => {
            Ok(shown(&output.body.to_text().expect("text")))
        }
        other => panic!("a custom call's output: {other:?}"),
    }
}

fn success(listed: &str) -> String {
    format!("Success. Updated the following files:\n{listed}")
}

const STOOD: &str = "These changes stood already from an earlier attempt, and were not made again:\n";

/// What the first attempts left, as numbers of attempts.
#[derive(Debug, Default)]
struct Tried {
    stood: usize,
    damaged: usize,
}

/// Faults at every operation in turn.
async fn try_all(disk: fn(usize) -> OddFs) -> Tried {
    let (operations, wanted) = wanted().await;
    let mut all = Tried::default();
    for at in 0..operations {
        let tried = try_twice(disk(at), at, &wanted).await;
        all.stood += tried.stood;
        all.damaged += tried.damaged;
    }
    all
}

/// The first attempt on a disk that fails, the second on one that does not.
async fn try_twice(fs: OddFs, at: usize, wanted: &Tree) -> Tried {
    let (folder, fs) = (folder(), Arc::new(fs));
    let tool = ApplyPatchTool::on(fs.clone());
    let first = send(&tool, &folder, BODY).await;
    let Err(told) = first else {
        // A file whose attributes cannot be copied is written in place instead.
        assert_eq!(&without_leftovers(folder.tree()), wanted, "operation {at}");
        return Tried::default();
    };
    fs.mended.store(true, Ordering::Relaxed);
    let second = send(&tool, &folder, BODY).await.unwrap_or_else(|error| panic!("{at}: {told}{error}"));
    assert_eq!(&without_leftovers(folder.tree()), wanted, "operation {at}: {told}{second}");
    let (done, stood) = second.split_once(STOOD).unwrap_or((&second, ""));
    assert_eq!(done, success(LISTED), "operation {at}: {told}");
    // What the second says stood already is what the first said stands; a move that was half done is
    // done whole.
    let stands = told.split_once("These changes stand:\n").map_or("", |(_, stands)| stands);
    let stands: String = stands
        .split_inclusive('\n')
        .filter(|line| !line.contains(" is damaged: ") && *line != "A to/moved.txt\n")
        .collect();
    assert_eq!(stood, stands, "operation {at}: {told}{second}");
    Tried { stood: usize::from(!stood.is_empty()), damaged: usize::from(told.contains(" is damaged: ")) }
}

async fn wanted() -> (usize, Tree) {
    let (folder, fs) = (folder(), Arc::new(OddFs::sound()));
    let told = send(&ApplyPatchTool::on(fs.clone()), &folder, BODY).await.expect("lands");
    assert_eq!(told, success(LISTED));
    (fs.operations(), without_leftovers(folder.tree()))
}

#[tokio::test]
async fn after_a_single_fault_anywhere() {
    let tried = try_all(OddFs::failing_at).await;
    assert!(tried.stood >= 6, "every hunk but the last can be the last that landed: {tried:?}");
    assert_eq!(tried.damaged, 0);
}

#[tokio::test]
async fn after_a_disk_that_was_gone_from_some_operation_on() {
    let tried = try_all(OddFs::failing_from).await;
    assert!(tried.stood >= 6 && tried.damaged >= 1, "{tried:?}");
}

/// Attempt after attempt, each failing somewhere, until one does not.
async fn try_until_done(seed: usize, for_good: bool, wanted: &Tree) -> usize {
    const FAULT: usize = 1000;
    let (folder, fs) = (folder(), Arc::new(OddFs { for_good, ..OddFs::failing_at(FAULT) }));
    let tool = ApplyPatchTool::on(fs.clone());
    let mut random = seed;
    for attempt in 1.. {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let sound_operations = (random >> 33) % 40;
        fs.done.store(FAULT - sound_operations, Ordering::Relaxed);
        if send(&tool, &folder, BODY).await.is_ok() {
            assert_eq!(&without_leftovers(folder.tree()), wanted, "seed {seed}, attempt {attempt}");
            return attempt;
        }
    }
    unreachable!("it does not fail for ever");
}

#[tokio::test]
async fn after_many_faults() {
    let (_, wanted) = wanted().await;
    let mut most = 0;
    for seed in 0..40 {
        for for_good in [false, true] {
            most = most.max(try_until_done(seed, for_good, &wanted).await);
        }
    }
    assert!(most > 3, "{most}");
}

/// Two files are appended to, the third cannot be written.
async fn half_done() -> (Folder, ApplyPatchTool, Arc<OddFs>) {
    let sound = OddFs::sound();
    let files: &[(&str, &[u8])] = &[("a", b"a\n"), ("b", b"b\n"), ("c", b"c\n")];
    assert!(matches!(attempt(&Folder::with(files), APPEND, &sound), Outcome::Done(_)));
    let (folder, fs) = (Folder::with(files), Arc::new(OddFs::failing_at(sound.operations() - 1)));
    let tool = ApplyPatchTool::on(fs.clone());
    let told = send(&tool, &folder, APPEND).await.expect_err("fails");
    assert_eq!(
        told,
        "Failed to write file <cwd>/c\nThe patch was applied in part. These changes stand:\nM a\nM b\n"
    );
    fs.mended.store(true, Ordering::Relaxed);
    (folder, tool, fs)
}

const APPEND: &str = "*** Update File: a\n+more\n*** Update File: b\n+more\n*** Update File: c\n c\n+more";

#[tokio::test]
async fn files_that_have_other_bytes_since_are_patched_like_any_others() {
    let (folder, tool, _) = half_done().await;
    folder.write("a", b"other\n");
    let told = send(&tool, &folder, APPEND).await.expect("lands");
    assert_eq!(told, success("M b\nM a\nM c\n") + STOOD + "M b\n");
    let texts = ["a", "b", "c"].map(|file| folder.text(file));
    assert_eq!(texts, ["other\nmore\n", "b\nmore\n", "c\nmore\n"]);
}

#[tokio::test]
async fn what_does_not_fit_any_more_is_told_and_nothing_is_lost() {
    let (folder, tool, _) = half_done().await;
    folder.write("c", b"other\n");
    let told = send(&tool, &folder, APPEND).await.expect_err("does not fit");
    assert_eq!(told, "apply_patch verification failed: Failed to find expected lines in <cwd>/c:\nc");
    folder.write("c", b"c\n");
    let told = send(&tool, &folder, APPEND).await.expect("lands");
    assert_eq!(told, success("M a\nM b\nM c\n") + STOOD + "M a\nM b\n");
}

#[tokio::test]
async fn a_patch_that_landed_is_forgotten() {
    let (folder, tool, _) = half_done().await;
    send(&tool, &folder, APPEND).await.expect("lands");
    // Now it is another wish.
    assert_eq!(send(&tool, &folder, APPEND).await.expect("lands"), success("M a\nM b\nM c\n"));
    assert_eq!(folder.text("a"), "a\nmore\nmore\n");
}

#[tokio::test]
async fn another_patch_is_no_retry() {
    let (folder, tool, _) = half_done().await;
    let other = APPEND.replace("c\n+more", "c\n+other");
    assert_eq!(send(&tool, &folder, &other).await.expect("lands"), success("M a\nM b\nM c\n"));
    assert_eq!(folder.text("a"), "a\nmore\nmore\n");
}

#[tokio::test]
async fn a_tool_and_its_clone_know_the_same() {
    let (folder, tool, _) = half_done().await;
    let script = format!("apply_patch <<'EOF'\n{}EOF\n", framed(APPEND));
    let argv = ["bash", "-c", &script].map(str::to_owned);
    let call = call(&folder.root, "");
    let taken = tool.clone().intercept(&argv, &folder.root, &call).await.expect("a patch");
    let prepared = taken.map_err(|error| error.text().to_owned()).expect("fits");
    let files: Vec<_> = prepared.effects().writes.iter().map(|file| file.path.clone()).collect();
    assert_eq!(files, [folder.at("c")], "what stood is not written");
    prepared.run(&call).await.map_err(|error| error.text().to_owned()).expect("lands");
    assert_eq!(folder.text("a"), "a\nmore\n");
    // The tool has heard of it.
    assert_eq!(send(&tool, &folder, APPEND).await.expect("lands"), success("M a\nM b\nM c\n"));
}

#[tokio::test]
async fn a_path_that_leads_elsewhere_since_is_not_done() {
    let (folder, tool, _) = half_done().await;
    folder.write("elsewhere", b"a\nmore\n");
    std::fs::remove_file(folder.at("a")).expect("there");
    folder.link("elsewhere", "a");
    let told = send(&tool, &folder, APPEND).await.expect("lands");
    assert_eq!(told, success("M b\nM a\nM c\n") + STOOD + "M b\n");
    assert_eq!(folder.text("elsewhere"), "a\nmore\nmore\n");
}

#[tokio::test]
async fn changes_that_build_on_each_other_stand_together() {
    let body =
        "*** Update File: a\n*** Move to: b\n+more\n*** Update File: b\n+and more\n*** Update File: c\n+more";
    let files: &[(&str, &[u8])] = &[("a", b"a\n"), ("c", b"c\n")];
    let sound = OddFs::sound();
    assert!(matches!(attempt(&Folder::with(files), body, &sound), Outcome::Done(_)));
    let (folder, fs) = (Folder::with(files), Arc::new(OddFs::failing_at(sound.operations() - 1)));
    let tool = ApplyPatchTool::on(fs.clone());
    send(&tool, &folder, body).await.expect_err("fails");
    fs.mended.store(true, Ordering::Relaxed);
    assert_eq!(folder.text("b"), "a\nmore\nand more\n");
    // Somebody puts another file where the moved one was: the move is not done, nor what built on it.
    folder.write("a", b"new\n");
    let told = send(&tool, &folder, body).await.expect("lands");
    assert_eq!(told, success("M b\nM b\nM c\n"));
    assert_eq!((folder.text("b"), folder.exists("a")), ("new\nmore\nand more\n".to_owned(), false));
}
