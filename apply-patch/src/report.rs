//! What is said of a commit (runtime.md A6.3).

use std::fmt::Write as _;
use std::path::Path;

use crate::change::ChangeKind;
use crate::commit::CommitError;

/// The files of a commit, spelled as in the patch.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Summary {
    /// Files written whole.
    pub added: Vec<String>,
    /// Files changed; a moved one by its new path.
    pub modified: Vec<String>,
    /// Files removed.
    pub deleted: Vec<String>,
}

impl Summary {
    /// Whether nothing happened.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.modified.is_empty() && self.deleted.is_empty()
    }

    /// Adds a change by what it is and how the patch spells its path.
    pub(crate) fn note(&mut self, kind: ChangeKind, listed: &str) {
        let list = match kind {
            ChangeKind::Add => &mut self.added,
            ChangeKind::Update => &mut self.modified,
            ChangeKind::Delete => &mut self.deleted,
        };
        list.push(listed.to_owned());
    }

    /// All of this, and behind it all of `later`.
    pub(crate) fn then(mut self, later: Self) -> Self {
        self.added.extend(later.added);
        self.modified.extend(later.modified);
        self.deleted.extend(later.deleted);
        self
    }

    /// The text of a success: `A`, then `M`, then `D` lines, each ended (A6.3).
    #[must_use]
    pub fn success_text(&self) -> String {
        let mut text = "Success. Updated the following files:\n".to_owned();
        self.push_lines(&mut text);
        text
    }

    /// What follows the text of a success when this stood before it.
    pub(crate) fn stood_text(&self) -> String {
        let mut text = String::new();
        if !self.is_empty() {
            text.push_str("These changes stood already from an earlier attempt, and were not made again:\n");
            self.push_lines(&mut text);
        }
        text
    }

    fn push_lines(&self, text: &mut String) {
        for (sign, files) in [('A', &self.added), ('M', &self.modified), ('D', &self.deleted)] {
            for file in files {
                // Writing to a string does not fail.
                let _ = writeln!(text, "{sign} {file}");
            }
        }
    }
}

/// The text of a failure: why, and which changes stand. Where none does, there is nothing to add (A6).
#[must_use]
pub fn failure_text(error: &CommitError) -> String {
    let mut text = format!("{}\n", error.failure);
    if !error.summary.is_empty() {
        text.push_str("The patch was applied in part. These changes stand:\n");
        error.summary.push_lines(&mut text);
    }
    if let Some(torn) = &error.torn {
        push_torn(&mut text, torn);
    }
    text
}

fn push_torn(text: &mut String, torn: &Path) {
    let _ = writeln!(text, "{} is damaged: it was being written when the failure came.", torn.display());
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
