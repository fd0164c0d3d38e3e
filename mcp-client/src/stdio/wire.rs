//! One line of a server's output, as what it means to the requests that wait.

use std::collections::HashMap;

use rmcp::RoleClient;
use rmcp::model::{
    ClientNotification, CustomResult, ErrorCode, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
    ServerResult,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use serde::Serialize;
use serde_json::{Value, json};
use tenon_protocol::replace_lone_surrogates;

use super::lines::{Line, MAX_MESSAGE_BYTES};
use super::unreadable;

/// Methods whose answers are read here and not by the protocol library, which would lose all of a result to one part
/// that it does not know.
const READ_RAW: [&str; 5] =
    ["tools/list", "tools/call", "resources/list", "resources/templates/list", "resources/read"];

/// The requests that wait for an answer, with their methods.
#[derive(Debug, Default)]
pub(crate) struct Pending(HashMap<RequestId, String>);

impl Pending {
    pub(crate) fn sent(&mut self, id: RequestId, method: &str) {
        self.0.insert(id, method.to_owned());
    }

    /// Nobody waits for this one any more. Whether anybody did.
    pub(super) fn forget(&mut self, id: &RequestId) -> bool {
        self.0.remove(id).is_some()
    }

    /// The request of this id, which a server may have turned into a text.
    pub(super) fn take(&mut self, id: &RequestId) -> Option<(RequestId, String)> {
        if let Some(method) = self.0.remove(id) {
            return Some((id.clone(), method));
        }
        let RequestId::String(text) = id else { return None };
        let id = RequestId::Number(text.parse().ok()?);
        self.0.remove(&id).map(|method| (id, method))
    }

    /// The only request there is: what names none can only mean it.
    pub(super) fn only(&mut self) -> Option<(RequestId, String)> {
        let id = if self.0.len() == 1 { self.0.keys().next().cloned() } else { None }?;
        self.0.remove_entry(&id)
    }

    /// The request that an answer with this id is for. One without an id is for the only request there is; where there
    /// are several, nobody can tell.
    pub(super) fn answered(&mut self, id: Option<&RequestId>) -> Option<(RequestId, String)> {
        match id {
            Some(id) => self.take(id),
            None => self.only(),
        }
    }
}

/// What a line brings.
#[derive(Debug)]
pub(crate) enum Received {
    /// A message for the protocol library.
    Message(Box<RxJsonRpcMessage<RoleClient>>),
    /// A request that cannot be read: it has to be answered with this, or the server waits for ever.
    Answer(Value),
}

impl Received {
    pub(super) fn message(message: RxJsonRpcMessage<RoleClient>) -> Self {
        Self::Message(Box::new(message))
    }

    /// The answer to a request that cannot be read.
    pub(super) fn refusal(id: impl Serialize, text: &str) -> Self {
        let error = json!({ "code": ErrorCode::INVALID_PARAMS.0, "message": text });
        Self::Answer(json!({ "jsonrpc": "2.0", "id": id, "error": error }))
    }
}

/// Reads a line. Noise, answers that nobody waits for and answers that came twice bring nothing.
pub(super) fn receive(line: Line, pending: &mut Pending) -> Vec<Received> {
    match line {
        Line::Whole(line) => receive_whole(&line, pending),
        Line::TooLong { head, tail, bytes } => too_long(&head, &tail, bytes, pending),
    }
}

/// Reads a message, or a batch of them.
pub(crate) fn receive_whole(line: &[u8], pending: &mut Pending) -> Vec<Received> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Vec::new();
    }
    if let Ok(message) = serde_json::from_slice(line) {
        return receive_parsed(message, pending);
    }
    // What is no text, or holds half a character, is mended: the rest of it is an answer all the same.
    let text = String::from_utf8_lossy(line);
    let mended = replace_lone_surrogates(&text);
    let text = mended.as_deref().unwrap_or(&text);
    match serde_json::from_str(text) {
        Ok(message) => receive_parsed(message, pending),
        Err(error) => unreadable::receive(text, &error, pending),
    }
}

fn receive_parsed(message: Value, pending: &mut Pending) -> Vec<Received> {
    match message {
        // A batch, as some servers of older versions send.
        Value::Array(batch) => {
            batch.into_iter().filter_map(|message| receive_value(message, pending)).collect()
        }
        message => receive_value(message, pending).into_iter().collect(),
    }
}

