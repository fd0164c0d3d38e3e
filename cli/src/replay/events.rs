//! Raw events of the API, as SSE or as JSON Lines: the stream as it came, cut into answers.

use tenon_protocol::{Decoded, EventDecoder, ResponseEvent, decode_event};

use super::input::{Answer, Recording, Speech, numbered};

/// How many broken events are named one by one.
const NAMED: usize = 5;

/// Reads server-sent events.
pub(crate) fn from_sse(text: &str) -> Recording {
    let mut cutter = Cutter::default();
    let mut decoder = EventDecoder::new();
    // An event is complete at the blank line behind it; it is named by the last line of its data.
    let mut place = 0;
    for (at, line) in text.split_inclusive('\n').enumerate() {
        if line.starts_with("data") {
            place = at + 1;
        }
        decoder.feed(line.as_bytes(), &mut |decoded| cutter.take(decoded, place));
    }
    decoder.finish(&mut |decoded| cutter.take(decoded, place));
    cutter.finish()
}

/// Reads one event a line.
pub(crate) fn from_json_lines(text: &str) -> Recording {
    let mut cutter = Cutter::default();
    for (line, json) in numbered(text) {
        cutter.take(decode_event(json), line);
    }
    cutter.finish()
}

/// Cuts a run of events where an answer ends.
#[derive(Default)]
struct Cutter {
    answers: Vec<Answer>,
    events: Vec<ResponseEvent>,
    broken: usize,
    notes: Vec<String>,
}

impl Cutter {
    fn take(&mut self, decoded: Decoded, line: usize) {
        let event = match decoded {
            Decoded::Event(event) => event,
            Decoded::Broken(broken) => {
                self.broken += 1;
                if self.broken <= NAMED {
                    self.notes.push(format!("line {line}: an event was skipped: {broken}"));
                }
                return;
            }
        };
        let ends = is_last(&event);
        self.events.push(event);
        if ends {
            self.end_answer();
        }
    }

    fn end_answer(&mut self) {
        let speech = Speech::Events(std::mem::take(&mut self.events));
        self.answers.push(Answer { prompt: None, speech });
    }

    fn finish(mut self) -> Recording {
        // A stream that was cut off is played as one.
        if !self.events.is_empty() {
            self.end_answer();
        }
        if self.broken > NAMED {
            self.notes.push(format!("{} more events were skipped", self.broken - NAMED));
        }
        Recording { answers: self.answers, notes: self.notes, ..Recording::default() }
    }
}

/// Whether an answer ends with this event.
pub(crate) fn is_last(event: &ResponseEvent) -> bool {
    match event {
        ResponseEvent::Completed { .. } | ResponseEvent::Failed(_) | ResponseEvent::Incomplete { .. } => true,
        ResponseEvent::Created { .. }
        | ResponseEvent::OutputItemAdded { .. }
        | ResponseEvent::OutputItemDone { .. }
        | ResponseEvent::OutputTextDelta { .. }
        | ResponseEvent::ReasoningSummaryTextDelta { .. }
        | ResponseEvent::ReasoningSummaryTextDone { .. }
        | ResponseEvent::ReasoningSummaryPartAdded { .. }
        | ResponseEvent::ReasoningTextDelta { .. }
        | ResponseEvent::CustomToolCallInputDelta { .. }
        | ResponseEvent::FunctionCallArgumentsDelta { .. }
        | ResponseEvent::Skipped { .. }
        | ResponseEvent::Other { .. } => false,
    }
}
