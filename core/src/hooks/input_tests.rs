use std::path::PathBuf;

use pretty_assertions::assert_eq;
use tenon_protocol::CallId;
use tenon_tools::{ApprovalPolicy, StepContext, ToolCallSource};

use super::*;
use crate::hooks::SessionStartSource;

fn context() -> HookContext {
    HookContext::from(&StepContext {
        session_id: "s".to_owned(),
        turn_id: "t".to_owned(),
        model: "m".to_owned(),
        cwd: PathBuf::from("/w"),
        approval: ApprovalPolicy::Never,
        rollout_path: Some(PathBuf::from("/r.jsonl")),
        ..StepContext::default()
    })
}

/// The document that is expected: what every event tells, and these.
fn expected(event: &str, members: Value) -> Value {
    let mut document = json!({
        "session_id": "s", "turn_id": "t", "transcript_path": "/r.jsonl", "cwd": "/w", "hook_event_name": event,
        "model": "m", "permission_mode": "bypassPermissions",
    });
    let Value::Object(members) = members else { panic!("an object") };
    document.as_object_mut().expect("an object").extend(members);
    document
}

fn pre(paths: Option<Vec<PathBuf>>) -> PreToolUse {
    PreToolUse {
        context: context(),
        tool_name: "Bash".into(),
        tool_input: json!({"command": "ls"}),
        tool_use_id: CallId::from("c"),
        source: ToolCallSource::Direct,
        paths,
    }
}

#[test]
fn a_hook_is_told_of_a_call_before_it() {
    let plain = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "c"});
    let document = Value::Object(pre_tool_use(&pre(Some(vec!["/a".into()])), false));
    assert_eq!(document, expected("PreToolUse", plain.clone()));
    for (paths, shown) in
        [(None, json!(null)), (Some(vec![]), json!([])), (Some(vec!["/a".into()]), json!(["/a"]))]
    {
        let mut extended = plain.clone();
        extended["paths"] = shown;
        assert_eq!(Value::Object(pre_tool_use(&pre(paths), true)), expected("PreToolUse", extended));
    }
}

#[test]
fn a_question_for_permission_does_not_name_the_call() {
    let event = PermissionRequest {
        context: context(),
        tool_name: "apply_patch".into(),
        tool_input: json!({"command": "*** Begin Patch"}),
        paths: vec!["/w/a".into()],
    };
    let plain = json!({"tool_name": "apply_patch", "tool_input": {"command": "*** Begin Patch"}});
    assert_eq!(
        Value::Object(permission_request(&event, false)),
        expected("PermissionRequest", plain.clone())
    );
    let mut extended = plain;
    extended["paths"] = json!(["/w/a"]);
    assert_eq!(Value::Object(permission_request(&event, true)), expected("PermissionRequest", extended));
}

#[test]
fn a_hook_is_told_of_a_call_after_it() {
    let event = PostToolUse {
        context: context(),
        tool_name: "Bash".into(),
        tool_input: json!({"command": "false"}),
        original_input: None,
        tool_response: json!(""),
        whole_response: None,
        tool_use_id: CallId::from("c"),
        source: ToolCallSource::Direct,
        success: false,
        exit_code: Some(1),
        finished: true,
        is_plain: true,
    };
    let plain = json!({
        "tool_name": "Bash", "tool_input": {"command": "false"}, "tool_response": "", "tool_use_id": "c",
    });
    assert_eq!(Value::Object(post_tool_use(&event, false)), expected("PostToolUse", plain.clone()));
    let rows = [
        (event.clone(), json!({"command": "false"}), json!(1), true),
        (
            PostToolUse { original_input: Some(json!({"command": "x"})), ..event.clone() },
            json!({"command": "x"}),
            json!(1),
            true,
        ),
        (
            PostToolUse { exit_code: None, finished: false, ..event },
            json!({"command": "false"}),
            json!(null),
            false,
        ),
    ];
    for (event, original, exit_code, finished) in rows {
        let mut extended = plain.clone();
        extended["original_input"] = original;
        extended["success"] = json!(false);
        extended["exit_code"] = exit_code;
        extended["finished"] = json!(finished);
        assert_eq!(Value::Object(post_tool_use(&event, true)), expected("PostToolUse", extended));
    }
}

#[test]
fn a_hook_is_told_of_prompts_beginnings_and_ends() {
    let prompt = PromptSubmit { context: context(), prompt: "go".to_owned() };
    assert_eq!(Value::Object(prompt_submit(&prompt)), expected("UserPromptSubmit", json!({"prompt": "go"})));
    let stopping = Stop { context: context(), stop_hook_active: true, last_assistant_message: None };
    let members = json!({"stop_hook_active": true, "last_assistant_message": null});
    assert_eq!(Value::Object(stop(&stopping)), expected("Stop", members));
    for (source, name) in [
        (SessionStartSource::Startup, "startup"),
        (SessionStartSource::Resume, "resume"),
        (SessionStartSource::Clear, "clear"),
    ] {
        let mut members = expected("SessionStart", json!({ "source": name }));
        members.as_object_mut().expect("an object").remove("turn_id");
        let start = SessionStart { context: context(), source };
        assert_eq!(Value::Object(session_start(&start)), members);
    }
}

#[test]
fn where_there_is_no_file_and_somebody_may_be_asked() {
    let step =
        StepContext { approval: ApprovalPolicy::OnRequest, rollout_path: None, ..StepContext::default() };
    let document = common(HookEventName::Stop, &HookContext::from(&step));
    assert_eq!(
        (&document["transcript_path"], &document["permission_mode"]),
        (&json!(null), &json!("default"))
    );
}
