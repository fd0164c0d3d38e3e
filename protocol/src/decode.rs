//! From the bytes of a Responses API stream to its events.

use std::borrow::Cow;

use crate::event::ResponseEvent;
use crate::peek::peek_text;
use crate::sse::{Frame, MAX_EXCERPT_BYTES, SseFramer};
use crate::wire::read_event;

/// The most bytes of data one event may hold by default: room for images in base64, which the last event repeats.
pub const DEFAULT_MAX_EVENT_BYTES: usize = 64 << 20;

/// The type of the only event that nothing else makes up for.
const ITEM_DONE: &str = "response.output_item.done";

/// What came: an event, or something that is none.
#[derive(Clone, Debug, PartialEq)]
pub enum Decoded {
    /// An event.
    Event(ResponseEvent),
    /// Something that could not be read; the stream goes on behind it.
    Broken(BrokenEvent),
}

/// Something in a stream that is no event we can read. To be reported, then skipped (runtime.md D1); but a stream that
/// may have lost an item is no whole answer any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenEvent {
    /// What is wrong.
    pub reason: String,
    /// How it begins: at most 200 bytes, and `…` when there is more.
    pub excerpt: String,
    /// Whether it may have been a whole item (`response.output_item.done`): then a call may be lost with it. False
    /// where its type can be read and is another one.
    pub may_be_item: bool,
}

impl std::fmt::Display for BrokenEvent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.reason, self.excerpt)
    }
}

impl BrokenEvent {
    /// Of an event whose whole text is known.
    fn new(reason: String, text: &str) -> Self {
        let mut end = MAX_EXCERPT_BYTES.min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let excerpt = match text.get(..end) {
            Some(head) if end < text.len() => format!("{head}…"),
            Some(_) | None => text.to_owned(),
        };
        let may_be_item = peek_text(text, "type")
            .map_or_else(|| text.starts_with('{') && text.contains(ITEM_DONE), |kind| kind == ITEM_DONE);
        Self { reason, excerpt, may_be_item }
    }

    /// Of an event that was too large to be kept, by its first bytes.
    fn too_large(max_event_bytes: usize, start: &[u8]) -> Self {
        let start = String::from_utf8_lossy(start);
        Self {
            reason: format!("an event of more than {max_event_bytes} bytes was skipped"),
            excerpt: format!("{start}…"),
            may_be_item: peek_text(&start, "type").is_none_or(|kind| kind == ITEM_DONE),
        }
    }
}

/// Decodes a stream of server-sent events, in chunks of any size. No I/O, no clock.
///
/// Bytes that are no UTF-8 become U+FFFD, and so do lone surrogates in deltas (the API may cut a character in two; the
/// whole item has it whole). `[DONE]` and events without data are skipped in silence. Events of unknown
/// type are [`ResponseEvent::Other`]; what is no event, or too large, is [`Decoded::Broken`] once, and the stream
/// goes on behind it. Memory is bounded by twice the limit.
#[derive(Debug)]
pub struct EventDecoder {
    framer: SseFramer,
    max_event_bytes: usize,
}

impl Default for EventDecoder {
    fn default() -> Self {
        Self::new()
    }
}

impl EventDecoder {
    /// A decoder with the limit [`DEFAULT_MAX_EVENT_BYTES`].
    #[must_use]
    pub fn new() -> Self {
        Self::with_max_event_bytes(DEFAULT_MAX_EVENT_BYTES)
    }

    /// A decoder for events of at most `max_event_bytes` bytes of data.
    #[must_use]
    pub fn with_max_event_bytes(max_event_bytes: usize) -> Self {
        Self { framer: SseFramer::new(max_event_bytes), max_event_bytes }
    }

    /// Takes the next bytes, gives `sink` what they complete, in order.
    pub fn feed(&mut self, chunk: &[u8], sink: &mut impl FnMut(Decoded)) {
        let max = self.max_event_bytes;
        self.framer.feed(chunk, &mut |frame| decode_frame(&frame, max, sink));
    }

    /// Ends the stream: an event without its last blank line counts. The decoder is then as new.
    pub fn finish(&mut self, sink: &mut impl FnMut(Decoded)) {
        let max = self.max_event_bytes;
        self.framer.finish(&mut |frame| decode_frame(&frame, max, sink));
    }
}

fn decode_frame(frame: &Frame<'_>, max_event_bytes: usize, sink: &mut impl FnMut(Decoded)) {
    match frame {
        Frame::Data(data) => {
            let text = text_of(data);
            match text.trim_ascii() {
                "" | "[DONE]" => {}
                json => sink(decode_event(json)),
            }
        }
        Frame::TooLarge(start) => sink(Decoded::Broken(BrokenEvent::too_large(max_event_bytes, start))),
    }
}

fn text_of(data: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(data) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(data),
    }
}

/// Decodes the JSON of one event, as a line of a JSON Lines file holds it.
#[must_use]
pub fn decode_event(json: &str) -> Decoded {
    match read_event(json) {
        Ok(event) => Decoded::Event(event),
        Err(reason) => Decoded::Broken(BrokenEvent::new(reason, json)),
    }
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
