//! The outermost layer of JSON that cannot be parsed as a whole, found without going down into it.
//!
//! Only strings and brackets are understood, so that neither depth nor what stands in a value matters.

/// The members of an object, in their order.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Members<'a> {
    members: Vec<(String, &'a str)>,
    whole: bool,
}

impl<'a> Members<'a> {
    /// The members of the object that a text begins with; of one that is cut off, those that are there. None: it
    /// begins with no object.
    pub(super) fn of(text: &'a str) -> Option<Self> {
        let Pieces { pieces, whole } = Pieces::of(text, '{')?;
        Some(Self { members: pieces.into_iter().filter_map(member).collect(), whole })
    }

    /// The value under a key, as it is written. Of several, the last one counts, as everywhere.
    pub(super) fn get(&self, key: &str) -> Option<&'a str> {
        self.members.iter().rev().find(|(own, _)| own == key).map(|(_, value)| *value)
    }

    /// Whether the object ends, and nothing stands behind it.
    pub(super) fn is_whole(&self) -> bool {
        self.whole
    }

    /// The keys with their values.
    pub(super) fn into_pairs(self) -> impl Iterator<Item = (String, &'a str)> {
        self.members.into_iter()
    }
}

/// The elements of the array that a text begins with. None: it begins with no array.
pub(super) fn elements(text: &str) -> Option<Vec<&str>> {
    Pieces::of(text, '[').map(|pieces| pieces.pieces)
}

fn member(piece: &str) -> Option<(String, &str)> {
    let mut keys = serde_json::Deserializer::from_str(piece).into_iter::<String>();
    let key = keys.next()?.ok()?;
    let rest = piece.get(keys.byte_offset()..)?;
    Some((key, rest.trim_start().strip_prefix(':')?.trim()))
}

/// What stands between a pair of brackets, taken apart at its commas.
struct Pieces<'a> {
    pieces: Vec<&'a str>,
    whole: bool,
}

impl<'a> Pieces<'a> {
    fn of(text: &'a str, open: char) -> Option<Self> {
        let inner = text.trim_start().strip_prefix(open)?;
        let (mut pieces, mut start) = (Vec::new(), 0);
        let mut push = |from: usize, to: usize| {
            let piece = inner.get(from..to).unwrap_or_default().trim();
            if !piece.is_empty() {
                pieces.push(piece);
            }
        };
        let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
        for (at, byte) in inner.bytes().enumerate() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' if quoted => escaped = true,
                b'"' => quoted = !quoted,
                _ if quoted => {}
                b'{' | b'[' => depth += 1,
                b'}' | b']' if depth > 0 => depth -= 1,
                b'}' | b']' => {
                    push(start, at);
                    let whole = inner.get(at + 1..).is_some_and(|rest| rest.trim().is_empty());
                    return Some(Self { pieces, whole });
                }
                b',' if depth == 0 => {
                    push(start, at);
                    start = at + 1;
                }
                _ => {}
            }
        }
        push(start, inner.len());
        Some(Self { pieces, whole: false })
    }
}

#[cfg(test)]
#[path = "scan_tests.rs"]
mod tests;
