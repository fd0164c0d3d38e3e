//! What the codes mean that the API gives for a failure (runtime.md D1.a).

use std::time::Duration;

use tenon_protocol::ResponseFailure;
use tenon_tools::{ModelError, ModelErrorKind};

/// A code after which the same history must not be sent again.
struct FinalCode {
    codes: &'static [&'static str],
    kind: ModelErrorKind,
    /// The message when the server gives none.
    default: &'static str,
}

const FINAL_CODES: [FinalCode; 7] = [
    FinalCode {
        codes: &["context_length_exceeded"],
        kind: ModelErrorKind::ContextWindowExceeded,
        default: "The conversation is longer than the model's context window.",
    },
    FinalCode {
        codes: &["insufficient_quota", "usage_limit_reached"],
        kind: ModelErrorKind::QuotaExceeded,
        default: "The quota of this account is used up.",
    },
    FinalCode {
        codes: &["usage_not_included"],
        kind: ModelErrorKind::UsageNotIncluded,
        default: "The plan of this account does not include the API.",
    },
    FinalCode {
        codes: &["cyber_policy"],
        kind: ModelErrorKind::Policy,
        default: "This request has been flagged for possible cybersecurity risk.",
    },
    FinalCode {
        codes: &["misalignment_policy_violation"],
        kind: ModelErrorKind::Policy,
        default: "This request was blocked due to a misalignment policy violation.",
    },
    FinalCode {
        codes: &["invalid_prompt", "bio_policy"],
        kind: ModelErrorKind::InvalidRequest,
        default: "The server refused the request without saying why.",
    },
    FinalCode {
        codes: &["server_is_overloaded", "slow_down"],
        kind: ModelErrorKind::Overloaded,
        default: "The server is overloaded.",
    },
];

/// The code whose message may say how long to wait.
const RATE_LIMIT: &str = "rate_limit_exceeded";
/// The words before that time, in lower case.
const TRY_AGAIN: &str = "try again in";
/// The message of a failure without one.
const NO_REASON: &str = "The server failed without saying why.";

/// The error of `response.failed` or a top-level `error` event. It is raised when the stream ends.
pub fn model_error(failure: &ResponseFailure) -> ModelError {
    let code = failure.code.as_deref().unwrap_or_default();
    final_error(code, &failure.message).unwrap_or_else(|| {
        let message = or_default(&failure.message, NO_REASON);
        let mut error = ModelError::retryable(ModelErrorKind::Stream, message);
        error.delay = asked_in_text(code, &failure.message);
        error
    })
}

/// The error of `response.incomplete`.
pub fn incomplete(reason: &str) -> ModelError {
    let message = format!("Incomplete response returned, reason: {reason}");
    ModelError::retryable(ModelErrorKind::Stream, message)
}

/// The error of a code that forbids a retry; none for every other code.
pub(crate) fn final_error(code: &str, message: &str) -> Option<ModelError> {
    let row = FINAL_CODES.iter().find(|row| row.codes.contains(&code))?;
    Some(ModelError::fatal(row.kind, or_default(message, row.default)))
}

/// How long the message of a rate limit asks to wait: `try again in 1.5s`, `20ms`, `3 seconds`.
pub(crate) fn asked_in_text(code: &str, message: &str) -> Option<Duration> {
    if code != RATE_LIMIT {
        return None;
    }
    let message = message.to_ascii_lowercase();
    let rest = message.split_once(TRY_AGAIN)?.1.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = rest.split_at_checked(end)?;
    let unit: String = unit.trim_start().chars().take_while(char::is_ascii_alphabetic).collect();
    let scale = match unit.as_str() {
        "ms" | "millisecond" | "milliseconds" => 0.001,
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        _ => return None,
    };
    Duration::try_from_secs_f64(number.parse::<f64>().ok()? * scale).ok()
}

fn or_default(message: &str, default: &str) -> String {
    if message.trim().is_empty() { default.to_owned() } else { message.to_owned() }
}

#[cfg(test)]
#[path = "failure_tests.rs"]
mod tests;
