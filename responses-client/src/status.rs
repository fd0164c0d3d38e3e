//! What an HTTP status other than success means (runtime.md D1.a).

use std::time::Duration;

use reqwest::StatusCode;
use serde_json::Value;
use tenon_tools::{ModelError, ModelErrorKind};

use crate::failure::{asked_in_text, final_error};

/// The words in the body of a 400 that mean an image is none.
const INVALID_IMAGE: &str = "The image data you provided does not represent a valid image";
/// How much of a body without a message of its own a message shows, in characters.
const SHOWN_CHARACTERS: usize = 1000;

/// An answer that is no stream.
#[derive(Debug)]
pub(crate) struct Refusal<'a> {
    pub(crate) status: StatusCode,
    /// The URL that was asked, without parameters.
    pub(crate) url: &'a str,
    /// How long the headers ask to wait.
    pub(crate) asked: Option<Duration>,
    /// Where a redirect would lead.
    pub(crate) target: Option<String>,
    /// The variable that should hold the key, and whether a key was sent.
    pub(crate) env_key: Option<&'a str>,
    pub(crate) has_key: bool,
    /// The body's beginning.
    pub(crate) body: &'a str,
}

/// A failed attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failed {
    /// What it is when no further attempt is made.
    pub(crate) error: ModelError,
    /// Whether the same request may be sent again.
    pub(crate) again: bool,
}

/// What the body says about the error, in the members that the API's relatives use.
#[derive(Default)]
struct Said {
    codes: Vec<String>,
    message: String,
}

impl Refusal<'_> {
    pub(crate) fn failed(&self) -> Failed {
        let said = Said::of(self.body);
        if let Some(error) = said.codes.iter().find_map(|code| self.decided_by(code, &said.message)) {
            return Failed { error, again: false };
        }
        match self.status {
            StatusCode::BAD_REQUEST => Failed { error: self.bad_request(), again: false },
            StatusCode::UNAUTHORIZED => Failed { error: self.unauthorized(&said), again: false },
            StatusCode::TOO_MANY_REQUESTS => Failed { error: self.too_many_requests(&said), again: true },
            StatusCode::INTERNAL_SERVER_ERROR => {
                Failed { error: self.passing(ModelErrorKind::Server, &said), again: true }
            }
            status => Failed {
                error: self.passing(ModelErrorKind::Connection, &said),
                again: status.is_server_error(),
            },
        }
    }

    /// Codes are final only with the statuses that the contract names them for.
    fn decided_by(&self, code: &str, message: &str) -> Option<ModelError> {
        use ModelErrorKind::{ContextWindowExceeded, Overloaded, Policy, QuotaExceeded, UsageNotIncluded};
        let kinds: &[ModelErrorKind] = match self.status {
            StatusCode::SERVICE_UNAVAILABLE => &[Overloaded],
            StatusCode::BAD_REQUEST | StatusCode::FORBIDDEN => {
                &[Policy, ContextWindowExceeded, QuotaExceeded, UsageNotIncluded]
            }
            status if status.is_client_error() => &[QuotaExceeded, UsageNotIncluded],
            _ => &[],
        };
        final_error(code, message).filter(|error| kinds.contains(&error.kind))
    }

    fn bad_request(&self) -> ModelError {
        if self.body.contains(INVALID_IMAGE) {
            let message = "The server could not read an image in the request.";
            return ModelError::fatal(ModelErrorKind::InvalidImage, message);
        }
        let message = match self.body.trim() {
            "" => format!("{} refused the request without saying why (400 Bad Request).", self.url),
            _ => self.body.to_owned(),
        };
        ModelError::fatal(ModelErrorKind::InvalidRequest, message)
    }

    fn unauthorized(&self, said: &Said) -> ModelError {
        let hint = match (self.has_key, self.env_key) {
            (true, Some(name)) => format!("the key from {name} was refused"),
            (true, None) => "the key was refused".to_owned(),
            (false, Some(name)) => format!("it wants a key, and {name} is not set"),
            (false, None) => "it wants a key, and none is configured (env_key)".to_owned(),
        };
        let message = format!("401 Unauthorized from {}: {hint}{}", self.url, self.saying(said));
        ModelError::fatal(ModelErrorKind::Authentication, message)
    }

    /// Final once the attempts of the request are used up.
    fn too_many_requests(&self, said: &Said) -> ModelError {
        let in_text = said.codes.iter().find_map(|code| asked_in_text(code, &said.message));
        let message = format!("429 Too Many Requests from {}{}", self.url, self.saying(said));
        let mut error = ModelError::fatal(ModelErrorKind::Overloaded, message);
        error.delay = self.asked.or(in_text);
        error
    }

    fn passing(&self, kind: ModelErrorKind, said: &Said) -> ModelError {
        let mut message = format!("unexpected status {} from {}", self.status, self.url);
        if self.status.is_redirection() {
            let target = self.target.as_ref().map(|target| format!(" to {target}")).unwrap_or_default();
            message.push_str(&format!(": a redirect{target} is not followed; check base_url"));
        } else {
            message.push_str(&self.saying(said));
        }
        let mut error = ModelError::retryable(kind, message);
        error.delay = self.asked;
        error
    }

    /// The server's own words, with a colon before them; nothing when it gave none.
    fn saying(&self, said: &Said) -> String {
        let text = if said.message.trim().is_empty() { self.body } else { &said.message };
        let mut shown: String = text.trim().chars().take(SHOWN_CHARACTERS).collect();
        if shown.len() < text.trim().len() {
            shown.push('…');
        }
        if shown.is_empty() { shown } else { format!(": {shown}") }
    }
}

impl Said {
    /// `{"error": {"code", "type", "message"}}`, the same without `error` around it, or `{"error": "message"}`.
    fn of(body: &str) -> Self {
        let Ok(body) = serde_json::from_str::<Value>(body) else { return Self::default() };
        let error = body.get("error").filter(|error| !error.is_null()).unwrap_or(&body);
        let text = |name: &str| error.get(name).and_then(Value::as_str).map(str::to_owned);
        Self {
            codes: ["code", "type"].into_iter().filter_map(text).collect(),
            message: text("message").or_else(|| error.as_str().map(str::to_owned)).unwrap_or_default(),
        }
    }
}

#[cfg(test)]
#[path = "status_tests.rs"]
mod tests;
