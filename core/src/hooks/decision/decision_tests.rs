//! One row a case of core.md 8.6 to 8.8, under each contract, down to what comes of it.

use pretty_assertions::assert_eq;
use serde_json::json;
use tenon_tools::{HookEventName, HookRunStatus};

use crate::hooks::testing::{
    CLOSED, EXTENDED, End, Hooks, PLAIN, after, before, context, exits, hooks, prints,
};
use crate::hooks::{
    HookContract, PermissionRequest, PermissionRequestAction, PostToolUseOutcome, PreToolUseOutcome,
    PromptSubmit, SessionStart, SessionStartSource, Stop,
};

/// What is expected of a row.
enum Expect {
    /// This, under every contract.
    Same(&'static str),
    /// A failure with these words: of no effect, or an objection where the hook is closed.
    Fails(&'static str),
    /// This where the hook is extended, a failure with these words where it is not.
    Extends(&'static str, &'static str),
    /// This in the recorded form; a failure with these words where the hook is closed.
    SameUnlessClosed(&'static str, &'static str),
}

use Expect::{Extends, Fails, Same, SameUnlessClosed};

/// Nothing happens.
const NOTHING: &str = "";

/// The exit codes that are told alike by all events.
fn common(event: &'static str) -> Vec<(End, Expect)> {
    let invalid = match event {
        "PreToolUse" => "hook returned invalid pre-tool-use JSON output",
        "PermissionRequest" => "hook returned invalid permission-request JSON output",
        "PostToolUse" => "hook returned invalid post-tool-use JSON output",
        "UserPromptSubmit" => "hook returned invalid user prompt submit JSON output",
        "SessionStart" => "hook returned invalid session start JSON output",
        _ => "hook returned invalid stop hook JSON output",
    };
    let killed = Ok(tenon_tools::CommandOutcome {
        exit_code: None,
        stdout: b"{}".to_vec(),
        stderr: b"no".to_vec(),
        dropped_bytes: 0,
    });
    vec![
        (exits(0, "", ""), Same(NOTHING)),
        (exits(0, " \n\t", "words nobody reads"), Same(NOTHING)),
        (exits(0, "{}", ""), Same(NOTHING)),
        (exits(0, "\n {} \n", ""), Same(NOTHING)),
        (exits(1, "{}", "oops"), Fails("hook exited with code 1")),
        (exits(127, "", ""), Fails("hook exited with code 127")),
        (killed, Fails("hook exited without a status code")),
        (exits(0, "{", ""), Fails(invalid)),
        (exits(0, "[]", ""), Fails(invalid)),
        (exits(0, "[1, 2]", ""), Fails(invalid)),
        (exits(0, "{} and more", ""), Fails(invalid)),
        (exits(0, "{}{}", ""), Fails(invalid)),
        (prints(&json!({"unknown": 1})), Fails(invalid)),
        (prints(&json!({"continue": null})), Fails(invalid)),
        (prints(&json!({"continue": "no"})), Fails(invalid)),
        (prints(&json!({"suppressOutput": null})), Fails(invalid)),
        (prints(&json!({"systemMessage": 1})), Fails(invalid)),
        (exits(0, "{\"continue\": true, \"continue\": true}", ""), Fails(invalid)),
        (prints(&json!({"stopReason": null, "systemMessage": null, "continue": true})), Same(NOTHING)),
        (prints(&json!({"systemMessage": "look"})), Same("warned(look)")),
        (Err(tenon_tools::CommandError::Spawn("no shell".to_owned())), Fails("no shell")),
        (
            Err(tenon_tools::CommandError::Stdin("broken".to_owned())),
            Fails("failed to write hook stdin: broken"),
        ),
        (
            Err(tenon_tools::CommandError::TimedOut(std::time::Duration::from_secs(7))),
            Fails("hook timed out after 7s"),
        ),
    ]
}

/// What the operator was told, in short.
fn told(hooks: &Hooks) -> (Option<String>, Vec<String>) {
    let (mut failure, mut warned) = (None, Vec::new());
    for warning in hooks.heard.warnings() {
        let (_, words) = warning.split_once("hook `0`").unwrap_or_else(|| panic!("names no hook: {warning}"));
        match words.split_once(" failed, which counts as ") {
            Some((_, words)) => failure = words.split_once(": ").map(|(_, why)| why.to_owned()),
            None => warned.push(format!("warned({})", words.trim_start_matches(": "))),
        }
    }
    (failure, warned)
}

/// Runs all rows under all contracts. `effect` gives what came of a run in words; `objection` is what the failure of a
/// closed hook comes to, `{}` in it for the words.
async fn check(
    event: HookEventName,
    rows: Vec<(End, Expect)>,
    objection: impl Fn(HookContract) -> &'static str,
    effect: impl AsyncFn(&Hooks) -> String,
) {
    for (end, expect) in rows {
        for contract in [PLAIN, CLOSED, EXTENDED] {
            let hooks = hooks(event, vec![(contract, end.clone())]);
            let came = effect(&hooks).await;
            let (failure, warned) = told(&hooks);
            let seen = [came].into_iter().filter(|came| !came.is_empty()).chain(warned);
            let seen = seen.collect::<Vec<_>>().join(" ");
            let failed = |why: &str| {
                let objection = objection(contract).replace("{}", why);
                (Some(why.to_owned()), if contract.is_closed() { objection } else { String::new() })
            };
            let expected = match expect {
                Same(effect) => (None, effect.to_owned()),
                Fails(why) => failed(why),
                Extends(effect, _) if contract.extended => (None, effect.to_owned()),
                Extends(_, why) => failed(why),
                SameUnlessClosed(_, why) if contract.is_closed() => failed(why),
                SameUnlessClosed(effect, _) => (None, effect.to_owned()),
            };
            assert_eq!((failure.clone(), seen), expected, "{event:?} {contract:?} {end:?}");
            let runs = hooks.heard.runs();
            assert_eq!((runs.len(), runs[0].1.status, runs[1].0), (2, HookRunStatus::Running, true));
            assert_eq!(runs[1].1.status == HookRunStatus::Failed, failure.is_some(), "{end:?}");
        }
    }
}

const NOISE: &str =
    "warned(it printed other text before its JSON, so that the JSON counts as text and not as a decision)";
const NO_DECISION: &str = "hook returned text that is no decision";

fn pre_effect(outcome: PreToolUseOutcome) -> String {
    let PreToolUseOutcome { blocked, rewrite, ask, contexts } = outcome;
    let mut words: Vec<String> = blocked.iter().map(|reason| format!("block({reason})")).collect();
    words.extend(rewrite.iter().map(|input| format!("rewrite({input})")));
    words.extend(ask.iter().map(|reason| format!("ask({reason})")));
    words.extend(contexts.iter().map(|context| format!("context({context})")));
    words.join(" ")
}

fn pre(members: serde_json::Value) -> End {
    let mut specific = members;
    specific["hookEventName"] = json!("PreToolUse");
    prints(&json!({ "hookSpecificOutput": specific }))
}

#[tokio::test]
async fn pre_tool_use() {
    let input = json!({"command": "x"});
    let invalid = "hook returned invalid pre-tool-use JSON output";
    let without_allow = "PreToolUse hook returned updatedInput without permissionDecision:allow";
    let no_reason =
        "PreToolUse hook returned permissionDecision:deny without a non-empty permissionDecisionReason";
    let beside = "PreToolUse hook returned decision or reason beside hookSpecificOutput";
    let mut rows = common("PreToolUse");
    rows.extend([
        // Exit code 2: standard output is not looked at, standard error is trimmed.
        (exits(2, "{}", " no \n"), Same("block(no)")),
        (exits(2, "{\"broken", "no"), Same("block(no)")),
        (
            exits(2, "{\"decision\": \"block\", \"reason\": \"x\"}", " \n"),
            Fails("PreToolUse hook exited with code 2 but did not write a blocking reason to stderr"),
        ),
        // Other text.
        (exits(0, "formatted 3 files", ""), SameUnlessClosed(NOTHING, NO_DECISION)),
        (exits(0, "\"a string\"", ""), SameUnlessClosed(NOTHING, NO_DECISION)),
        (exits(0, "true", ""), SameUnlessClosed(NOTHING, NO_DECISION)),
        (
            exits(0, "loading\n{\"decision\": \"block\", \"reason\": \"no\"}", ""),
            SameUnlessClosed(NOISE, NO_DECISION),
        ),
        (exits(0, "debug {\"decision\": \"block\", \"reason\": \"no\"}", ""), SameUnlessClosed(NOISE, NO_DECISION)),
        // What all events have and this one has no use for, the first problem first.
        (prints(&json!({"continue": false, "stopReason": "x"})), Fails("PreToolUse hook returned unsupported continue:false")),
        (prints(&json!({"stopReason": "x", "suppressOutput": true})), Fails("PreToolUse hook returned unsupported stopReason")),
        (prints(&json!({"stopReason": ""})), Fails("PreToolUse hook returned unsupported stopReason")),
        (prints(&json!({"suppressOutput": true})), Fails("PreToolUse hook returned unsupported suppressOutput")),
        (prints(&json!({"suppressOutput": false, "continue": true})), Same(NOTHING)),
        // The decision.
        (pre(json!({"permissionDecision": "deny", "permissionDecisionReason": "no"})), Same("block(no)")),
        (pre(json!({"permissionDecision": "deny", "permissionDecisionReason": " no\n"})), Same("block( no\n)")),
        (pre(json!({"permissionDecision": "deny"})), Fails(no_reason)),
        (pre(json!({"permissionDecision": "deny", "permissionDecisionReason": " "})), Fails(no_reason)),
        (pre(json!({"permissionDecision": "deny", "permissionDecisionReason": null})), Fails(no_reason)),
        (
            pre(json!({"permissionDecision": "deny", "permissionDecisionReason": "no", "additionalContext": "c"})),
            Same("block(no) context(c)"),
        ),
        (
            pre(json!({"permissionDecision": "deny", "permissionDecisionReason": "no", "updatedInput": input})),
            Fails(without_allow),
        ),
        (
            pre(json!({"permissionDecision": "deny", "permissionDecisionReason": "no", "updatedInput": null})),
            Same("block(no)"),
        ),
        (pre(json!({"permissionDecision": "allow", "updatedInput": input})), Same("rewrite({\"command\":\"x\"})")),
        (
            pre(json!({"permissionDecision": "allow", "updatedInput": input, "additionalContext": "c"})),
            Same("rewrite({\"command\":\"x\"}) context(c)"),
        ),
        (pre(json!({"updatedInput": input})), Fails(without_allow)),
        (pre(json!({"permissionDecision": "ask", "updatedInput": input})), Fails(without_allow)),
        (pre(json!({"updatedInput": input, "additionalContext": "c"})), Fails(without_allow)),
        (
            pre(json!({"permissionDecision": "allow"})),
            Fails("PreToolUse hook returned unsupported permissionDecision:allow"),
        ),
        (
            pre(json!({"permissionDecision": "allow", "updatedInput": null})),
            Fails("PreToolUse hook returned unsupported permissionDecision:allow"),
        ),
        (
            pre(json!({"permissionDecision": "ask", "permissionDecisionReason": "me"})),
            Extends("ask(me)", "PreToolUse hook returned unsupported permissionDecision:ask"),
        ),
        (
            pre(json!({"permissionDecision": "ask", "permissionDecisionReason": " "})),
            Extends(
                "ask(a hook wants it approved)",
                "PreToolUse hook returned unsupported permissionDecision:ask",
            ),
        ),
        (
            pre(json!({"permissionDecisionReason": "no"})),
            Fails("PreToolUse hook returned permissionDecisionReason without permissionDecision"),
        ),
        (
            pre(json!({"permissionDecision": null, "permissionDecisionReason": "no"})),
            Fails("PreToolUse hook returned permissionDecisionReason without permissionDecision"),
        ),
        (pre(json!({"additionalContext": "c"})), Same("context(c)")),
        (pre(json!({"additionalContext": " c\n"})), Same("context( c\n)")),
        (pre(json!({"additionalContext": "  "})), Same(NOTHING)),
        (pre(json!({"additionalContext": null})), Same(NOTHING)),
        // Its shape.
        (pre(json!({"permissionDecision": "maybe"})), Fails(invalid)),
        (pre(json!({"permissionDecision": "Deny", "permissionDecisionReason": "no"})), Fails(invalid)),
        (pre(json!({"unknown": 1, "permissionDecision": "deny", "permissionDecisionReason": "no"})), Fails(invalid)),
        (pre(json!({"additionalContext": 1})), Fails(invalid)),
        (prints(&json!({"hookSpecificOutput": {"additionalContext": "c"}})), Fails(invalid)),
        (prints(&json!({"hookSpecificOutput": {"hookEventName": null}})), Fails(invalid)),
        (prints(&json!({"hookSpecificOutput": ["PreToolUse", "deny", "no"]})), Fails(invalid)),
        (prints(&json!({"hookSpecificOutput": "x"})), Fails(invalid)),
        (prints(&json!({"hookSpecificOutput": null})), Same(NOTHING)),
        (
            prints(&json!({"hookSpecificOutput": {"hookEventName": "Another", "additionalContext": "c"}})),
            Same("context(c)"),
        ),
        (
            exits(
                0,
                "{\"hookSpecificOutput\": {\"hookEventName\": \"PreToolUse\", \"permissionDecision\": \"deny\", \
                 \"permissionDecision\": \"allow\"}}",
                "",
            ),
            Fails(invalid),
        ),
        // The old pair.
        (prints(&json!({"decision": "block", "reason": "no"})), Same("block(no)")),
        (prints(&json!({"decision": "block", "reason": " no\n"})), Same("block( no\n)")),
        (
            prints(&json!({"decision": "block"})),
            Fails("PreToolUse hook returned decision:block without a non-empty reason"),
        ),
        (
            prints(&json!({"decision": "block", "reason": " "})),
            Fails("PreToolUse hook returned decision:block without a non-empty reason"),
        ),
        (prints(&json!({"decision": "approve"})), Fails("PreToolUse hook returned unsupported decision:approve")),
        (prints(&json!({"reason": "no"})), Fails("PreToolUse hook returned reason without decision")),
        (prints(&json!({"decision": "deny", "reason": "no"})), Fails(invalid)),
        (prints(&json!({"decision": null, "reason": null})), Same(NOTHING)),
        (
            prints(&json!({"decision": "block", "reason": "no", "hookSpecificOutput": {"hookEventName": "PreToolUse"}})),
            Same("block(no)"),
        ),
        (
            prints(&json!({"decision": "block", "reason": "no",
                           "hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "c"}})),
            SameUnlessClosed("context(c)", beside),
        ),
        (
            prints(&json!({"decision": "approve",
                "hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny",
                                       "permissionDecisionReason": "no"}})),
            SameUnlessClosed("block(no)", beside),
        ),
        (prints(&json!({"systemMessage": "look", "decision": "block", "reason": "no"})), Same("block(no) warned(look)")),
    ]);
    let effect = async |hooks: &Hooks| pre_effect(hooks.chain.pre_tool_use(&before(), &[]).await);
    check(HookEventName::PreToolUse, rows, |_| "block({})", effect).await;
}

#[tokio::test]
async fn the_words_of_a_hook_are_told_even_when_it_fails() {
    let end = prints(&json!({"systemMessage": "look", "continue": false}));
    let hooks = hooks(HookEventName::PreToolUse, vec![(PLAIN, end)]);
    hooks.chain.pre_tool_use(&before(), &[]).await;
    assert_eq!(
        hooks.heard.warnings(),
        [
            "PreToolUse hook `0`: look",
            "PreToolUse hook `0` failed, which counts as no objection: PreToolUse hook returned unsupported \
             continue:false",
        ]
    );
}

fn post_effect(outcome: PostToolUseOutcome) -> String {
    let PostToolUseOutcome { feedback, contexts, updated_output } = outcome;
    let mut words: Vec<String> = feedback.iter().map(|text| format!("feedback({text})")).collect();
    words.extend(updated_output.iter().map(|output| format!("output({output})")));
    words.extend(contexts.iter().map(|context| format!("context({context})")));
    words.join(" ")
}

#[tokio::test]
async fn post_tool_use() {
    let invalid = "hook returned invalid post-tool-use JSON output";
    let suppressed = "PostToolUse hook returned unsupported suppressOutput";
    let mcp = "PostToolUse hook returned unsupported updatedMCPToolOutput";
    let specific = |members: serde_json::Value, beside: serde_json::Value| {
        let mut output = beside;
        output["hookSpecificOutput"] = members;
        output["hookSpecificOutput"]["hookEventName"] = json!("PostToolUse");
        prints(&output)
    };
    let mut rows = common("PostToolUse");
    rows.extend([
        (exits(2, "{}", " fix it \n"), Same("feedback(fix it)")),
        (exits(2, "", ""), Fails("PostToolUse hook exited with code 2 but did not write feedback to stderr")),
        (exits(0, "done", ""), SameUnlessClosed(NOTHING, NO_DECISION)),
        (
            exits(0, "x {\"decision\": \"block\", \"reason\": \"no\"}", ""),
            SameUnlessClosed(NOISE, NO_DECISION),
        ),
        (prints(&json!({"continue": false})), Same("feedback(PostToolUse hook stopped execution)")),
        (prints(&json!({"continue": false, "stopReason": "enough"})), Same("feedback(enough)")),
        (prints(&json!({"continue": false, "stopReason": "enough", "reason": "why"})), Same("feedback(why)")),
        (
            prints(&json!({"continue": false, "stopReason": "enough", "reason": " "})),
            Same("feedback(enough)"),
        ),
        (prints(&json!({"continue": false, "decision": "block", "reason": "why"})), Same("feedback(why)")),
        (
            prints(&json!({"continue": false, "suppressOutput": true})),
            SameUnlessClosed("feedback(PostToolUse hook stopped execution)", suppressed),
        ),
        (
            specific(json!({"additionalContext": "c"}), json!({"continue": false, "stopReason": "enough"})),
            Same("feedback(enough) context(c)"),
        ),
        (prints(&json!({"stopReason": "enough"})), Same(NOTHING)),
        (prints(&json!({"suppressOutput": true, "decision": "block", "reason": "no"})), Fails(suppressed)),
        (specific(json!({"updatedMCPToolOutput": {}}), json!({})), Fails(mcp)),
        (specific(json!({"updatedMCPToolOutput": null}), json!({})), Same(NOTHING)),
        (
            specific(json!({"updatedMCPToolOutput": 1}), json!({"continue": false})),
            SameUnlessClosed("feedback(PostToolUse hook stopped execution)", mcp),
        ),
        (
            prints(&json!({"decision": "block", "reason": " "})),
            Fails("PostToolUse hook returned decision:block without a non-empty reason"),
        ),
        (
            prints(&json!({"decision": "block"})),
            Fails("PostToolUse hook returned decision:block without a non-empty reason"),
        ),
        (prints(&json!({"reason": "x"})), Fails("PostToolUse hook returned reason without decision")),
        (prints(&json!({"decision": "block", "reason": " fix\n"})), Same("feedback( fix\n)")),
        (prints(&json!({"decision": "approve"})), Fails(invalid)),
        (prints(&json!({"decision": null, "reason": null})), Same(NOTHING)),
        (specific(json!({"additionalContext": "c"}), json!({})), Same("context(c)")),
        (specific(json!({"additionalContext": "\n"}), json!({})), Same(NOTHING)),
        (
            specific(json!({"additionalContext": "c"}), json!({"decision": "block", "reason": "fix"})),
            Same("feedback(fix) context(c)"),
        ),
        (
            specific(json!({"additionalContext": "c"}), json!({"decision": "block"})),
            Fails("PostToolUse hook returned decision:block without a non-empty reason"),
        ),
        (specific(json!({"permissionDecision": "deny"}), json!({})), Fails(invalid)),
    ]);
    let objection = |contract: HookContract| match contract.extended {
        false => "feedback(PostToolUse hook failed: {}. The call itself ended with exit code 0.)",
        true => {
            "output(\"PostToolUse hook failed: {}. The call itself ended with exit code 0. Its output is withheld.\")"
        }
    };
    let effect = async |hooks: &Hooks| post_effect(hooks.chain.post_tool_use(&after(), &[]).await);
    check(HookEventName::PostToolUse, rows, objection, effect).await;
}

#[tokio::test]
async fn only_an_extended_hook_may_put_another_output_in_place() {
    let output = |members: serde_json::Value| {
        let mut specific = members;
        specific["hookEventName"] = json!("PostToolUse");
        prints(&json!({ "hookSpecificOutput": specific, "decision": "block", "reason": "seen" }))
    };
    let invalid = "PostToolUse hook failed: hook returned invalid post-tool-use JSON output. The call itself ended \
                   with exit code 0.";
    let closed = format!("feedback({invalid})");
    let rows = [
        (json!({"updatedToolOutput": "***"}), PLAIN, ""),
        (json!({"updatedToolOutput": "***"}), CLOSED, closed.as_str()),
        (json!({"updatedToolOutput": null}), PLAIN, ""),
        (json!({"updatedToolOutput": "***"}), EXTENDED, "feedback(seen) output(\"***\")"),
        (json!({"updatedToolOutput": ""}), EXTENDED, "feedback(seen) output(\"\")"),
        (json!({"updatedToolOutput": {"a": [1]}}), EXTENDED, "feedback(seen) output({\"a\":[1]})"),
        (json!({"updatedToolOutput": null}), EXTENDED, "feedback(seen)"),
        (
            json!({"updatedToolOutput": "***", "additionalContext": "c"}),
            EXTENDED,
            "feedback(seen) output(\"***\") context(c)",
        ),
    ];
    for (members, contract, expected) in rows {
        let hooks = hooks(HookEventName::PostToolUse, vec![(contract, output(members.clone()))]);
        assert_eq!(
            post_effect(hooks.chain.post_tool_use(&after(), &[]).await),
            expected,
            "{members} {contract:?}"
        );
    }
}

#[tokio::test]
async fn permission_request() {
    let invalid = "hook returned invalid permission-request JSON output";
    let decided = |decision: serde_json::Value| {
        prints(&json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}))
    };
    let mut rows = common("PermissionRequest");
    rows.extend([
        (exits(2, "", " no \n"), Same("deny(no)")),
        (
            exits(2, "", "\n"),
            Fails("PermissionRequest hook exited with code 2 but did not write a denial reason to stderr"),
        ),
        (exits(0, "fine", ""), SameUnlessClosed(NOTHING, NO_DECISION)),
        (
            prints(&json!({"continue": false})),
            Fails("PermissionRequest hook returned unsupported continue:false"),
        ),
        (
            prints(&json!({"stopReason": "x"})),
            Fails("PermissionRequest hook returned unsupported stopReason"),
        ),
        (
            prints(&json!({"suppressOutput": true})),
            Fails("PermissionRequest hook returned unsupported suppressOutput"),
        ),
        (decided(json!({"behavior": "allow"})), Same("allow")),
        (decided(json!({"behavior": "allow", "message": "x", "interrupt": false})), Same("allow")),
        (decided(json!({"behavior": "deny", "message": " no \n"})), Same("deny(no)")),
        (decided(json!({"behavior": "deny"})), Same("deny(PermissionRequest hook denied approval)")),
        (
            decided(json!({"behavior": "deny", "message": " "})),
            Same("deny(PermissionRequest hook denied approval)"),
        ),
        (
            decided(json!({"behavior": "deny", "message": null})),
            Same("deny(PermissionRequest hook denied approval)"),
        ),
        (
            decided(json!({"behavior": "allow", "updatedInput": {}, "interrupt": true})),
            Fails("PermissionRequest hook returned unsupported updatedInput"),
        ),
        (
            decided(json!({"behavior": "deny", "updatedPermissions": []})),
            Fails("PermissionRequest hook returned unsupported updatedPermissions"),
        ),
        (
            decided(json!({"behavior": "deny", "interrupt": true})),
            Fails("PermissionRequest hook returned unsupported interrupt:true"),
        ),
        (
            decided(json!({"behavior": "allow", "updatedInput": null, "updatedPermissions": null})),
            Same("allow"),
        ),
        (decided(json!({"behavior": "allow", "interrupt": null})), Fails(invalid)),
        (decided(json!({"behavior": "ask"})), Fails(invalid)),
        (decided(json!({"message": "no"})), Fails(invalid)),
        (decided(json!({"behavior": "deny", "unknown": 1})), Fails(invalid)),
        (decided(json!(["deny"])), Fails(invalid)),
        (decided(json!(null)), Same(NOTHING)),
        (prints(&json!({"decision": "block", "reason": "no"})), Fails(invalid)),
    ]);
    let event = PermissionRequest {
        context: context(),
        tool_name: "Bash".into(),
        tool_input: json!({"command": "ls"}),
        paths: Vec::new(),
    };
    let effect = async |hooks: &Hooks| match hooks.chain.permission_request(&event, &[]).await {
        PermissionRequestAction::Undecided => String::new(),
        PermissionRequestAction::Allow => "allow".to_owned(),
        PermissionRequestAction::Deny { message } => format!("deny({message})"),
    };
    check(HookEventName::PermissionRequest, rows, |_| "deny({})", effect).await;
}

/// A reason to stop, and contexts.
fn begun_effect((stop, contexts): (Option<String>, Vec<String>)) -> String {
    let mut words: Vec<String> = stop.iter().map(|reason| format!("stop({reason})")).collect();
    words.extend(contexts.iter().map(|context| format!("context({context})")));
    words.join(" ")
}

#[tokio::test]
async fn prompt_submit() {
    let invalid = "hook returned invalid user prompt submit JSON output";
    let with_context = |members: serde_json::Value| {
        let mut output = members;
        output["hookSpecificOutput"] = json!({"hookEventName": "UserPromptSubmit", "additionalContext": "c"});
        prints(&output)
    };
    let hidden = "context(x {\"decision\": \"block\", \"reason\": \"no\"}) warned(it printed other text before its \
                  JSON, so that the JSON counts as text and not as a decision)";
    let mut rows = common("UserPromptSubmit");
    rows.extend([
        (exits(2, "", " no \n"), Same("stop(no)")),
        (
            exits(2, "c", ""),
            Fails("UserPromptSubmit hook exited with code 2 but did not write a blocking reason to stderr"),
        ),
        (exits(0, " the branch is main \n", ""), Same("context(the branch is main)")),
        (
            exits(0, "x {\"decision\": \"block\", \"reason\": \"no\"}", ""),
            SameUnlessClosed(hidden, NO_DECISION),
        ),
        (prints(&json!({"continue": false})), Same("stop(UserPromptSubmit hook stopped execution)")),
        (with_context(json!({"continue": false, "stopReason": "enough"})), Same("stop(enough) context(c)")),
        (
            prints(&json!({"continue": false, "decision": "block"})),
            Same("stop(UserPromptSubmit hook stopped execution)"),
        ),
        (with_context(json!({"decision": "block", "reason": " no"})), Same("stop( no) context(c)")),
        (
            with_context(json!({"decision": "block", "reason": ""})),
            Fails("UserPromptSubmit hook returned decision:block without a non-empty reason"),
        ),
        (prints(&json!({"decision": "approve"})), Fails(invalid)),
        (
            with_context(json!({"reason": "no"})),
            SameUnlessClosed("context(c)", "UserPromptSubmit hook returned reason without decision"),
        ),
        (with_context(json!({"suppressOutput": true, "stopReason": "x"})), Same("context(c)")),
    ]);
    let event = PromptSubmit { context: context(), prompt: "go".to_owned() };
    let effect = async |hooks: &Hooks| begun_effect(hooks.chain.prompt_submit(&event).await);
    check(HookEventName::UserPromptSubmit, rows, |_| "stop({})", effect).await;
}

#[tokio::test]
async fn session_start() {
    let with_context = |members: serde_json::Value| {
        let mut output = members;
        output["hookSpecificOutput"] = json!({"hookEventName": "SessionStart", "additionalContext": "c"});
        prints(&output)
    };
    let mut rows = common("SessionStart");
    rows.extend([
        (exits(2, "c", "no"), Fails("hook exited with code 2")),
        (exits(2, "", ""), Fails("hook exited with code 2")),
        (exits(0, "welcome\n", ""), Same("context(welcome)")),
        (with_context(json!({"suppressOutput": true})), Same("context(c)")),
        (with_context(json!({"continue": false, "stopReason": "closed"})), Same("stop(closed) context(c)")),
        (prints(&json!({"continue": false})), Same("stop(SessionStart hook stopped execution)")),
        (prints(&json!({"decision": "block"})), Fails("hook returned invalid session start JSON output")),
    ]);
    let event = SessionStart { context: context(), source: SessionStartSource::Startup };
    let effect = async |hooks: &Hooks| begun_effect(hooks.chain.session_start(&event).await);
    check(HookEventName::SessionStart, rows, |_| "stop({})", effect).await;
}

#[tokio::test]
async fn stop() {
    let invalid = "hook returned invalid stop hook JSON output";
    let prompt = "go on(<hook_prompt hook_run_id=\"stop:0:/h/hooks.json\">run the tests</hook_prompt>)";
    let mut rows = common("Stop");
    rows.extend([
        (exits(2, "", " run the tests \n"), Same(prompt)),
        (
            exits(2, "", ""),
            Fails("Stop hook exited with code 2 but did not write a continuation prompt to stderr"),
        ),
        (prints(&json!({"decision": "block", "reason": "run the tests"})), Same(prompt)),
        (
            prints(&json!({"decision": "block", "reason": " "})),
            Fails("Stop hook returned decision:block without a non-empty reason"),
        ),
        (prints(&json!({"continue": false, "decision": "block", "reason": "run the tests"})), Same(NOTHING)),
        (
            prints(&json!({"reason": "x"})),
            SameUnlessClosed(NOTHING, "Stop hook returned reason without decision"),
        ),
        (prints(&json!({"suppressOutput": true})), Same(NOTHING)),
        (prints(&json!({"decision": "approve"})), Fails(invalid)),
        (prints(&json!({"hookSpecificOutput": null})), Fails(invalid)),
    ]);
    let event = Stop { context: context(), stop_hook_active: false, last_assistant_message: None };
    let effect = async |hooks: &Hooks| {
        let prompts = hooks.chain.stop(&event).await;
        prompts.iter().map(|prompt| format!("go on({prompt})")).collect::<Vec<_>>().join(" ")
    };
    let objection =
        |_| "go on(<hook_prompt hook_run_id=\"stop:0:/h/hooks.json\">Stop hook failed: {}</hook_prompt>)";
    check(HookEventName::Stop, rows, objection, effect).await;
}

#[tokio::test]
async fn other_text_of_a_stop_hook_is_a_failure() {
    for (contract, why) in [(PLAIN, "hook returned invalid stop hook JSON output"), (CLOSED, NO_DECISION)] {
        let hooks = hooks(HookEventName::Stop, vec![(contract, exits(0, "bye", ""))]);
        let event = Stop { context: context(), stop_hook_active: true, last_assistant_message: None };
        // One that fails has had its say already: it would keep the turn going for ever.
        assert_eq!(hooks.chain.stop(&event).await, Vec::<String>::new());
        assert_eq!(told(&hooks).0.as_deref(), Some(why));
    }
}
