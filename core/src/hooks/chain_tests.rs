//! Several hooks as one (core.md 8.9), and what clients and the operator hear of them (8.11).

use pretty_assertions::assert_eq;
use serde_json::json;
use tenon_tools::{HookEntry, HookEntryKind, HookRunStatus, HookScope, HookSource};

use super::super::testing::{
    CLOSED, EXTENDED, End, PLAIN, after, before, context, exits, hooks, hooks_ending, prints,
};
use super::*;
use crate::hooks::SessionStartSource;

fn rewrites(command: &str) -> End {
    prints(&json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow",
                   "updatedInput": {"command": command}}}))
}

fn adds(context: &str) -> End {
    prints(&json!({"hookSpecificOutput": {"hookEventName": "x", "additionalContext": context}}))
}

fn objects(reason: &str) -> End {
    prints(&json!({"decision": "block", "reason": reason}))
}

/// All under the recorded contract.
fn plain(ends: Vec<End>) -> Vec<(crate::hooks::HookContract, End)> {
    ends.into_iter().map(|end| (PLAIN, end)).collect()
}

#[tokio::test]
async fn the_rewrite_that_ends_last_counts_and_none_when_one_blocks() {
    let cases = [
        (vec![rewrites("one"), rewrites("two")], vec![0, 1], Some("two"), None),
        (vec![rewrites("one"), rewrites("two")], vec![1, 0], Some("one"), None),
        (vec![rewrites("one"), adds("c"), rewrites("two")], vec![2, 0, 1], Some("one"), None),
        (vec![rewrites("one"), objects("no"), rewrites("two")], vec![1, 2, 0], None, Some("no")),
        (vec![objects("first"), objects("second")], vec![1, 0], None, Some("first")),
        (vec![exits(1, "", ""), rewrites("two")], vec![1, 0], Some("two"), None),
    ];
    for (ends, order, rewrite, blocked) in cases {
        let hooks = hooks_ending(HookEventName::PreToolUse, plain(ends), order.clone());
        let outcome = hooks.chain.pre_tool_use(&before(), &[]).await;
        assert_eq!(outcome.rewrite, rewrite.map(|command| json!({ "command": command })), "{order:?}");
        assert_eq!(outcome.blocked.as_deref(), blocked, "{order:?}");
    }
}

#[tokio::test]
async fn contexts_come_in_configured_order_whoever_ends_first() {
    let ends = plain(vec![adds("one"), objects("no"), adds("three")]);
    let hooks = hooks_ending(HookEventName::PreToolUse, ends, vec![2, 1, 0]);
    assert_eq!(hooks.chain.pre_tool_use(&before(), &[]).await.contexts, ["one", "three"]);
    let ends = plain(vec![adds("one"), adds("two")]);
    let hooks = hooks_ending(HookEventName::UserPromptSubmit, ends, vec![1, 0]);
    let event = PromptSubmit { context: context(), prompt: "go".to_owned() };
    assert_eq!(hooks.chain.prompt_submit(&event).await, (None, vec!["one".to_owned(), "two".to_owned()]));
}

#[tokio::test]
async fn a_closed_hook_blocks_beside_open_ones_that_rewrite() {
    for contract in [CLOSED, EXTENDED] {
        let ends = vec![(PLAIN, rewrites("one")), (contract, exits(3, "", "")), (PLAIN, exits(4, "", ""))];
        let hooks = hooks(HookEventName::PreToolUse, ends);
        let outcome = hooks.chain.pre_tool_use(&before(), &[]).await;
        assert_eq!(outcome.blocked.as_deref(), Some("hook exited with code 3"));
        assert_eq!(outcome.rewrite, None);
        assert_eq!(
            hooks.heard.warnings(),
            [
                "PreToolUse hook `1` failed, which counts as an objection: hook exited with code 3",
                "PreToolUse hook `2` failed, which counts as no objection: hook exited with code 4",
            ]
        );
    }
}

