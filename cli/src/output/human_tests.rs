use std::sync::{Arc, Mutex};

use pretty_assertions::assert_eq;
use serde_json::json;
use tenon_protocol::{CallId, CallToolResult, FileChangeEntry, PlanItemArg};

use super::*;

/// What is printed for these events, half a second apart.
fn printed_with(style: Style, events: Vec<Event>) -> String {
    let start = Instant::now();
    let elapsed = Arc::new(Mutex::new(Duration::ZERO));
    let now = {
        let elapsed = Arc::clone(&elapsed);
        move || start + *elapsed.lock().expect("no panic")
    };
    let mut printer = HumanPrinter::with_clock(style, PathBuf::from("/w"), Box::new(now));
    let mut out = Vec::new();
    for event in events {
        printer.print(event, &mut out).expect("a vector takes everything");
        *elapsed.lock().expect("no panic") += Duration::from_millis(500);
    }
    printer.finish(&mut out).expect("a vector takes everything");
    String::from_utf8(out).expect("text")
}

fn printed(events: Vec<Event>) -> String {
    printed_with(Style::plain(), events)
}

fn command(id: &str, script: &str, output: &str, exit_code: Option<i32>, status: ItemStatus) -> TurnItem {
    TurnItem::CommandExecution {
        id: id.to_owned(),
        command: ["/bin/bash", "-lc", script].map(str::to_owned).to_vec(),
        aggregated_output: output.to_owned(),
        exit_code,
        status,
    }
}

fn tool(id: &str, output: Option<&str>, status: ItemStatus) -> TurnItem {
    TurnItem::ToolCall {
        id: id.to_owned(),
        name: "view_image".to_owned(),
        arguments: "{\"path\": \"x\"}".to_owned(),
        output: output.map(str::to_owned),
        status,
    }
}

fn started() -> Event {
    Event::TurnStarted { turn_id: "t".to_owned() }
}

fn completed() -> Event {
    let usage =
        TokenUsage { input_tokens: 12, cached_input_tokens: 4, output_tokens: 3, ..TokenUsage::default() };
    Event::TurnCompleted { turn_id: "t".to_owned(), usage, last_message: None }
}

#[test]
fn calls_are_numbered_so_that_starts_and_ends_find_each_other() {
    let text = printed(vec![
        Event::SessionStarted { session_id: "0190".to_owned(), rollout_path: None },
        started(),
        Event::ItemStarted(command("a", "sleep 1\necho hi", "", None, ItemStatus::InProgress)),
        Event::ItemStarted(tool("b", None, ItemStatus::InProgress)),
        Event::ItemCompleted(tool("b", Some("no such file"), ItemStatus::Failed)),
        Event::ItemCompleted(command("a", "sleep 1\necho hi", "hi\n", Some(0), ItemStatus::Completed)),
        Event::ItemCompleted(tool("c", Some("not allowed"), ItemStatus::Declined)),
        Event::ItemCompleted(TurnItem::AgentMessage { id: "m".to_owned(), text: "All done.\n".to_owned() }),
        completed(),
    ]);
    assert_eq!(
        text,
        "session 0190\n\
         [1] $ sleep 1 (+1 lines)\n\
         [2] view_image {\"path\": \"x\"}\n\
         [2] failed, 0.5s\n    no such file\n\
         [1] exit 0, 1.5s\n    hi\n\
         [3] view_image {\"path\": \"x\"}\n\
         [3] declined, 0.0s\n    not allowed\n\
         \nAll done.\n\n\
         tokens: 12 in (4 cached), 3 out; time: 3.5s\n"
    );
}

#[test]
fn a_patch_is_shown_as_a_short_diff_and_counted() {
    let change = |path: &str, kind| FileChangeEntry { path: PathBuf::from(path), kind };
    let changes =
        vec![change("/w/a.txt", FileChangeKind::Add), change("/w/d b/b.txt", FileChangeKind::Update)];
    let item = |status| TurnItem::FileChange { id: "c".to_owned(), changes: changes.clone(), status };
    let first = "diff --git a/w/a.txt b/w/a.txt\n--- /dev/null\n+++ b/w/a.txt\n@@ -0,0 +1 @@\n+hello\n";
    let second = "diff --git a/w/d b/b.txt b/w/d b/b.txt\n--- a/w/d b/b.txt\n+++ b/w/d b/b.txt\n@@ -1 +1,2 @@\n-x\n+y\n+\u{1b}z\n";
    let diff = |parts: &[&str]| Event::TurnDiff { unified_diff: parts.concat() };
    let text = printed(vec![
        started(),
        Event::ItemStarted(item(ItemStatus::InProgress)),
        Event::ItemCompleted(item(ItemStatus::Completed)),
        diff(&[first]),
        diff(&[first, second]),
        completed(),
    ]);
    assert_eq!(
        text,
        "[1] patch: add a.txt, update d b/b.txt\n\
         [1] ok, 0.5s\n\
         \x20   a.txt\n\
         \x20   @@ -0,0 +1 @@\n    +hello\n\
         \x20   d b/b.txt\n\
         \x20   @@ -1 +1,2 @@\n    -x\n    +y\n    +^[z\n\
         changed: a.txt (+1 -0), d b/b.txt (+2 -1)\n\
         tokens: 12 in (4 cached), 3 out; time: 2.5s\n"
    );
}

