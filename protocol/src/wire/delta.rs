//! Deltas by hand: nearly all events of a stream, flat and written without spaces.
//!
//! What is read here is read as serde would read it; whatever is in any way unusual is left to serde, which knows
//! every rule and says what is wrong.

use std::borrow::Cow;

use crate::event::ResponseEvent;

/// The most digits of a number that surely is a `u64`.
const MAX_DIGITS: usize = 19;

/// The delta that `json` is. `None` says nothing: it may be one all the same.
pub(super) fn read_delta(json: &str) -> Option<ResponseEvent> {
    let mut reader = Reader { json, at: 0 };
    let mut members = Members::default();
    reader.eat(b'{')?;
    loop {
        let key = reader.plain_text()?;
        reader.eat(b':')?;
        members.take(key, &mut reader)?;
        if reader.eat(b',').is_none() {
            break;
        }
    }
    reader.eat(b'}')?;
    if reader.at == json.len() { members.into_event() } else { None }
}

/// The members that a delta of any kind can have.
#[derive(Default)]
struct Members<'a> {
    kind: Option<&'a str>,
    item_id: Option<Cow<'a, str>>,
    call_id: Option<Cow<'a, str>>,
    delta: Option<Cow<'a, str>>,
    summary_index: Option<u64>,
    content_index: Option<u64>,
}

impl<'a> Members<'a> {
    /// Takes the next value.
    fn take(&mut self, key: &str, reader: &mut Reader<'a>) -> Option<()> {
        match key {
            "type" if self.kind.is_none() => {
                self.kind = reader.plain_text().filter(|kind| kind.ends_with(".delta"));
                self.kind.map(|_| ())
            }
            "item_id" => once(&mut self.item_id, reader.text()?),
            "call_id" => once(&mut self.call_id, reader.text()?),
            "delta" => once(&mut self.delta, reader.text()?),
            "summary_index" => once(&mut self.summary_index, reader.number()?),
            "content_index" => once(&mut self.content_index, reader.number()?),
            _ => reader.skip_plain_value(),
        }
    }

    fn into_event(self) -> Option<ResponseEvent> {
        let Self { kind, item_id, call_id, delta, summary_index, content_index } = self;
        let (item_id, call_id) = (item_id.map(Cow::into_owned), call_id.map(Cow::into_owned));
        let delta = delta?.into_owned();
        Some(match kind? {
            "response.output_text.delta" => ResponseEvent::OutputTextDelta { item_id, delta },
            "response.function_call_arguments.delta" => {
                ResponseEvent::FunctionCallArgumentsDelta { item_id, call_id, delta }
            }
            "response.custom_tool_call_input.delta" => {
                ResponseEvent::CustomToolCallInputDelta { item_id, call_id, delta }
            }
            "response.reasoning_summary_text.delta" => {
                ResponseEvent::ReasoningSummaryTextDelta { item_id, delta, summary_index }
            }
            "response.reasoning_text.delta" => {
                ResponseEvent::ReasoningTextDelta { item_id, delta, content_index }
            }
            _ => return None,
        })
    }
}

/// Keeps a value. A second one under the same name is serde's matter.
fn once<T>(place: &mut Option<T>, value: T) -> Option<()> {
    if place.is_some() {
        return None;
    }
    *place = Some(value);
    Some(())
}

/// A place in a text.
struct Reader<'a> {
    json: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    /// What is yet to be read.
    fn rest(&self) -> &'a [u8] {
        self.json.as_bytes().get(self.at..).unwrap_or_default()
    }

    fn eat(&mut self, byte: u8) -> Option<()> {
        (self.rest().first() == Some(&byte)).then(|| self.at += 1)
    }

    fn eat_all(&mut self, bytes: &[u8]) -> Option<()> {
        self.rest().starts_with(bytes).then(|| self.at += bytes.len())
    }

    /// A string.
    fn text(&mut self) -> Option<Cow<'a, str>> {
        let from = self.at;
        if let Some(text) = self.plain_text() {
            return Some(Cow::Borrowed(text));
        }
        self.at = from + string_length(self.json.as_bytes().get(from..)?)?;
        serde_json::from_str(self.json.get(from..self.at)?).ok().map(Cow::Owned)
    }

    /// A string without escapes.
    fn plain_text(&mut self) -> Option<&'a str> {
        self.eat(b'"')?;
        let from = self.at;
        self.at += plain_length(self.rest());
        let text = self.json.get(from..self.at)?;
        self.eat(b'"')?;
        Some(text)
    }

    /// A whole number.
    fn number(&mut self) -> Option<u64> {
        self.digits()?.parse().ok()
    }

    /// The digits of a whole number.
    fn digits(&mut self) -> Option<&'a str> {
        let from = self.at;
        self.at += self.rest().iter().take_while(|byte| byte.is_ascii_digit()).count();
        let digits = self.json.get(from..self.at)?;
        let plain = digits.len() == 1 || !digits.starts_with('0');
        (plain && (1..=MAX_DIGITS).contains(&digits.len())).then_some(digits)
    }

    /// A value that holds no others.
    fn skip_plain_value(&mut self) -> Option<()> {
        match self.rest().first()? {
            b'"' => self.plain_text().map(|_| ()),
            b'0'..=b'9' => self.digits().map(|_| ()),
            b'[' => self.eat_all(b"[]"),
            b'n' => self.eat_all(b"null"),
            b't' => self.eat_all(b"true"),
            b'f' => self.eat_all(b"false"),
            _ => None,
        }
    }
}

/// How many bytes come before a quote, a backslash or what JSON allows in no string.
fn plain_length(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH_BITS: u64 = ONES << 7;
    let (words, tail) = bytes.as_chunks::<8>();
    for (at, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        // A byte of these gets its high bit where the byte of the word is below; the lowest such bit is exact.
        let below = |limit: u8, bytes: u64| bytes.wrapping_sub(ONES * u64::from(limit)) & !bytes;
        let equal = |byte: u8| below(1, word ^ (ONES * u64::from(byte)));
        let found = (below(b' ', word) | equal(b'"') | equal(b'\\')) & HIGH_BITS;
        if found != 0 {
            return at * 8 + found.trailing_zeros() as usize / 8;
        }
    }
    let ends = |byte: &u8| matches!(byte, 0..b' ' | b'"' | b'\\');
    words.len() * 8 + tail.iter().position(ends).unwrap_or(tail.len())
}

/// How many bytes the string has that `bytes` begin with, quotes included.
fn string_length(bytes: &[u8]) -> Option<usize> {
    let mut length = 1;
    loop {
        length += plain_length(bytes.get(length..)?);
        match bytes.get(length)? {
            b'"' => return Some(length + 1),
            b'\\' => length += 2,
            _ => return None,
        }
    }
}

#[cfg(test)]
#[path = "delta_tests.rs"]
mod tests;