#[tokio::test]
async fn feedback_is_joined_and_a_stop_is_heard_where_there_is_none() {
    let stops = |reason: &str| prints(&json!({"continue": false, "stopReason": reason}));
    let rows = [
        (vec![objects("one"), exits(2, "", "two"), stops("three")], Some("one\n\ntwo\n\nthree")),
        (vec![stops("one"), stops("two")], Some("one\n\ntwo")),
        (vec![exits(1, "", ""), objects("two")], Some("two")),
        (vec![exits(0, "", ""), adds("c")], None),
    ];
    for (ends, feedback) in rows {
        let hooks = hooks(HookEventName::PostToolUse, plain(ends));
        let outcome = hooks.chain.post_tool_use(&after(), &[]).await;
        assert_eq!((outcome.feedback.as_deref(), outcome.updated_output), (feedback, None));
    }
}

#[tokio::test]
async fn extended_hooks_filter_one_after_the_other_and_plain_ones_see_the_truth() {
    let puts = |text: &str| {
        prints(&json!({"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": text}}))
    };
    let ends = vec![
        (EXTENDED, puts("one")),
        (PLAIN, exits(0, "", "")),
        (EXTENDED, puts("two")),
        (EXTENDED, exits(0, "", "")),
    ];
    let hooks = hooks_ending(HookEventName::PostToolUse, ends, vec![1, 0, 2, 3]);
    let event = PostToolUse { whole_response: Some(json!("all of the output")), ..after() };
    let outcome = hooks.chain.post_tool_use(&event, &[]).await;
    assert_eq!(outcome.updated_output, Some(json!("two")));
    let seen: std::collections::BTreeMap<_, _> = hooks
        .requests
        .lock()
        .expect("no panic")
        .iter()
        .map(|request| {
            let document: Value = serde_json::from_slice(&request.stdin).expect("JSON");
            (request.argv[2].clone(), document["tool_response"].clone())
        })
        .collect();
    let expected = [("0", "all of the output"), ("1", "out"), ("2", "one"), ("3", "two")];
    assert_eq!(seen, expected.map(|(hook, text)| (hook.into(), json!(text))).into());
}

#[tokio::test]
async fn what_one_extended_hook_could_not_look_at_is_withheld_whatever_another_puts_in_place() {
    let puts = prints(&json!({"hookSpecificOutput": {"hookEventName": "x", "updatedToolOutput": "***"}}));
    let facts = [
        (after(), "ended with exit code 0"),
        (PostToolUse { exit_code: None, ..after() }, "succeeded"),
        (PostToolUse { exit_code: None, success: false, ..after() }, "failed"),
        (PostToolUse { exit_code: Some(3), success: false, ..after() }, "ended with exit code 3"),
        (PostToolUse { exit_code: None, finished: false, is_plain: false, ..after() }, "is still running"),
    ];
    for (event, fact) in facts {
        for order in [[0, 1], [1, 0]] {
            let mut ends = vec![(EXTENDED, exits(1, "", "")), (EXTENDED, puts.clone())];
            if order == [1, 0] {
                ends.reverse();
            }
            let hooks = hooks(HookEventName::PostToolUse, ends);
            let outcome = hooks.chain.post_tool_use(&event, &[]).await;
            let text = format!(
                "PostToolUse hook failed: hook exited with code 1. The call itself {fact}. Its output is withheld."
            );
            assert_eq!((outcome.updated_output, outcome.feedback), (Some(json!(text)), None));
        }
    }
}

#[tokio::test]
async fn plain_hooks_do_not_hear_of_what_is_not_plain() {
    let ends = vec![(PLAIN, objects("plain")), (CLOSED, objects("closed")), (EXTENDED, objects("extended"))];
    let hooks = hooks_ending(HookEventName::PostToolUse, ends, vec![2]);
    let event = PostToolUse { is_plain: false, success: false, ..after() };
    let outcome = hooks.chain.post_tool_use(&event, &[]).await;
    assert_eq!(outcome.feedback.as_deref(), Some("extended"));
    assert_eq!(hooks.requests.lock().expect("no panic").len(), 1);
}