#[test]
fn of_a_diff_that_was_shown_only_what_is_new_is_shown_again() {
    let section = |hunks: &str| format!("diff --git a/w/a b/w/a\n--- a/w/a\n+++ b/w/a\n{hunks}");
    let lines: String = (0..50).map(|number| format!("+{number}\n")).collect();
    let last = |diffs: &[String]| {
        let event = |diff: &String| Event::TurnDiff { unified_diff: section(diff) };
        let all = printed(diffs.iter().map(event).collect());
        let before = printed(diffs.iter().take(diffs.len() - 1).map(event).collect());
        all.strip_prefix(&before).unwrap().to_owned()
    };
    let added = format!("@@ -0,0 +1,50 @@\n{lines}");
    // A line of a file that this turn has added.
    let news = "    a\n    …\n    +23\n    +24\n    +new\n    +26\n    +27\n";
    assert_eq!(last(&[added.clone(), added.replace("+25\n", "+new\n")]), news);
    // A second hunk before and behind the first; only numbers change.
    let (near, far) = ("@@ -1,2 +1,2 @@\n-1\n+one\n 2\n", "@@ -90 +90 @@\n-90\n+ninety\n");
    let news = "    a\n    …\n    +one\n     2\n    @@ -90 +90 @@\n    -90\n    +ninety\n";
    assert_eq!(last(&[near.to_owned(), [near, far].concat()]), news);
    let longer = ["@@ -1 +1,2 @@\n 1\n+more\n", &far.replace("+90", "+91")].concat();
    let news = "    a\n    @@ -1 +1,2 @@\n     1\n    +more\n    @@ -90 +91 @@\n    -90\n    +ninety\n";
    assert_eq!(last(&[far.to_owned(), longer]), news);
    assert_eq!(last(&[far.to_owned(), far.replace("+90", "+91")]), "");
    // A part that was taken back.
    let news = "    a\n    …\n    +one\n     2\n";
    assert_eq!(last(&[[near, far].concat(), near.to_owned()]), news);
}

#[test]
fn changes_that_cancel_out_are_no_changes() {
    let item = |path: &str, kind| {
        let changes = vec![FileChangeEntry { path: PathBuf::from(path), kind }];
        Event::ItemCompleted(TurnItem::FileChange {
            id: "c".to_owned(),
            changes,
            status: ItemStatus::Completed,
        })
    };
    let changed = |events: Vec<Event>| {
        let text = printed(events);
        text.lines().find_map(|line| line.strip_prefix("changed: ")).map(str::to_owned)
    };
    let gone = || item("/w/gone", FileChangeKind::Delete);
    let kept = || item("/w/kept", FileChangeKind::Add);
    assert_eq!(
        changed(vec![started(), gone(), kept(), completed()]).as_deref(),
        Some("gone (delete), kept (add)")
    );
    let diff =
        Event::TurnDiff { unified_diff: "diff --git a/w/kept b/w/kept\n@@ -0,0 +1 @@\n+x\n".to_owned() };
    assert_eq!(changed(vec![started(), gone(), kept(), diff, completed()]).as_deref(), Some("kept (+1 -0)"));
    assert_eq!(changed(vec![started(), gone(), started(), completed()]), None);
}

#[test]
fn a_long_diff_is_cut() {
    let lines: String = (0..DIFF_LINES).map(|_| "+x\n").collect();
    let whole = format!("diff --git a/w/a b/w/a\n@@ -0,0 +1 @@\n{lines}");
    let shown = |diff: &str| printed(vec![Event::TurnDiff { unified_diff: diff.to_owned() }]);
    let cut = |text: &str| text.contains("more lines of this file's diff");
    assert!(!cut(&shown(&whole)));
    assert!(shown(&format!("{whole}+y\n")).ends_with("    +x\n    … 1 more lines of this file's diff …\n"));
    const DIFF_LINES: usize = super::diff::DIFF_MAX_LINES - 1;
}

