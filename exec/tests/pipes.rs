//! Commands on pipes: what a call gives back, and when.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests"
)]

mod support;

use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pretty_assertions::assert_eq;
use serde_json::json;
use support::alone::alone;
use support::{Bench, ended, output_of, running, steady};
use tenon_protocol::{CallFact, CallId, ItemStatus, TurnItem};
use tenon_tools::{Event, EventSink, SandboxPolicy, ShownAs, ToolPayload};

#[tokio::test]
async fn a_short_command_answers_at_its_end() {
    let bench = Bench::new();
    let start = Instant::now();
    let answer = bench.exec(json!({"cmd": "echo hi", "yield_time_ms": 30000})).await;
    assert_eq!(steady(&answer), ended(0, 1, "hi\n"));
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn the_least_yield_still_sees_the_end_of_a_short_command() {
    let bench = Bench::new();
    for _ in 0..20 {
        let answer = bench.exec(json!({"cmd": "echo hi; exit 3", "yield_time_ms": 0})).await;
        assert_eq!(steady(&answer), ended(3, 1, "hi\n"));
    }
}

#[tokio::test]
async fn both_streams_come_as_one_text_in_order() {
    let bench = Bench::new();
    let answer = bench.exec(json!({"cmd": "echo out; echo err >&2; echo out; exit 7"})).await;
    assert_eq!(steady(&answer), ended(7, 3, "out\nerr\nout\n"));
}

#[tokio::test]
async fn nothing_printed_is_an_empty_output() {
    let bench = Bench::new();
    assert_eq!(steady(&bench.exec(json!({"cmd": "true"})).await), ended(0, 0, ""));
    assert_eq!(steady(&bench.exec(json!({"cmd": "false"})).await), ended(1, 0, ""));
    assert_eq!(steady(&bench.exec(json!({"cmd": ""})).await), ended(0, 0, ""));
}

#[tokio::test]
async fn there_is_nothing_to_read() {
    let bench = Bench::new();
    assert_eq!(steady(&bench.exec(json!({"cmd": "cat; echo end"})).await), ended(0, 1, "end\n"));
}

#[tokio::test]
async fn background_children_do_not_keep_the_call() {
    let bench = Bench::new();
    for cmd in [
        "sleep 300 & echo hi",
        "setsid sleep 3 & echo hi",
        "exec > >(cat); echo hi",
        "(sleep 300; echo late) & echo hi",
    ] {
        let start = Instant::now();
        let answer = bench.exec(json!({"cmd": cmd, "yield_time_ms": 20000})).await;
        assert_eq!(steady(&answer), ended(0, 1, "hi\n"), "{cmd}");
        assert!(start.elapsed() < Duration::from_secs(10), "{cmd}: {:?}", start.elapsed());
    }
}

#[tokio::test]
async fn ten_megabytes_keep_their_ends() {
    let bench = Bench::new();
    let cmd = "echo begin; head -c 10000000 /dev/zero | tr '\\0' x; echo; echo end";
    let answer = bench.exec(json!({"cmd": cmd, "max_output_tokens": 1_000_000})).await;
    let seen = 6 + 10_000_000 + 1 + 4;
    let lost = seen - 1024 * 1024;
    assert!(
        answer.contains(&format!("Original token count: {}\n", usize::div_ceil(seen, 4))),
        "{}",
        &answer[..200]
    );
    let output = output_of(&answer);
    assert!(output.contains(&format!("... {lost} bytes omitted ...")), "no marker");
    assert!(output.contains("begin\nxxxx"));
    assert!(output.ends_with("xxx\nend\n"));
    let items = bench.told.completed("c1");
    assert_eq!(items.len(), 1);
    let (transcript, code, status) = &items[0];
    assert!(transcript.len() <= 1024 * 1024 + 64, "{}", transcript.len());
    assert!(transcript.starts_with("begin\nxxx") && transcript.ends_with("x\nend\n"));
    assert_eq!((*code, *status), (Some(0), ItemStatus::Completed));
}

/// Passes everything on, late.
struct Slow(Arc<support::Told>);

impl EventSink for Slow {
    fn emit(&self, event: Event) {
        std::thread::sleep(Duration::from_millis(5));
        self.0.emit(event);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_megabytes_for_a_slow_host_keep_their_ends() {
    let mut bench = Bench::new();
    bench.host.events = Arc::new(Slow(Arc::clone(&bench.told)));
    let cmd = "echo begin; head -c 10000000 /dev/zero | tr '\\0' x; echo; echo end";
    let answer =
        bench.exec(json!({"cmd": cmd, "max_output_tokens": 1_000_000, "yield_time_ms": 30000})).await;
    assert!(output_of(&answer).contains("begin\nxxxx") && answer.ends_with("xxx\nend\n"));
    let (transcript, code, _) = bench.told.completion("c1").await;
    assert!(transcript.starts_with("begin\nxxx") && transcript.ends_with("x\nend\n"));
    assert_eq!(code, Some(0));
    let deltas = bench.told.deltas().concat();
    assert!(deltas.starts_with(b"begin\nxxx") && deltas.ends_with(b"x\nend\n"));
}

#[tokio::test]
async fn a_full_disk_is_the_commands_own_matter_and_said() {
    let bench = Bench::new();
    let answer = bench.exec(json!({"cmd": "echo x > /dev/full"})).await;
    let output = "/bin/bash: line 1: echo: write error: No space left on device\n";
    assert_eq!(steady(&answer), ended(1, output.len().div_ceil(4), output));
}

#[tokio::test]
async fn a_flood_is_cut_short_by_the_yield() {
    let bench = Bench::new();
    let answer = bench.exec(json!({"cmd": "yes", "yield_time_ms": 500})).await;
    assert!(answer.contains("Process running with session ID 1000\n"));
    let deltas = bench.told.deltas();
    assert!(deltas.iter().all(|delta| delta.len() <= 8192));
    // Sampled, not sent whole: a flood prints gigabytes.
    assert!(deltas.iter().map(Vec::len).sum::<usize>() < 32 * 1024 * 1024);
    bench.service.shutdown().await;
    let (transcript, code, status) = bench.told.completion("c1").await;
    assert_eq!((code, status), (Some(137), ItemStatus::Failed));
    assert!(transcript.len() <= 1024 * 1024 + 64);
    assert!(transcript.contains(" bytes omitted ...\n"));
}

/// Bytes of memory that this process has taken at most so far.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("read");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("told");
    peak.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1024
}

#[tokio::test]
async fn a_flood_costs_no_more_memory_than_a_trickle() {
    if !alone("a_flood_costs_no_more_memory_than_a_trickle") {
        return;
    }
    let mut bench = Bench::new();
    // This host would keep all deltas, thousands of them.
    bench.host.events = tenon_tools::Host::detached().events;
    bench.exec(json!({"cmd": "echo hi"})).await;
    let before = peak_memory();
    let answer = bench.exec(json!({"cmd": "yes | head -c 200000000", "yield_time_ms": 30000})).await;
    assert!(answer.contains("Process exited with code 0\nOriginal token count: 50000000\n"), "{answer}");
    let taken = peak_memory() - before;
    assert!(taken < 20_000_000, "a tenth of the output: {taken}");
}

#[tokio::test]
async fn deltas_bring_the_output_in_order_and_before_the_item_ends() {
    let bench = Bench::new();
    let cmd = "for i in $(seq 2000); do echo line $i; done";
    let answer = bench.exec(json!({"cmd": cmd, "max_output_tokens": 100_000})).await;
    let text = String::from_utf8(bench.told.deltas().concat()).expect("whole characters");
    assert_eq!(output_of(&answer), text);
    let last = bench.told.events().pop().expect("events");
    assert!(matches!(last, tenon_tools::Event::ItemCompleted(_)), "{last:?}");
}

#[tokio::test]
async fn many_small_writes_become_few_deltas() {
    let bench = Bench::new();
    let answer = bench.exec(json!({"cmd": "for i in $(seq 20000); do echo $i; done"})).await;
    assert!(answer.contains("Process exited with code 0"));
    assert!(bench.told.deltas().len() < 500, "{}", bench.told.deltas().len());
}

#[tokio::test]
async fn the_item_says_what_ran_and_how_it_ended() {
    let bench = Bench::new();
    let call = bench.call("c9", "exec_command", r#"{"cmd": "echo hi; exit 2"}"#);
    let prepared = call.tool.prepare(&call.invocation).await.expect("prepared");
    let command = vec!["/bin/bash".to_owned(), "-c".to_owned(), "echo hi; exit 2".to_owned()];
    let started = ShownAs::Item(TurnItem::CommandExecution {
        id: "c9".to_owned(),
        command: command.clone(),
        aggregated_output: String::new(),
        exit_code: None,
        status: ItemStatus::InProgress,
    });
    assert_eq!(prepared.shown_as(), started);
    let effect = prepared.effects().command.clone().expect("a command");
    assert_eq!((effect.argv, effect.cwd, effect.tty), (command, bench.cwd().to_owned(), false));
    prepared.run(&call.invocation).await.expect("run");
    assert_eq!(bench.told.completed("c9"), [("hi\n".to_owned(), Some(2), ItemStatus::Failed)]);
}

#[tokio::test]
async fn the_process_is_told_to_the_journal() {
    let bench = Bench::new();
    let answer = bench.exec(json!({"cmd": "echo $$; cut -d' ' -f22 /proc/$$/stat"})).await;
    let mut lines = output_of(&answer).lines().map(|line| line.parse::<u64>().expect("a number"));
    let (pid, started_at) = (lines.next().expect("pid"), lines.next().expect("start"));
    let pid = u32::try_from(pid).expect("a pid");
    let boot_id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap().trim().to_owned();
    let process = CallFact::Process { pid, group: pid, started_at, boot_id: Some(boot_id) };
    assert_eq!(bench.told.facts(), [process]);
}

#[tokio::test]
async fn a_folder_that_is_not_there_is_named() {
    let bench = Bench::new();
    let cwd = bench.cwd().display().to_string();
    std::fs::write(bench.cwd().join("file"), "").expect("written");
    let answer = bench.exec(json!({"cmd": "pwd", "workdir": "no/such/dir"})).await;
    assert_eq!(answer, format!("exec_command failed: working directory `{cwd}/no/such/dir` does not exist"));
    let answer = bench.exec(json!({"cmd": "pwd", "workdir": "file"})).await;
    assert_eq!(answer, format!("exec_command failed: working directory `{cwd}/file` is not a directory"));
    std::fs::create_dir(bench.cwd().join("sub")).expect("made");
    for workdir in [json!("sub"), json!(format!("{cwd}/sub"))] {
        let answer = bench.exec(json!({"cmd": "pwd", "workdir": workdir})).await;
        assert_eq!(output_of(&answer), format!("{cwd}/sub\n"));
    }
    for workdir in [json!(""), json!(null)] {
        let answer = bench.exec(json!({"cmd": "pwd", "workdir": workdir})).await;
        assert_eq!(output_of(&answer), format!("{cwd}\n"));
    }
    assert_eq!(bench.told.facts().len(), 4, "only what has started is told");
}

#[tokio::test]
async fn what_is_not_executable_is_bashs_own_matter() {
    let bench = Bench::new();
    let path = bench.cwd().join("plain");
    std::fs::write(&path, "echo hi\n").expect("written");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).expect("set");
    let answer = bench.exec(json!({"cmd": "./plain"})).await;
    assert_eq!(steady(&answer), ended(126, 12, "/bin/bash: line 1: ./plain: Permission denied\n"));
}

#[tokio::test]
async fn a_command_that_is_too_long_says_how_long() {
    let bench = Bench::new();
    let answer = bench.exec(json!({"cmd": format!("echo {}", "x".repeat(200_000))})).await;
    assert!(
        answer.starts_with(
            "exec_command failed: the command is too long for the system: 200009 bytes of arguments and"
        ),
        "{answer}"
    );
}

#[tokio::test]
async fn a_nul_byte_is_refused() {
    let bench = Bench::new();
    let answer = bench.exec(json!({"cmd": "echo a\u{0}b"})).await;
    assert_eq!(
        answer,
        "exec_command failed: arguments, environment and working directory cannot contain a NUL byte"
    );
}

#[tokio::test]
async fn bytes_that_are_no_text_are_replaced_and_nul_is_kept() {
    let bench = Bench::new();
    // A surrogate by itself, which no text can hold, among them.
    let answer = bench.exec(json!({"cmd": "printf 'a\\0b\\xff\\xed\\xa0\\x80c\\n'"})).await;
    assert_eq!(output_of(&answer), "a\0b\u{fffd}\u{fffd}\u{fffd}\u{fffd}c\n");
}

#[tokio::test]
async fn a_shell_that_has_gone_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let shell = folder.path().join("bash");
    std::os::unix::fs::symlink("/bin/bash", &shell).expect("linked");
    let bench = Bench::with(|config| config.user_shell = Some(shell.clone()));
    assert_eq!(steady(&bench.exec(json!({"cmd": "echo hi"})).await), ended(0, 1, "hi\n"));
    std::fs::remove_file(&shell).expect("removed");
    let answer = bench.exec(json!({"cmd": "echo hi"})).await;
    assert_eq!(answer, format!("exec_command failed: program `{}` does not exist", shell.display()));
}

#[tokio::test]
async fn another_sandbox_around_the_host_is_enough() {
    let mut bench = Bench::new();
    bench.step.sandbox = SandboxPolicy::ExternalSandbox;
    assert_eq!(steady(&bench.exec(json!({"cmd": "echo hi"})).await), ended(0, 1, "hi\n"));
}

#[tokio::test]
async fn the_login_flag_follows_the_step() {
    let mut bench = Bench::new();
    let flag = |bench: &Bench, arguments: serde_json::Value| {
        let call = bench.call("c", "exec_command", &arguments.to_string());
        async move {
            let prepared = call.tool.prepare(&call.invocation).await;
            prepared.map(|prepared| prepared.effects().command.clone().expect("a command").argv[1].clone())
        }
    };
    assert_eq!(flag(&bench, json!({"cmd": "x"})).await.expect("prepared"), "-c");
    assert_eq!(flag(&bench, json!({"cmd": "x", "login": false})).await.expect("prepared"), "-c");
    let error = flag(&bench, json!({"cmd": "x", "login": true})).await.expect_err("refused");
    assert_eq!(error.text(), "login shell is disabled by config; omit `login` or set it to false.");
    bench.step.allow_login_shell = true;
    assert_eq!(flag(&bench, json!({"cmd": "x"})).await.expect("prepared"), "-lc");
    assert_eq!(flag(&bench, json!({"cmd": "x", "login": true})).await.expect("prepared"), "-lc");
    assert_eq!(flag(&bench, json!({"cmd": "x", "login": false})).await.expect("prepared"), "-c");
}

#[tokio::test]
async fn bad_arguments_are_said_with_their_place() {
    let bench = Bench::new();
    for (arguments, expected) in [
        ("", "EOF while parsing a value at line 1 column 0"),
        ("{}", "missing field `cmd` at line 1 column 2"),
        (r#"{"cmd": 5}"#, "invalid type: integer `5`, expected a string at line 1 column 9"),
        (r#"{"cmd": "a", "cmd": "b"}"#, "duplicate field `cmd` at line 1 column 18"),
        ("[\"echo\"]", "expected a JSON object, got an array"),
        (
            r#"{"cmd": "a", "yield_time_ms": -1}"#,
            "invalid value: integer `-1`, expected u64 at line 1 column 32",
        ),
        (
            r#"{"cmd": "a", "sandbox_permissions": "all"}"#,
            "unknown variant `all`, expected one of `use_default`, `require_escalated`, \
             `with_additional_permissions` at line 1 column 41",
        ),
    ] {
        let answer = bench.call("c1", "exec_command", arguments).text().await;
        assert_eq!(answer, format!("failed to parse function arguments: {expected}"), "{arguments}");
    }
    let mut call = bench.call("c1", "exec_command", "");
    call.invocation.payload = ToolPayload::Custom { input: "echo".to_owned() };
    assert_eq!(call.text().await, "exec_command handler received unsupported payload");
}

#[tokio::test]
async fn what_the_bound_asks_for_is_what_comes() {
    let bench = Bench::new();
    let answer = bench.exec(json!({"cmd": "echo zero", "max_output_tokens": 0})).await;
    let cut =
        "Warning: truncated output (original token count: 2)\nTotal output lines: 1\n\n…2 tokens truncated…";
    assert_eq!(steady(&answer), ended(0, 2, cut));
}

#[tokio::test]
async fn a_character_that_comes_in_two_writes_stays_whole() {
    let bench = Bench::new();
    let fifo = bench.cwd().join("fifo");
    let cmd = "mkfifo fifo; printf 'a\\xe2\\x9c'; read _ < fifo; printf '\\x93b\\n'";
    let first = bench.exec(json!({"cmd": cmd, "yield_time_ms": 250})).await;
    assert_eq!(steady(&first), running(1000, 1, "a"));
    let poll = bench.call("w1", "write_stdin", r#"{"session_id": 1000}"#);
    let poll = tokio::spawn(async move { poll.text().await });
    tokio::task::spawn_blocking(move || std::fs::write(fifo, "\n")).await.expect("joined").expect("written");
    assert_eq!(steady(&poll.await.expect("polled")), ended(0, 2, "✓b\n"));
    let (transcript, ..) = bench.told.completion("c1").await;
    assert_eq!(transcript, "a✓b\n");
}

#[tokio::test]
async fn hooks_hear_the_output_alone() {
    let bench = Bench::new();
    let call = bench.call("c1", "exec_command", r#"{"cmd": "echo x"}"#);
    let output = call.run().await.expect("run");
    let payload = &call.invocation.payload;
    assert_eq!(output.post_tool_use_input(payload), Some(json!({"command": "echo x"})));
    assert_eq!(output.post_tool_use_response(&CallId::from("c1"), payload), Some(json!("x\n")));
    assert_eq!(output.post_tool_use_id(&CallId::from("c1")), CallId::from("c1"));
    let identity = call.tool.hook_identity().expect("an identity");
    assert_eq!((&*identity.tool_name, identity.pre, identity.post), ("Bash", true, true));
    assert!(call.tool.parallel() && call.tool.waits_for_cancellation());
}
