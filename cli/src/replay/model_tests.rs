use std::sync::Arc;

use futures_util::StreamExt;
use pretty_assertions::assert_eq;
use tenon_protocol::ItemKind;

use super::*;
use crate::replay::input::parse;

fn model(text: &str) -> ReplayModel {
    ReplayModel::new(parse(text).expect("a recording"))
}

/// What the model says to a prompt, in short.
async fn says(model: &ReplayModel, told: &[&str]) -> Result<Vec<String>, ModelError> {
    let input = told.iter().map(|text| Arc::new(ResponseItem::message("user", text))).collect();
    let prompt = Prompt { input, ..Prompt::default() };
    let mut stream = model.stream(prompt, CancellationToken::new()).await?;
    let mut said = Vec::new();
    while let Some(event) = stream.next().await {
        match event? {
            ResponseEvent::OutputItemDone { item } => said.push(match item.kind() {
                ItemKind::Message(message) => message.text(),
                ItemKind::FunctionCall(call) => call.arguments.clone(),
                _ => item.tag().to_owned(),
            }),
            ResponseEvent::Completed { .. } => said.push(".".to_owned()),
            _ => {}
        }
    }
    Ok(said)
}

const MESSAGE: &str =
    r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}]}"#;

#[tokio::test]
async fn answers_come_in_order_and_then_nothing() {
    let model = model(&format!("{MESSAGE}\n\n{MESSAGE}\n{MESSAGE}\n"));
    assert_eq!(model.next_prompt().as_deref(), Some("go"));
    assert_eq!(says(&model, &[]).await, Ok(vec!["hi".to_owned(), ".".to_owned()]));
    assert_eq!(says(&model, &[]).await, Ok(vec!["hi".to_owned(), "hi".to_owned(), ".".to_owned()]));
    assert_eq!(model.next_prompt(), None);
    assert_eq!(says(&model, &[]).await, Ok(vec![".".to_owned()]));
}

#[tokio::test]
async fn a_scenario_ends_with_its_last_words() {
    let model = model(r#"{"turns":[[]]}"#);
    assert_eq!(says(&model, &[]).await, Ok(vec![".".to_owned()]));
    assert_eq!(says(&model, &[]).await, Ok(vec!["done".to_owned(), ".".to_owned()]));
}

#[tokio::test]
async fn marks_become_the_newest_ids() {
    let call = |arguments: &str| {
        format!(
            r#"{{"turns":[[{{"type":"function_call","name":"w","call_id":"c","arguments":"{arguments}"}}]]}}"#
        )
    };
    let told =
        ["session ID 1 cell ID a-1", "session ID 2 session ID 37\nnext", "cell ID b_2.", "session ID "];
    for (arguments, said) in [("$SESSION", "37"), ("$CELL $SESSION", "b_2 37")] {
        assert_eq!(says(&model(&call(arguments)), &told).await, Ok(vec![said.to_owned(), ".".to_owned()]));
    }
    assert_eq!(says(&model(&call("$SESSION")), &["none"]).await, Ok(vec!["0".to_owned(), ".".to_owned()]));
}

#[tokio::test]
async fn an_answer_after_a_prompt_waits_for_its_turn() {
    let line = |payload: &str| {
        format!(
            "{{\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"type\":\"response_item\",\"payload\":{payload}}}\n"
        )
    };
    let user = |text: &str| {
        line(&format!(
            r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{text}"}}]}}"#
        ))
    };
    // Said at another time: the same line twice is a doubled one.
    let later = line(MESSAGE).replace("00.000Z", "01.000Z");
    let model = model(&[user("first"), line(MESSAGE), user("second"), later].concat());
    assert_eq!(model.next_prompt().as_deref(), Some("first"));
    assert_eq!(says(&model, &[]).await, Ok(vec!["hi".to_owned(), ".".to_owned()]));
    assert_eq!(says(&model, &[]).await, Ok(vec![".".to_owned()]));
    assert_eq!(model.next_prompt().as_deref(), Some("second"));
    assert_eq!(says(&model, &[]).await, Ok(vec!["hi".to_owned(), ".".to_owned()]));
}

#[tokio::test]
async fn a_stream_that_was_cut_is_played_as_one() {
    let created = r#"{"type":"response.created","response":{"id":"r1"}}"#;
    let model = model(created);
    assert_eq!(says(&model, &[]).await, Ok(Vec::new()));
    let error = says(&model, &[]).await.expect_err("nothing is left");
    assert_eq!(
        (error.message.as_str(), error.retryable),
        ("the recording ends before response.completed", false)
    );
}

#[tokio::test]
async fn a_recorded_failure_is_one_as_a_client_tells_it() {
    let model = model(
        r#"{"type":"response.failed","response":{"error":{"code":"insufficient_quota","message":"none left"}}}"#,
    );
    let error = says(&model, &[]).await.expect_err("a failure");
    assert_eq!((error.kind, error.retryable), (ModelErrorKind::QuotaExceeded, false));
}
