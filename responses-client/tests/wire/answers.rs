//! What is made of a stream, however it comes and however it ends.

use pretty_assertions::assert_eq;
use tenon_tools::ModelErrorKind;

use super::server::Gate;
use super::*;

const CLOSED: &str = "stream closed before response.completed";
const IDLE: &str = "idle timeout waiting for SSE";

fn delta(text: &str) -> Step {
    Step::event(&json!({"type": "response.output_text.delta", "item_id": "i", "delta": text}))
}

fn delta_event(text: &str) -> ResponseEvent {
    ResponseEvent::OutputTextDelta { item_id: Some("i".into()), delta: text.into() }
}

/// What an event is and, of an item, its kind and name.
fn brief(event: &ResponseEvent) -> String {
    match event {
        ResponseEvent::Created { .. } => "created".into(),
        ResponseEvent::OutputItemAdded { .. } => "added".into(),
        ResponseEvent::OutputItemDone { item } => {
            let item = serde_json::to_value(item).unwrap();
            let name = item.get("name").and_then(|name| name.as_str()).unwrap_or("-");
            format!("{} {name}", item["type"].as_str().unwrap())
        }
        ResponseEvent::OutputTextDelta { delta, .. } => format!("text {delta}"),
        ResponseEvent::ReasoningSummaryTextDelta { delta, .. } => format!("summary {delta}"),
        ResponseEvent::FunctionCallArgumentsDelta { delta, .. } => format!("arguments {delta}"),
        ResponseEvent::CustomToolCallInputDelta { delta, .. } => format!("input {delta}"),
        ResponseEvent::Completed { usage, .. } => {
            format!("completed {}", usage.map(|usage| usage.total_tokens).unwrap_or_default())
        }
        ResponseEvent::Skipped { reason } => format!("skipped: {reason}"),
        ResponseEvent::Other { kind, .. } => kind.clone(),
        ResponseEvent::ReasoningSummaryTextDone { .. }
        | ResponseEvent::ReasoningSummaryPartAdded { .. }
        | ResponseEvent::ReasoningTextDelta { .. }
        | ResponseEvent::Failed(_)
        | ResponseEvent::Incomplete { .. } => "unexpected".into(),
    }
}

async fn played(text: &str) -> (Vec<String>, Option<ModelError>) {
    let server = server([Answer::stream([Step::Bytes(text.into())])]).await;
    let (events, error) = whole(&config(&server)).await;
    (events.iter().map(brief).collect(), error)
}

#[tokio::test]
async fn each_event_comes_as_soon_as_it_is_whole() {
    let (first, second) = (Gate::new(), Gate::new());
    let Step::Bytes(whole) = delta("two") else { panic!("an event is bytes") };
    let (head, tail) = whole.split_at(whole.len() / 2);
    let server = server([Answer::chunked([
        delta("one"),
        Step::Wait(first.clone()),
        Step::Bytes(head.into()),
        Step::Wait(second.clone()),
        Step::Bytes(tail.into()),
        Step::completed("r"),
    ])])
    .await;
    let mut stream = open(&config(&server)).await.unwrap();
    assert_eq!(next(&mut stream).await.unwrap().unwrap(), delta_event("one"));
    first.open();
    second.open();
    assert_eq!(next(&mut stream).await.unwrap().unwrap(), delta_event("two"));
    assert!(matches!(next(&mut stream).await, Some(Ok(ResponseEvent::Completed { .. }))));
    assert!(next(&mut stream).await.is_none());
}

#[tokio::test]
async fn a_stream_may_come_byte_by_byte() {
    let Step::Bytes(bytes) = delta("é😀") else { panic!("an event is bytes") };
    let mut steps: Vec<Step> = bytes.iter().map(|byte| Step::Bytes(vec![*byte])).collect();
    steps.push(Step::completed("r"));
    let server = server([Answer::chunked(steps)]).await;
    let (events, error) = whole(&config(&server)).await;
    assert_eq!(events[0], delta_event("é😀"));
    assert_eq!((events.len(), error), (2, None));
}

