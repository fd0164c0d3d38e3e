//! What a line of a recording looks like, without reading what is in it: how deep it is nested and what its texts hold
//! does not matter here.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::de::IgnoredAny;
use serde_json::value::RawValue;

/// A line, as far as its kind is told by it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Looked {
    /// A JSON object.
    Object(Members),
    /// Another JSON value, with its article.
    Other(&'static str),
    /// No JSON, and why not.
    NoJson(String),
}

/// The members of an object that tell what it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Members {
    /// Its `type`.
    pub(super) tag: Option<String>,
    /// What another API calls it, where it has no `type`: its `object`, such as `chat.completion.chunk`.
    pub(super) foreign: Option<String>,
    /// Whether it has a `payload`, as lines of rollouts have.
    pub(super) has_payload: bool,
    has_sequence_number: bool,
}

impl Looked {
    /// Looks at a line.
    pub(super) fn at(line: &str) -> Self {
        if let Err(error) = serde_json::from_str::<IgnoredAny>(line) {
            return Self::NoJson(error.to_string());
        }
        match line.trim_start().chars().next() {
            Some('{') => Self::Object(Members::of(line)),
            Some('[') => Self::Other("an array"),
            Some('"') => Self::Other("a string"),
            Some('t' | 'f') => Self::Other("a boolean"),
            Some('n') => Self::Other("null"),
            Some(_) | None => Self::Other("a number"),
        }
    }

    /// Whether it is an event of the API and no item.
    pub(super) fn is_event(&self) -> bool {
        let Self::Object(object) = self else { return false };
        let tag = object.tag.as_deref().unwrap_or_default();
        !object.has_payload && (tag.starts_with("response.") || tag == "error" || object.has_sequence_number)
    }

    /// Whether it tells nothing of the recording it stands in: it is no JSON, or something of somebody else's.
    pub(super) fn is_unknowable(&self) -> bool {
        match self {
            Self::NoJson(_) | Self::Other(_) => true,
            Self::Object(object) => object.tag.is_none() && !object.has_payload && !self.is_event(),
        }
    }
}

impl Members {
    fn of(object: &str) -> Self {
        // A name that is no text is none of those that are looked for.
        let members: HashMap<Cow<'_, str>, &RawValue> = serde_json::from_str(object).unwrap_or_default();
        let text =
            |name| members.get(name).and_then(|value| serde_json::from_str::<String>(value.get()).ok());
        let tag = text("type");
        let foreign = if members.contains_key("type") { None } else { text("object") };
        let has = |name| members.contains_key(name);
        Self { tag, foreign, has_payload: has("payload"), has_sequence_number: has("sequence_number") }
    }
}

#[cfg(test)]
#[path = "looked_tests.rs"]
mod tests;
