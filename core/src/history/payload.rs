//! The payload of an output, wherever it stands.

use tenon_protocol::{
    FunctionCallOutputBody, FunctionCallOutputContentItem, FunctionCallOutputPayload, ItemKind, ResponseItem,
};
use tenon_tools::{SERIALISATION_ALLOWANCE, TruncationPolicy, approx_token_count, truncate_payload};

/// The payload of a function or custom output.
pub(crate) fn payload(kind: &ItemKind) -> Option<&FunctionCallOutputPayload> {
    if let ItemKind::FunctionCallOutput(output) = kind {
        Some(&output.output)
    } else if let ItemKind::CustomToolCallOutput(output) = kind {
        Some(&output.output)
    } else {
        None
    }
}

/// The payload of a function or custom output, to be changed.
pub(crate) fn payload_mut(kind: &mut ItemKind) -> Option<&mut FunctionCallOutputPayload> {
    if let ItemKind::FunctionCallOutput(output) = kind {
        Some(&mut output.output)
    } else if let ItemKind::CustomToolCallOutput(output) = kind {
        Some(&mut output.output)
    } else {
        None
    }
}

/// Whether an output certainly fits, so that it need not be copied to find out: images can be large.
fn fits(body: &FunctionCallOutputBody, policy: TruncationPolicy) -> bool {
    let cost = |text: &str| match policy {
        TruncationPolicy::Bytes(_) => text.len(),
        TruncationPolicy::Tokens(_) => approx_token_count(text),
    };
    match body {
        FunctionCallOutputBody::Text(text) => text.len() <= policy.byte_budget(),
        FunctionCallOutputBody::ContentItems(items) => {
            let costs = items.iter().map(|item| match item {
                FunctionCallOutputContentItem::InputText { text } => (!text.is_empty()).then(|| cost(text)),
                FunctionCallOutputContentItem::InputImage { .. }
                | FunctionCallOutputContentItem::EncryptedContent { .. } => Some(0),
                FunctionCallOutputContentItem::InputAudio { .. } => None,
            });
            costs.sum::<Option<usize>>().is_some_and(|cost| cost <= policy.amount())
        }
    }
}

/// The item with its output cut to `policy` and the allowance of core.md 3.7. An item that fits, and one that is no
/// function or custom output, stays as it is, byte for byte.
pub(super) fn truncated(item: ResponseItem, policy: TruncationPolicy) -> ResponseItem {
    let Some(whole) = payload(item.kind()) else { return item };
    let policy = policy.scaled(SERIALISATION_ALLOWANCE);
    if fits(&whole.body, policy) {
        return item;
    }
    let cut = truncate_payload(whole.clone(), policy);
    if cut == *whole {
        return item;
    }
    let mut kind = item.into_kind();
    if let Some(payload) = payload_mut(&mut kind) {
        *payload = cut;
    }
    ResponseItem::new(kind)
}
