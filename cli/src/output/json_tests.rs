use std::path::PathBuf;

use pretty_assertions::assert_eq;
use tenon_protocol::{CallId, FileChangeKind, PlanItemArg, StepStatus, UpdatePlanArgs};

use super::*;

/// What is printed for these events.
fn printed(events: Vec<Event>) -> Vec<String> {
    let mut printer = JsonPrinter::default();
    let mut out = Vec::new();
    for event in events {
        printer.print(event, &mut out).expect("a vector takes everything");
    }
    let text = String::from_utf8(out).expect("lines are text");
    assert!(text.is_empty() || text.ends_with('\n'), "the last line is whole: {text:?}");
    text.lines().map(str::to_owned).collect()
}

fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn command(status: ItemStatus, output: &str, exit_code: Option<i32>) -> TurnItem {
    TurnItem::CommandExecution {
        id: "c1".to_owned(),
        command: strings(&["/bin/bash", "-lc", "echo hi"]),
        aggregated_output: output.to_owned(),
        exit_code,
        status,
    }
}

fn message(id: &str, text: &str) -> TurnItem {
    TurnItem::AgentMessage { id: id.to_owned(), text: text.to_owned() }
}

fn turn_completed() -> Event {
    let usage = TokenUsage {
        input_tokens: 5,
        cached_input_tokens: 4,
        cache_write_input_tokens: 3,
        output_tokens: 2,
        reasoning_output_tokens: 1,
        total_tokens: 7,
    };
    Event::TurnCompleted { turn_id: "t".to_owned(), usage, last_message: Some("done".to_owned()) }
}

#[test]
fn a_turn_with_a_command() {
    let lines = printed(vec![
        Event::SessionStarted { session_id: "0190".to_owned(), rollout_path: None },
        Event::TurnStarted { turn_id: "t".to_owned() },
        Event::ItemStarted(command(ItemStatus::InProgress, "", None)),
        Event::ExecOutputDelta { call_id: CallId::from("c1"), chunk: b"hi\n".to_vec() },
        Event::ItemCompleted(command(ItemStatus::Completed, "hi\n", Some(0))),
        Event::ItemCompleted(message("m_end", "done")),
        turn_completed(),
    ]);
    assert_eq!(
        lines,
        [
            r#"{"type":"thread.started","thread_id":"0190"}"#,
            r#"{"type":"turn.started"}"#,
            r#"{"type":"item.started","item":{"id":"item_0","type":"command_execution","command":"/bin/bash -lc 'echo hi'","aggregated_output":"","exit_code":null,"status":"in_progress"}}"#,
            r#"{"type":"item.completed","item":{"id":"item_0","type":"command_execution","command":"/bin/bash -lc 'echo hi'","aggregated_output":"hi\n","exit_code":0,"status":"completed"}}"#,
            r#"{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"done"}}"#,
            r#"{"type":"turn.completed","usage":{"input_tokens":5,"cached_input_tokens":4,"output_tokens":2,"reasoning_output_tokens":1}}"#,
        ]
    );
}

#[test]
fn items_are_numbered_as_they_first_appear() {
    let call = |id: &str, output: Option<&str>, status| TurnItem::ToolCall {
        id: id.to_owned(),
        name: "view_image".to_owned(),
        arguments: "{}".to_owned(),
        output: output.map(str::to_owned),
        status,
    };
    let lines = printed(vec![
        Event::ItemStarted(call("b", None, ItemStatus::InProgress)),
        Event::ItemStarted(call("a", None, ItemStatus::InProgress)),
        Event::ItemCompleted(call("a", Some("x"), ItemStatus::Failed)),
        Event::ItemCompleted(call("b", None, ItemStatus::Declined)),
        // An id that comes again is another item.
        Event::ItemCompleted(call("a", None, ItemStatus::Completed)),
    ]);
    assert_eq!(
        lines,
        [
            r#"{"type":"item.started","item":{"id":"item_0","type":"tool_call","name":"view_image","arguments":"{}","output":null,"status":"in_progress"}}"#,
            r#"{"type":"item.started","item":{"id":"item_1","type":"tool_call","name":"view_image","arguments":"{}","output":null,"status":"in_progress"}}"#,
            r#"{"type":"item.completed","item":{"id":"item_1","type":"tool_call","name":"view_image","arguments":"{}","output":"x","status":"failed"}}"#,
            r#"{"type":"item.completed","item":{"id":"item_0","type":"tool_call","name":"view_image","arguments":"{}","output":null,"status":"declined"}}"#,
            r#"{"type":"item.completed","item":{"id":"item_2","type":"tool_call","name":"view_image","arguments":"{}","output":null,"status":"completed"}}"#,
        ]
    );
}

