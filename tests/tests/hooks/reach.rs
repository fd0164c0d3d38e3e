//! Every tool with a hook identity is seen once before and once after each effect, whoever makes the call.

use std::collections::BTreeSet;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use tenon_core::TurnInput;
use tenon_exec::{ExecConfig, ExecService};
use tenon_tools::TurnMode;
use tokio_util::sync::CancellationToken;

use crate::support::{Place, documents, function, item, patch, run, tools};

/// What hooks see of one effect.
struct Row {
    /// The calls that make it up: tool, and arguments or input.
    calls: Vec<(&'static str, Value)>,
    /// How many of them hooks are told of before and after.
    seen: (usize, usize),
    /// Name and input as hooks see them.
    shown: (&'static str, Value),
}

const PATCH: &str = "*** Begin Patch\n*** Add File: a.txt\n+x\n*** End Patch\n";

/// A picture of one dot.
const PNG: &[u8] = &[
    0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, b'I', b'H', b'D', b'R', 0, 0, 0, 1, 0, 0,
    0, 1, 8, 6, 0, 0, 0, 0x1f, 0x15, 0xc4, 0x89, 0, 0, 0, 0x0d, b'I', b'D', b'A', b'T', 0x78, 0x9c, 0x63,
    0xf8, 0xcf, 0xc0, 0xf0, 0x1f, 0, 5, 0, 1, 0xff, 0x89, 0x99, 0x3d, 0x1d, 0, 0, 0, 0, b'I', b'E', b'N',
    b'D', 0xae, 0x42, 0x60, 0x82,
];

fn rows() -> Vec<Row> {
    let plan = json!({"plan": [{"step": "one", "status": "pending"}]});
    let question = json!({"questions": [{"id": "q", "header": "h", "question": "?", "options": [
        {"label": "yes", "description": "d"}, {"label": "no", "description": "d"}]}]});
    let bash = |command: &str| ("Bash", json!({ "command": command }));
    let slow = "sleep 1; echo x";
    vec![
        Row { calls: vec![("exec_command", json!({"cmd": "echo x"}))], seen: (1, 1), shown: bash("echo x") },
        Row { calls: vec![("exec_command", json!({"cmd": "exit 3"}))], seen: (1, 1), shown: bash("exit 3") },
        Row {
            calls: vec![
                ("exec_command", json!({"cmd": slow, "yield_time_ms": 250})),
                ("write_stdin", json!({"session_id": 0, "yield_time_ms": 5000})),
                ("write_stdin", json!({"session_id": 0, "yield_time_ms": 5000})),
            ],
            seen: (1, 1),
            shown: bash(slow),
        },
        Row {
            calls: vec![("apply_patch", json!(PATCH))],
            seen: (1, 1),
            shown: ("apply_patch", json!({"command": PATCH})),
        },
        Row { calls: vec![("update_plan", plan.clone())], seen: (1, 1), shown: ("update_plan", plan) },
        Row {
            calls: vec![("view_image", json!({"path": "dot.png"}))],
            seen: (1, 1),
            shown: ("view_image", json!({"path": "dot.png"})),
        },
        Row {
            calls: vec![("request_user_input", question.clone())],
            seen: (1, 1),
            shown: ("request_user_input", question),
        },
    ]
}

fn hooks() -> Value {
    let logs = |file: &str| json!([{"hooks": [{"type": "command", "command": format!("cat >> {file}; echo >> {file}")}]}]);
    json!({"PreToolUse": logs("before"), "PostToolUse": logs("after")})
}

/// One call, by the model or by a script.
fn call(nested: bool, number: usize, tool: &str, arguments: &Value) -> tenon_protocol::ResponseItem {
    let id = format!("c{number}");
    match (nested, arguments.as_str()) {
        (true, Some(input)) => function(&id, "calls", &json!({"tool": tool, "input": input})),
        (true, None) => function(&id, "calls", &json!({"tool": tool, "arguments": arguments})),
        (false, Some(input)) => patch(&id, input),
        (false, None) => function(&id, tool, arguments),
    }
}

#[tokio::test]
async fn the_table_has_every_tool() {
    let service = ExecService::new(ExecConfig::new([].into()));
    let registered: BTreeSet<String> = tools(&service)
        .iter()
        .filter(|tool| tool.hook_identity().is_some())
        .map(|tool| tool.name().to_string())
        .collect();
    let covered = rows().into_iter().flat_map(|row| row.calls).map(|(tool, _)| tool.to_owned()).collect();
    assert_eq!(registered, covered);
}

#[tokio::test]
async fn each_effect_is_told_once_before_and_once_after_in_the_same_shape_from_both_sources() {
    for row in rows() {
        let mut shapes = Vec::new();
        for nested in [false, true] {
            let place = Place::new();
            std::fs::write(place.work().join("dot.png"), PNG).unwrap();
            let turns = row
                .calls
                .iter()
                .enumerate()
                .map(|(n, (tool, arguments))| vec![call(nested, n, tool, arguments)]);
            let mode =
                if row.calls[0].0 == "request_user_input" { TurnMode::Plan } else { TurnMode::Default };
            let came = run_with_sessions(&place, mode, turns.collect()).await;
            let (before, after) = (documents(&place, "before"), documents(&place, "after"));
            let tool = row.calls[0].0;
            assert_eq!((before.len(), after.len()), row.seen, "{tool}, nested {nested}: {came:?}");
            let first = if nested { "exec-c0" } else { "c0" };
            for document in before.iter().chain(&after) {
                assert_eq!(document["tool_use_id"], first, "{tool}");
                assert_eq!(
                    (&document["tool_name"], &document["tool_input"]),
                    (&json!(row.shown.0), &row.shown.1)
                );
            }
            shapes.push((shape(&before[0]), shape(&after[0])));
        }
        assert_eq!(shapes[0], shapes[1]);
    }
}

/// A document without what differs from session to session.
fn shape(document: &Value) -> Value {
    let mut document = document.clone();
    for varies in ["session_id", "turn_id", "transcript_path", "cwd", "tool_use_id"] {
        assert!(document[varies].is_string(), "{varies}: {document}");
        document[varies] = json!(varies);
    }
    document
}

/// Plays calls one after the other; a poll is of the session that the call before it has told.
async fn run_with_sessions(
    place: &Place,
    mode: TurnMode,
    turns: Vec<Vec<tenon_protocol::ResponseItem>>,
) -> Vec<String> {
    let crate::support::Setup { builder, service, model, .. } =
        crate::support::setup(place, &hooks(), Vec::new());
    let mut session = builder.build().await.unwrap();
    let mut outputs = Vec::new();
    for turn in turns {
        let running = service.running().first().map(|running| running.session_id);
        let said = turn.iter().map(|item| with_session(item, running)).collect::<Vec<_>>();
        model.push(said);
        let input = TurnInput { text: "go".to_owned(), mode };
        session.run_turn(input, &CancellationToken::new()).await;
        let last = model
            .prompts()
            .last()
            .unwrap()
            .input
            .iter()
            .rev()
            .find(|item| item.tag().ends_with("_output"))
            .cloned();
        outputs.extend(last.map(|item| item.raw_json().into_owned()));
        if running.is_some() && service.running().is_empty() {
            break;
        }
    }
    session.shutdown().await;
    service.shutdown().await;
    outputs
}

fn with_session(said: &tenon_protocol::ResponseItem, session: Option<i32>) -> tenon_protocol::ResponseItem {
    let text = said
        .raw_json()
        .replace("\\\"session_id\\\":0", &format!("\\\"session_id\\\":{}", session.unwrap_or_default()));
    item(&serde_json::from_str(&text).unwrap())
}

#[tokio::test]
async fn a_patch_inside_of_a_command_is_one_effect_of_the_command_and_its_paths_are_known() {
    let command = format!("apply_patch <<'EOF'\n{PATCH}EOF\n");
    let log = |file: &str| {
        json!([{"hooks": [{"type": "command", "command": format!("cat >> {file}; echo >> {file}"),
                                           "extended": true}]}])
    };
    let place = Place::new();
    let hooks = json!({"PreToolUse": log("before"), "PostToolUse": log("after")});
    run(&place, &hooks, vec![vec![crate::support::exec("a", &command)]]).await;
    let (before, after) = (documents(&place, "before"), documents(&place, "after"));
    assert_eq!((before.len(), after.len()), (1, 1));
    assert_eq!(before[0]["paths"], json!([place.work().join("a.txt")]));
    assert_eq!((&after[0]["success"], &after[0]["finished"]), (&json!(true), &json!(true)));
    assert!(after[0]["tool_response"].as_str().unwrap().contains("A a.txt"), "{}", after[0]);
}
