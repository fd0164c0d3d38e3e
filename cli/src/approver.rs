//! Who is asked before a call runs: nobody, or the person at the terminal.

mod answer;
mod question;
mod terminal;
#[cfg(test)]
mod testing;

use async_trait::async_trait;
use tenon_tools::{ApprovalDecision, ApprovalRequest, Approver, McpEffect};

pub(crate) use terminal::TerminalApprover;

/// Nobody can be asked: what would need it is refused, with the reason (cli.md).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unattended;

/// What the model reads where there is no other reason.
const NOBODY: &str = "it needs approval, and nobody can be asked in this run";

#[async_trait]
impl Approver for Unattended {
    async fn approve(&self, request: ApprovalRequest) -> ApprovalDecision {
        // Of a second run, what is asked is no reason against it.
        let reason = request.reason.filter(|_| request.first_run.is_none());
        ApprovalDecision::Denied { reason: Some(refusal(reason, request.effects.mcp)) }
    }
}

/// A question that was to be put to a person is no reason: what is said of an MCP tool is one of ours.
fn refusal(reason: Option<String>, mcp: Option<McpEffect>) -> String {
    match (reason, mcp) {
        (reason, Some(McpEffect { server, tool, .. }))
            if reason.as_ref().is_none_or(|it| it.ends_with('?')) =>
        {
            format!("tool \"{tool}\" of the MCP server {server} was not run: {NOBODY}")
        }
        (Some(reason), _) => format!("{reason} ({NOBODY})"),
        (None, _) => NOBODY.to_owned(),
    }
}

#[cfg(test)]
#[path = "approver_tests.rs"]
mod tests;
