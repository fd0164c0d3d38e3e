//! What servers ask of this side: forms and addresses for the user, completions, roots.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::Traffic;
use crate::host::{Elicitation, ElicitationAnswer, ElicitationKind, McpHost};

/// Answers a server. All of it is the protocol's own JSON, so that both eras come to the same answers.
pub(crate) struct Questions {
    pub(crate) server: String,
    pub(crate) host: Arc<dyn McpHost>,
    pub(crate) roots: Vec<PathBuf>,
    pub(crate) traffic: Arc<Traffic>,
}

impl Questions {
    /// Answers one question of a call that needs more input (the newer era).
    ///
    /// # Errors
    /// Why there is no answer.
    pub(crate) async fn answer(&self, question: &Value) -> Result<Value, String> {
        let params = question.get("params").cloned().unwrap_or_else(|| json!({}));
        match question.get("method").and_then(Value::as_str).unwrap_or_default() {
            "elicitation/create" => Ok(self.elicit(params, std::future::pending()).await),
            "sampling/createMessage" => self.sample(params).await,
            "roots/list" => Ok(self.roots()),
            other => Err(format!("{other} is not answered here")),
        }
    }

    /// Asks the user, until the question is `withdrawn`. No call's time runs meanwhile.
    pub(crate) async fn elicit(&self, params: Value, withdrawn: impl Future<Output = ()>) -> Value {
        let wanted = wanted(&params);
        let able = match wanted {
            ElicitationKind::Form { .. } => self.host.answers_forms(),
            ElicitationKind::Url { .. } => self.host.opens_urls(),
        };
        if !able {
            return json!({ "action": "decline" });
        }
        let text = |name: &str| params.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let question = Elicitation { server: self.server.clone(), message: text("message"), wanted };
        let _open = self.traffic.question();
        let answer = tokio::select! {
            biased;
            () = withdrawn => ElicitationAnswer::Cancel,
            answer = self.host.elicit(question.clone()) => answer,
        };
        match (answer, question.wanted) {
            (ElicitationAnswer::Accept(values), ElicitationKind::Form { schema }) => {
                json!({ "action": "accept", "content": with_defaults(values, &schema) })
            }
            (ElicitationAnswer::Accept(_), ElicitationKind::Url { .. }) => json!({ "action": "accept" }),
            (ElicitationAnswer::Decline, _) => json!({ "action": "decline" }),
            (ElicitationAnswer::Cancel, _) => json!({ "action": "cancel" }),
        }
    }

    /// Has the host's model complete something.
    ///
    /// # Errors
    /// The host's words.
    pub(crate) async fn sample(&self, params: Value) -> Result<Value, String> {
        let _open = self.traffic.question();
        self.host.sample(&self.server, params).await
    }

    pub(crate) fn roots(&self) -> Value {
        let roots: Vec<Value> = self.roots.iter().map(|root| json!({ "uri": file_uri(root) })).collect();
        json!({ "roots": roots })
    }
}

fn wanted(params: &Value) -> ElicitationKind {
    let text = |name: &str| params.get(name).and_then(Value::as_str).map(str::to_owned);
    match text("url") {
        Some(url) => ElicitationKind::Url { url, elicitation_id: text("elicitationId").unwrap_or_default() },
        None => ElicitationKind::Form {
            schema: params.get("requestedSchema").cloned().unwrap_or_else(|| json!({})),
        },
    }
}

/// The values, and the form's own defaults for those that were left out.
fn with_defaults(mut values: Map<String, Value>, schema: &Value) -> Map<String, Value> {
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        if let Some(default) = property.get("default").filter(|_| !values.contains_key(name)) {
            values.insert(name.clone(), default.clone());
        }
    }
    values
}

/// A path as a `file:` address, with what an address may not hold in percent form.
fn file_uri(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    let mut uri = "file://".to_owned();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                uri.push(char::from(*byte));
            }
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri
}

#[cfg(test)]
#[path = "questions_tests.rs"]
mod tests;
