//! A recorded answer of the API, decoded and played through a session: tests against what a server really said.
//!
//! `cargo run -p tenon-tests --example recorded_stream`

use std::sync::Arc;

use tenon_core::{SessionBuilder, SessionOptions, TurnEnd};
use tenon_protocol::{Decoded, EventDecoder, ResponseEvent};
use tenon_tools::{FnTool, Json, NoArguments, ScriptedModel, ScriptedTurn, ToolInvocation};
use tokio_util::sync::CancellationToken;

/// Two answers, as they came over the wire.
const CALL: &str = r#"event: response.created
data: {"type":"response.created","response":{"id":"resp_1"}}

event: response.output_item.done
data: {"type":"response.output_item.done","item":{"type":"function_call","id":"fc_1","call_id":"call_1","name":"clock","arguments":"{}"}}

event: response.completed
data: {"type":"response.completed","response":{"id":"resp_1","usage":{"input_tokens":40,"output_tokens":7,"total_tokens":47}}}

"#;
const ANSWER: &str = r#"data: {"type":"response.output_text.delta","item_id":"msg_1","delta":"It is "}

data: {"type":"response.output_text.delta","item_id":"msg_1","delta":"noon."}

data: {"type":"response.output_item.done","item":{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"It is noon."}]}}

data: {"type":"response.completed","response":{"id":"resp_2","usage":{"input_tokens":60,"output_tokens":5,"total_tokens":65}}}

"#;

/// The events of a recording. The chunks are those of a bad network.
fn decode(recording: &str) -> anyhow::Result<Vec<ResponseEvent>> {
    let (mut events, mut broken) = (Vec::new(), Vec::new());
    let mut sink = |decoded| match decoded {
        Decoded::Event(event) => events.push(event),
        Decoded::Broken(what) => broken.push(what.to_string()),
    };
    let mut decoder = EventDecoder::new();
    for chunk in recording.as_bytes().chunks(7) {
        decoder.feed(chunk, &mut sink);
    }
    decoder.finish(&mut sink);
    anyhow::ensure!(broken.is_empty(), "the recording has broken events: {broken:?}");
    Ok(events)
}

#[tokio::main]
pub(crate) async fn main() -> anyhow::Result<()> {
    let turns = [ScriptedTurn::events(decode(CALL)?), ScriptedTurn::events(decode(ANSWER)?)];
    let clock = async |_: NoArguments, _: ToolInvocation| Json(serde_json::json!({"hour": 12}));
    let mut session =
        SessionBuilder::new(SessionOptions::new("a-model", "/"), Arc::new(ScriptedModel::new(turns)))
            .tool(FnTool::new("clock", "Tells the hour.", clock))
            .build()
            .await?;
    let end = session.run_turn("How late is it?", &CancellationToken::new()).await;
    assert_eq!(end, TurnEnd::Completed { last_message: Some("It is noon.".to_owned()) });
    assert_eq!(session.usage().total_tokens, 47 + 65);
    Ok(())
}
