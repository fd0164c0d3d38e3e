//! Messages that are no JSON, or none that can be parsed: nested too deeply, a number out of range, `NaN`.
//!
//! Whoever waits for such an answer is told at once. Of a list, only the entries that cannot be read are lost.

use rmcp::model::{CustomResult, ErrorCode, ErrorData, RequestId, ServerJsonRpcMessage, ServerResult};
use serde_json::Value;

use super::scan::{Members, elements};
use super::wire::{Pending, Received, receive_value};

/// Methods whose answers are lists.
const LISTS: [&str; 3] = ["tools/list", "resources/list", "resources/templates/list"];
/// How far down a list is taken apart: the page, its array, the entries.
const LIST_LEVELS: usize = 3;
/// What stands in the place of a part that cannot be read: nothing that a list may hold.
const UNREADABLE: Value = Value::Bool(false);
/// How much is shown of what could not be read, before the place and behind it, in characters.
const SHOWN: (usize, usize) = (24, 8);

/// Reads a line as far as it can be read. One that is no message brings nothing.
pub(super) fn receive(text: &str, error: &serde_json::Error, pending: &mut Pending) -> Vec<Received> {
    let Some(batch) = elements(text) else {
        return message(text, error, pending).into_iter().collect();
    };
    let read = |part| match serde_json::from_str(part) {
        Ok(value) => receive_value(value, pending),
        Err(error) => message(part, &error, pending),
    };
    batch.into_iter().filter_map(read).collect()
}

fn message(text: &str, error: &serde_json::Error, pending: &mut Pending) -> Option<Received> {
    let members = Members::of(text);
    let Some(members) =
        members.filter(|own| ["method", "result", "error"].iter().any(|key| own.get(key).is_some()))
    else {
        tracing::debug!(line = text.get(..200).unwrap_or(text), "a line that is no message is passed over");
        return None;
    };
    let why = format!("cannot be read: {error}{}", place(text, error.column()));
    tracing::warn!("a message of an MCP server {why}");
    let id = members.get("id").and_then(|id| serde_json::from_str::<RequestId>(id).ok());
    if let Some(method) = members.get("method") {
        return id.map(|id| Received::refusal(id, &format!("{} {why}", method.trim_matches('"'))));
    }
    let (id, method) = pending.answered(id.as_ref())?;
    let list = members.get("result").filter(|_| members.is_whole() && LISTS.contains(&method.as_str()));
    let answer = match list {
        Some(page) => {
            let page = CustomResult(readable(page, LIST_LEVELS));
            ServerJsonRpcMessage::response(ServerResult::CustomResult(page), id)
        }
        None => {
            let error = ErrorData::new(ErrorCode::INTERNAL_ERROR, format!("the answer {why}"), None);
            ServerJsonRpcMessage::error(error, Some(id))
        }
    };
    Some(Received::message(answer))
}

/// A value with the parts replaced that cannot be read, so many levels down.
fn readable(raw: &str, levels: usize) -> Value {
    if let Ok(value) = serde_json::from_str(raw) {
        return value;
    }
    let Some(below) = levels.checked_sub(1) else { return UNREADABLE };
    if let Some(members) = Members::of(raw) {
        return Value::Object(members.into_pairs().map(|(key, raw)| (key, readable(raw, below))).collect());
    }
    match elements(raw) {
        Some(elements) => elements.into_iter().map(|raw| readable(raw, below)).collect(),
        None => UNREADABLE,
    }
}

/// What stands around a column of a line, where a parser stopped.
fn place(text: &str, column: usize) -> String {
    let at = (0..=column.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
    let Some((before, behind)) = text.split_at_checked(at) else { return String::new() };
    let start = before.char_indices().rev().take(SHOWN.0).last().map_or(at, |(start, _)| start);
    let before = before.get(start..).unwrap_or_default();
    let behind: String = behind.chars().take(SHOWN.1).collect();
    format!(", in `{before}{behind}`")
}

#[cfg(test)]
#[path = "unreadable_tests.rs"]
mod tests;
