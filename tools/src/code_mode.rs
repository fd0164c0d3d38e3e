//! The value a script gets for a response item (core.md 2.6).

use serde_json::Value;
use tenon_protocol::ResponseInputItem;

/// Converts a response item to a script's value.
pub(crate) fn value_of(_item: &ResponseInputItem) -> Value {
    Value::Null
}
