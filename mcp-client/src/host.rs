//! What a server may ask of whoever embeds the client: questions to the user, and completions of a model.

use async_trait::async_trait;
use serde_json::{Map, Value};

/// A question of a server's to the user.
#[derive(Debug, Clone, PartialEq)]
pub struct Elicitation {
    /// The server's configured name.
    pub server: String,
    /// What it says to the user.
    pub message: String,
    /// What it wants.
    pub wanted: ElicitationKind,
}

/// What a question wants.
#[derive(Debug, Clone, PartialEq)]
pub enum ElicitationKind {
    /// Values for a form.
    Form {
        /// The JSON schema of the form: an object with primitive members.
        schema: Value,
    },
    /// That the user opens an address, and does there what is to be done. Nothing must open it unasked.
    Url {
        /// The address.
        url: String,
        /// The server's id of the matter.
        elicitation_id: String,
    },
}

/// The user's answer.
#[derive(Debug, Clone, PartialEq)]
pub enum ElicitationAnswer {
    /// Yes, with the values of a form; a URL has none.
    Accept(Map<String, Value>),
    /// No.
    Decline,
    /// The question was closed without an answer.
    Cancel,
}

/// Whoever embeds the client. By default nobody is there: questions are declined, and no model is lent.
#[async_trait]
pub trait McpHost: Send + Sync {
    /// Whether forms are answered. Servers are told when they start.
    fn answers_forms(&self) -> bool {
        false
    }

    /// Whether addresses are shown to the user.
    fn opens_urls(&self) -> bool {
        false
    }

    /// Whether servers may have a model complete something (`sampling/createMessage`).
    fn lends_model(&self) -> bool {
        false
    }

    /// Asks the user. Dropping the future takes the question back: its call was cancelled, or the server has gone.
    async fn elicit(&self, _question: Elicitation) -> ElicitationAnswer {
        ElicitationAnswer::Decline
    }

    /// Has a model complete a `sampling/createMessage`. Both sides are the protocol's own JSON.
    ///
    /// # Errors
    /// Why it is not done, for the server.
    async fn sample(&self, server: &str, _request: Value) -> Result<Value, String> {
        Err(format!("no model is lent to the server {server}"))
    }
}

/// Nobody.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoHost;

impl McpHost for NoHost {}
