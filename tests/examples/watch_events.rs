//! Watching a session, and reaching into it: a call that takes too long is cancelled, its sibling and the turn go on.
//!
//! `cargo run -p tenon-tests --example watch_events`
#![allow(clippy::print_stdout, reason = "what happens is to be seen")]

mod script;

use std::sync::Arc;

use script::{call, outputs};
use tenon_core::{SessionBuilder, SessionOptions, TurnEnd};
use tenon_protocol::{CallId, TurnItem};
use tenon_tools::{Event, EventSink, FnTool, NoArguments, ScriptedModel, ScriptedTurn, ToolInvocation};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Prints what happens and passes it on. A sink never waits: what takes time is for whoever reads the queue.
struct Watcher(mpsc::UnboundedSender<Event>);

impl EventSink for Watcher {
    fn emit(&self, event: Event) {
        println!("{event:?}");
        // Nobody listens any more once the turn is over.
        let _ = self.0.send(event);
    }
}

#[tokio::main]
pub(crate) async fn main() -> anyhow::Result<()> {
    let quick = async |_: NoArguments, _: ToolInvocation| "here it is";
    let slow = async |_: NoArguments, _: ToolInvocation| std::future::pending::<&str>().await;
    let calls = [call("a", "slow", "{}"), call("b", "quick", "{}")];
    let model = Arc::new(ScriptedModel::new([ScriptedTurn::items(calls)]));
    let (events, mut seen) = mpsc::unbounded_channel();
    let mut session = SessionBuilder::new(SessionOptions::new("a-model", "/"), model)
        .tool(FnTool::new("quick", "Answers.", quick).parallel())
        .tool(FnTool::new("slow", "Never answers.", slow).parallel())
        .events(Arc::new(Watcher(events)))
        .build()
        .await?;

    let handle = session.handle();
    let impatient = async {
        while let Some(event) = seen.recv().await {
            if matches!(&event, Event::ItemCompleted(TurnItem::ToolCall { name, .. }) if name == "quick") {
                return handle.cancel_call(&CallId::from("a"));
            }
        }
        false
    };
    let turn = CancellationToken::new();
    let (end, cancelled) = tokio::join!(session.run_turn("Try both.", &turn), impatient);
    anyhow::ensure!(cancelled, "there was no call to cancel");
    assert_eq!(end, TurnEnd::Completed { last_message: Some("done".to_owned()) });
    let outputs = outputs(&session);
    let expected =
        |aborted: &str, quick: &str| aborted.starts_with("aborted by user") && quick == "here it is";
    assert!(matches!(outputs.as_slice(), [a, b] if expected(a, b)), "{outputs:?}");
    Ok(())
}
