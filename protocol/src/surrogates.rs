//! Lone surrogates in JSON strings: `"\ud83d"` is legal JSON but no text.

/// `json` with every escape of a lone surrogate replaced by that of U+FFFD; `None` when there is none.
///
/// The API cuts deltas between UTF-16 units, so the halves of one character may come in two events.
#[must_use]
pub fn replace_lone_surrogates(json: &str) -> Option<String> {
    // Most texts name no surrogate at all.
    if !json.contains("\\ud") && !json.contains("\\uD") {
        return None;
    }
    let mut out = String::new();
    let mut rest = json;
    while let Some((before, from_escape)) = rest.find('\\').and_then(|at| rest.split_at_checked(at)) {
        out.push_str(before);
        let (escape, replaced) = next_escape(from_escape);
        out.push_str(replaced.unwrap_or(escape));
        rest = from_escape.strip_prefix(escape).unwrap_or_default();
    }
    out.push_str(rest);
    (out != json).then_some(out)
}

/// The escape that `text` begins with (both of a pair), and what it is replaced by if it is a lone surrogate.
fn next_escape(text: &str) -> (&str, Option<&'static str>) {
    let head = |bytes: usize| text.get(..bytes).unwrap_or(text);
    match code_unit(text) {
        Some(0xd800..=0xdbff) => match text.get(6..).and_then(code_unit) {
            Some(0xdc00..=0xdfff) => (head(12), None),
            Some(_) | None => (head(6), Some("\\ufffd")),
        },
        Some(0xdc00..=0xdfff) => (head(6), Some("\\ufffd")),
        Some(_) => (head(6), None),
        // `\\`, `\"` and the like; before a longer character, the backslash alone.
        None => (text.get(..2).unwrap_or_else(|| head(1)), None),
    }
}

/// The UTF-16 unit of a `\uXXXX` that `text` begins with.
fn code_unit(text: &str) -> Option<u16> {
    u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok()
}

#[cfg(test)]
#[path = "surrogates_tests.rs"]
mod tests;
