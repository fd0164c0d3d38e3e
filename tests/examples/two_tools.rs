//! An agent with two tools of its own, against a model that follows a script: no key, no network.
//!
//! `cargo run -p tenon-tests --example two_tools`

use std::sync::{Arc, mpsc};

use tenon_core::{SessionBuilder, SessionOptions, TurnEnd};
use tenon_protocol::{FunctionCall, ItemKind, ResponseItem};
use tenon_tools::{Effects, FnTool, ScriptedModel, ScriptedTurn, ToolInvocation};
use tokio_util::sync::CancellationToken;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Forecast {
    /// The city, e.g. `Bern`.
    city: String,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Note {
    /// What to remember.
    text: String,
}

#[tokio::main]
pub(crate) async fn main() -> anyhow::Result<()> {
    let forecast = async |args: Forecast, _: ToolInvocation| match args.city.as_str() {
        "Bern" => Ok("rain from noon"),
        city => Err(format!("no station in {city}")),
    };
    let (pen, notes) = mpsc::channel();
    let note = move |args: Note, _: ToolInvocation| {
        let kept = pen.send(args.text).map_err(|_| "the notebook is closed");
        async move { kept }
    };
    let says_so = |note: &Note| Effects { other: Some(format!("notes {}", note.text)), ..Effects::none() };

    let model = ScriptedModel::new([
        ScriptedTurn::items([call("forecast", r#"{"city":"Bern"}"#), call("forecast", r#"{"city":"Ys"}"#)]),
        ScriptedTurn::items([call("note", r#"{"text":"umbrella"}"#)]),
        ScriptedTurn::message("Take the umbrella."),
    ]);
    let mut session = SessionBuilder::new(SessionOptions::new("a-model", "/"), Arc::new(model))
        .tool(FnTool::new("forecast", "Tells the weather of a city.", forecast).parallel())
        .tool(FnTool::new("note", "Takes a note.", note).effects(says_so))
        .build()
        .await?;
    let end = session.run_turn("What shall I wear in Bern?", &CancellationToken::new()).await;
    assert_eq!(end, TurnEnd::Completed { last_message: Some("Take the umbrella.".to_owned()) });
    assert_eq!(notes.try_iter().collect::<Vec<_>>(), ["umbrella"]);
    Ok(())
}

fn call(name: &str, arguments: &str) -> ResponseItem {
    let (name, arguments, call_id) = (name.to_owned(), arguments.to_owned(), Some("call".to_owned()));
    ResponseItem::new(ItemKind::FunctionCall(FunctionCall { call_id, name, arguments, ..Default::default() }))
}