#[test]
fn changes_are_sorted_by_path() {
    let change = |path: &str, kind| FileChangeEntry { path: PathBuf::from(path), kind };
    let changes = vec![
        change("/w/c.txt", FileChangeKind::Update),
        change("/w/a.txt", FileChangeKind::Add),
        change("/w/b.txt", FileChangeKind::Delete),
    ];
    let item = TurnItem::FileChange { id: "c1".to_owned(), changes, status: ItemStatus::Completed };
    assert_eq!(
        printed(vec![Event::ItemCompleted(item)]),
        [
            r#"{"type":"item.completed","item":{"id":"item_0","type":"file_change","changes":[{"path":"/w/a.txt","kind":"add"},{"path":"/w/b.txt","kind":"delete"},{"path":"/w/c.txt","kind":"update"}],"status":"completed"}}"#
        ]
    );
}

#[test]
fn a_call_of_a_server_has_result_and_error() {
    let call = |result: Option<CallToolResult>, error: Option<&str>, status| TurnItem::McpToolCall {
        id: "c1".to_owned(),
        server: "fixture".to_owned(),
        tool: "structured".to_owned(),
        arguments: json!({}),
        result,
        error: error.map(str::to_owned),
        status,
        duration: None,
    };
    let result = CallToolResult {
        content: vec![json!({"type": "text", "text": "the answer is 42"})],
        structured_content: Some(json!({"answer": 42})),
        is_error: Some(false),
        meta: Some(json!({"secret": true})),
    };
    let lines = printed(vec![
        Event::ItemStarted(call(None, None, ItemStatus::InProgress)),
        Event::ItemCompleted(call(Some(result), None, ItemStatus::Completed)),
        Event::ItemCompleted(call(None, Some("no answer"), ItemStatus::Failed)),
        Event::ItemCompleted(call(Some(CallToolResult::default()), None, ItemStatus::Failed)),
    ]);
    assert_eq!(
        lines,
        [
            r#"{"type":"item.started","item":{"id":"item_0","type":"mcp_tool_call","server":"fixture","tool":"structured","arguments":{},"result":null,"error":null,"status":"in_progress"}}"#,
            r#"{"type":"item.completed","item":{"id":"item_0","type":"mcp_tool_call","server":"fixture","tool":"structured","arguments":{},"result":{"content":[{"type":"text","text":"the answer is 42"}],"structured_content":{"answer":42}},"error":null,"status":"completed"}}"#,
            r#"{"type":"item.completed","item":{"id":"item_1","type":"mcp_tool_call","server":"fixture","tool":"structured","arguments":{},"result":null,"error":{"message":"no answer"},"status":"failed"}}"#,
            r#"{"type":"item.completed","item":{"id":"item_2","type":"mcp_tool_call","server":"fixture","tool":"structured","arguments":{},"result":{"content":[],"structured_content":null},"error":null,"status":"failed"}}"#,
        ]
    );
}

#[test]
fn a_plan_is_one_item_a_turn() {
    let plan = |done: bool| {
        let items = vec![TodoItem { text: "a".to_owned(), completed: done }];
        Event::ItemUpdated(TurnItem::TodoList { id: "plan-t".to_owned(), items })
    };
    let also = Event::PlanUpdated {
        call_id: CallId::from("c1"),
        plan: UpdatePlanArgs {
            explanation: None,
            plan: vec![PlanItemArg { step: "a".to_owned(), status: StepStatus::InProgress }],
        },
    };
    let lines = printed(vec![plan(false), also, plan(true), plan(true), turn_completed(), plan(false)]);
    assert_eq!(
        lines,
        [
            r#"{"type":"item.started","item":{"id":"item_0","type":"todo_list","items":[{"text":"a","completed":false}]}}"#,
            r#"{"type":"item.updated","item":{"id":"item_0","type":"todo_list","items":[{"text":"a","completed":true}]}}"#,
            r#"{"type":"item.updated","item":{"id":"item_0","type":"todo_list","items":[{"text":"a","completed":true}]}}"#,
            r#"{"type":"item.completed","item":{"id":"item_0","type":"todo_list","items":[{"text":"a","completed":true}]}}"#,
            r#"{"type":"turn.completed","usage":{"input_tokens":5,"cached_input_tokens":4,"output_tokens":2,"reasoning_output_tokens":1}}"#,
            r#"{"type":"item.started","item":{"id":"item_1","type":"todo_list","items":[{"text":"a","completed":false}]}}"#,
        ]
    );
}

