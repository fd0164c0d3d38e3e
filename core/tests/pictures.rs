//! Pictures in outputs: what the file and the next request hold is what a model takes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]
#![cfg(feature = "images")]

mod support;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use support::{Events, builder, call, options};
use tenon_core::history::IMAGE_OMITTED;
use tenon_core::{SessionBuilder, SessionOptions};
use tenon_protocol::{FunctionCallOutputContentItem, ToolName};
use tenon_tools::{
    CutOffCall, Effects, FunctionCallError, FunctionToolOutput, JsonSchema, ModelAbilities, PreparedCall,
    Recovery, ScriptedModel, ScriptedTurn, ToolExecutor, ToolInvocation, ToolOutput, ToolSpec,
};
use tokio_util::sync::CancellationToken;

/// A picture of 2 x 2 pixels.
const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg==";

/// Shows pictures that it has not looked at, also of a call that was cut off.
struct Shows {
    name: ToolName,
    effects: Effects,
    urls: Vec<String>,
}

impl Shows {
    fn new(urls: Vec<String>) -> Self {
        let effects = Effects { other: Some("shows".to_owned()), ..Effects::none() };
        Self { name: ToolName::plain("shows"), effects, urls }
    }

    fn output(&self) -> Box<dyn ToolOutput> {
        let image = |url: &String| FunctionCallOutputContentItem::InputImage {
            image_url: Some(url.clone()),
            file_id: None,
            detail: None,
        };
        Box::new(FunctionToolOutput::from_items(self.urls.iter().map(image).collect(), None))
    }
}

#[async_trait]
impl ToolExecutor for Shows {
    fn name(&self) -> &ToolName {
        &self.name
    }

    fn spec(&self) -> ToolSpec {
        ToolSpec::function("shows", "Shows.", JsonSchema::object([], &[]))
    }

    fn recovery(&self) -> Recovery {
        Recovery::Check
    }

    async fn outcome_of(&self, _: &CutOffCall) -> Option<Result<Box<dyn ToolOutput>, FunctionCallError>> {
        Some(Ok(self.output()))
    }

    async fn prepare(&self, _: &ToolInvocation) -> Result<Box<dyn PreparedCall>, FunctionCallError> {
        Ok(Box::new(Self::new(self.urls.clone())))
    }
}

#[async_trait]
impl PreparedCall for Shows {
    fn effects(&self) -> &Effects {
        &self.effects
    }

    async fn run(self: Box<Self>, _: &ToolInvocation) -> Result<Box<dyn ToolOutput>, FunctionCallError> {
        Ok(self.output())
    }
}

/// A picture, half of one, and one under another name.
fn urls() -> Vec<String> {
    vec![
        format!("data:image/png;base64,{PNG}"),
        format!("data:image/png;base64,{}", PNG.split_at(60).0),
        format!("data:text/html;base64,{PNG}"),
    ]
}

/// What a model is shown of them.
fn shown() -> Value {
    let image = json!({"type": "input_image", "image_url": format!("data:image/png;base64,{PNG}")});
    let note = json!({
        "type": "input_text",
        "text": "unable to process image: invalid or unsupported image data",
    });
    json!([image, note, image])
}

fn lines(path: &Path, kind: &str) -> Vec<Value> {
    let file = std::fs::read_to_string(path).unwrap();
    let lines = file.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| line["type"] == kind).map(|line| line["payload"].clone()).collect()
}

/// The output in the next request.
fn sent(model: &ScriptedModel, request: usize) -> Value {
    serde_json::from_str(&support::outputs(model, request).remove(0).1).unwrap()
}

/// A session that died before its call's output had a line. The line of the call's end, where there is one, holds these
/// pictures: whoever wrote it had not looked at them.
async fn cut_off(home: &Path, in_its_end: Option<&[String]>) -> PathBuf {
    let model = Arc::new(ScriptedModel::new([ScriptedTurn::items([call("c", "shows", "now")])]));
    let builder = builder(&model, &Events::default()).tool(Shows::new(urls())).rollout_in(home);
    let mut session = builder.build().await.unwrap();
    session.run_turn("go", &CancellationToken::new()).await;
    let path = session.rollout_path().unwrap().to_owned();
    session.shutdown().await;
    let file = std::fs::read_to_string(&path).unwrap();
    let (before, end) = file.split_at(file.find("\"call_finished\"").unwrap());
    let (before, start) = before.split_at(before.rfind('\n').unwrap() + 1);
    let end = format!("{start}{}", end.lines().next().unwrap());
    let end = in_its_end.map(|urls| {
        let mut end: Value = serde_json::from_str(&end).unwrap();
        let image = |url| json!({"type": "input_image", "image_url": url});
        end["payload"]["output"]["output"] = urls.iter().map(image).collect();
        format!("{end}\n")
    });
    std::fs::write(&path, format!("{before}{}", end.unwrap_or_default())).unwrap();
    path
}

