//! Which call an output belongs to.
//!
//! Ids are not unique: the nth call of an id and family is paired with the nth output of it (core.md 0.2). Everything
//! that needs to know of pairs asks here: requests, trimming, resume.

use std::borrow::Borrow;
use std::collections::HashMap;

use tenon_protocol::{
    CustomToolCallOutput, FunctionCallOutput, FunctionCallOutputPayload, ItemKind, ResponseItem,
    ToolSearchOutputItem, UnknownItem,
};
use uuid::{Uuid, uuid};

/// The name of a script's `notify` items: a custom output of this name comes beside the output of its `exec` call and
/// is none itself (core.md 10).
const NOTIFY_NAME: &str = "exec";

/// The namespace of synthetic ids. Prompt caches rest on it: never change it, nor the form of the name in it
/// (runtime.md D6.4b).
const SYNTHETIC_ID_NAMESPACE: Uuid = uuid!("90d38d3e-6a5b-4d52-bfe2-2f1e634bfac4");

/// Calls that are answered by one kind of output (runtime.md D6.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallFamily {
    /// `function_call` and `local_shell_call`, answered by `function_call_output`.
    Function,
    /// `custom_tool_call`, answered by `custom_tool_call_output`.
    Custom,
    /// `tool_search_call`, answered by `tool_search_output`.
    Search,
}

/// What an item is to pairing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role<'a> {
    /// A call with an id.
    Call(CallFamily, &'a str),
    /// An output with an id.
    Output(CallFamily, &'a str),
    /// What a script says beside the output of the custom call with this id.
    Notify(&'a str),
    /// Neither call nor output, or one without an id: never paired, never missed.
    Neither,
}

/// What `item` is to pairing.
pub(crate) fn role(item: &ResponseItem) -> Role<'_> {
    let kind = item.kind();
    let Some(id) = kind.call_id() else { return Role::Neither };
    match kind {
        ItemKind::FunctionCall(_) | ItemKind::LocalShellCall(_) => Role::Call(CallFamily::Function, id),
        ItemKind::CustomToolCall(_) => Role::Call(CallFamily::Custom, id),
        ItemKind::ToolSearchCall(_) => Role::Call(CallFamily::Search, id),
        ItemKind::FunctionCallOutput(_) => Role::Output(CallFamily::Function, id),
        ItemKind::CustomToolCallOutput(output) if output.name.as_deref() == Some(NOTIFY_NAME) => {
            Role::Notify(id)
        }
        ItemKind::CustomToolCallOutput(_) => Role::Output(CallFamily::Custom, id),
        ItemKind::ToolSearchOutput(_) => Role::Output(CallFamily::Search, id),
        ItemKind::Message(_)
        | ItemKind::AgentMessage(_)
        | ItemKind::AdditionalTools(_)
        | ItemKind::Reasoning(_)
        | ItemKind::WebSearchCall(_)
        | ItemKind::ImageGenerationCall(_)
        | ItemKind::Compaction(_)
        | ItemKind::ContextCompaction(_)
        | ItemKind::CompactionTrigger(_)
        | ItemKind::ConfigurationUpdate(_)
        | ItemKind::GhostSnapshot(_) => Role::Neither,
        ItemKind::Unknown(unknown) => {
            unfit_call(unknown).map_or(Role::Neither, |family| Role::Call(family, id))
        }
    }
}

/// The family of a call whose members don't fit. Nobody can run it; but it goes back to the model as it came (core.md
/// 7.1), and no request may show a call without an output.
pub(crate) fn unfit_call(item: &UnknownItem) -> Option<CallFamily> {
    item.reason.as_ref()?;
    match item.tag.as_str() {
        "function_call" | "local_shell_call" => Some(CallFamily::Function),
        "custom_tool_call" => Some(CallFamily::Custom),
        "tool_search_call" => Some(CallFamily::Search),
        _ => None,
    }
}

/// Where the calls and outputs of one id and family stand.
#[derive(Debug, Default)]
pub(crate) struct Positions {
    /// Of the calls, in order.
    pub(crate) calls: Vec<usize>,
    /// Of the outputs, in order, `notify` items left out.
    pub(crate) outputs: Vec<usize>,
}

impl Positions {
    /// The calls that have no output.
    pub(crate) fn unpaired(&self) -> &[usize] {
        self.calls.get(self.outputs.len()..).unwrap_or_default()
    }
}

/// Where every id of a list of items stands.
pub(crate) type PairIndex<'a> = HashMap<(CallFamily, &'a str), Positions>;

/// Indexes a list of items.
pub(crate) fn index<T: Borrow<ResponseItem>>(items: &[T]) -> PairIndex<'_> {
    let mut index = PairIndex::new();
    for (position, item) in items.iter().enumerate() {
        match role(item.borrow()) {
            Role::Call(family, id) => index.entry((family, id)).or_default().calls.push(position),
            Role::Output(family, id) => index.entry((family, id)).or_default().outputs.push(position),
            Role::Notify(_) | Role::Neither => {}
        }
    }
    index
}

/// An output for `call`, of the call's own kind, that says `text`; the output of a search has no place for a text and
/// is empty. None for what is no call, or one without an id.
///
/// Its item id is derived from the call's, so that the same call always gets the same one (runtime.md D6.3); a call
/// without an item id gives an output without one.
pub(crate) fn synthetic_output(call: &ResponseItem, text: &str) -> Option<ResponseItem> {
    let Role::Call(family, call_id) = role(call) else { return None };
    let call_id = call_id.to_owned();
    let output = FunctionCallOutputPayload::text(text);
    let kind = match family {
        CallFamily::Function => ItemKind::FunctionCallOutput(FunctionCallOutput {
            id: synthetic_id("fco", call),
            call_id: Some(call_id),
            output,
            ..Default::default()
        }),
        CallFamily::Custom => ItemKind::CustomToolCallOutput(CustomToolCallOutput {
            id: synthetic_id("ctco", call),
            call_id,
            output,
            ..Default::default()
        }),
        CallFamily::Search => ItemKind::ToolSearchOutput(ToolSearchOutputItem {
            id: synthetic_id("tso", call),
            call_id: Some(call_id),
            status: "completed".to_owned(),
            execution: "client".to_owned(),
            ..Default::default()
        }),
    };
    Some(ResponseItem::new(kind))
}

fn synthetic_id(prefix: &str, call: &ResponseItem) -> Option<String> {
    let name = format!("{prefix}:{}", call.id()?);
    Some(format!("{prefix}_{}", Uuid::new_v5(&SYNTHETIC_ID_NAMESPACE, name.as_bytes())))
}

#[cfg(test)]
#[path = "pairing_tests.rs"]
mod tests;
