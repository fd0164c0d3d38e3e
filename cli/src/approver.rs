//! Who is asked before a call runs: nobody, or the person at the terminal.

mod answer;
mod question;
mod terminal;

use async_trait::async_trait;
use tenon_tools::{ApprovalDecision, ApprovalRequest, Approver};

pub(crate) use terminal::TerminalApprover;

/// Nobody can be asked: what would need it is refused, with the reason (cli.md).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unattended;

/// What the model reads where there is no other reason.
const NOBODY: &str = "it needs approval, and nobody can be asked in this run";

#[async_trait]
impl Approver for Unattended {
    async fn approve(&self, request: ApprovalRequest) -> ApprovalDecision {
        let reason = match request.reason {
            Some(reason) => format!("{reason} ({NOBODY})"),
            None => NOBODY.to_owned(),
        };
        ApprovalDecision::Denied { reason: Some(reason) }
    }
}