/// Goes on for one turn: what the model is sent of the output.
async fn goes_on(path: &Path, options: SessionOptions, urls: Vec<String>) -> Value {
    let model = Arc::new(ScriptedModel::new(Vec::<ScriptedTurn>::new()));
    let builder = SessionBuilder::new(options, Arc::clone(&model) as _).tool(Shows::new(urls));
    let mut session = builder.resume(path).build().await.unwrap();
    session.run_turn("go on", &CancellationToken::new()).await;
    session.shutdown().await;
    sent(&model, 0)
}

/// The output of the call, as the file has it.
fn recorded(path: &Path) -> Value {
    let items = lines(path, "response_item").into_iter();
    let mut outputs = items.filter(|item| item["type"] == "function_call_output");
    let output = outputs.next().unwrap();
    assert_eq!(outputs.next(), None);
    output["output"].clone()
}

#[tokio::test]
async fn pictures_of_a_call_that_was_cut_off_are_looked_at_before_they_are_written_down() {
    for in_its_end in [None, Some(urls())] {
        let home = tempfile::tempdir().unwrap();
        let path = cut_off(home.path(), in_its_end.as_deref()).await;
        assert_eq!(goes_on(&path, options(), urls()).await, shown(), "{in_its_end:?}");
        assert_eq!(recorded(&path), shown(), "{in_its_end:?}");
        // The next session reads what stands there.
        assert_eq!(goes_on(&path, options(), urls()).await, shown(), "{in_its_end:?}");
    }
}

#[tokio::test]
async fn a_huge_picture_of_a_call_that_was_cut_off_is_shrunk() {
    let mut bytes = std::io::Cursor::new(Vec::new());
    image::DynamicImage::new_luma8(6001, 30).write_to(&mut bytes, image::ImageFormat::Png).unwrap();
    let huge = format!("data:image/png;base64,{}", STANDARD.encode(bytes.into_inner()));
    for in_its_end in [None, Some([huge.clone()])] {
        let home = tempfile::tempdir().unwrap();
        let path = cut_off(home.path(), in_its_end.as_ref().map(<[String; 1]>::as_slice)).await;
        let sent = goes_on(&path, options(), vec![huge.clone()]).await;
        assert_eq!(recorded(&path), sent);
        let url = sent[0]["image_url"].as_str().unwrap();
        let data = STANDARD.decode(url.strip_prefix("data:image/png;base64,").unwrap()).unwrap();
        let picture = image::load_from_memory(&data).unwrap();
        assert_eq!((picture.width(), picture.height()), (6000, 30));
    }
}

#[tokio::test]
async fn a_model_that_takes_no_pictures_is_sent_none_of_a_call_that_was_cut_off() {
    for in_its_end in [None, Some(urls())] {
        let home = tempfile::tempdir().unwrap();
        let path = cut_off(home.path(), in_its_end.as_deref()).await;
        let abilities = ModelAbilities { image_input: false, ..ModelAbilities::default() };
        let sent = goes_on(&path, SessionOptions { abilities, ..options() }, urls()).await;
        let texts: Vec<&str> =
            sent.as_array().unwrap().iter().map(|entry| entry["text"].as_str().unwrap()).collect();
        let note = "unable to process image: invalid or unsupported image data";
        assert_eq!(texts, [IMAGE_OMITTED, note, IMAGE_OMITTED]);
        // Another model may take them.
        assert_eq!(recorded(&path), shown());
    }
}

#[tokio::test]
async fn no_picture_that_a_model_refuses_is_written_down_or_sent() {
    let home = tempfile::tempdir().unwrap();
    let model = Arc::new(ScriptedModel::new([ScriptedTurn::items([call("c", "shows", "now")])]));
    let builder = builder(&model, &Events::default()).tool(Shows::new(urls())).rollout_in(home.path());
    let mut session = builder.build().await.unwrap();
    session.run_turn("go", &CancellationToken::new()).await;
    let path = session.rollout_path().unwrap().to_owned();
    session.shutdown().await;

    let finished = lines(&path, "call_finished");
    assert_eq!(finished.len(), 1);
    assert_eq!(finished[0]["output"]["output"], shown());
    let file = std::fs::read_to_string(path).unwrap();
    assert!(!file.contains("text/html"), "nowhere in the file");
    assert_eq!(sent(&model, 1), shown());
}
