//! The events as they are written: which members of each are read (runtime.md D1).
//!
//! One pass over the JSON for nearly every event: the type is read off the beginning, the struct skips what nobody
//! needs. Only an item is scanned twice, once to find its end and once for its members.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Error;
use serde_json::value::RawValue;

use crate::event::{ResponseEvent, ResponseFailure, TokenUsage};
use crate::item::ResponseItem;
use crate::peek::peek_text;
use crate::raw_json::RawJson;
use crate::surrogates::replace_lone_surrogates;

/// Reads one event.
///
/// # Errors
/// The reason, when `json` is no event or lacks what its type needs.
pub(crate) fn read_event(json: &str) -> Result<ResponseEvent, String> {
    let Some(kind) = peek_text(json, "type") else { return Err(why_no_event(json)) };
    match &*kind {
        "response.output_text.delta" => {
            let Delta { item_id, delta } = read(&kind, json)?;
            Ok(ResponseEvent::OutputTextDelta { item_id, delta })
        }
        "response.function_call_arguments.delta" => {
            let CallDelta { item_id, call_id, delta } = read(&kind, json)?;
            Ok(ResponseEvent::FunctionCallArgumentsDelta { item_id, call_id, delta })
        }
        "response.custom_tool_call_input.delta" => {
            let CallDelta { item_id, call_id, delta } = read(&kind, json)?;
            Ok(ResponseEvent::CustomToolCallInputDelta { item_id, call_id, delta })
        }
        "response.reasoning_summary_text.delta" => {
            let SummaryDelta { item_id, delta, summary_index } = read(&kind, json)?;
            Ok(ResponseEvent::ReasoningSummaryTextDelta { item_id, delta, summary_index })
        }
        "response.reasoning_text.delta" => {
            let ContentDelta { item_id, delta, content_index } = read(&kind, json)?;
            Ok(ResponseEvent::ReasoningTextDelta { item_id, delta, content_index })
        }
        "response.reasoning_summary_text.done" => {
            let SummaryDone { item_id, text, summary_index } = read(&kind, json)?;
            Ok(ResponseEvent::ReasoningSummaryTextDone { item_id, text, summary_index })
        }
        "response.reasoning_summary_part.added" => {
            let SummaryPart { item_id, summary_index } = read(&kind, json)?;
            Ok(ResponseEvent::ReasoningSummaryPartAdded { item_id, summary_index })
        }
        "response.output_item.added" => Ok(ResponseEvent::OutputItemAdded { item: read_item(&kind, json)? }),
        "response.output_item.done" => Ok(ResponseEvent::OutputItemDone { item: read_item(&kind, json)? }),
        "response.created" => {
            let Outer::<Created> { response } = read(&kind, json)?;
            Ok(ResponseEvent::Created { response_id: response.and_then(|r| r.id) })
        }
        "response.completed" => read_completed(&kind, json),
        "response.incomplete" => {
            let Outer::<Incomplete> { response } = read(&kind, json)?;
            let reason = response.and_then(|r| r.incomplete_details).and_then(|d| d.reason);
            Ok(ResponseEvent::Incomplete { reason: reason.unwrap_or_else(|| "unknown".to_owned()) })
        }
        "response.failed" => read_failed(&kind, json),
        "error" => read_error(&kind, json),
        _ => {
            let raw = RawJson::parse(json).map_err(|error| why_unreadable(&kind, &error))?;
            Ok(ResponseEvent::Other { kind: kind.into_owned(), raw })
        }
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

/// The end of an answer must not be lost to a number in a form that we don't know.
fn read_completed(kind: &str, json: &str) -> Result<ResponseEvent, String> {
    if let Ok(Outer::<Completed> { response }) = serde_json::from_str(json) {
        let Completed { id, usage, end_turn } = response.unwrap_or_default();
        return Ok(ResponseEvent::Completed {
            response_id: id,
            usage: usage.map(TokenUsage::from),
            end_turn,
        });
    }
    let Outer::<RawJson> { response } = read(kind, json)?;
    let loose: LooseCompleted = response.and_then(|r| r.to().ok()).unwrap_or_default();
    Ok(ResponseEvent::Completed {
        response_id: loose.id.and_then(|raw| raw.to().ok()),
        usage: loose.usage.and_then(|raw| raw.to::<Usage>().ok()).map(TokenUsage::from),
        end_turn: loose.end_turn.and_then(|raw| raw.to().ok()),
    })
}

fn read_failed(kind: &str, json: &str) -> Result<ResponseEvent, String> {
    let Outer::<Failed> { response } = read(kind, json)?;
    Ok(ResponseEvent::Failed(failure(response.and_then(|r| r.error))))
}

/// A top-level error holds its code and message in `error`, or has them itself.
fn read_error(kind: &str, json: &str) -> Result<ResponseEvent, String> {
    let event: Failed = read(kind, json)?;
    let own = ErrorBody { kind: None, code: event.code, message: event.message };
    Ok(ResponseEvent::Failed(match event.error {
        Some(error) => failure(Some(error)),
        None => own.into_failure(),
    }))
}

/// An error object, or whatever stands in its place, as its text.
fn failure(error: Option<RawJson>) -> ResponseFailure {
    let Some(raw) = error else { return ErrorBody::default().into_failure() };
    match raw.to::<ErrorBody>() {
        Ok(body) => body.into_failure(),
        Err(_) => ResponseFailure { code: None, message: plain_text(&raw).unwrap_or_default() },
    }
}

/// A string's text, another value's JSON, nothing for `null`.
fn plain_text(raw: &RawJson) -> Option<String> {
    let json = raw.get();
    if json == "null" {
        return None;
    }
    let text = serde_json::from_str(json).or_else(|error| match replace_lone_surrogates(json) {
        Some(json) => serde_json::from_str(&json),
        None => Err(error),
    });
    Some(text.unwrap_or_else(|_| json.to_owned()))
}

#[derive(Deserialize)]
struct Delta {
    #[serde(default)]
    item_id: Option<String>,
    delta: String,
}

#[derive(Deserialize)]
struct CallDelta {
    #[serde(default)]
    item_id: Option<String>,
    #[serde(default)]
    call_id: Option<String>,
    delta: String,
}

#[derive(Deserialize)]
struct SummaryDelta {
    #[serde(default)]
    item_id: Option<String>,
    delta: String,
    #[serde(default)]
    summary_index: Option<u64>,
}

#[derive(Deserialize)]
struct ContentDelta {
    #[serde(default)]
    item_id: Option<String>,
    delta: String,
    #[serde(default)]
    content_index: Option<u64>,
}

#[derive(Deserialize)]
struct SummaryDone {
    #[serde(default)]
    item_id: Option<String>,
    text: String,
    #[serde(default)]
    summary_index: Option<u64>,
}

#[derive(Deserialize)]
struct SummaryPart {
    #[serde(default)]
    item_id: Option<String>,
    #[serde(default)]
    summary_index: Option<u64>,
}

#[derive(Deserialize)]
struct ItemEvent<'a> {
    #[serde(borrow)]
    item: &'a RawValue,
}

/// An event that holds the answer so far.
#[derive(Deserialize)]
struct Outer<T> {
    #[serde(default = "none")]
    response: Option<T>,
}

fn none<T>() -> Option<T> {
    None
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Created {
    id: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Completed {
    id: Option<String>,
    usage: Option<Usage>,
    end_turn: Option<bool>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct LooseCompleted {
    id: Option<RawJson>,
    usage: Option<RawJson>,
    end_turn: Option<RawJson>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Incomplete {
    incomplete_details: Option<IncompleteDetails>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct IncompleteDetails {
    reason: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Failed {
    error: Option<RawJson>,
    code: Option<RawJson>,
    message: Option<RawJson>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ErrorBody {
    #[serde(rename = "type")]
    kind: Option<RawJson>,
    code: Option<RawJson>,
    message: Option<RawJson>,
}

impl ErrorBody {
    /// Where there is no code, the error's type says as much.
    fn into_failure(self) -> ResponseFailure {
        let text = |raw: Option<RawJson>| raw.as_ref().and_then(plain_text);
        ResponseFailure {
            code: text(self.code).or_else(|| text(self.kind)),
            message: text(self.message).unwrap_or_else(|| "the API gave no reason".to_owned()),
        }
    }
}

/// Usage as the API writes it; details may be absent or null.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Usage {
    input_tokens: Option<u64>,
    input_tokens_details: Option<InputDetails>,
    output_tokens: Option<u64>,
    output_tokens_details: Option<OutputDetails>,
    total_tokens: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct InputDetails {
    cached_tokens: Option<u64>,
    cache_write_tokens: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OutputDetails {
    reasoning_tokens: Option<u64>,
}

impl From<Usage> for TokenUsage {
    fn from(usage: Usage) -> Self {
        let input = usage.input_tokens_details.unwrap_or_default();
        let input_tokens = usage.input_tokens.unwrap_or_default();
        let output_tokens = usage.output_tokens.unwrap_or_default();
        Self {
            input_tokens,
            cached_input_tokens: input.cached_tokens.unwrap_or_default(),
            cache_write_input_tokens: input.cache_write_tokens.unwrap_or_default(),
            output_tokens,
            reasoning_output_tokens: usage
                .output_tokens_details
                .and_then(|details| details.reasoning_tokens)
                .unwrap_or_default(),
            total_tokens: usage.total_tokens.unwrap_or_else(|| input_tokens.saturating_add(output_tokens)),
        }
    }
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
