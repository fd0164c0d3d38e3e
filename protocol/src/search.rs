//! Arguments of `tool_search` (core.md 1.6).

use serde::{Deserialize, Serialize};

/// What the model searches for among the deferred tools.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchToolCallParams {
    /// The words to search for.
    pub query: String,
    /// The most tools to return; absent means the tool's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
