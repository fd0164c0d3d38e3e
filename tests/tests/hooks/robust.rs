//! Hooks that are killed, hang, fork, flood and do not listen.

use std::time::{Duration, Instant};

use pretty_assertions::assert_eq;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::alone::alone;
use crate::support::{Place, Setup, documents, exec, hook, hook_with, is_alive, numbers, patch, run, setup};

/// Longer than anything takes but what hangs.
const LONG: Duration = Duration::from_secs(60);

const BIG: usize = 2 * 1024 * 1024;

#[tokio::test]
async fn a_hook_that_is_killed_fails_and_means_nothing_unless_it_is_closed() {
    for (members, is_blocked) in
        [(json!({}), false), (json!({"on_error": "block"}), true), (json!({"extended": true}), true)]
    {
        let place = Place::new();
        let hooks = hook_with("PreToolUse", "kill -9 $$", &members);
        let came = run(&place, &hooks, vec![vec![exec("a", "echo ran > made; echo ran")]]).await;
        let why = "hook exited without a status code";
        if is_blocked {
            let text =
                format!("Command blocked by PreToolUse hook: {why}. Command: echo ran > made; echo ran");
            assert_eq!(came.outputs["a"], text);
        } else {
            assert!(came.outputs["a"].ends_with("ran\n"), "{:?}", came.outputs);
        }
        assert_eq!(place.work().join("made").exists(), !is_blocked);
        let meaning = if is_blocked { "an objection" } else { "no objection" };
        let told = format!("PreToolUse hook `kill -9 $$` failed, which counts as {meaning}: {why}");
        assert_eq!(came.events.warnings(), [told]);
    }
}

#[tokio::test]
async fn a_hook_that_hangs_dies_with_its_whole_tree_at_its_time() {
    for (members, is_blocked) in
        [(json!({"timeout": 1}), false), (json!({"timeout": 1, "on_error": "block"}), true)]
    {
        let place = Place::new();
        let command = "trap '' TERM; sleep 300 & echo $! > pids; (sleep 300 & echo $! >> pids; wait) & \
                       echo $! >> pids; echo $$ >> pids; wait";
        let since = Instant::now();
        let came =
            run(&place, &hook_with("PreToolUse", command, &members), vec![vec![exec("a", "echo ran")]]).await;
        assert!(since.elapsed() < LONG, "{:?}", since.elapsed());
        assert_eq!(came.outputs["a"].contains("hook timed out after 1s"), is_blocked, "{:?}", came.outputs);
        assert!(came.events.warnings()[0].ends_with(": hook timed out after 1s"));
        let pids = numbers(&place, "pids");
        assert_eq!(pids.len(), 4);
        assert!(pids.iter().all(|pid| !is_alive(*pid)), "{pids:?}");
    }
}

#[tokio::test]
async fn a_hook_that_forks_has_decided_when_its_shell_ends_and_leaves_nobody() {
    let place = Place::new();
    let command = "sleep 300 & echo $! > pids; echo '{\"decision\": \"block\", \"reason\": \"no\"}'";
    let since = Instant::now();
    let came = run(&place, &hook("PreToolUse", command), vec![vec![exec("a", "echo ran")]]).await;
    assert_eq!(came.outputs["a"], "Command blocked by PreToolUse hook: no. Command: echo ran");
    assert!(since.elapsed() < LONG);
    assert!(!is_alive(numbers(&place, "pids")[0]));
}

#[tokio::test]
async fn a_hook_that_floods_is_read_to_its_end_and_kept_up_to_the_bound() {
    // Standard output: text that means nothing, and a warning.
    let place = Place::new();
    let came =
        run(&place, &hook("PreToolUse", "yes | head -c 3000000"), vec![vec![exec("a", "echo ran")]]).await;
    assert!(came.outputs["a"].ends_with("ran\n"));
    let dropped = 3_000_000 - tenon_core::hooks::HOOK_OUTPUT_MAX_BYTES;
    let told = format!(
        "PreToolUse hook `yes | head -c 3000000`: it printed more than is kept; {dropped} bytes were dropped"
    );
    assert_eq!(came.events.warnings(), [told]);
    // Standard error: the reason, in its bounds for the model.
    let command = "yes | head -c 3000000 >&2; exit 2";
    let came = run(&place, &hook("PreToolUse", command), vec![vec![exec("a", "echo ran")]]).await;
    let text = &came.outputs["a"];
    assert!(text.starts_with("Command blocked by PreToolUse hook: y\ny\n"), "{text}");
    assert!(text.len() < 11_000 && text.contains("Full hook output saved to: "), "{}", text.len());
}