#[test]
fn output_is_bounded_in_lines_and_in_width() {
    let output: String = (0..=OUTPUT_MAX_LINES).map(|line| format!("{line}\n")).collect();
    let text =
        printed(vec![Event::ItemCompleted(command("a", "x", &output, Some(0), ItemStatus::Completed))]);
    assert_eq!(text.lines().count(), 2 + OUTPUT_MAX_LINES);
    assert!(text.contains("… 2 more lines …"), "{text}");
    let wide = "é".repeat(LINE_MAX_CHARS + 1);
    let text = printed(vec![Event::ItemCompleted(command("a", "x", &wide, Some(0), ItemStatus::Completed))]);
    let last = text.lines().last().expect("a line");
    assert_eq!(last.chars().count(), "    ".len() + LINE_MAX_CHARS + "…".len() / 3);
    let narrow = printed_with(
        Style::terminal(false, Some(40)),
        vec![Event::ItemCompleted(command("a", "x", &wide, Some(0), ItemStatus::Completed))],
    );
    assert!(narrow.lines().all(|line| line.chars().count() <= 40), "{narrow}");
}

#[test]
fn what_tools_print_cannot_steer_the_terminal() {
    let text = printed(vec![
        Event::ItemCompleted(command(
            "a",
            "printf '\x1b]0;x\x07'",
            "\x1b[2Jgone\x07\n",
            Some(0),
            ItemStatus::Completed,
        )),
        Event::ItemCompleted(TurnItem::AgentMessage { id: "m".to_owned(), text: "\x1b[31mhi".to_owned() }),
        Event::Warning { message: "\x1b[1mmind\nmore".to_owned() },
    ]);
    assert!(!text.contains(['\x1b', '\x07']), "{text:?}");
    assert!(text.contains("^[[2Jgone^G"), "{text}");
    assert!(text.contains("warning: ^[[1mmind (+1 lines)"), "{text}");
}

#[test]
fn a_plan_is_a_checklist() {
    let step = |step: &str, status| PlanItemArg { step: step.to_owned(), status };
    let plan = UpdatePlanArgs {
        explanation: None,
        plan: vec![
            step("look", StepStatus::Completed),
            step("change", StepStatus::InProgress),
            step("test", StepStatus::Pending),
        ],
    };
    let text = printed(vec![Event::PlanUpdated { call_id: CallId::from("c"), plan }]);
    assert_eq!(text, "plan\n    [x] look\n    [>] change\n    [ ] test\n");
}

#[test]
fn an_interrupt_says_what_stands() {
    let aborted_calls = vec![CallId::from("a"), CallId::from("b")];
    let aborted =
        Event::TurnAborted { turn_id: "t".to_owned(), reason: AbortReason::Interrupted, aborted_calls };
    assert_eq!(printed(vec![started(), aborted]), "interrupted; 2 calls were cut short\ntime: 0.5s\n");
}

#[test]
fn other_items_have_their_line() {
    let result = CallToolResult {
        content: vec![json!({"type": "text", "text": "one"}), json!({"type": "image", "data": "AAAA"})],
        ..CallToolResult::default()
    };
    let mcp = |result, error: Option<&str>, status| TurnItem::McpToolCall {
        id: "c".to_owned(),
        server: "s".to_owned(),
        tool: "t".to_owned(),
        arguments: json!({"a": 1}),
        result,
        error: error.map(str::to_owned),
        status,
        duration: None,
    };
    let text = printed(vec![
        Event::ItemCompleted(mcp(Some(result), None, ItemStatus::Completed)),
        Event::ItemCompleted(mcp(None, Some("gone"), ItemStatus::Failed)),
        Event::ItemCompleted(TurnItem::WebSearch {
            id: "w".to_owned(),
            query: "rust".to_owned(),
            action: json!(null),
        }),
        Event::ItemCompleted(TurnItem::Reasoning { id: "r".to_owned(), text: "Hm.".to_owned() }),
        Event::BackgroundExit { call_id: CallId::from("a"), process_id: 1000, exit_code: 3 },
        Event::Retrying { attempt: 1, max: 5, message: "stream closed".to_owned() },
    ]);
    assert_eq!(
        text,
        "[1] s.t {\"a\":1}\n[1] ok, 0.0s\n    one\n\
         [2] s.t {\"a\":1}\n[2] failed, 0.0s\n    gone\n\
         web search: rust\n    Hm.\n\
         background session 1000 ended with exit code 3\n\
         warning: trying again (1 of 5): stream closed\n"
    );
}

#[test]
fn colours_only_on_a_terminal() {
    let events = || vec![Event::ItemCompleted(tool("a", None, ItemStatus::Completed))];
    assert!(!printed_with(Style::plain(), events()).contains('\x1b'));
    assert!(!printed_with(Style::terminal(false, None), events()).contains('\x1b'));
    assert!(printed_with(Style::terminal(true, None), events()).contains("\x1b[32mok, 0.0s\x1b[0m"));
}
