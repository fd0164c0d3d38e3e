//! A hook in the program itself: it blocks a call, changes one, adds to what the model is told, and takes back what
//! the model should not read.
//!
//! `cargo run -p tenon-tests --example own_hook`

mod script;

use std::sync::Arc;

use async_trait::async_trait;
use script::{call, outputs};
use serde_json::json;
use tenon_core::hooks::{Hook, PostToolUse, PostToolUseAction, PreToolUse, PreToolUseAction};
use tenon_core::{SessionBuilder, SessionOptions};
use tenon_protocol::{ItemKind, Message};
use tenon_tools::{FnTool, ScriptedModel, ScriptedTurn, ToolInvocation};
use tokio_util::sync::CancellationToken;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Lookup {
    /// Whose number.
    name: String,
}

struct Discretion;

#[async_trait]
impl Hook for Discretion {
    fn matches(&self, tool_name: &str, _aliases: &[&str]) -> bool {
        tool_name == "lookup"
    }

    async fn pre_tool_use(&self, event: &PreToolUse) -> PreToolUseAction {
        match event.tool_input.get("name").and_then(serde_json::Value::as_str) {
            Some("the president") => PreToolUseAction::block("that number is private"),
            Some("Bob") => PreToolUseAction {
                additional_context: Some("Bob is listed as Robert.".to_owned()),
                ..PreToolUseAction::rewrite(json!({"name": "Robert"}))
            },
            _ => PreToolUseAction::default(),
        }
    }

    async fn post_tool_use(&self, event: &PostToolUse) -> PostToolUseAction {
        let secret = event.tool_response.as_str().is_some_and(|text| text.ends_with("666"));
        PostToolUseAction { feedback: secret.then(|| "unlisted".to_owned()), ..Default::default() }
    }
}

#[tokio::main]
pub(crate) async fn main() -> anyhow::Result<()> {
    let lookup = FnTool::new("lookup", "Finds a number.", async |args: Lookup, _: ToolInvocation| {
        format!("{}: {}", args.name, if args.name == "Mallory" { "666" } else { "555" })
    });
    let calls = ["Alice", "Bob", "the president", "Mallory"];
    let calls = calls.map(|name| call(name, "lookup", &format!(r#"{{"name":"{name}"}}"#)));
    let model = Arc::new(ScriptedModel::new([ScriptedTurn::items(calls)]));
    let mut session = SessionBuilder::new(SessionOptions::new("a-model", "/"), model)
        .tool(lookup)
        .hook(Arc::new(Discretion))
        .build()
        .await?;
    session.run_turn("Find these four.", &CancellationToken::new()).await;
    let told = session.history().items().iter().filter_map(|item| match item.kind() {
        ItemKind::Message(message) if message.role == "developer" => Some(Message::text(message)),
        _ => None,
    });
    let blocked = "Tool call blocked by PreToolUse hook: that number is private. Tool: lookup";
    assert_eq!(outputs(&session), ["Alice: 555", "Robert: 555", blocked, "unlisted"]);
    assert_eq!(told.collect::<Vec<_>>(), ["Bob is listed as Robert."]);
    Ok(())
}