pub(super) fn receive_value(mut message: Value, pending: &mut Pending) -> Option<Received> {
    let members = message.as_object_mut()?;
    if members.contains_key("method") {
        return request_or_notice(message);
    }
    let id = members.remove("id").and_then(|id| serde_json::from_value::<RequestId>(id).ok());
    if let Some(error) = members.remove("error") {
        return answer_error(id.as_ref(), &error, pending).map(Received::message);
    }
    let result = members.remove("result");
    let Some((id, method)) = id.as_ref().and_then(|id| pending.take(id)) else {
        tracing::debug!(?id, "an answer that nobody waits for is passed over");
        return None;
    };
    let Some(result) = result else {
        let error =
            ErrorData::new(ErrorCode::INTERNAL_ERROR, "the answer holds neither result nor error", None);
        return Some(Received::message(ServerJsonRpcMessage::error(error, Some(id))));
    };
    if method == "server/discover" && !result.get("supportedVersions").is_some_and(Value::is_array) {
        // It answers whatever it is asked, and knows nothing of the newer era.
        let error = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "server/discover is not known", None);
        return Some(Received::message(ServerJsonRpcMessage::error(error, Some(id))));
    }
    let raw = |value| ServerResult::CustomResult(CustomResult(value));
    let result = if READ_RAW.contains(&method.as_str()) {
        raw(result)
    } else {
        serde_json::from_value(result.clone()).unwrap_or_else(|_| raw(result))
    };
    Some(Received::message(ServerJsonRpcMessage::response(result, id)))
}

/// An error, for the request that it answers.
fn answer_error(
    id: Option<&RequestId>,
    error: &Value,
    pending: &mut Pending,
) -> Option<RxJsonRpcMessage<RoleClient>> {
    let Some((id, _)) = pending.answered(id) else {
        tracing::warn!(%error, "an MCP server told of an error that belongs to no request, or to one of several");
        return None;
    };
    let error = serde_json::from_value(error.clone())
        .unwrap_or_else(|_| ErrorData::new(ErrorCode::INTERNAL_ERROR, error.to_string(), None));
    Some(ServerJsonRpcMessage::error(error, Some(id)))
}

/// A notice that cannot be read is passed over; a request is answered.
fn request_or_notice(mut message: Value) -> Option<Received> {
    if let Some(members) = message.as_object_mut() {
        members.entry("jsonrpc").or_insert_with(|| "2.0".into());
    }
    let id = message.get("id").cloned().filter(|id| !id.is_null());
    let method = message.get("method").and_then(Value::as_str).unwrap_or_default().to_owned();
    match serde_json::from_value::<RxJsonRpcMessage<RoleClient>>(message) {
        Ok(message) => Some(Received::message(message)),
        Err(error) => {
            tracing::debug!(method, %error, "a request or notice that cannot be read");
            id.map(|id| Received::refusal(id, &format!("{method} cannot be read: {error}")))
        }
    }
}

/// A message that was too long ends the request that it answers.
fn too_long(head: &[u8], tail: &[u8], bytes: u64, pending: &mut Pending) -> Vec<Received> {
    let named = id_in(head, End::Head).or_else(|| id_in(tail, End::Tail));
    let id = named.and_then(|id| pending.take(&id)).or_else(|| pending.only());
    let limit = MAX_MESSAGE_BYTES;
    let text = format!("the answer has {bytes} bytes and may have {limit} at most: it was dropped");
    tracing::warn!("{text}");
    let error =
        |id| ServerJsonRpcMessage::error(ErrorData::new(ErrorCode::INTERNAL_ERROR, text, None), Some(id));
    id.map(|(id, _)| Received::message(error(id))).into_iter().collect()
}

/// Which end of a message is looked at.
#[derive(Clone, Copy)]
enum End {
    Head,
    Tail,
}

/// The id that stands at one end of a message, outside of its result.
fn id_in(bytes: &[u8], end: End) -> Option<RequestId> {
    const KEY: &str = "\"id\"";
    let text = String::from_utf8_lossy(bytes);
    let (before, after) = match end {
        End::Head => text.split_once(KEY)?,
        End::Tail => text.rsplit_once(KEY)?,
    };
    let outside = match end {
        End::Head => !before.contains("\"result\"") && !before.contains("\"error\""),
        End::Tail => true,
    };
    let value = after.trim_start().strip_prefix(':').filter(|_| outside)?.trim_start();
    let length = value.find([',', '}'])?;
    let (value, rest) = value.split_at_checked(length)?;
    // At the end only the version may follow, or the id is one that the result holds.
    let rest: String = rest.chars().filter(|c| !c.is_whitespace()).collect();
    let closes = match end {
        End::Head => true,
        End::Tail => rest == "}" || rest == ",\"jsonrpc\":\"2.0\"}",
    };
    let id = serde_json::from_str::<RequestId>(value.trim()).ok();
    id.filter(|_| closes)
}

/// The message's id, where it is a request of ours; an answer or a notice has none.
pub(super) fn request_of<Req, Resp, Not>(
    message: &JsonRpcMessage<Req, Resp, Not>,
) -> Option<(&RequestId, &Req)> {
    match message {
        JsonRpcMessage::Request(request) => Some((&request.id, &request.request)),
        JsonRpcMessage::Response(_) | JsonRpcMessage::Notification(_) | JsonRpcMessage::Error(_) => None,
    }
}

/// The request that a notice of ours takes back.
pub(super) fn cancelled_request(message: &TxJsonRpcMessage<RoleClient>) -> Option<&RequestId> {
    let JsonRpcMessage::Notification(notice) = message else { return None };
    let ClientNotification::CancelledNotification(cancelled) = &notice.notification else { return None };
    cancelled.params.request_id.as_ref()
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
