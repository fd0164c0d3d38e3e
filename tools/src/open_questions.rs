//! Questions that calls of scripts wait for: approvals, questions to the user, questions of MCP servers.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::watch;

use crate::ToolCallSource;

/// How many questions are open, by the cell whose script made the call that waits. While one is, the cell's `exec` and
/// `wait` hold their reply (runtime.md C8.14). Cheap to clone; the clones count together.
#[derive(Debug, Clone, Default)]
pub struct OpenQuestions(Arc<watch::Sender<BTreeMap<String, usize>>>);

/// A question that is open, until it is dropped.
#[derive(Debug)]
#[must_use = "a dropped question is answered or taken back"]
pub struct OpenQuestion {
    questions: OpenQuestions,
    /// None for a question of a direct call: nobody holds a reply for it.
    cell_id: Option<String>,
}

impl OpenQuestions {
    /// Opens a question of a call that comes from there.
    pub fn open(&self, source: &ToolCallSource) -> OpenQuestion {
        let cell_id = match source {
            ToolCallSource::CodeMode { cell_id, .. } => Some(cell_id.clone()),
            ToolCallSource::Direct | ToolCallSource::DirectPlaintextMessage => None,
        };
        if let Some(cell_id) = &cell_id {
            self.0.send_modify(|open| *open.entry(cell_id.clone()).or_default() += 1);
        }
        OpenQuestion { questions: self.clone(), cell_id }
    }

    /// Whether a call of this cell's script waits for an answer.
    pub fn are_open(&self, cell_id: &str) -> bool {
        self.0.borrow().contains_key(cell_id)
    }

    /// Waits until none does.
    pub async fn closed(&self, cell_id: &str) {
        // The sender lives as long as this.
        let _ = self.0.subscribe().wait_for(|open| !open.contains_key(cell_id)).await;
    }
}

impl Drop for OpenQuestion {
    fn drop(&mut self) {
        let Some(cell_id) = &self.cell_id else { return };
        self.questions.0.send_modify(|open| {
            let left = open.get(cell_id).map_or(0, |count| count.saturating_sub(1));
            if left == 0 {
                open.remove(cell_id);
            } else {
                open.insert(cell_id.clone(), left);
            }
        });
    }
}

#[cfg(test)]
#[path = "open_questions_tests.rs"]
mod tests;
