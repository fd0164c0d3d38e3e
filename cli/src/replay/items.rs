//! JSON Lines of response items: one item a line, a blank line ends an answer.

use serde_json::Value;
use tenon_protocol::ResponseItem;

use super::input::{Answer, Fault, Recording, Speech, is_event, kind_of};

/// Reads the lines.
///
/// # Errors
/// The first line that is no item.
pub(crate) fn parse(text: &str) -> Result<Recording, Fault> {
    let mut answers = Vec::new();
    let mut items = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() {
            end_answer(&mut items, &mut answers);
        } else {
            items.push(item(line).map_err(|message| Fault::new(at + 1, message))?);
        }
    }
    end_answer(&mut items, &mut answers);
    Ok(Recording { answers, ..Recording::default() })
}

fn end_answer(items: &mut Vec<ResponseItem>, answers: &mut Vec<Answer>) {
    if !items.is_empty() {
        answers.push(Answer { prompt: None, speech: Speech::Items(std::mem::take(items)) });
    }
}

/// Reads one item from its text.
///
/// # Errors
/// What was expected, and what is there.
pub(crate) fn item(json: &str) -> Result<ResponseItem, String> {
    const EXPECTED: &str = "expected a response item, a JSON object with `type`";
    let value: Value = serde_json::from_str(json).map_err(|error| format!("{EXPECTED}: {error}"))?;
    if !value.is_object() {
        return Err(format!("{EXPECTED}, found {}", kind_of(&value)));
    }
    if is_event(&value) {
        return Err(format!("{EXPECTED}, found an event of the API among items"));
    }
    ResponseItem::parse(json).map_err(|error| format!("{EXPECTED}: {error}"))
}
