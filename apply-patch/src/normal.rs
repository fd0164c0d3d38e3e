//! How lines are made alike before they are compared (runtime.md A4.3, A4.4).

/// The passes of a search, strictest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pass {
    /// Byte for byte.
    Exact,
    /// Without white space at the end.
    TrimEnd,
    /// Without white space at both ends.
    Trim,
    /// Trimmed, with typographic dashes, quotes and spaces taken for plain ones.
    Fold,
}

/// All passes in their order.
pub(crate) const PASSES: [Pass; 4] = [Pass::Exact, Pass::TrimEnd, Pass::Trim, Pass::Fold];

impl Pass {
    /// The form of `line` that this pass compares. `scratch` is only used where bytes change.
    pub(crate) fn normal<'a>(self, line: &'a [u8], scratch: &'a mut Vec<u8>) -> &'a [u8] {
        match self {
            Self::Exact => line,
            Self::TrimEnd => trim_end(line),
            Self::Trim => trim_start(trim_end(line)),
            Self::Fold => fold(trim_start(trim_end(line)), scratch),
        }
    }
}

/// Length of the white space character (Unicode `White_Space`, as `str::trim` has it) that `bytes`
/// start with.
fn leading_space(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [b'\t'..=b'\r' | b' ', ..] => Some(1),
        [0xc2, 0x85 | 0xa0, ..] => Some(2),
        [0xe1, 0x9a, 0x80, ..]
        | [0xe2, 0x80, 0x80..=0x8a | 0xa8 | 0xa9 | 0xaf, ..]
        | [0xe2, 0x81, 0x9f, ..]
        | [0xe3, 0x80, 0x80, ..] => Some(3),
        _ => None,
    }
}

fn trim_start(mut line: &[u8]) -> &[u8] {
    while let Some(rest) = leading_space(line).and_then(|length| line.get(length..)) {
        line = rest;
    }
    line
}

fn trim_end(mut line: &[u8]) -> &[u8] {
    loop {
        // A space of n bytes has to be exactly the last n bytes.
        let rest = (1..=3).find_map(|length| {
            let (rest, space) = line.split_at_checked(line.len().checked_sub(length)?)?;
            (leading_space(space) == Some(length)).then_some(rest)
        });
        match rest {
            Some(rest) => line = rest,
            None => return line,
        }
    }
}

/// The plain character for the folded one that `bytes` start with, and that one's length.
fn folded(bytes: &[u8]) -> Option<(u8, usize)> {
    match bytes {
        [0xe2, 0x80, 0x90..=0x95, ..] | [0xe2, 0x88, 0x92, ..] => Some((b'-', 3)),
        [0xe2, 0x80, 0x98..=0x9b, ..] => Some((b'\'', 3)),
        [0xe2, 0x80, 0x9c..=0x9f, ..] => Some((b'"', 3)),
        [0xe2, 0x80, 0x82..=0x8a | 0xaf, ..] | [0xe2, 0x81, 0x9f, ..] | [0xe3, 0x80, 0x80, ..] => {
            Some((b' ', 3))
        }
        [0xc2, 0xa0, ..] => Some((b' ', 2)),
        _ => None,
    }
}

fn fold<'a>(line: &'a [u8], scratch: &'a mut Vec<u8>) -> &'a [u8] {
    // First bytes of everything that is folded.
    let next = |bytes: &[u8]| memchr::memchr3(0xc2, 0xe2, 0xe3, bytes);
    if next(line).is_none() {
        return line;
    }
    scratch.clear();
    let mut rest = line;
    while let Some((plain, found)) = next(rest).and_then(|at| rest.split_at_checked(at)) {
        scratch.extend_from_slice(plain);
        let (byte, length) = folded(found).unwrap_or((found.first().copied().unwrap_or_default(), 1));
        scratch.push(byte);
        rest = found.get(length..).unwrap_or_default();
    }
    scratch.extend_from_slice(rest);
    scratch
}

#[cfg(test)]
#[path = "normal_tests.rs"]
mod tests;
