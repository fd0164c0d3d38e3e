//! What the examples share: calls for the model's script, and what the model was told of them.

use tenon_core::Session;
use tenon_protocol::{FunctionCall, ItemKind, ResponseItem};

/// A function call, as a model makes it.
pub(crate) fn call(id: &str, name: &str, arguments: &str) -> ResponseItem {
    ResponseItem::new(ItemKind::FunctionCall(FunctionCall {
        call_id: Some(id.to_owned()),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
        ..FunctionCall::default()
    }))
}

/// What the model was told of its function calls, in the order it made them.
pub(crate) fn outputs(session: &Session) -> Vec<String> {
    let outputs = session.history().items().iter().filter_map(|item| {
        if let ItemKind::FunctionCallOutput(output) = item.kind() { Some(&output.output) } else { None }
    });
    outputs.map(ToString::to_string).collect()
}