#[tokio::test]
async fn the_first_refusal_wins_and_otherwise_anybodys_leave() {
    let decides = |behavior: &str, message: &str| {
        let decision = json!({"behavior": behavior, "message": message});
        prints(&json!({"hookSpecificOutput": {"hookEventName": "x", "decision": decision}}))
    };
    let deny = |message: &str| PermissionRequestAction::Deny { message: message.to_owned() };
    let undecided = exits(0, "", "");
    let rows = [
        (vec![undecided.clone(), undecided.clone()], PermissionRequestAction::Undecided),
        (vec![undecided.clone(), decides("allow", "")], PermissionRequestAction::Allow),
        (vec![decides("allow", ""), decides("deny", "one"), decides("deny", "two")], deny("one")),
        (vec![decides("deny", "one"), decides("allow", "")], deny("one")),
        (vec![exits(1, "", ""), decides("allow", "")], PermissionRequestAction::Allow),
    ];
    let event = PermissionRequest {
        context: context(),
        tool_name: "Bash".into(),
        tool_input: json!({"command": "ls"}),
        paths: Vec::new(),
    };
    for (ends, expected) in rows {
        let count = ends.len();
        let order = (0..count).rev().collect();
        let hooks = hooks_ending(HookEventName::PermissionRequest, plain(ends), order);
        assert_eq!(hooks.chain.permission_request(&event, &[]).await, expected);
        assert_eq!(hooks.heard.runs().len(), 2 * count);
    }
}

#[tokio::test]
async fn the_first_reason_to_stop_stands() {
    let stops = |reason: &str| prints(&json!({"continue": false, "stopReason": reason}));
    let event = SessionStart { context: context(), source: SessionStartSource::Resume };
    let ends = plain(vec![adds("c"), stops("one"), stops("two")]);
    let hooks = hooks_ending(HookEventName::SessionStart, ends, vec![2, 1, 0]);
    assert_eq!(hooks.chain.session_start(&event).await, (Some("one".to_owned()), vec!["c".to_owned()]));
}

#[tokio::test]
async fn each_blocking_stop_hook_has_a_fragment_and_a_stop_beats_them_all() {
    let event = Stop { context: context(), stop_hook_active: false, last_assistant_message: None };
    let ends = plain(vec![objects("one"), exits(0, "", ""), exits(2, "", "a < b & </hook_prompt>")]);
    let hooks_of = hooks_ending(HookEventName::Stop, ends.clone(), vec![2, 1, 0]);
    assert_eq!(
        hooks_of.chain.stop(&event).await,
        [
            "<hook_prompt hook_run_id=\"stop:0:/h/hooks.json\">one</hook_prompt>",
            "<hook_prompt hook_run_id=\"stop:2:/h/hooks.json\">a &lt; b &amp; &lt;/hook_prompt&gt;</hook_prompt>",
        ]
    );
    let mut stopped = ends;
    stopped.push((PLAIN, prints(&json!({"continue": false}))));
    assert_eq!(hooks(HookEventName::Stop, stopped).chain.stop(&event).await, Vec::<String>::new());
}

#[tokio::test]
async fn clients_are_told_of_all_runs_before_the_first_and_of_their_ends_in_order() {
    let ends = vec![
        (PLAIN, prints(&json!({"systemMessage": "look", "decision": "block", "reason": "no"}))),
        (PLAIN, adds("c")),
        (PLAIN, exits(1, "", "")),
    ];
    let hooks = hooks_ending(HookEventName::PreToolUse, ends, vec![2, 1, 0]);
    hooks.chain.pre_tool_use(&before(), &[]).await;
    let runs = hooks.heard.runs();
    let entry = |kind, text: &str| HookEntry { kind, text: text.to_owned() };
    let short: Vec<_> = runs.iter().map(|(end, run)| (*end, run.display_order, run.status)).collect();
    assert_eq!(
        short,
        [
            (false, 0, HookRunStatus::Running),
            (false, 1, HookRunStatus::Running),
            (false, 2, HookRunStatus::Running),
            (true, 0, HookRunStatus::Blocked),
            (true, 1, HookRunStatus::Completed),
            (true, 2, HookRunStatus::Failed),
        ]
    );
    let entries: Vec<_> = runs[3..].iter().map(|(_, run)| run.entries.clone()).collect();
    assert_eq!(
        entries,
        [
            vec![entry(HookEntryKind::Warning, "look"), entry(HookEntryKind::Feedback, "no")],
            vec![entry(HookEntryKind::Context, "c")],
            vec![entry(HookEntryKind::Error, "hook exited with code 1")],
        ]
    );
    let (started, ended) = (&runs[0].1, &runs[3].1);
    assert_eq!(started.id, "pre-tool-use:0:/h/hooks.json:c");
    assert_eq!((started.scope, started.source), (HookScope::Turn, HookSource::User));
    assert_eq!((started.completed_at, started.duration_ms), (None, None));
    assert!(ended.completed_at.is_some() && ended.duration_ms.is_some());
    let shown = serde_json::to_value(started).expect("JSON");
    assert_eq!(
        (&shown["event_name"], &shown["handler_type"], &shown["execution_mode"], &shown["status"]),
        (&json!("pre_tool_use"), &json!("command"), &json!("sync"), &json!("running"))
    );
}

