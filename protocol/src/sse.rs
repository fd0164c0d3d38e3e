//! From bytes to the data of server-sent events, whatever the chunks (the event stream format of the HTML standard).
//!
//! Lines end with LF, CRLF or CR; a byte-order mark may stand first; `data` fields of one event are joined by LF;
//! comments and all other fields are skipped. Unlike a browser, the end of the stream ends the last event: what was
//! cut off shows in its JSON.

use memchr::memchr2;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
const FIELD: &[u8] = b"data";

/// The most bytes of a `data` line that are not data: byte-order mark, field name, colon, space.
const LINE_OVERHEAD: usize = BYTE_ORDER_MARK.len() + FIELD.len() + 2;

/// The most bytes of a too large event that are shown.
pub(crate) const MAX_EXCERPT_BYTES: usize = 200;

/// The most bytes a buffer keeps for the next event once it is empty again.
const KEPT_CAPACITY: usize = 1 << 20;

/// What the framer finds.
pub(crate) enum Frame<'a> {
    /// The data of an event.
    Data(&'a [u8]),
    /// An event with more data than allowed, skipped; its first bytes.
    TooLarge(&'a [u8]),
}

/// Cuts a stream into events. A line that lies whole in its chunk is not copied.
#[derive(Debug)]
pub(crate) struct SseFramer {
    max_data_bytes: usize,
    /// The line that the last chunk ended in.
    line: Vec<u8>,
    /// The event's data so far, without what the running chunk still holds.
    data: Vec<u8>,
    /// Whether `data` counts, even when empty.
    has_data: bool,
    /// Nothing but maybe a part of the first line has come.
    at_start: bool,
    /// The last byte was a CR: an LF that follows belongs to it.
    after_cr: bool,
    /// Skip to the end of the line.
    skip_line: bool,
    /// Skip to the end of the event.
    skip_event: bool,
}

enum Line<'a> {
    Blank,
    Data(&'a [u8]),
    Other,
}

impl SseFramer {
    pub(crate) fn new(max_data_bytes: usize) -> Self {
        Self {
            max_data_bytes,
            line: Vec::new(),
            data: Vec::new(),
            has_data: false,
            at_start: true,
            after_cr: false,
            skip_line: false,
            skip_event: false,
        }
    }

    /// Takes the next bytes of the stream.
    pub(crate) fn feed(&mut self, chunk: &[u8], out: &mut impl FnMut(Frame<'_>)) {
        let mut rest = chunk;
        if self.after_cr && !rest.is_empty() {
            self.after_cr = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        // An event's only data line, as long as it lies in this chunk.
        let mut held = None;
        while let Some((line, end)) = line_length(rest).and_then(|at| rest.split_at_checked(at)) {
            rest = self.after_break(end);
            self.line_ends(line, &mut held, out);
        }
        if let Some(value) = held {
            self.append(value, out);
        }
        self.keep(rest, out);
    }

    /// Ends the stream: what has come of a last line and event counts as whole.
    pub(crate) fn finish(&mut self, out: &mut impl FnMut(Frame<'_>)) {
        let mut held = None;
        if !self.line.is_empty() || self.skip_line {
            self.line_ends(b"", &mut held, out);
        }
        self.event_ends(held, out);
        *self = Self::new(self.max_data_bytes);
    }

    /// What follows the line break that `end` begins with.
    fn after_break<'a>(&mut self, end: &'a [u8]) -> &'a [u8] {
        match end {
            [b'\r', b'\n', rest @ ..] => rest,
            [b'\r'] => {
                self.after_cr = true;
                &[]
            }
            [_, rest @ ..] => rest,
            [] => &[],
        }
    }

    /// A line is whole: `line` is what the running chunk holds of it.
    fn line_ends<'c>(
        &mut self,
        line: &'c [u8],
        held: &mut Option<&'c [u8]>,
        out: &mut impl FnMut(Frame<'_>),
    ) {
        if self.skip_line {
            self.skip_line = false;
        } else if self.line.is_empty() {
            match self.classify(line) {
                Line::Blank => self.event_ends(held.take(), out),
                Line::Data(value) => self.data_line(value, held, out),
                Line::Other => {}
            }
        } else {
            let mut whole = std::mem::take(&mut self.line);
            whole.extend_from_slice(line);
            match self.classify(&whole) {
                Line::Blank => self.event_ends(held.take(), out),
                Line::Data(value) => {
                    if let Some(before) = held.take() {
                        self.append(before, out);
                    }
                    self.append(value, out);
                }
                Line::Other => {}
            }
            whole.clear();
            whole.shrink_to(KEPT_CAPACITY);
            self.line = whole;
        }
        self.at_start = false;
    }

    fn classify<'a>(&self, line: &'a [u8]) -> Line<'a> {
        let line = if self.at_start { line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line) } else { line };
        if line.is_empty() {
            return Line::Blank;
        }
        match line.strip_prefix(FIELD) {
            Some([]) => Line::Data(&[]),
            Some([b':', b' ', value @ ..] | [b':', value @ ..]) => Line::Data(value),
            Some(_) | None => Line::Other,
        }
    }

    /// Holds an event's first data line where it lies, joins it with a second one.
    fn data_line<'c>(
        &mut self,
        value: &'c [u8],
        held: &mut Option<&'c [u8]>,
        out: &mut impl FnMut(Frame<'_>),
    ) {
        if let Some(before) = held.take() {
            self.append(before, out);
        } else if !self.has_data && !self.skip_event && value.len() <= self.max_data_bytes {
            *held = Some(value);
            return;
        }
        self.append(value, out);
    }

    /// Adds a line to the event's data, or gives the event up when it grows too large.
    fn append(&mut self, value: &[u8], out: &mut impl FnMut(Frame<'_>)) {
        if self.skip_event {
            return;
        }
        if self.has_data {
            self.data.push(b'\n');
        }
        self.has_data = true;
        if self.max_data_bytes.checked_sub(self.data.len()).is_some_and(|room| value.len() <= room) {
            self.data.extend_from_slice(value);
            return;
        }
        // More bytes than the limit came, however they were cut, so an excerpt up to the limit is always the same.
        let shown = MAX_EXCERPT_BYTES.min(self.max_data_bytes);
        let missing = shown.saturating_sub(self.data.len()).min(value.len());
        self.data.extend(value.iter().take(missing));
        self.data.truncate(shown);
        out(Frame::TooLarge(&self.data));
        self.reset_data();
        self.skip_event = true;
    }

    fn event_ends(&mut self, held: Option<&[u8]>, out: &mut impl FnMut(Frame<'_>)) {
        if let Some(value) = held {
            out(Frame::Data(value));
        } else if self.has_data {
            out(Frame::Data(&self.data));
            self.reset_data();
        }
        self.skip_event = false;
    }

    fn reset_data(&mut self) {
        self.data.clear();
        self.data.shrink_to(KEPT_CAPACITY);
        self.has_data = false;
    }

    /// Keeps the beginning of a line for the next chunk, unless nothing of the line will count.
    fn keep(&mut self, rest: &[u8], out: &mut impl FnMut(Frame<'_>)) {
        if rest.is_empty() || self.skip_line {
            return;
        }
        if self.skip_event {
            // Not blank, so not the end of the event.
            self.skip_line = true;
            return;
        }
        let most = self.max_data_bytes.saturating_add(LINE_OVERHEAD);
        let room = most.saturating_sub(self.line.len());
        self.line.extend(rest.iter().take(room.saturating_add(1)));
        if self.line.len() > most {
            let line = std::mem::take(&mut self.line);
            if let Line::Data(value) = self.classify(&line) {
                self.append(value, out);
            }
            self.skip_line = true;
        }
    }
}

/// How many bytes come before the next line break. Every event ends with a line that has none.
fn line_length(rest: &[u8]) -> Option<usize> {
    if rest.first() == Some(&b'\n') { Some(0) } else { memchr2(b'\n', b'\r', rest) }
}

#[cfg(test)]
#[path = "sse_tests.rs"]
mod tests;
