//! Pictures in outputs: what the file and the next request hold is what a model takes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]
#![cfg(feature = "images")]

mod support;

use std::sync::Arc;

use async_trait::async_trait;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use support::{Events, builder, call};
use tenon_protocol::{FunctionCallOutputContentItem, ToolName};
use tenon_tools::{
    Effects, FunctionCallError, FunctionToolOutput, JsonSchema, PreparedCall, ScriptedModel, ScriptedTurn,
    ToolExecutor, ToolInvocation, ToolOutput, ToolSpec,
};
use tokio_util::sync::CancellationToken;

/// A picture of 2 x 2 pixels.
const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg==";

/// Shows pictures that it has not looked at.
struct Shows(ToolName, Effects);

#[async_trait]
impl ToolExecutor for Shows {
    fn name(&self) -> &ToolName {
        &self.0
    }

    fn spec(&self) -> ToolSpec {
        ToolSpec::function("shows", "Shows.", JsonSchema::object([], &[]))
    }

    async fn prepare(&self, _: &ToolInvocation) -> Result<Box<dyn PreparedCall>, FunctionCallError> {
        Ok(Box::new(Self(self.0.clone(), Effects::none())))
    }
}

#[async_trait]
impl PreparedCall for Shows {
    fn effects(&self) -> &Effects {
        &self.1
    }

    async fn run(self: Box<Self>, _: &ToolInvocation) -> Result<Box<dyn ToolOutput>, FunctionCallError> {
        let urls = [
            format!("data:image/png;base64,{PNG}"),
            format!("data:image/png;base64,{}", PNG.split_at(60).0),
            format!("data:text/html;base64,{PNG}"),
        ];
        let image = |url| FunctionCallOutputContentItem::InputImage {
            image_url: Some(url),
            file_id: None,
            detail: None,
        };
        Ok(Box::new(FunctionToolOutput::from_items(urls.map(image).to_vec(), None)))
    }
}

#[tokio::test]
async fn no_picture_that_a_model_refuses_is_written_down_or_sent() {
    let home = tempfile::tempdir().unwrap();
    let model = Arc::new(ScriptedModel::new([ScriptedTurn::items([call("c", "shows", "now")])]));
    let tool = Shows(ToolName::plain("shows"), Effects::none());
    let builder = builder(&model, &Events::default()).tool(tool).rollout_in(home.path());
    let mut session = builder.build().await.unwrap();
    session.run_turn("go", &CancellationToken::new()).await;
    let path = session.rollout_path().unwrap().to_owned();
    session.shutdown().await;

    let image = json!({"type": "input_image", "image_url": format!("data:image/png;base64,{PNG}")});
    let note = json!({
        "type": "input_text",
        "text": "unable to process image: invalid or unsupported image data",
    });
    let expected = json!([image, note, image]);
    let file = std::fs::read_to_string(path).unwrap();
    let lines = file.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let finished: Vec<Value> = lines.filter(|line| line["type"] == "call_finished").collect();
    assert_eq!(finished.len(), 1);
    assert_eq!(finished[0]["payload"]["output"]["output"], expected);
    assert!(!file.contains("text/html"), "nowhere in the file");
    let sent = support::outputs(&model, 1).remove(0).1;
    assert_eq!(serde_json::from_str::<Value>(&sent).unwrap(), expected);
}