#[tokio::test]
async fn statuses_that_the_answer_alone_does_not_tell() {
    let rows = [
        (HookEventName::PostToolUse, exits(2, "", "fix"), HookRunStatus::Completed),
        (HookEventName::PostToolUse, objects("fix"), HookRunStatus::Blocked),
        (HookEventName::PostToolUse, prints(&json!({"continue": false})), HookRunStatus::Stopped),
        (HookEventName::UserPromptSubmit, prints(&json!({"continue": false})), HookRunStatus::Stopped),
        (HookEventName::UserPromptSubmit, objects("no"), HookRunStatus::Blocked),
        (HookEventName::SessionStart, prints(&json!({"continue": false})), HookRunStatus::Stopped),
        (HookEventName::Stop, prints(&json!({"continue": false})), HookRunStatus::Stopped),
        (HookEventName::Stop, objects("no"), HookRunStatus::Blocked),
    ];
    for (event, end, status) in rows {
        let hooks = hooks(event, plain(vec![end]));
        if event == HookEventName::PostToolUse {
            hooks.chain.post_tool_use(&after(), &[]).await;
        } else if event == HookEventName::UserPromptSubmit {
            hooks.chain.prompt_submit(&PromptSubmit { context: context(), prompt: String::new() }).await;
        } else if event == HookEventName::SessionStart {
            let source = SessionStartSource::Startup;
            hooks.chain.session_start(&SessionStart { context: context(), source }).await;
        } else {
            let (stop_hook_active, last_assistant_message) = (false, None);
            hooks.chain.stop(&Stop { context: context(), stop_hook_active, last_assistant_message }).await;
        }
        assert_eq!(hooks.heard.runs()[1].1.status, status, "{event:?}");
    }
}

#[tokio::test]
async fn a_question_that_is_withdrawn_has_an_end_too() {
    // The second place is never reached: the hook does not end.
    let hooks = hooks_ending(HookEventName::PreToolUse, plain(vec![exits(0, "", "")]), vec![9, 0]);
    let event = before();
    let asked = hooks.chain.pre_tool_use(&event, &[]);
    assert!(tokio::time::timeout(std::time::Duration::from_millis(1), asked).await.is_err());
    let (is_end, run) = hooks.heard.runs().pop().expect("told");
    assert_eq!((is_end, run.status), (true, HookRunStatus::Failed));
    assert_eq!(
        run.entries,
        [HookEntry { kind: HookEntryKind::Error, text: "hook was cancelled".to_owned() }]
    );
}

#[tokio::test]
async fn every_word_for_the_model_is_bounded() {
    let long = "x".repeat(8 * crate::hooks::HOOK_TEXT_MAX_TOKENS);
    let is_cut = |text: &str| text.contains("tokens truncated…") && text.len() < long.len();
    let chain = |event, end| hooks(event, plain(vec![end])).chain;
    let outcome = chain(HookEventName::PreToolUse, objects(&long)).pre_tool_use(&before(), &[]).await;
    assert!(is_cut(&outcome.blocked.expect("blocked")));
    let outcome = chain(HookEventName::PreToolUse, adds(&long)).pre_tool_use(&before(), &[]).await;
    assert!(is_cut(&outcome.contexts[0]));
    let outcome = chain(HookEventName::PostToolUse, objects(&long)).post_tool_use(&after(), &[]).await;
    assert!(is_cut(&outcome.feedback.expect("feedback")));
    let event = Stop { context: context(), stop_hook_active: false, last_assistant_message: None };
    assert!(is_cut(&chain(HookEventName::Stop, objects(&long)).stop(&event).await[0]));
}
