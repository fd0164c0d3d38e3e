//! Which call of its id a call is. Ids are the model's and need not be unique; the nth call of an id and kind is
//! paired with the nth output of it (core.md 0.2).

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tenon_protocol::{CallId, ResponseItem};
use tenon_tools::ToolPayload;

use crate::router::ToolRouter;

/// Counts calls, for a whole session.
#[derive(Debug, Default)]
pub struct CallNumbers(Mutex<HashMap<CallId, Counts>>);

#[derive(Debug, Default)]
struct Counts {
    function: u32,
    custom: u32,
    search: u32,
}

/// The numbers of one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallNumber {
    /// Which one it is among the calls of its id and kind, from 0.
    pub occurrence: u32,
    /// Under which id a client sees it, where a call had its own before.
    pub shown_id: Option<String>,
    /// Why it is handed over once more, where a runtime before had started it and did not live to end it.
    pub again: Option<&'static str>,
}

impl CallNumbers {
    /// Counts the calls of a history that is gone on from.
    pub fn count_all<'a>(&self, items: impl Iterator<Item = &'a ResponseItem>) {
        for call in items.filter_map(|item| ToolRouter::build_tool_call(item).ok().flatten()) {
            self.next(&call.call_id, &call.payload);
        }
    }

    /// Counts one more call of this id and kind.
    pub fn next(&self, call_id: &CallId, payload: &ToolPayload) -> CallNumber {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let counts = all.entry(call_id.clone()).or_default();
        let before = counts.function + counts.custom + counts.search;
        let counter = match payload {
            ToolPayload::Function { .. } => &mut counts.function,
            ToolPayload::Custom { .. } => &mut counts.custom,
            ToolPayload::ToolSearch { .. } => &mut counts.search,
        };
        let occurrence = *counter;
        *counter += 1;
        let shown_id = (before > 0).then(|| format!("{call_id}#{}", before + 1));
        CallNumber { occurrence, shown_id, again: None }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn calls_of_one_id_are_counted_by_kind_and_shown_apart() {
        let numbers = CallNumbers::default();
        let (id, other) = (CallId::from("c1"), CallId::from("c2"));
        let function = ToolPayload::Function { arguments: String::new() };
        let custom = ToolPayload::Custom { input: String::new() };
        let number = |occurrence, shown: Option<&str>| CallNumber {
            occurrence,
            shown_id: shown.map(str::to_owned),
            again: None,
        };
        assert_eq!(numbers.next(&id, &function), number(0, None));
        assert_eq!(numbers.next(&id, &function), number(1, Some("c1#2")));
        assert_eq!(numbers.next(&id, &custom), number(0, Some("c1#3")));
        assert_eq!(numbers.next(&other, &function), number(0, None));
    }
}
