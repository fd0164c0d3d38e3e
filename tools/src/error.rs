//! How a handler says no.

/// A handler's failure (core.md 2.9).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FunctionCallError {
    /// An ordinary failure: the text becomes the call's output, of the payload's kind, and the turn goes on.
    #[error("{0}")]
    RespondToModel(String),
    /// A broken invariant: the turn ends with this text, and no output is made of it.
    #[error("Fatal error: {0}")]
    Fatal(String),
}

impl FunctionCallError {
    /// An ordinary failure with this text.
    pub fn respond(text: impl Into<String>) -> Self {
        Self::RespondToModel(text.into())
    }

    /// The bare text, without the words that [`Display`](std::fmt::Display) puts before a fatal one.
    pub fn text(&self) -> &str {
        match self {
            Self::RespondToModel(text) | Self::Fatal(text) => text,
        }
    }
}

/// An ordinary failure.
impl From<String> for FunctionCallError {
    fn from(text: String) -> Self {
        Self::RespondToModel(text)
    }
}

/// An ordinary failure.
impl From<&str> for FunctionCallError {
    fn from(text: &str) -> Self {
        Self::RespondToModel(text.to_owned())
    }
}

/// An ordinary failure with the error's own text, or the error itself where it is one of these.
impl From<Box<dyn std::error::Error + Send + Sync>> for FunctionCallError {
    fn from(error: Box<dyn std::error::Error + Send + Sync>) -> Self {
        match error.downcast::<Self>() {
            Ok(own) => *own,
            Err(other) => Self::RespondToModel(other.to_string()),
        }
    }
}
