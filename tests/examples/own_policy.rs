//! Who may do what: a policy decides on what a call would do, and asks a person where it cannot.
//!
//! `cargo run -p tenon-tests --example own_policy`

mod script;

use std::sync::Arc;

use async_trait::async_trait;
use script::{call, outputs};
use tenon_core::{Policy, PolicyDecision, SessionBuilder, SessionOptions};
use tenon_tools::{
    ApprovalDecision, ApprovalRequest, Approver, Effects, FnTool, ScriptedModel, ScriptedTurn, ToolInvocation,
};
use tokio_util::sync::CancellationToken;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Letter {
    /// Who is written to.
    to: String,
}

/// Letters to everyone never leave the house, letters to the family always do.
struct HouseRules;

#[async_trait]
impl Policy for HouseRules {
    async fn decide(&self, _: &ToolInvocation, effects: &Effects) -> PolicyDecision {
        match effects.other.as_deref() {
            Some("writes to mother") => PolicyDecision::Allow,
            Some("writes to everyone") => PolicyDecision::Deny { text: "never to everyone".to_owned() },
            _ => PolicyDecision::ask("a letter leaves the house"),
        }
    }
}

/// Stands in for a person at a terminal. Denied words are what the model reads.
struct Secretary;

#[async_trait]
impl Approver for Secretary {
    async fn approve(&self, request: ApprovalRequest) -> ApprovalDecision {
        match request.effects.other.as_deref() {
            Some("writes to the bank") => ApprovalDecision::Denied { reason: Some("not today".to_owned()) },
            _ => ApprovalDecision::Approved,
        }
    }
}

#[tokio::main]
pub(crate) async fn main() -> anyhow::Result<()> {
    let send = async |letter: Letter, _: ToolInvocation| format!("sent to {}", letter.to);
    let writes = |to: &str| Effects { other: Some(format!("writes to {to}")), ..Effects::none() };
    let letters = ["mother", "everyone", "the bank", "the baker"];
    let calls = letters.map(|to| call(to, "send", &format!(r#"{{"to":"{to}"}}"#)));
    let model = Arc::new(ScriptedModel::new([ScriptedTurn::items(calls)]));
    let mut session = SessionBuilder::new(SessionOptions::new("a-model", "/"), model)
        .tool(FnTool::new("send", "Sends a letter.", send).effects(move |letter: &Letter| writes(&letter.to)))
        .policy(Arc::new(HouseRules))
        .approver(Arc::new(Secretary))
        .build()
        .await?;
    session.run_turn("Write to all of them.", &CancellationToken::new()).await;
    assert_eq!(outputs(&session), ["sent to mother", "never to everyone", "not today", "sent to the baker"]);
    Ok(())
}
