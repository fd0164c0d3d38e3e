//! A request by its hashes.

use std::io;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use tenon_protocol::{ModelRequest, ResponseItem, ToolHash};
use tenon_tools::{Prompt, ToolSpec};

/// The hashes of a request: of the whole, and of each part that can be named. [`ModelRequest`] says of what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    pub(super) model: String,
    pub(super) body: String,
    pub(super) instructions: String,
    /// Of the list.
    pub(super) tools: String,
    /// Of each tool; none where it is not known.
    pub(super) each_tool: Option<Vec<ToolHash>>,
    /// Of each item of the input; none where it is not known.
    pub(super) items: Option<Vec<String>>,
}

impl Fingerprint {
    pub(crate) fn of(prompt: &Prompt) -> Self {
        let mut body = Hasher::default();
        body.text("{\"model\":").json(&prompt.model);
        body.text(",\"instructions\":").json(&prompt.instructions).text(",\"input\":[");
        let mut items = Vec::with_capacity(prompt.input.len());
        for item in &prompt.input {
            let text = item_text(item);
            body.text(if items.is_empty() { "" } else { "," }).text(&text);
            items.push(sha256(&text));
        }
        body.text("],\"tools\":").json(&prompt.tools).text("}");
        Self {
            model: prompt.model.clone(),
            body: body.end(),
            instructions: sha256(&prompt.instructions),
            tools: Hasher::default().json(&prompt.tools).end(),
            each_tool: Some(prompt.tools.iter().map(tool_hash).collect()),
            items: Some(items),
        }
    }

    /// The line that tells of it, after the request `before` in the same file.
    pub(crate) fn line(&self, before: Option<&Self>) -> ModelRequest {
        let known = before.and_then(|before| before.items.as_deref()).unwrap_or_default();
        let items = self.items.as_deref().unwrap_or_default();
        let kept = items.iter().zip(known).take_while(|(now, before)| now == before).count();
        let same_tools = before.is_some_and(|before| before.tools == self.tools);
        ModelRequest {
            model: self.model.clone(),
            body_sha256: self.body.clone(),
            instructions_sha256: self.instructions.clone(),
            tools_sha256: self.tools.clone(),
            tools: self.each_tool.clone().filter(|_| !same_tools),
            kept,
            items: items.iter().skip(kept).cloned().collect(),
        }
    }

    /// What a line tells, after the request `before`. What it refers to and is not there stays unknown.
    pub(super) fn read(line: &ModelRequest, before: Option<&Self>) -> Self {
        let known = before.and_then(|before| before.items.as_deref()).unwrap_or_default();
        let kept = known.get(..line.kept);
        let tools_before = || before.filter(|before| before.tools == line.tools_sha256)?.each_tool.clone();
        Self {
            model: line.model.clone(),
            body: line.body_sha256.clone(),
            instructions: line.instructions_sha256.clone(),
            tools: line.tools_sha256.clone(),
            each_tool: line.tools.clone().or_else(tools_before),
            items: kept.map(|kept| kept.iter().chain(&line.items).cloned().collect()),
        }
    }
}

/// An item's text without its id: an id is a name, and those that we make differ from run to run.
pub(super) fn item_text(item: &ResponseItem) -> String {
    let raw = item.raw_json();
    let Ok(mut members) = serde_json::from_str::<Map<String, Value>>(&raw) else { return raw.into_owned() };
    members.shift_remove("id");
    serde_json::to_string(&members).unwrap_or_default()
}

fn tool_hash(tool: &ToolSpec) -> ToolHash {
    ToolHash { name: tool.name().to_owned(), sha256: Hasher::default().json(tool).end() }
}

/// The SHA-256 of a text in small hexadecimal digits.
pub(super) fn sha256(text: &str) -> String {
    Hasher::default().text(text).end()
}

#[derive(Default)]
struct Hasher(Sha256);

impl Hasher {
    fn text(&mut self, text: &str) -> &mut Self {
        self.0.update(text);
        self
    }

    fn json(&mut self, value: &impl serde::Serialize) -> &mut Self {
        // Everything that is hashed has a JSON form, and the hasher takes every byte.
        let _ = serde_json::to_writer(&mut *self, value);
        self
    }

    fn end(&mut self) -> String {
        let hash = std::mem::take(&mut self.0).finalize();
        hash.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl io::Write for Hasher {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
#[path = "fingerprint_tests.rs"]
mod tests;
