//! What the model wrote for `exec`: a script, and perhaps a first line with wishes (runtime.md C4).

use serde::Deserialize;
use serde_json::Value;

/// How the first line begins that holds wishes.
const PRAGMA_PREFIX: &str = "// @exec:";
/// The largest number that a script's own arithmetic keeps exact.
const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// A script as it is to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ScriptSource {
    /// The script. An empty line stands in the place of the wishes, so that line numbers are the model's own.
    pub(crate) code: String,
    /// How long `exec` waits for it before the cell goes on in the background, in milliseconds.
    pub(crate) yield_time_ms: Option<u64>,
    /// How many tokens of output the model wants to see.
    pub(crate) max_output_tokens: Option<usize>,
}

/// What is wrong with the text, in words for the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SourceError {
    /// There is nothing to run.
    #[error(
        "exec expects raw JavaScript source text (non-empty). Provide JS only, optionally with first-line \
         `// @exec: {{\"yield_time_ms\": 10000, \"max_output_tokens\": 1000}}`."
    )]
    Blank,
    /// There are wishes and nothing to run.
    #[error("exec pragma must be followed by JavaScript source on subsequent lines")]
    NothingBelow,
    /// The wishes are no object.
    #[error(
        "exec pragma must be a JSON object with supported fields `yield_time_ms` and `max_output_tokens`"
    )]
    NoObject,
    /// The wishes are no JSON.
    #[error(
        "exec pragma must be valid JSON with supported fields `yield_time_ms` and `max_output_tokens`: {0}"
    )]
    NoJson(String),
    /// There is a wish that nobody knows.
    #[error("exec pragma only supports `yield_time_ms` and `max_output_tokens`; got `{0}`")]
    UnknownKey(String),
    /// A wish is no whole number from zero on.
    #[error(
        "exec pragma fields `yield_time_ms` and `max_output_tokens` must be non-negative safe integers: {0}"
    )]
    WrongType(String),
    /// A wish is a number that a script could not hold exactly.
    #[error("exec pragma field `{0}` must be a non-negative safe integer")]
    Unsafe(&'static str),
}

#[derive(Deserialize)]
struct Pragma {
    #[serde(default)]
    yield_time_ms: Option<u64>,
    #[serde(default)]
    max_output_tokens: Option<usize>,
}

/// Takes the wishes off the script.
///
/// # Errors
/// When there is no script, or the wishes cannot be understood.
pub(crate) fn parse_source(input: &str) -> Result<ScriptSource, SourceError> {
    if input.trim().is_empty() {
        return Err(SourceError::Blank);
    }
    let (first, rest) = input.split_once('\n').unwrap_or((input, ""));
    let Some(wishes) = first.trim_start().strip_prefix(PRAGMA_PREFIX) else {
        return Ok(ScriptSource { code: input.to_owned(), yield_time_ms: None, max_output_tokens: None });
    };
    if rest.trim().is_empty() {
        return Err(SourceError::NothingBelow);
    }
    let Pragma { yield_time_ms, max_output_tokens } = parse_wishes(wishes.trim())?;
    Ok(ScriptSource { code: format!("\n{rest}"), yield_time_ms, max_output_tokens })
}

fn parse_wishes(wishes: &str) -> Result<Pragma, SourceError> {
    if wishes.is_empty() {
        return Err(SourceError::NoObject);
    }
    let value: Value =
        serde_json::from_str(wishes).map_err(|error| SourceError::NoJson(error.to_string()))?;
    let members = value.as_object().ok_or(SourceError::NoObject)?;
    let unknown = members.keys().find(|key| !matches!(key.as_str(), "yield_time_ms" | "max_output_tokens"));
    if let Some(key) = unknown {
        return Err(SourceError::UnknownKey(key.clone()));
    }
    let pragma: Pragma =
        serde_json::from_value(value).map_err(|error| SourceError::WrongType(error.to_string()))?;
    let tokens = pragma.max_output_tokens.map(|tokens| u64::try_from(tokens).unwrap_or(u64::MAX));
    for (name, wish) in [("yield_time_ms", pragma.yield_time_ms), ("max_output_tokens", tokens)] {
        if wish.is_some_and(|wish| wish > MAX_SAFE_INTEGER) {
            return Err(SourceError::Unsafe(name));
        }
    }
    Ok(pragma)
}

#[cfg(test)]
#[path = "pragma_tests.rs"]
mod tests;
