//! What a commit really changed (runtime.md A6.a).

use std::path::PathBuf;

use crate::change::{Action, Content, Destination, PlannedChange};
use crate::land::Remains;

/// The changes that stand, in order, whether or not the whole patch does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delta {
    /// One for each change that landed.
    pub changes: Vec<DeltaChange>,
    /// Whether the changes tell everything that happened. Else a diff made from them could be wrong
    /// (A6.8).
    pub exact: bool,
}

impl Default for Delta {
    fn default() -> Self {
        Self { changes: Vec::new(), exact: true }
    }
}

/// One change that stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeltaChange {
    /// The absolute path that the hunk named; for a move whose source could not be removed, the new one
    /// (A6.7).
    pub path: PathBuf,
    /// What happened there.
    pub kind: DeltaKind,
}

/// What happened to a file, with the bytes before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeltaKind {
    /// It was written whole.
    Add {
        /// Its bytes.
        content: Content,
        /// What lay there before.
        overwritten_content: Option<Content>,
    },
    /// It was removed.
    Delete {
        /// What it held; empty when it was a link.
        content: Content,
    },
    /// It was changed, moved, or both.
    Update {
        /// Where it is now.
        move_path: Option<PathBuf>,
        /// What it held.
        old_content: Content,
        /// What lay at the new path before.
        overwritten_move_content: Option<Content>,
        /// What it holds.
        new_content: Content,
    },
}

impl Delta {
    /// Adds a change that landed.
    pub(crate) fn landed(&mut self, change: &PlannedChange) {
        let (kind, exact) = match &change.action {
            Action::Add { before, new, .. } => {
                let overwritten_content = before.bytes();
                let kind = DeltaKind::Add { content: Content::clone(new), overwritten_content };
                (kind, before.is_exact())
            }
            Action::Delete { before } => {
                (DeltaKind::Delete { content: before.bytes().unwrap_or_default() }, before.is_exact())
            }
            Action::Update { before, new, destination, .. } => {
                let kind = DeltaKind::Update {
                    move_path: destination.as_ref().map(|to| to.at.shown.clone()),
                    old_content: before.bytes().unwrap_or_default(),
                    overwritten_move_content: destination
                        .as_ref()
                        .filter(|to| !to.alias)
                        .and_then(|to| to.before.bytes()),
                    new_content: Content::clone(new),
                };
                let plain = |to: &Destination| to.before.is_exact() && !to.at.is_link();
                (kind, before.is_exact() && destination.as_deref().is_none_or(plain))
            }
        };
        self.push(change.at.shown.clone(), kind, exact && !change.at.is_link());
    }

    /// Adds what a change that failed left behind.
    pub(crate) fn remained(&mut self, change: &PlannedChange, remains: Remains) {
        match (remains, &change.action) {
            (Remains::Untouched, _) => {}
            (Remains::BothPlaces, Action::Update { new, destination: Some(to), .. }) => {
                let kind =
                    DeltaKind::Add { content: Content::clone(new), overwritten_content: to.before.bytes() };
                self.push(to.at.shown.clone(), kind, false);
            }
            (Remains::BothPlaces | Remains::Torn, _) => self.exact = false,
        }
    }

    fn push(&mut self, path: PathBuf, kind: DeltaKind, exact: bool) {
        let text = |content: &Content| std::str::from_utf8(content).is_ok();
        self.exact &= exact && kind.contents().into_iter().all(text);
        self.changes.push(DeltaChange { path, kind });
    }
}

impl DeltaKind {
    fn contents(&self) -> Vec<&Content> {
        match self {
            Self::Add { content, overwritten_content } => {
                std::iter::once(content).chain(overwritten_content).collect()
            }
            Self::Delete { content } => vec![content],
            Self::Update { move_path: _, old_content, overwritten_move_content, new_content } => {
                [old_content, new_content].into_iter().chain(overwritten_move_content).collect()
            }
        }
    }
}
