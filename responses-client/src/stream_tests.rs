use std::io;

use pretty_assertions::assert_eq;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::*;
use crate::{ProviderConfig, Secret};

const IDLE_TIME: Duration = Duration::from_secs(300);
const SECRET: &str = "sk-a-long-secret";

/// A body that a test feeds.
struct Body(UnboundedReceiver<io::Result<&'static [u8]>>);

impl Stream for Body {
    type Item = io::Result<&'static [u8]>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context)
    }
}

struct Fixture {
    body: UnboundedSender<io::Result<&'static [u8]>>,
    events: EventStream<Body>,
    cancellation: CancellationToken,
}

impl Fixture {
    fn new() -> Self {
        let (body, receiver) = unbounded_channel();
        let cancellation = CancellationToken::new();
        let mut config = ProviderConfig::new("http://h");
        config.api_key = Some(Secret::new(SECRET));
        let events =
            EventStream::new(Body(receiver), IDLE_TIME, cancellation.clone(), Redactor::new(&config));
        Self { body, events, cancellation }
    }

    /// A stream whose body is these bytes and then ends.
    fn of(bytes: &'static str) -> Self {
        let mut fixture = Self::new();
        fixture.send(bytes);
        fixture.close();
        fixture
    }

    fn send(&self, bytes: &'static str) {
        self.body.send(Ok(bytes.as_bytes())).unwrap();
    }

    fn close(&mut self) {
        self.body = unbounded_channel().0;
    }

    async fn next(&mut self) -> Option<Result<ResponseEvent, ModelError>> {
        std::future::poll_fn(|context| Pin::new(&mut self.events).poll_next(context)).await
    }

    /// The kinds of all events, and the error that ended them.
    async fn all(&mut self) -> (Vec<&'static str>, Option<ModelError>) {
        let mut kinds = Vec::new();
        while let Some(next) = self.next().await {
            match next {
                Ok(event) => kinds.push(kind(&event)),
                Err(error) => {
                    assert!(self.next().await.is_none(), "an error is the last that comes");
                    return (kinds, Some(error));
                }
            }
        }
        (kinds, None)
    }
}

fn kind(event: &ResponseEvent) -> &'static str {
    match event {
        ResponseEvent::Created { .. } => "created",
        ResponseEvent::OutputItemDone { .. } => "item",
        ResponseEvent::OutputTextDelta { .. } => "delta",
        ResponseEvent::Completed { .. } => "completed",
        ResponseEvent::Skipped { .. } => "skipped",
        ResponseEvent::Other { .. } => "other",
        _ => "unexpected",
    }
}

fn stream_error(text: &str) -> Option<ModelError> {
    Some(ModelError::retryable(ModelErrorKind::Stream, text))
}

