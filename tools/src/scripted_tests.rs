use std::future::poll_fn;
use std::pin::Pin;

use pretty_assertions::assert_eq;
use tenon_protocol::ResponseEvent;

use super::*;
use crate::ModelErrorKind;

fn item(text: &str) -> ResponseItem {
    ResponseItem::message("assistant", text)
}

fn prompt(texts: &[&str]) -> Prompt {
    Prompt {
        model: "m".to_owned(),
        input: texts.iter().map(|text| Arc::new(ResponseItem::message("user", text))).collect(),
        ..Prompt::default()
    }
}

async fn next(stream: &mut ResponseStream) -> Option<Result<ResponseEvent, ModelError>> {
    poll_fn(|cx| Pin::as_mut(stream).poll_next(cx)).await
}

async fn all(stream: &mut ResponseStream) -> Vec<Result<ResponseEvent, ModelError>> {
    let mut events = Vec::new();
    while let Some(event) = next(stream).await {
        events.push(event);
    }
    events
}

async fn ask(model: &ScriptedModel, texts: &[&str]) -> Vec<Result<ResponseEvent, ModelError>> {
    let mut stream = model.stream(prompt(texts), CancellationToken::new()).await.expect("a stream");
    all(&mut stream).await
}

fn answer(number: usize, texts: &[&str]) -> Vec<Result<ResponseEvent, ModelError>> {
    let response_id = Some(format!("resp_{number}"));
    let mut events = vec![Ok(ResponseEvent::Created { response_id: response_id.clone() })];
    events.extend(texts.iter().map(|text| Ok(ResponseEvent::OutputItemDone { item: Box::new(item(text)) })));
    events.push(Ok(ResponseEvent::Completed { response_id, usage: None, end_turn: None }));
    events
}

fn broken() -> ModelError {
    ModelError::retryable(ModelErrorKind::Stream, "the line broke")
}

#[tokio::test]
async fn turns_are_played_in_order_and_then_it_is_done() {
    let model = ScriptedModel::new([vec![item("a"), item("b")], vec![item("c")]]);
    assert_eq!(model.turns_left(), 2);
    assert_eq!(ask(&model, &["one"]).await, answer(1, &["a", "b"]));
    assert_eq!(ask(&model, &["one", "two"]).await, answer(2, &["c"]));
    assert_eq!(ask(&model, &["one", "two", "three"]).await, answer(3, &["done"]));
    assert_eq!(ask(&model, &[]).await, answer(4, &["done"]));

    let prompts = model.prompts();
    assert_eq!(prompts.len(), 4);
    assert_eq!(prompts[1].input.len(), 2);
    let new: Vec<_> = model.new_items(2).iter().map(|item| serde_json::to_string(item).unwrap()).collect();
    assert_eq!(new, [serde_json::to_string(&ResponseItem::message("user", "three")).unwrap()]);
    assert_eq!(model.new_items(0).len(), 1);
    assert_eq!(model.new_items(9).len(), 0);
}

#[tokio::test]
async fn a_stream_breaks_after_so_many_events() {
    let model = ScriptedModel::new([
        ScriptedTurn::items([item("a"), item("b")]).broken_after(2, broken()),
        ScriptedTurn::items([item("a")]).broken_after(0, broken()),
        ScriptedTurn::items([item("a")]).broken_after(99, broken()),
        ScriptedTurn::items([item("a")]).cut_after(1),
    ]);
    let mut expected = answer(1, &["a"]);
    expected.pop();
    expected.push(Err(broken()));
    assert_eq!(ask(&model, &[]).await, expected);
    assert_eq!(ask(&model, &[]).await, [Err(broken())]);
    let mut expected = answer(3, &["a"]);
    expected.push(Err(broken()));
    assert_eq!(ask(&model, &[]).await, expected);
    assert_eq!(ask(&model, &[]).await, answer(4, &[])[..1]);
}

#[tokio::test]
async fn a_request_can_fail() {
    let refused = ModelError::fatal(ModelErrorKind::Authentication, "no key");
    let model = ScriptedModel::new([ScriptedTurn::refused(refused.clone())]);
    let failed = model.stream(prompt(&["x"]), CancellationToken::new()).await.err();
    assert_eq!(failed, Some(refused));
    assert_eq!(model.prompts().len(), 1);
    assert_eq!(ask(&model, &[]).await, answer(2, &["done"]));
}

#[tokio::test]
async fn a_turn_can_depend_on_the_request() {
    let model = ScriptedModel::new([ScriptedTurn::computed(|prompt: &Prompt| {
        ScriptedTurn::message(&format!("{} heard {}", prompt.model, prompt.input.len()))
    })
    .broken_after(2, broken())]);
    let mut expected = answer(1, &["m heard 3"]);
    *expected.last_mut().unwrap() = Err(broken());
    assert_eq!(ask(&model, &["a", "b", "c"]).await, expected);
}

#[tokio::test]
async fn a_stream_waits_at_a_gate() {
    let gate = Gate::new();
    let model = ScriptedModel::new([ScriptedTurn::items([item("a"), item("b")]).stalled_after(2, &gate)]);
    let mut stream = model.stream(prompt(&[]), CancellationToken::new()).await.unwrap();
    assert_eq!([next(&mut stream).await.unwrap(), next(&mut stream).await.unwrap()], answer(1, &["a"])[..2]);

    let waiting = tokio::spawn(async move { all(&mut stream).await });
    gate.reached().await;
    assert!(!waiting.is_finished());
    gate.open();
    assert_eq!(waiting.await.unwrap(), answer(1, &["a", "b"])[2..]);
    gate.reached().await;
}

#[tokio::test]
async fn an_open_gate_holds_nobody_up() {
    let gate = Gate::new();
    gate.open();
    let model = ScriptedModel::new([ScriptedTurn::message("a").stalled_after(0, &gate)]);
    assert_eq!(ask(&model, &[]).await, answer(1, &["a"]));
}

#[tokio::test]
async fn cancellation_ends_the_wait_and_the_stream() {
    let gate = Gate::new();
    let cancellation = CancellationToken::new();
    let model =
        ScriptedModel::new([ScriptedTurn::message("a").stalled_after(1, &gate), ScriptedTurn::message("b")]);
    let mut stream = model.stream(prompt(&[]), cancellation.clone()).await.unwrap();
    assert_eq!(next(&mut stream).await, Some(answer(1, &[])[0].clone()));
    let waiting = tokio::spawn(async move { all(&mut stream).await });
    gate.reached().await;
    cancellation.cancel();
    let cancelled = ModelError::fatal(ModelErrorKind::Cancelled, "the request was cancelled");
    assert_eq!(waiting.await.unwrap(), [Err(cancelled.clone())]);

    let mut stream = model.stream(prompt(&[]), cancellation).await.unwrap();
    assert_eq!(all(&mut stream).await, [Err(cancelled)]);
}

#[tokio::test]
async fn events_are_played_as_they_are() {
    let delta = ResponseEvent::OutputTextDelta { item_id: None, delta: "x".to_owned() };
    let model = ScriptedModel::new([vec![delta.clone()]]);
    model.push(vec![item("later")]);
    assert_eq!(ask(&model, &[]).await, [Ok(delta)]);
    assert_eq!(ask(&model, &[]).await, answer(2, &["later"]));
}
