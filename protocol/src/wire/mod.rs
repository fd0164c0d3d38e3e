//! The events as they are written: which members of each are read (runtime.md D1).
//!
//! One pass over the JSON for nearly every event. Deltas, which are most of a stream, are read by hand; for the others
//! the type is read off the beginning, and the struct skips what nobody needs. Only an item is scanned twice, once to
//! find its end and once for its members.

mod delta;
mod ending;
mod members;

use serde::de::DeserializeOwned;
use serde_json::Error;
use serde_json::value::RawValue;

use crate::event::ResponseEvent;
use crate::item::ResponseItem;
use crate::peek::peek_text;
use crate::raw_json::RawJson;
use crate::surrogates::replace_lone_surrogates;
use delta::read_delta;
use ending::{read_completed, read_error, read_failed};
use members::{
    CallDelta, ContentDelta, Created, Delta, Incomplete, ItemEvent, Outer, SummaryDelta, SummaryDone,
    SummaryPart,
};

/// Reads one event.
///
/// # Errors
/// The reason, when `json` is no event or lacks what its type needs.
pub(crate) fn read_event(json: &str) -> Result<ResponseEvent, String> {
    read_delta(json).map_or_else(|| read_any(json), Ok)
}

/// Reads an event of any kind, however it is written.
fn read_any(json: &str) -> Result<ResponseEvent, String> {
    use ResponseEvent as E;
    let Some(kind) = peek_text(json, "type") else { return Err(why_no_event(json)) };
    let kind = &*kind;
    match kind {
        "response.output_text.delta" => {
            read(kind, json).map(|Delta { item_id, delta }| E::OutputTextDelta { item_id, delta })
        }
        "response.function_call_arguments.delta" => {
            read(kind, json).map(|CallDelta { item_id, call_id, delta }| E::FunctionCallArgumentsDelta {
                item_id,
                call_id,
                delta,
            })
        }
        "response.custom_tool_call_input.delta" => {
            read(kind, json).map(|CallDelta { item_id, call_id, delta }| E::CustomToolCallInputDelta {
                item_id,
                call_id,
                delta,
            })
        }
        "response.reasoning_summary_text.delta" => read(kind, json).map(SummaryDelta::into_event),
        "response.reasoning_summary_text.done" => read(kind, json).map(SummaryDone::into_event),
        "response.reasoning_summary_part.added" => {
            read(kind, json).map(|SummaryPart { item_id, summary_index }| E::ReasoningSummaryPartAdded {
                item_id,
                summary_index,
            })
        }
        "response.reasoning_text.delta" => read(kind, json).map(ContentDelta::into_event),
        "response.output_item.added" => read_item(kind, json).map(|item| E::OutputItemAdded { item }),
        "response.output_item.done" => read_item(kind, json).map(|item| E::OutputItemDone { item }),
        "response.created" => read(kind, json).map(Outer::<Created>::into_event),
        "response.completed" => read_completed(kind, json),
        "response.incomplete" => read(kind, json).map(Outer::<Incomplete>::into_event),
        "response.failed" => read_failed(kind, json),
        "error" => read_error(kind, json),
        _ => match RawJson::parse(json) {
            Ok(raw) => Ok(E::Other { kind: kind.to_owned(), raw }),
            Err(error) => Err(why_unreadable(kind, &error)),
        },
    }
}

/// Reads an event's struct; where lone surrogates prevent it, once more with U+FFFD in their place.
fn read<T: DeserializeOwned>(kind: &str, json: &str) -> Result<T, String> {
    serde_json::from_str(json).or_else(|error| {
        replace_lone_surrogates(json)
            .and_then(|text| serde_json::from_str(&text).ok())
            .ok_or_else(|| why_unreadable(kind, &error))
    })
}

fn why_unreadable(kind: &str, error: &Error) -> String {
    if error.is_data() {
        format!("a `{kind}` event whose members don't fit: {error}")
    } else {
        not_json(error)
    }
}

fn not_json(error: &Error) -> String {
    format!("not JSON: {error}")
}

/// What `json`, which has no `type`, is instead.
fn why_no_event(json: &str) -> String {
    match serde_json::from_str::<&RawValue>(json) {
        Err(error) => not_json(&error),
        Ok(raw) if !raw.get().starts_with('{') => "no Responses event: not a JSON object".to_owned(),
        Ok(_) => match peek_text(json, "object") {
            Some(object) => format!("no Responses event: a `{object}` without `type`"),
            None => "no Responses event: an object without `type`".to_owned(),
        },
    }
}

fn read_item(kind: &str, json: &str) -> Result<Box<ResponseItem>, String> {
    let event: ItemEvent<'_> = serde_json::from_str(json).map_err(|error| why_unreadable(kind, &error))?;
    let item = ResponseItem::from_json(event.item.into());
    if item.tag().is_empty() {
        return Err(format!("a `{kind}` event whose `item` is no object with a `type`"));
    }
    Ok(Box::new(item))
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
