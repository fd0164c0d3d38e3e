//! JSON Lines of response items: one item a line, a blank line ends an answer.

use tenon_protocol::ResponseItem;

use super::input::{Answer, Fault, Recording, Speech};
use super::looked::{Looked, Members};

/// How many foreign lines are named one by one.
const NAMED: usize = 5;

/// Reads the lines. What another API said is skipped and noted.
///
/// # Errors
/// The first line that is no item.
pub(crate) fn parse(text: &str) -> Result<Recording, Fault> {
    let mut answers = Vec::new();
    let mut items = Vec::new();
    let mut notes = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() {
            end_answer(&mut items, &mut answers);
            continue;
        }
        let looked = Looked::at(line);
        if let Looked::Object(Members { foreign: Some(kind), .. }) = &looked {
            notes.push(format!(
                "line {}: a `{kind}` was skipped: it is nothing of the Responses API's",
                at + 1
            ));
        } else {
            items.push(item_of(line, &looked).map_err(|message| Fault::new(at + 1, message))?);
        }
    }
    end_answer(&mut items, &mut answers);
    if notes.len() > NAMED {
        let more = notes.split_off(NAMED).len();
        notes.push(format!("{more} more lines were skipped"));
    }
    Ok(Recording { answers, notes, ..Recording::default() })
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
    item_of(json, &Looked::at(json))
}

fn item_of(json: &str, looked: &Looked) -> Result<ResponseItem, String> {
    const EXPECTED: &str = "expected a response item, a JSON object with `type`";
    match looked {
        Looked::Object(_) if looked.is_event() => {
            return Err(format!("{EXPECTED}, found an event of the API among items"));
        }
        Looked::Object(_) => {}
        Looked::Other(kind) => return Err(format!("{EXPECTED}, found {kind}")),
        Looked::NoJson(error) => return Err(format!("{EXPECTED}: {error}")),
    }
    ResponseItem::parse(json).map_err(|error| format!("{EXPECTED}: {error}"))
}
