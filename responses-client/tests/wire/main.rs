//! The client against a scripted server on loopback: what it sends, and what it makes of every kind of answer.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests may panic")]

mod answers;
mod attempts;
mod cancelling;
mod request;
mod secrets;
// The workspace's scripted server, as a module: its crate depends on this one.
#[allow(dead_code, unreachable_pub, unused_imports)]
#[path = "../../../tests/src/server/mod.rs"]
mod server;

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tenon_protocol::ResponseEvent;
use tenon_responses_client::{ProviderConfig, ResponsesClient, Secret};
use tenon_tools::{ModelClient as _, ModelError, Prompt, ResponseStream};
use tokio_util::sync::CancellationToken;

use server::{Answer, ScriptedServer, Step};

/// A key as providers make them.
const KEY: &str = "sk-0123456789-EXAMPLE";

/// A provider at this server, with no retries.
fn config(server: &ScriptedServer) -> ProviderConfig {
    let mut config = ProviderConfig::new(server.base_url());
    config.api_key = Some(Secret::new(KEY));
    config.request_max_retries = 0;
    config.idle_timeout = Duration::from_secs(30);
    config
}

fn prompt() -> Prompt {
    let hello =
        json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]});
    Prompt {
        model: "a-model".into(),
        instructions: "Be brief.".into(),
        input: vec![Arc::new(serde_json::from_value(hello).unwrap())],
        session_id: "a-session".into(),
        ..Prompt::default()
    }
}

/// A stream that completes at once.
fn completed() -> Answer {
    Answer::stream([Step::completed("r")])
}

async fn server(answers: impl IntoIterator<Item = Answer>) -> ScriptedServer {
    ScriptedServer::start(answers).await.unwrap()
}

async fn open(config: &ProviderConfig) -> Result<ResponseStream, ModelError> {
    ResponsesClient::new(config).unwrap().stream(prompt(), CancellationToken::new()).await
}

/// The error of a request that comes to no stream.
async fn refused(config: &ProviderConfig) -> ModelError {
    match open(config).await {
        Ok(_) => panic!("a stream came of it"),
        Err(error) => error,
    }
}

async fn next(stream: &mut ResponseStream) -> Option<Result<ResponseEvent, ModelError>> {
    std::future::poll_fn(|context| futures_core::Stream::poll_next(Pin::as_mut(stream), context)).await
}

/// All events, and the error after them.
async fn all(stream: &mut ResponseStream) -> (Vec<ResponseEvent>, Option<ModelError>) {
    let mut events = Vec::new();
    while let Some(next) = next(stream).await {
        match next {
            Ok(event) => events.push(event),
            Err(error) => return (events, Some(error)),
        }
    }
    (events, None)
}

/// The events of one whole request.
async fn whole(config: &ProviderConfig) -> (Vec<ResponseEvent>, Option<ModelError>) {
    all(&mut open(config).await.unwrap()).await
}