#[tokio::test]
async fn big_input_neither_deadlocks_nor_fails_a_hook_whether_it_listens_or_not() {
    let text = format!("*** Begin Patch\n*** Add File: big.txt\n+{}\n*** End Patch\n", "x".repeat(BIG));
    for command in [
        "exit 0",
        "sleep 1; cat > /dev/null",
        "exec <&-; sleep 0.2",
        "read -r first; exit 0",
        "cat > in.json; echo >> in.json",
    ] {
        let place = Place::new();
        let hooks = hook_with("PreToolUse", command, &json!({"on_error": "block"}));
        let since = Instant::now();
        let came = run(&place, &hooks, vec![vec![patch("a", &text)]]).await;
        assert!(since.elapsed() < LONG, "{command}");
        assert!(came.outputs["a"].starts_with("Exit code: 0"), "{command}: {}", came.outputs["a"]);
        assert_eq!(came.events.warnings(), Vec::<String>::new(), "{command}");
        assert_eq!(place.read("big.txt").len(), BIG + 1);
        if command.starts_with("cat > in.json") {
            assert_eq!(documents(&place, "in.json")[0]["tool_input"]["command"], json!(text));
        }
    }
}

#[tokio::test]
async fn a_big_input_does_not_hide_the_reason_of_a_hook_that_does_not_read_it() {
    let text = format!("*** Begin Patch\n*** Add File: big.txt\n+{}\n*** End Patch\n", "x".repeat(BIG));
    let place = Place::new();
    let came =
        run(&place, &hook("PreToolUse", "echo too big >&2; exit 2"), vec![vec![patch("a", &text)]]).await;
    assert!(
        came.outputs["a"]
            .starts_with("Command blocked by PreToolUse hook: too big. Command: *** Begin Patch")
    );
    assert!(!place.work().join("big.txt").exists());
}

#[tokio::test]
async fn noise_before_a_decision_is_told_and_blocks_only_where_the_hook_is_closed() {
    let command = "echo loading; echo '{\"decision\": \"block\", \"reason\": \"no\"}'";
    for (members, is_blocked) in [(json!({}), false), (json!({"extended": true}), true)] {
        let place = Place::new();
        let came =
            run(&place, &hook_with("PreToolUse", command, &members), vec![vec![exec("a", "echo ran")]]).await;
        assert_eq!(came.outputs["a"].starts_with("Command blocked"), is_blocked, "{:?}", came.outputs);
        assert!(
            came.events.warnings()[0].starts_with("PreToolUse hook `echo loading; echo"),
            "{:?}",
            came.events.warnings()
        );
    }
}

#[tokio::test]
async fn a_cancelled_call_takes_its_hook_with_it() {
    let place = Place::new();
    let command = "echo $$ > pid.new; mv pid.new pid; sleep 300";
    let Setup { builder, service, .. } =
        setup(&place, &hook("PreToolUse", command), vec![vec![exec("a", "echo ran > made")]]);
    let mut session = builder.build().await.unwrap();
    let cancellation = CancellationToken::new();
    let cancel = async {
        while !place.work().join("pid").exists() {
            tokio::task::yield_now().await;
        }
        cancellation.cancel();
    };
    tokio::join!(session.run_turn("go", &cancellation), cancel);
    session.shutdown().await;
    service.shutdown().await;
    assert!(!is_alive(numbers(&place, "pid")[0]));
    assert!(!place.work().join("made").exists());
}

/// Children of this process, dead ones that nobody has reaped included.
fn children() -> usize {
    let own = std::process::id().to_string();
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let stats = all.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
    let parents =
        stats.filter_map(|stat| stat.rsplit(')').next()?.split_whitespace().nth(1).map(str::to_owned));
    parents.filter(|parent| *parent == own).count()
}

fn handles() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_hooked_calls_leave_no_process_and_no_handle() {
    if !alone("robust::a_thousand_hooked_calls_leave_no_process_and_no_handle") {
        return;
    }
    const AT_ONCE: usize = 20;
    let place = Place::new();
    let plan = json!({"plan": [{"step": "one", "status": "pending"}]});
    let call = |n: usize| crate::support::function(&format!("c{n}"), "update_plan", &plan);
    let warm_up = vec![vec![call(0)]];
    let rounds =
        (0..1000 / AT_ONCE).map(|round| (0..AT_ONCE).map(|n| call(1 + round * AT_ONCE + n)).collect());
    let mut hooks = hook("PreToolUse", "cat > /dev/null");
    hooks.as_object_mut().unwrap().extend(hook("PostToolUse", "exit 0").as_object().unwrap().clone());
    let turns: Vec<_> = warm_up.into_iter().chain([Vec::new()]).chain(rounds).collect();
    let Setup { builder, service, model, .. } = setup(&place, &hooks, turns);
    let mut session = builder.build().await.unwrap();
    session.run_turn("warm up", &CancellationToken::new()).await;
    let before = (children(), handles());
    session.run_turn("go", &CancellationToken::new()).await;
    assert_eq!((children(), handles()), before);
    let outputs = model
        .prompts()
        .last()
        .unwrap()
        .input
        .iter()
        .filter(|item| item.tag() == "function_call_output")
        .count();
    assert_eq!(outputs, 1001);
    session.shutdown().await;
    service.shutdown().await;
    assert_eq!(children(), 0);
}
