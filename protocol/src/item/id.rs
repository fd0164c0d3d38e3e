//! Ids for items that came or were made without one.

use std::sync::Arc;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use uuid::Uuid;

use super::ResponseItem;
use crate::raw_json::RawJson;

pub(super) fn with_id_if_absent(mut item: ResponseItem) -> ResponseItem {
    if item.id().is_some() {
        return item;
    }
    let Some(prefix) = item.kind.id_prefix() else { return item };
    let id = format!("{prefix}_{}", Uuid::now_v7());
    if let Some(raw) = &item.raw {
        // The kind was read from this text, so it is an object and the new one parses.
        let Some(with_id) = insert_id(raw.get(), &id) else { return item };
        item.raw = Some(with_id);
    }
    *Arc::make_mut(&mut item.kind).id_mut() = Some(id);
    item
}

#[derive(Deserialize)]
struct Id<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
}

/// A member that is there, even when it is `null`.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// `json` with `"id"` as its first member, or in the place of the `null` that stands there.
fn insert_id(json: &str, id: &str) -> Option<RawJson> {
    let quoted = format!("\"{id}\"");
    let text = match serde_json::from_str::<Id<'_>>(json).ok()?.id {
        Some(null) => {
            // The value is a slice of `json`: where it lies tells what to replace.
            let start = (null.get().as_ptr() as usize).checked_sub(json.as_ptr() as usize)?;
            let (before, rest) = json.split_at_checked(start)?;
            format!("{before}{quoted}{}", rest.strip_prefix(null.get())?)
        }
        None => format!("{{\"id\":{quoted},{}", json.strip_prefix('{')?),
    };
    RawJson::parse(&text).ok()
}

#[cfg(test)]
#[path = "id_tests.rs"]
mod tests;
