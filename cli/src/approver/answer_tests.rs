use pretty_assertions::assert_eq;

use super::*;

fn all() -> Vec<ApprovalScope> {
    let prefix =
        ApprovalScope::Prefix { prefix: vec!["git".to_owned(), "pull".to_owned()], file: "/r".into() };
    vec![ApprovalScope::Once, ApprovalScope::Session, prefix, always()]
}

fn always() -> ApprovalScope {
    ApprovalScope::McpTool { server: "s".to_owned(), tool: "t".to_owned(), file: "/c".into() }
}

fn denied(reason: Option<&str>) -> Typed {
    Typed::Decision(ApprovalDecision::Denied { reason: reason.map(str::to_owned) })
}

#[test]
fn every_answer() {
    let rows = [
        ("y", Typed::Decision(ApprovalDecision::Approved)),
        (" YES \r", Typed::Decision(ApprovalDecision::Approved)),
        ("s", Typed::Decision(ApprovalDecision::ApprovedForSession)),
        ("p", Typed::Prefix(vec!["git".to_owned(), "pull".to_owned()])),
        ("a", Typed::Decision(ApprovalDecision::ApprovedMcpPolicyAmendment)),
        ("a lot", Typed::Unclear),
        ("n", denied(None)),
        ("no", denied(None)),
        ("n  too risky ", denied(Some("too risky"))),
        ("q", Typed::Decision(ApprovalDecision::Abort)),
        ("", Typed::Unclear),
        ("x", Typed::Unclear),
        ("y no wait", Typed::Unclear),
        ("s what", Typed::Unclear),
    ];
    for (line, expected) in rows {
        assert_eq!(read(line, &all()), expected, "{line:?}");
    }
}

#[test]
fn what_is_not_offered_is_no_answer() {
    for line in ["s", "p", "a"] {
        assert_eq!(read(line, &[ApprovalScope::Once]), Typed::Unclear, "{line}");
    }
}

#[test]
fn a_prefix_is_taken_or_replaced() {
    let shown = || vec!["git".to_owned()];
    assert_eq!(prefix(" \n", shown()), Some(shown()));
    assert_eq!(prefix("git 'a b'", shown()), Some(vec!["git".to_owned(), "a b".to_owned()]));
    assert_eq!(prefix("git 'a", shown()), None);
}
