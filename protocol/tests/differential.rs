//! The decoder finds the events that another implementation of the same standard finds.
//!
//! Where we differ on purpose the streams here are silent: we end the last event at the end of the stream, and take
//! bytes that are no UTF-8. The other one gets each stream whole and without its byte-order mark, which it cannot
//! take; ours gets it in pieces.

#![allow(clippy::expect_used, clippy::panic)] // the helpers of a test, which clippy does not take for one

use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use eventsource_stream::Eventsource;
use futures_core::Stream;
use proptest::prelude::*;
use tenon_protocol::{Decoded, EventDecoder, ResponseEvent};

/// A stream of one chunk.
struct Whole(Option<Vec<u8>>);

impl Stream for Whole {
    type Item = Result<Vec<u8>, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.0.take().map(Ok))
    }
}

/// The data of the events that the other implementation finds.
fn theirs(stream: &str) -> Vec<String> {
    let stream = stream.trim_start_matches('\u{feff}');
    let mut events = pin!(Whole(Some(stream.as_bytes().to_vec())).eventsource());
    let mut context = Context::from_waker(Waker::noop());
    let mut seen = Vec::new();
    loop {
        match events.as_mut().poll_next(&mut context) {
            Poll::Ready(Some(event)) => seen.push(event.expect("a readable stream").data),
            Poll::Ready(None) => return seen,
            Poll::Pending => panic!("a stream without waits"),
        }
    }
}

/// The data of the events that ours finds, by the JSON that each holds or does not hold.
fn ours(stream: &str, chunk: usize) -> Vec<String> {
    let mut seen = Vec::new();
    let mut sink = |decoded| {
        seen.push(match decoded {
            Decoded::Event(ResponseEvent::Other { raw, .. }) => raw.get().to_owned(),
            Decoded::Event(event) => panic!("not in these streams: {event:?}"),
            Decoded::Broken(broken) => broken.excerpt,
        });
    };
    let mut decoder = EventDecoder::new();
    for bytes in stream.as_bytes().chunks(chunk) {
        decoder.feed(bytes, &mut sink);
    }
    decoder.finish(&mut sink);
    seen
}

fn line() -> impl Strategy<Value = String> {
    let fixed = [
        "data: {\"type\":\"x\",\"n\":1}",
        "data:{\"type\":\"x\"}",
        "data: {\"type\":",
        "data:  \"x\"}",
        "data:word",
        "data: two words ",
        "data",
        "data:",
        "event: x",
        "id: 1",
        "retry: 10",
        ": comment",
        ":",
        "database: x",
        "nocolon",
        "é: ü",
        "",
        "",
        "",
    ];
    prop_oneof![
        6 => proptest::sample::select(fixed.to_vec()).prop_map(str::to_owned),
        1 => "data: [a-zé:]{0,20}",
    ]
}

fn stream() -> impl Strategy<Value = String> {
    let ends = proptest::sample::select(vec!["\n", "\r\n", "\r"]);
    let mark = proptest::sample::select(vec!["", "\u{feff}"]);
    (mark, proptest::collection::vec((line(), ends), 0..40)).prop_map(|(mark, lines)| {
        let lines: String = lines.into_iter().map(|(line, end)| line + end).collect();
        // A blank line at the end, since the other one drops an event without.
        format!("{mark}{lines}\n\n")
    })
}

/// What can be compared: we skip events without data, drop the spaces around JSON and show the beginning of what is
/// none (200 bytes, so at least 100 of these characters).
fn comparable(events: &[String]) -> Vec<String> {
    events
        .iter()
        .map(|data| data.trim_ascii().replace('\n', " ").chars().take(100).collect::<String>())
        .filter(|data| !data.is_empty())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_find_the_same_events(stream in stream(), chunk in 1..30_usize) {
        prop_assert_eq!(comparable(&ours(&stream, chunk)), comparable(&theirs(&stream)));
    }
}
