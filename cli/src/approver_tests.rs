use pretty_assertions::assert_eq;
use tenon_tools::{Effects, FirstRun};

use super::testing::request;
use super::*;

#[test]
fn what_the_model_reads_where_nobody_can_be_asked() {
    let mcp = || Some(McpEffect { server: "s".to_owned(), tool: "t".to_owned(), ..McpEffect::default() });
    let rows = [
        (None, None, "it needs approval, and nobody can be asked in this run"),
        (Some("it dials"), None, "it dials (it needs approval, and nobody can be asked in this run)"),
        (
            Some("Allow the s MCP server to run tool \"t\"?"),
            mcp(),
            "tool \"t\" of the MCP server s was not run: it needs approval, and nobody can be asked in this run",
        ),
        (
            None,
            mcp(),
            "tool \"t\" of the MCP server s was not run: it needs approval, and nobody can be asked in this run",
        ),
        (
            Some("a hook wants it"),
            mcp(),
            "a hook wants it (it needs approval, and nobody can be asked in this run)",
        ),
    ];
    for (reason, mcp, expected) in rows {
        assert_eq!(refusal(reason.map(str::to_owned), mcp), expected);
    }
}

/// Nobody reads a question in place of a reason.
#[tokio::test]
async fn a_second_run_where_nobody_can_be_asked() {
    let first_run = Some(FirstRun { exit_code: 1, denial: String::new() });
    let reason = Some("command failed; retry without sandbox?".to_owned());
    let denied = Unattended.approve(ApprovalRequest { first_run, reason, ..request(Effects::none()) }).await;
    assert_eq!(denied, ApprovalDecision::Denied { reason: Some(NOBODY.to_owned()) });
}
