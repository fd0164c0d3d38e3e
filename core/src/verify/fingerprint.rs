//! A request by its hashes.

use std::sync::Arc;

use serde_json::{Map, Value};
use tenon_protocol::{ModelRequest, ResponseItem, ToolHash};
use tenon_tools::{Prompt, ToolSpec};

use crate::hash::{Hasher, sha256};

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

/// Hashes the requests of a session. Where one goes on from the one before, as nearly all do, only what is new of its
/// input is read: a session's work grows with its length, not with the square of it.
#[derive(Debug, Default)]
pub(crate) struct Fingerprints(Option<Beginning>);

impl Fingerprints {
    pub(crate) fn of(&mut self, prompt: &Prompt) -> Fingerprint {
        let known = self.0.take().filter(|known| known.begins(prompt));
        let beginning = self.0.insert(known.unwrap_or_else(|| Beginning::of(prompt)));
        beginning.go_on(&prompt.input);
        let texts: Vec<String> = prompt.tools.iter().map(json).collect();
        let tools = format!("[{}]", texts.join(","));
        let hashed = |(tool, text): (&ToolSpec, &String)| ToolHash {
            name: tool.name().to_owned(),
            sha256: sha256(text),
        };
        Fingerprint {
            model: prompt.model.clone(),
            body: beginning.body.clone().text("],\"tools\":").text(&tools).text("}").end(),
            instructions: sha256(&prompt.instructions),
            tools: sha256(&tools),
            each_tool: Some(prompt.tools.iter().zip(&texts).map(hashed).collect()),
            items: Some(beginning.items.clone()),
        }
    }
}

/// A body up to an item of its input.
#[derive(Debug)]
struct Beginning {
    model: String,
    instructions: String,
    /// Held, so that an item can be known again by its place in memory.
    input: Vec<Arc<ResponseItem>>,
    /// The hash of each item.
    items: Vec<String>,
    /// Has read the body so far.
    body: Hasher,
}

impl Beginning {
    /// Up to the input.
    fn of(prompt: &Prompt) -> Self {
        let Prompt { model, instructions, .. } = prompt;
        let mut body = Hasher::default();
        body.text("{\"model\":").text(&json(model)).text(",\"instructions\":").text(&json(instructions));
        body.text(",\"input\":[");
        let (model, instructions) = (model.clone(), instructions.clone());
        Self { model, instructions, input: Vec::new(), items: Vec::new(), body }
    }

    /// Whether the body of this request begins so.
    fn begins(&self, prompt: &Prompt) -> bool {
        let known = prompt.input.get(..self.input.len());
        self.model == prompt.model
            && self.instructions == prompt.instructions
            && known.is_some_and(|known| known.iter().zip(&self.input).all(|(a, b)| Arc::ptr_eq(a, b)))
    }

    /// Reads the items that it does not know.
    fn go_on(&mut self, input: &[Arc<ResponseItem>]) {
        for item in input.iter().skip(self.input.len()) {
            let text = item_text(item);
            self.body.text(if self.items.is_empty() { "" } else { "," }).text(&text);
            self.items.push(sha256(&text));
            self.input.push(Arc::clone(item));
        }
    }
}

/// An item's text without its id: an id is a name, and those that we make differ from run to run.
pub(super) fn item_text(item: &ResponseItem) -> String {
    let raw = item.raw_json();
    let Ok(mut members) = serde_json::from_str::<Map<String, Value>>(&raw) else { return raw.into_owned() };
    members.shift_remove("id");
    json(&members)
}

/// Everything that is hashed has a JSON form.
fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

#[cfg(test)]
#[path = "fingerprint_tests.rs"]
mod tests;