#[tokio::test]
async fn a_stream_cut_in_mid_event_ends_with_an_error_after_what_was_whole() {
    let half = Step::Bytes(b"data: {\"type\":\"response.outp".into());
    for answer in [
        Answer::stream([delta("x"), half.clone(), Step::Cut]),
        Answer::chunked([delta("x"), half.clone(), Step::Cut]),
        Answer::chunked([delta("x"), half]),
    ] {
        let server = server([answer]).await;
        let (events, error) = whole(&config(&server)).await;
        assert_eq!(events, [delta_event("x")]);
        assert_eq!(error, Some(ModelError::retryable(ModelErrorKind::Stream, CLOSED)));
        assert_eq!(server.counts().requests, 1, "a stream that began is not retried here");
    }
}

#[tokio::test]
async fn a_stream_that_stalls_ends_at_the_idle_time() {
    let server = server([Answer::stream([delta("x"), Step::Stall])]).await;
    let mut config = config(&server);
    config.idle_timeout = Duration::from_millis(100);
    let (events, error) = whole(&config).await;
    assert_eq!(events, [delta_event("x")]);
    assert_eq!(error, Some(ModelError::retryable(ModelErrorKind::Stream, IDLE)));
    server.until(|counts| counts.hang_ups == 1).await;
}

#[tokio::test]
async fn an_answer_without_a_head_ends_at_the_idle_time() {
    let server = server([Answer::Silence]).await;
    let mut config = config(&server);
    config.idle_timeout = Duration::from_millis(100);
    let message = format!("no answer from {}/responses within 100ms", server.base_url());
    assert_eq!(refused(&config).await, ModelError::retryable(ModelErrorKind::Connection, message));
    server.until(|counts| counts.hang_ups == 1).await;
}

#[tokio::test]
async fn a_stream_that_is_dropped_closes_its_connection() {
    let server = server([Answer::stream([delta("x"), Step::Stall])]).await;
    let mut stream = open(&config(&server)).await.unwrap();
    next(&mut stream).await;
    drop(stream);
    server.until(|counts| counts.hang_ups == 1).await;
}

#[tokio::test]
async fn thoughts_calls_and_words_come_in_their_order() {
    let (events, error) = played(include_str!("fixtures/calls.sse")).await;
    assert_eq!(error, None);
    assert_eq!(
        events,
        [
            "created",
            "response.in_progress",
            "added",
            "summary Look ",
            "summary first.",
            "reasoning -",
            "added",
            "arguments {\"cmd\":",
            "arguments \"ls\"}",
            "response.function_call_arguments.done",
            "function_call exec_command",
            "added",
            "input *** Begin",
            "custom_tool_call apply_patch",
            "response.web_search_call.searching",
            "web_search_call -",
            "text Done.",
            "message -",
            "completed 30",
        ]
    );
}

#[tokio::test]
async fn a_failure_told_twice_is_raised_once() {
    let (events, error) = played(include_str!("fixtures/quota.sse")).await;
    assert_eq!(events, ["created"]);
    let message = "The quota of this example is used up.";
    assert_eq!(error, Some(ModelError::fatal(ModelErrorKind::QuotaExceeded, message)));
}

#[tokio::test]
async fn a_stream_of_another_api_brings_nothing_but_word_of_it() {
    let (events, error) = played(include_str!("fixtures/chat_completions.sse")).await;
    let word = "skipped: no Responses event: a `chat.completion.chunk` without `type`";
    assert!(!events.is_empty() && events.iter().all(|event| event == word), "{events:?}");
    assert_eq!(error, Some(ModelError::retryable(ModelErrorKind::Stream, CLOSED)));
}

#[tokio::test]
async fn line_ends_comments_and_other_fields_do_not_matter() {
    let (events, error) = played(
        "\u{feff}: hello\r\nid: 7\r\nretry: 10\r\nevent: x\r\ndata: {\"type\":\"response.output_text.delta\",\r\n\
         data: \"delta\":\"a\"}\r\n\r\ndata:{\"type\":\"response.completed\",\"response\":{\"id\":\"r\"}}\r\r\
         data: [DONE]\n\n",
    )
    .await;
    assert_eq!((events, error), (vec!["text a".into(), "completed 0".into()], None));
}