macro_rules! event {
    ($json:literal) => {
        concat!("data: ", $json, "\n\n")
    };
}
const CREATED: &str = event!(r#"{"type":"response.created","response":{"id":"r"}}"#);
const DELTA: &str = event!(r#"{"type":"response.output_text.delta","delta":"x"}"#);
const COMPLETED: &str = event!(r#"{"type":"response.completed","response":{"id":"r"}}"#);

#[tokio::test(start_paused = true)]
async fn events_come_as_their_bytes_do() {
    let mut fixture = Fixture::new();
    fixture.send("data: {\"type\":\"response.created\",\"resp");
    tokio::select! {
        biased;
        _ = fixture.next() => panic!("half an event is none"),
        () = sleep(Duration::from_secs(1)) => {}
    }
    fixture.send("onse\":{\"id\":\"r\"}}\n\n");
    let first = fixture.next().await.unwrap().unwrap();
    assert_eq!(first, ResponseEvent::Created { response_id: Some("r".into()) });
    fixture.send(DELTA);
    assert_eq!(kind(&fixture.next().await.unwrap().unwrap()), "delta");
    fixture.send(COMPLETED);
    fixture.close();
    assert_eq!(fixture.all().await, (vec!["completed"], None));
}

#[tokio::test(start_paused = true)]
async fn a_body_that_ends_too_early_is_an_error() {
    let mut fixture = Fixture::of(CREATED);
    assert_eq!(
        fixture.all().await,
        (vec!["created"], stream_error("stream closed before response.completed"))
    );
    assert_eq!(Fixture::of("").all().await.1, stream_error("stream closed before response.completed"));
}

#[tokio::test(start_paused = true)]
async fn a_body_that_breaks_is_the_same_error() {
    let mut fixture = Fixture::new();
    fixture.send(CREATED);
    fixture.body.send(Err(io::ErrorKind::ConnectionReset.into())).unwrap();
    assert_eq!(
        fixture.all().await,
        (vec!["created"], stream_error("stream closed before response.completed"))
    );
}

#[tokio::test(start_paused = true)]
async fn a_cut_event_is_skipped_and_a_whole_one_without_its_blank_line_counts() {
    let mut cut = Fixture::of("data: {\"type\":\"response.completed\",\"respo");
    assert_eq!(cut.all().await.1, stream_error("stream closed before response.completed"));
    let mut whole = Fixture::of(COMPLETED.trim_end());
    assert_eq!(whole.all().await, (vec!["completed"], None));
}

#[tokio::test(start_paused = true)]
async fn a_broken_event_is_skipped_and_an_unknown_one_kept() {
    let mut fixture = Fixture::of(concat!(
        "data: {broken\n\n",
        event!(r#"{"type":"brand.new"}"#),
        event!(r#"{"no":"type"}"#),
        event!(r#"{"type":"response.completed","response":{"id":"r"}}"#)
    ));
    assert_eq!(fixture.all().await, (vec!["skipped", "other", "skipped", "completed"], None));
}

#[tokio::test(start_paused = true)]
async fn what_is_skipped_is_told_by_its_reason_alone() {
    let mut fixture = Fixture::of(event!(r#"{"type":"response.output_text.delta","delta":["the model's"]}"#));
    let skipped = fixture.next().await.unwrap().unwrap();
    let ResponseEvent::Skipped { reason } = skipped else { panic!("{skipped:?}") };
    let start = "a `response.output_text.delta` event whose members don't fit: invalid type: sequence";
    assert!(reason.starts_with(start) && !reason.contains("the model's"), "{reason}");
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_has_lost_an_item_fails_behind_what_came_before_it() {
    const ITEM: &str = event!(
        r#"{"type":"response.output_item.done","item":{"type":"message","role":"assistant","content":[]}}"#
    );
    let broken = [
        event!(r#"{"type":"response.output_item.done","item":{"type":"function_call","name":"x""#),
        event!(r#"{"type":"response.output_item.done","item":{"name":"x"}}"#),
        event!(r#"{"type":"response.output_item.done","item":"x"}"#),
        event!(r#"{"item":{"type":"function_call"},"type":"response.output_item.done""#),
    ];
    for broken in broken {
        let mut fixture = Fixture::new();
        fixture.send(ITEM);
        fixture.send(broken);
        fixture.send(ITEM);
        fixture.send(COMPLETED);
        let (kinds, error) = fixture.all().await;
        let error = error.unwrap();
        assert_eq!((kinds, error.kind, error.retryable), (vec!["item"], ModelErrorKind::Stream, true));
        assert!(error.message.starts_with("an item of the answer could not be read: "), "{error:?}");
    }
    // In one chunk with what comes behind it, too.
    let mut fixture = Fixture::of(concat!(
        event!(r#"{"type":"response.output_item.done","item":1}"#),
        event!(r#"{"type":"response.completed","response":{"id":"r"}}"#)
    ));
    let (kinds, error) = fixture.all().await;
    assert_eq!((kinds, error.map(|error| error.retryable)), (vec![], Some(true)));
}

#[tokio::test(start_paused = true)]
async fn an_item_that_is_too_large_fails_the_stream_and_another_event_that_is_does_not() {
    let huge: &'static str = "x".repeat(tenon_protocol::DEFAULT_MAX_EVENT_BYTES).leak();
    for (start, expected) in [
        ("data: {\"type\":\"response.output_item.done\",\"item\":\"", None),
        ("data: {\"type\":\"response.output_item.added\",\"item\":\"", Some(vec!["skipped", "completed"])),
    ] {
        let mut fixture = Fixture::new();
        for part in [start, huge, "\"}\n\n", COMPLETED] {
            fixture.send(part);
        }
        let (kinds, error) = fixture.all().await;
        match expected {
            Some(expected) => assert_eq!((kinds, error), (expected, None)),
            None => {
                let text = "an item of the answer could not be read: an event of more than 67108864 bytes was skipped";
                assert_eq!((kinds, error), (vec![], stream_error(text)));
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn silence_ends_the_stream_at_the_idle_time_and_not_before() {
    let mut fixture = Fixture::new();
    let begin = Instant::now();
    fixture.send(CREATED);
    assert!(fixture.next().await.unwrap().is_ok());
    tokio::select! {
        biased;
        _ = fixture.next() => panic!("nothing came"),
        () = sleep(IDLE_TIME - Duration::from_millis(1)) => {}
    }
    // Any bytes count, even when they are no event.
    fixture.send(": still here\n\n");
    assert_eq!(fixture.all().await, (vec![], stream_error("idle timeout waiting for SSE")));
    assert_eq!(begin.elapsed(), IDLE_TIME * 2 - Duration::from_millis(1));
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_raised_when_the_stream_ends() {
    const FAILED: &str = event!(
        r#"{"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded","message":"try again in 3s"}}}"#
    );
    let mut fixture = Fixture::new();
    fixture.send(FAILED);
    fixture.send(DELTA);
    assert_eq!(kind(&fixture.next().await.unwrap().unwrap()), "delta");
    fixture.close();
    let error = fixture.all().await.1.unwrap();
    assert_eq!((error.message.as_str(), error.delay), ("try again in 3s", Some(Duration::from_secs(3))));
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_told_by_a_stream_that_stalls() {
    let mut fixture = Fixture::new();
    fixture.send(event!(r#"{"type":"error","error":{"code":"insufficient_quota","message":"used up"}}"#));
    let error = fixture.all().await.1.unwrap();
    assert_eq!(error, ModelError::fatal(ModelErrorKind::QuotaExceeded, "used up"));
}

#[tokio::test(start_paused = true)]
async fn of_two_failures_the_one_with_a_code_is_told() {
    let mut fixture = Fixture::of(concat!(
        event!(r#"{"type":"error","error":{"code":"insufficient_quota","message":"used up"}}"#),
        event!(r#"{"type":"response.failed","response":{"error":null}}"#)
    ));
    assert_eq!(fixture.all().await.1.unwrap().kind, ModelErrorKind::QuotaExceeded);
}

#[tokio::test(start_paused = true)]
async fn a_response_that_completes_after_all_has_not_failed() {
    let mut fixture = Fixture::of(concat!(
        event!(r#"{"type":"error","error":{"message":"m"}}"#),
        event!(r#"{"type":"response.completed","response":{"id":"r"}}"#)
    ));
    assert_eq!(fixture.all().await, (vec!["completed"], None));
}

#[tokio::test(start_paused = true)]
async fn an_incomplete_response_ends_at_once() {
    let mut fixture = Fixture::new();
    fixture.send(concat!(
        event!(r#"{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"}}}"#),
        event!(r#"{"type":"response.output_text.delta","delta":"x"}"#)
    ));
    let begin = Instant::now();
    let expected = stream_error("Incomplete response returned, reason: max_output_tokens");
    assert_eq!(fixture.all().await, (vec![], expected));
    assert_eq!(begin.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn the_end_of_the_body_is_waited_for_a_moment() {
    let mut fixture = Fixture::new();
    fixture.send(COMPLETED);
    let begin = Instant::now();
    assert_eq!(fixture.all().await, (vec!["completed"], None));
    assert_eq!(begin.elapsed(), END_GRACE);
    assert!(fixture.body.is_closed(), "the connection is given up");
    let mut fixture = Fixture::of(COMPLETED);
    let begin = Instant::now();
    assert_eq!(fixture.all().await, (vec!["completed"], None));
    assert_eq!(begin.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn what_comes_after_the_last_event_is_not_read_as_events() {
    let mut fixture = Fixture::of(concat!(
        event!(r#"{"type":"response.completed","response":{"id":"r"}}"#),
        event!(r#"{"type":"response.output_text.delta","delta":"x"}"#)
    ));
    assert_eq!(fixture.all().await, (vec!["completed"], None));
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_stream_ends_before_what_it_still_holds() {
    let mut fixture = Fixture::new();
    fixture.send(concat!(
        event!(r#"{"type":"response.created","response":{"id":"r"}}"#),
        event!(r#"{"type":"response.output_text.delta","delta":"x"}"#)
    ));
    assert!(fixture.next().await.unwrap().is_ok());
    fixture.cancellation.cancel();
    assert_eq!(fixture.all().await, (vec![], Some(cancelled())));
    assert!(fixture.body.is_closed(), "the connection is given up");
}

#[tokio::test(start_paused = true)]
async fn a_cancellation_wakes_a_reader() {
    let mut fixture = Fixture::new();
    let cancellation = fixture.cancellation.clone();
    let (all, ()) = tokio::join!(fixture.all(), async { cancellation.cancel() });
    assert_eq!(all, (vec![], Some(cancelled())));
}

#[tokio::test(start_paused = true)]
async fn a_cancellation_does_not_lose_a_complete_response() {
    let mut fixture = Fixture::new();
    fixture.send(COMPLETED);
    let cancellation = fixture.cancellation.clone();
    let begin = Instant::now();
    let (all, ()) = tokio::join!(fixture.all(), async { cancellation.cancel() });
    assert_eq!(all, (vec!["completed"], None));
    assert_eq!(begin.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_secret_in_a_failure_is_marked() {
    let mut fixture = Fixture::of(event!(
        r#"{"type":"error","error":{"code":"x","message":"the key sk-a-long-secret is wrong"}}"#
    ));
    assert_eq!(fixture.all().await.1.unwrap().message, "the key [redacted] is wrong");
}
