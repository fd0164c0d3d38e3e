use pretty_assertions::assert_eq;
use tenon_tools::{CommandEffect, FileEffect, McpEffect};

use super::*;

fn command() -> Effects {
    Effects { command: Some(CommandEffect::default()), ..Effects::none() }
}

/// D9.4: what a no comes to, by what it was said to.
#[test]
fn refusals() {
    let patch = Effects { writes: vec![FileEffect { path: "/a".into(), content: None }], ..Effects::none() };
    let mcp = Effects { mcp: Some(McpEffect::default()), ..Effects::none() };
    let other = Effects { other: Some("x".to_owned()), ..Effects::none() };
    let by_user = [
        "exec command rejected by user",
        "patch rejected by user",
        "user rejected MCP tool call",
        "rejected by user",
    ];
    let rows = [
        (None, by_user),
        (Some(""), by_user),
        (Some("  "), by_user),
        // What clients send where a person said no and nothing else.
        (Some("rejected by user"), by_user),
        (
            Some(" too risky "),
            ["exec command rejected: too risky", "patch rejected: too risky", "too risky", "too risky"],
        ),
        (
            Some("approval request failed"),
            [
                "exec command rejected: approval request failed",
                "patch rejected: approval request failed",
                "approval request failed",
                "approval request failed",
            ],
        ),
    ];
    for (reason, expected) in rows {
        let found = [&command(), &patch, &mcp, &other].map(|effects| refusal_text(effects, reason));
        assert_eq!(found, expected, "{reason:?}");
    }
}

#[test]
fn a_clients_own_words_are_cut_at_900_tokens() {
    let other = Effects { other: Some("x".to_owned()), ..Effects::none() };
    let fits = "x".repeat(900 * 4);
    assert_eq!(refusal_text(&other, Some(&fits)), fits);
    let cut = refusal_text(&other, Some(&format!("{fits}y")));
    assert!(cut.contains("tokens truncated"), "{cut}");
}

#[test]
fn what_a_hook_wants_asked_is_asked_unless_it_is_refused() {
    let asks = || Some("a hook says so".to_owned());
    let question = |unsandboxed| {
        PolicyDecision::Ask(Question { reason: asks(), scopes: vec![ApprovalScope::Once], unsandboxed })
    };
    let wide = Question { scopes: vec![ApprovalScope::Once, ApprovalScope::Session], ..Question::default() };
    let denied = PolicyDecision::Deny { text: "no".to_owned() };
    let rows = [
        (PolicyDecision::Allow, question(false)),
        (PolicyDecision::AllowUnsandboxed, question(true)),
        (PolicyDecision::Ask(wide), question(false)),
        (denied.clone(), denied),
    ];
    for (decision, expected) in rows {
        assert_eq!(asked_by_hook(decision.clone(), asks()), expected);
        assert_eq!(asked_by_hook(decision.clone(), None), decision);
    }
}
