//! A tool by hand: a payload of its own grammar, read before anything is done, and done when nobody has refused.
//!
//! `cargo run -p tenon-tests --example own_tool`

use std::sync::{Arc, mpsc};

use async_trait::async_trait;
use tenon_core::{SessionBuilder, SessionOptions};
use tenon_protocol::{CustomToolCall, ItemKind, ResponseItem, ToolName};
use tenon_tools::{
    Effects, FunctionCallError, FunctionToolOutput, PreparedCall, ScriptedModel, ToolExecutor,
    ToolInvocation, ToolOutput, ToolPayload, ToolSpec,
};
use tokio_util::sync::CancellationToken;

/// Takes moves like `e2-e4`, one a line.
struct Board(ToolName, mpsc::Sender<String>);

#[async_trait]
impl ToolExecutor for Board {
    fn name(&self) -> &ToolName {
        &self.0
    }

    fn spec(&self) -> ToolSpec {
        ToolSpec::lark(self.0.name(), "Moves pieces.", r#"start: (/[a-h][1-8]-[a-h][1-8]/ "\n"?)+"#)
    }

    fn accepts(&self, payload: &ToolPayload) -> bool {
        matches!(payload, ToolPayload::Custom { .. })
    }

    async fn prepare(&self, call: &ToolInvocation) -> Result<Box<dyn PreparedCall>, FunctionCallError> {
        let ToolPayload::Custom { input } = &call.payload else { return Err("moves come as text".into()) };
        if let Some(line) = input.lines().find(|line| line.len() != 5) {
            return Err(format!("`{line}` is no move: write e2-e4").into());
        }
        let effects = Effects { other: Some(format!("moves {input:?}")), ..Effects::none() };
        Ok(Box::new(Moves { moves: input.clone(), effects, board: self.1.clone() }))
    }
}

/// Moves that can be read, and have not been made.
struct Moves {
    moves: String,
    effects: Effects,
    board: mpsc::Sender<String>,
}

#[async_trait]
impl PreparedCall for Moves {
    fn effects(&self) -> &Effects {
        &self.effects
    }

    async fn run(self: Box<Self>, _: &ToolInvocation) -> Result<Box<dyn ToolOutput>, FunctionCallError> {
        self.board.send(self.moves).map_err(|_| "the game is over")?;
        Ok(Box::new(FunctionToolOutput::from_text("moved", Some(true))))
    }
}

#[tokio::main]
pub(crate) async fn main() -> anyhow::Result<()> {
    let call = |input: &str| {
        let (name, call_id) = ("board".to_owned(), Some("call".to_owned()));
        let call = CustomToolCall { name, call_id, input: input.to_owned(), ..Default::default() };
        ResponseItem::new(ItemKind::CustomToolCall(call))
    };
    let model = Arc::new(ScriptedModel::new([call("e2e4"), call("e2-e4\nd2-d4")]));
    let (board, moves) = mpsc::channel();
    let session = SessionBuilder::new(SessionOptions::new("a-model", "/"), model);
    let mut session = session.tool(Board(ToolName::plain("board"), board)).build().await?;
    session.run_turn("Open the game.", &CancellationToken::new()).await;
    assert_eq!(moves.try_iter().collect::<Vec<_>>(), ["e2-e4\nd2-d4"]);
    Ok(())
}
