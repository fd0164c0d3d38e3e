//! The marks in a scenario's turns that stand for ids only the client knows.

use serde_json::Value;

struct Mark {
    mark: &'static str,
    /// The words that stand before the id in what the client sent.
    words: &'static str,
    /// The characters of an id.
    belongs: fn(char) -> bool,
}

const MARKS: [Mark; 2] = [
    Mark { mark: "$SESSION", words: "session ID ", belongs: |c| c.is_ascii_digit() },
    Mark {
        mark: "$CELL",
        words: "cell ID ",
        belongs: |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'),
    },
];

/// The turn's items with every mark replaced by the newest id in the request's input, or by `0` when it has none.
///
/// # Errors
/// When the items are no JSON any more after that.
pub fn replace(items: &[Value], input: &[Value]) -> serde_json::Result<Vec<Value>> {
    let mut text = serde_json::to_string(items)?;
    for Mark { mark, words, belongs } in MARKS {
        if text.contains(mark) {
            let sent = serde_json::to_string(input)?;
            text = text.replace(mark, newest(&sent, words, belongs).unwrap_or("0"));
        }
    }
    serde_json::from_str(&text)
}

/// The last id in a text: the longest run of its characters after the last words that are followed by at least one.
fn newest<'t>(text: &'t str, words: &str, belongs: fn(char) -> bool) -> Option<&'t str> {
    text.rmatch_indices(words).find_map(|(at, _)| {
        let rest = text.get(at + words.len()..)?;
        let id = rest.get(..rest.find(|c| !belongs(c)).unwrap_or(rest.len()))?;
        (!id.is_empty()).then_some(id)
    })
}

#[cfg(test)]
#[path = "marks_tests.rs"]
mod tests;
