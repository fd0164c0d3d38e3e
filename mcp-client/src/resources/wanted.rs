//! What a call of a tool for resources wants.

use serde_json::{Map, Value};
use tenon_tools::{FunctionCallError, json_kind, parse_arguments};

use super::Kind;

/// The arguments; none where they are blank or null.
///
/// # Errors
/// What the model reads of arguments that are none.
pub(super) fn parse(arguments: &str) -> Result<Option<Map<String, Value>>, FunctionCallError> {
    let is_null = || serde_json::from_str::<()>(arguments).is_ok();
    if arguments.trim().is_empty() || is_null() { Ok(None) } else { parse_arguments(arguments).map(Some) }
}

/// What a call wants.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Wanted {
    All,
    OfServer { server: String, cursor: Option<String> },
    Resource { server: String, uri: String },
}

impl Wanted {
    /// Reads the arguments.
    ///
    /// # Errors
    /// What the model reads of arguments that do not fit.
    pub(super) fn new(kind: Kind, raw: &Option<Map<String, Value>>) -> Result<Self, FunctionCallError> {
        let text = |name: &str| match raw.as_ref().and_then(|raw| raw.get(name)) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty())),
            Some(other) => Err(FunctionCallError::respond(format!(
                "failed to parse function arguments: invalid type: {}, expected a string for `{name}`",
                json_kind(other)
            ))),
        };
        let required = |name: &str| {
            text(name)?.ok_or_else(|| FunctionCallError::respond(format!("{name} must be provided")))
        };
        match (kind, raw) {
            (Kind::Read, None) => {
                Err(FunctionCallError::respond("failed to parse function arguments: expected value"))
            }
            (Kind::Read, Some(_)) => {
                Ok(Self::Resource { server: required("server")?, uri: required("uri")? })
            }
            (Kind::Resources | Kind::Templates, _) => match (text("server")?, text("cursor")?) {
                (Some(server), cursor) => Ok(Self::OfServer { server, cursor }),
                (None, None) => Ok(Self::All),
                (None, Some(_)) => {
                    Err(FunctionCallError::respond("cursor can only be used when a server is specified"))
                }
            },
        }
    }

    /// The server that is named.
    pub(super) fn server(&self) -> Option<&str> {
        match self {
            Self::All => None,
            Self::OfServer { server, .. } | Self::Resource { server, .. } => Some(server),
        }
    }
}

#[cfg(test)]
#[path = "wanted_tests.rs"]
mod tests;
