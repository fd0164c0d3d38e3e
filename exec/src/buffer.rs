//! What is kept of a command's output: its head and its tail, under a hard bound (runtime.md B1, B10.5).

use std::collections::VecDeque;
use std::num::NonZeroU64;

use tenon_tools::omission_marker;

/// Bytes kept of one collection or of one transcript: half of them from the beginning, half from the end.
pub(crate) const RETAINED_BYTES: usize = 1024 * 1024;

/// The longest run of bytes that can be the beginning of an unfinished UTF-8 character.
const MAX_PARTIAL: usize = 3;

/// Takes any number of bytes and keeps the first and the last of them. What falls out in between is counted.
///
/// Memory is bounded by the limit; an empty buffer holds none.
#[derive(Debug)]
pub(crate) struct HeadTailBuffer {
    head_limit: usize,
    tail_limit: usize,
    head: Vec<u8>,
    dropped: u64,
    tail: VecDeque<u8>,
}

impl HeadTailBuffer {
    /// A buffer that keeps `limit` bytes at most, the odd one in the tail.
    pub(crate) fn new(limit: usize) -> Self {
        let head_limit = limit / 2;
        Self {
            head_limit,
            tail_limit: limit - head_limit,
            head: Vec::new(),
            dropped: 0,
            tail: VecDeque::new(),
        }
    }

    /// Whether there is nothing to take, not even a count of what was dropped.
    #[cfg(test)]
    fn is_empty(&self) -> bool {
        self.head.is_empty() && self.tail.is_empty() && self.dropped == 0
    }

    /// Appends `bytes`.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        // Once something was dropped or moved on to the tail, the head is closed: it must stay one unbroken piece.
        let room =
            if self.tail.is_empty() && self.dropped == 0 { self.head_limit - self.head.len() } else { 0 };
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(first);
        self.push_tail(rest);
    }

    /// Appends what another buffer held. Its gap becomes a part of this one's.
    pub(crate) fn absorb(&mut self, captured: &Captured) {
        self.push(&captured.head);
        if captured.dropped > 0 {
            // After a gap everything belongs to the tail, and the tail must begin behind the gap.
            self.dropped += captured.dropped + self.tail.len() as u64;
            self.tail.clear();
        }
        self.push(&captured.tail);
    }

    /// Takes everything out. With `end` false a character that is not yet complete stays behind, so that it is not
    /// cut in two; it is at most three bytes.
    pub(crate) fn take(&mut self, end: bool) -> Captured {
        let mut captured = Captured {
            head: std::mem::take(&mut self.head),
            dropped: std::mem::take(&mut self.dropped),
            tail: std::mem::take(&mut self.tail).into(),
        };
        if !end {
            let last = if captured.tail.is_empty() { &mut captured.head } else { &mut captured.tail };
            let kept = last.split_off(last.len() - partial_suffix(last));
            self.push(&kept);
        }
        captured.trim_gap();
        captured
    }

    /// A copy of what [`take`](Self::take) would give at the end.
    pub(crate) fn snapshot(&self) -> Captured {
        let mut captured = Captured {
            head: self.head.clone(),
            dropped: self.dropped,
            tail: self.tail.iter().copied().collect(),
        };
        captured.trim_gap();
        captured
    }

    fn push_tail(&mut self, bytes: &[u8]) {
        let surplus = bytes.len().saturating_sub(self.tail_limit);
        let (lost, kept) = bytes.split_at(surplus);
        let overflow = (self.tail.len() + kept.len()).saturating_sub(self.tail_limit);
        self.tail.drain(..overflow);
        self.tail.extend(kept);
        self.dropped += (lost.len() + overflow) as u64;
    }
}

/// What was taken out of a [`HeadTailBuffer`]: a head and a tail, with a gap between them where bytes were dropped.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Captured {
    head: Vec<u8>,
    dropped: u64,
    tail: Vec<u8>,
}

impl Captured {
    /// Bytes that were seen, dropped ones included.
    pub(crate) fn seen(&self) -> u64 {
        self.head.len() as u64 + self.dropped + self.tail.len() as u64
    }

    /// The approximate tokens of all that was seen: four bytes each, rounded up.
    pub(crate) fn tokens(&self) -> usize {
        usize::try_from(self.seen().div_ceil(4)).unwrap_or(usize::MAX)
    }

    /// Bytes that were dropped.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Whether nothing was seen.
    pub(crate) fn is_empty(&self) -> bool {
        self.seen() == 0
    }

    /// The bytes as they are shown: where some were dropped, `... {n} bytes omitted ...` stands in their place on a
    /// line of its own (runtime.md B10.5).
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        let mut shown = self.head;
        if let Some(dropped) = NonZeroU64::new(self.dropped) {
            if shown.last().is_some_and(|last| *last != b'\n') {
                shown.push(b'\n');
            }
            shown.extend_from_slice(omission_marker(dropped).as_bytes());
            shown.push(b'\n');
        }
        shown.extend_from_slice(&self.tail);
        shown
    }

    /// The same as text; what is no UTF-8 becomes U+FFFD.
    pub(crate) fn into_text(self) -> String {
        match String::from_utf8(self.into_bytes()) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        }
    }

    /// Widens the gap to the next edges of characters, so that none is shown in part.
    fn trim_gap(&mut self) {
        if self.dropped == 0 {
            return;
        }
        let before = partial_suffix(&self.head);
        self.head.truncate(self.head.len() - before);
        let after = self.tail.iter().take(MAX_PARTIAL).take_while(|byte| is_continuation(**byte)).count();
        self.tail.drain(..after);
        self.dropped += (before + after) as u64;
    }
}

/// The longest prefix of `bytes` that has `limit` bytes at most and does not end within a character. Bytes that are no
/// UTF-8 are cut anywhere.
pub(crate) fn whole_prefix(bytes: &[u8], limit: usize) -> &[u8] {
    let Some(prefix) = bytes.get(..limit) else { return bytes };
    let whole = prefix.len() - partial_suffix(prefix);
    prefix.get(..whole).filter(|whole| !whole.is_empty()).unwrap_or(prefix)
}

fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

/// How many bytes at the end of `bytes` begin a character without completing it. None for bytes that can never become
/// one.
fn partial_suffix(bytes: &[u8]) -> usize {
    let window = bytes.len().saturating_sub(MAX_PARTIAL);
    let Some(last) = bytes.get(window..) else { return 0 };
    let Some(start) = last.iter().rposition(|byte| !is_continuation(*byte)) else { return 0 };
    let Some(candidate) = last.get(start..) else { return 0 };
    match std::str::from_utf8(candidate) {
        Err(error) if error.error_len().is_none() => candidate.len(),
        Ok(_) | Err(_) => 0,
    }
}

#[cfg(test)]
#[path = "buffer_tests.rs"]
mod tests;
