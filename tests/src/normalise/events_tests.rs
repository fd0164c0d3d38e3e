use pretty_assertions::assert_eq;

use super::*;

fn places() -> Places {
    Places { cwd: "/c".into(), home: "/h".into(), fixture: "/f".into() }
}

#[test]
fn a_line_that_is_no_json_shows() {
    let long = "x".repeat(LINE_LIMIT + 1);
    let events = events(format!("{{\"type\":\"a\"}}\n\n{long}\n").as_bytes());
    assert_eq!(events, [json!({"type": "a"}), json!({"type": "not json", "line": "x".repeat(LINE_LIMIT)})]);
    assert_eq!(bad_lines(&events), events[1..]);
}

#[test]
fn what_varies_is_left_out() {
    let events = [
        json!({"type": "thread.started", "thread_id": "t"}),
        json!({"type": "turn.started"}),
        json!({"type": "item.completed", "item": {"id": "item_0", "type": "error", "message": "m"}}),
        json!({"type": "item.completed", "item": {"id": "item_1", "type": "command_execution",
            "command": "/usr/bin/bash -lc 'echo /c'", "exit_code": null, "status": "completed"}}),
        json!({"type": "turn.completed", "usage": {"input_tokens": 1}}),
    ];
    assert_eq!(
        shown(&events, &places()).unwrap(),
        json!([
            {"type": "turn.started"},
            {"type": "item.completed", "item": {"type": "command_execution", "command": "<shell> 'echo <cwd>'",
                "status": "completed"}},
            {"type": "turn.completed"},
        ])
    );
}

#[test]
fn any_shell_stands_before_a_command() {
    for (command, expected) in [
        ("/bin/sh -c x", "<shell> x"),
        ("/opt/zsh -lc x", "<shell> x"),
        ("bash -c x", "bash -c x"),
        ("fish -c x", "fish -c x"),
    ] {
        let events = [json!({"type": "item.started", "item": {"command": command}})];
        assert_eq!(shown(&events, &places()).unwrap()[0]["item"]["command"], expected);
    }
}

#[test]
fn the_error_that_ended_the_turn_is_found() {
    let failed = json!({"type": "turn.failed", "error": {"message": "m"}});
    assert_eq!(turn_failed(&[json!({"type": "error", "message": "e"}), failed]), "m");
    assert_eq!(turn_failed(&[json!({"type": "turn.completed"})]), Value::Null);
}
