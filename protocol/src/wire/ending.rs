//! How an answer ends: completed, with what it cost, or failed.

use serde::Deserialize;

use super::members::Outer;
use super::read;
use crate::event::{ResponseEvent, ResponseFailure, TokenUsage};
use crate::raw_json::RawJson;
use crate::surrogates::replace_lone_surrogates;

/// The end of an answer must not be lost to a number in a form that we don't know.
pub(super) fn read_completed(kind: &str, json: &str) -> Result<ResponseEvent, String> {
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

pub(super) fn read_failed(kind: &str, json: &str) -> Result<ResponseEvent, String> {
    let Outer::<Failed> { response } = read(kind, json)?;
    Ok(ResponseEvent::Failed(failure(response.and_then(|r| r.error))))
}

/// A top-level error holds its code and message in `error`, or has them itself.
pub(super) fn read_error(kind: &str, json: &str) -> Result<ResponseEvent, String> {
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
