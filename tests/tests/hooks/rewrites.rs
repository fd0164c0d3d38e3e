//! An input that a hook has put in place is the one that is parsed, approved, journalled, shown and run.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use tenon_core::{Policy, PolicyDecision, Question};
use tenon_protocol::ResponseItem;
use tenon_tools::{ApprovalDecision, ApprovalRequest, Approver, Effects, ToolInvocation};
use tokio_util::sync::CancellationToken;

use crate::support::{Place, Setup, documents, exec, function, hook, patch, setup};

const NO_COMMAND: &str = "hook returned updatedInput without string field `command`";

/// Asks about every call, and says yes; keeps what was to be approved.
#[derive(Default)]
struct Asks(Mutex<Vec<Effects>>);

#[async_trait]
impl Policy for Asks {
    async fn decide(&self, _: &ToolInvocation, _: &Effects) -> PolicyDecision {
        PolicyDecision::Ask(Question::default())
    }
}

#[async_trait]
impl Approver for Asks {
    async fn approve(&self, request: ApprovalRequest) -> ApprovalDecision {
        self.0.lock().unwrap().push(request.effects);
        ApprovalDecision::Approved
    }
}

/// What came of a call that a hook has rewritten.
struct Came {
    approved: Vec<Effects>,
    /// The journal's `call_started` lines.
    started: Vec<Value>,
    output: String,
    /// The model's own item, as the next request shows it.
    item: String,
    events: String,
}

async fn rewritten(place: &Place, call: ResponseItem, updated: &Value) -> Came {
    let answer = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow",
                                              "updatedInput": updated}});
    std::fs::write(place.home().join("answer.json"), answer.to_string()).unwrap();
    let log = |file: &str| format!("cat >> {file}; echo >> {file}");
    let mut hooks = hook("PreToolUse", "cat \"$TENON_HOME/answer.json\"");
    for (event, file) in [("PermissionRequest", "asked"), ("PostToolUse", "after")] {
        hooks.as_object_mut().unwrap().extend(hook(event, &log(file)).as_object().unwrap().clone());
    }
    let asks = Arc::new(Asks::default());
    let Setup { builder, service, model, events } = setup(place, &hooks, vec![vec![call.clone()]]);
    let builder = builder.policy(Arc::clone(&asks) as _).approver(Arc::clone(&asks) as _);
    let mut session = builder.build().await.unwrap();
    session.run_turn("go", &CancellationToken::new()).await;
    let rollout = std::fs::read_to_string(session.rollout_path().unwrap()).unwrap();
    session.shutdown().await;
    service.shutdown().await;
    let lines = rollout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let started = lines.filter(|line| line["type"] == "call_started").map(|line| line["payload"].clone());
    let input = model.prompts().last().unwrap().input.clone();
    let of_the_call = |output: bool| {
        let wanted = |item: &&Arc<ResponseItem>| {
            item.call_id() == call.call_id() && item.tag().ends_with("_output") == output
        };
        input.iter().find(wanted).unwrap().raw_json().into_owned()
    };
    let output: Value = serde_json::from_str(&of_the_call(true)).unwrap();
    Came {
        approved: asks.0.lock().unwrap().clone(),
        started: started.collect(),
        output: output["output"].as_str().unwrap().to_owned(),
        item: of_the_call(false),
        events: events.text(),
    }
}

#[tokio::test]
async fn a_rewritten_command_is_approved_journalled_shown_and_run_and_the_models_item_stays() {
    let place = Place::new();
    let call = exec("a", "echo original > original");
    let updated = "echo rewritten | tee rewritten";
    let came = rewritten(&place, call, &json!({ "command": updated })).await;
    assert!(came.output.ends_with("Output:\nrewritten\n"), "{}", came.output);
    assert!(place.work().join("rewritten").exists() && !place.work().join("original").exists());
    let [approved] = came.approved.as_slice() else { panic!("{:?}", came.approved) };
    let shown = format!("{:?}", approved.command);
    assert!(shown.contains(updated) && !shown.contains("original"), "{shown}");
    let [started] = came.started.as_slice() else { panic!("{:?}", came.started) };
    assert_eq!(started["effects"], serde_json::to_value(approved).unwrap());
    assert!(
        came.item.contains("echo original > original") && !came.item.contains("rewritten"),
        "{}",
        came.item
    );
    assert!(came.events.contains(updated) && !came.events.contains("echo original"), "{}", came.events);
    for file in ["asked", "after"] {
        assert_eq!(documents(&place, file)[0]["tool_input"], json!({ "command": updated }), "{file}");
    }
}

#[tokio::test]
async fn a_rewritten_patch_is_approved_journalled_and_applied_and_the_models_item_stays() {
    let place = Place::new();
    let text = |file: &str| format!("*** Begin Patch\n*** Add File: {file}\n+x\n*** End Patch\n");
    let came = rewritten(&place, patch("a", &text("original")), &json!({"command": text("rewritten")})).await;
    assert!(came.output.contains("A rewritten"), "{}", came.output);
    assert!(place.work().join("rewritten").exists() && !place.work().join("original").exists());
    let [approved] = came.approved.as_slice() else { panic!("{:?}", came.approved) };
    let writes: Vec<_> = approved.writes.iter().map(|file| file.path.clone()).collect();
    assert_eq!(writes, [place.work().join("rewritten")]);
    let [started] = came.started.as_slice() else { panic!("{:?}", came.started) };
    assert_eq!(started["effects"], serde_json::to_value(approved).unwrap());
    assert!(came.item.contains("original") && !came.item.contains("rewritten"), "{}", came.item);
    for file in ["asked", "after"] {
        assert_eq!(documents(&place, file)[0]["tool_input"], json!({"command": text("rewritten")}), "{file}");
    }
}

#[tokio::test]
async fn what_a_hook_puts_in_place_is_checked_like_anything_a_model_says() {
    let plan = json!({"plan": [{"step": "one", "status": "pending"}]});
    let rows = [
        (exec("a", "touch made"), json!({}), NO_COMMAND),
        (exec("a", "touch made"), json!({"command": 5}), NO_COMMAND),
        (
            patch("a", "*** Begin Patch\n*** Add File: made\n+x\n*** End Patch\n"),
            json!({"command": "no patch"}),
            "apply_patch verification failed: ",
        ),
        (function("a", "update_plan", &plan), json!({"plan": 5}), "failed to parse function arguments: "),
        (function("a", "update_plan", &plan), json!("text"), "failed to parse function arguments: "),
    ];
    for (call, updated, expected) in rows {
        let place = Place::new();
        let came = rewritten(&place, call, &updated).await;
        assert!(came.output.starts_with(expected), "{updated}: {}", came.output);
        assert!(!place.work().join("made").exists(), "{updated}");
        assert_eq!((came.approved.len(), came.started.len()), (0, 0), "{updated}");
    }
}