#[test]
fn what_the_model_says_and_thinks_is_shown_when_it_is_whole() {
    let thought = |text: &str| TurnItem::Reasoning { id: "r".to_owned(), text: text.to_owned() };
    let lines = printed(vec![
        Event::ItemStarted(message("m", "")),
        Event::AgentMessageDelta { item_id: Some("m".to_owned()), delta: "he".to_owned() },
        Event::ItemUpdated(message("m", "he")),
        Event::ItemCompleted(message("m", "hello\u{2028}\n")),
        Event::ItemCompleted(thought("hm")),
        Event::ItemCompleted(thought("")),
        Event::ItemCompleted(TurnItem::UserMessage { id: "u".to_owned(), text: "go".to_owned() }),
    ]);
    assert_eq!(
        lines,
        [
            "{\"type\":\"item.completed\",\"item\":{\"id\":\"item_0\",\"type\":\"agent_message\",\"text\":\"hello\u{2028}\\n\"}}",
            r#"{"type":"item.completed","item":{"id":"item_1","type":"reasoning","text":"hm"}}"#,
        ]
    );
}

#[test]
fn hosted_items_are_shown() {
    let image = |status: &str| TurnItem::ImageGeneration {
        id: "ig".to_owned(),
        status: status.to_owned(),
        revised_prompt: Some("a cat".to_owned()),
        result: Some("AAAA".to_owned()),
    };
    let search = TurnItem::WebSearch {
        id: "ws".to_owned(),
        query: "rust".to_owned(),
        action: json!({"type": "search"}),
    };
    let lines = printed(vec![
        Event::ItemCompleted(search),
        Event::ItemCompleted(image("completed")),
        Event::ItemCompleted(image("failed")),
        Event::ItemStarted(image("generating")),
    ]);
    assert_eq!(
        lines,
        [
            r#"{"type":"item.completed","item":{"id":"item_0","type":"web_search","query":"rust","action":{"type":"search"}}}"#,
            r#"{"type":"item.completed","item":{"id":"item_1","type":"tool_call","name":"image_generation","arguments":"","output":"a cat","status":"completed"}}"#,
            r#"{"type":"item.completed","item":{"id":"item_2","type":"tool_call","name":"image_generation","arguments":"","output":"a cat","status":"failed"}}"#,
            r#"{"type":"item.started","item":{"id":"item_3","type":"tool_call","name":"image_generation","arguments":"","output":"a cat","status":"in_progress"}}"#,
        ]
    );
}

#[test]
fn ends_and_errors() {
    let aborted = |reason| Event::TurnAborted { turn_id: "t".to_owned(), reason, aborted_calls: Vec::new() };
    let lines = printed(vec![
        Event::Retrying { attempt: 1, max: 5, message: "stream closed".to_owned() },
        Event::Warning { message: "mind".to_owned() },
        Event::ItemCompleted(TurnItem::Error { id: "e".to_owned(), message: "oh".to_owned() }),
        Event::TurnFailed { turn_id: "t".to_owned(), message: "why".to_owned() },
        aborted(AbortReason::Interrupted),
        aborted(AbortReason::Replaced),
        aborted(AbortReason::BudgetLimited),
    ]);
    assert_eq!(
        lines,
        [
            r#"{"type":"error","message":"Reconnecting... 1/5: stream closed"}"#,
            r#"{"type":"item.completed","item":{"id":"item_0","type":"error","message":"mind"}}"#,
            r#"{"type":"item.completed","item":{"id":"item_1","type":"error","message":"oh"}}"#,
            r#"{"type":"turn.failed","error":{"message":"why"}}"#,
            r#"{"type":"turn.failed","error":{"message":"interrupted"}}"#,
            r#"{"type":"turn.failed","error":{"message":"replaced"}}"#,
            r#"{"type":"turn.failed","error":{"message":"budget limited"}}"#,
        ]
    );
}

#[test]
fn a_command_is_quoted_as_a_shell_reads_it() {
    for (argv, expected) in [
        (vec!["true"], "true"),
        (vec!["/bin/sh", "-c", "echo yo; exit 4"], "/bin/sh -c 'echo yo; exit 4'"),
        (vec!["echo", "it's"], "echo \"it's\""),
        (vec!["echo", ""], "echo ''"),
        (vec!["a", "b\0c"], "a b\0c"),
    ] {
        assert_eq!(crate::output::shell_words(&strings(&argv)), expected);
    }
}
