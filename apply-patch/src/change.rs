//! One planned change, and what is known of the files it concerns.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::diff;
use crate::fs::Facts;
use crate::place::Place;
use crate::replace::Edit;

/// A file's bytes, shared by everybody who needs them.
pub type Content = Arc<Vec<u8>>;

/// What a change is, in the terms of its hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// A whole file is written.
    Add,
    /// A file goes.
    Delete,
    /// A file changes, moves, or both.
    Update,
}

/// One file that a change reads, writes or removes, with all links resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileFact {
    /// Its path.
    pub path: PathBuf,
    /// The SHA-256 of what lies there now; absent when nothing does or it was not read.
    pub sha256: Option<[u8; 32]>,
}

/// One change of a [`Plan`](crate::Plan).
#[derive(Debug)]
pub struct PlannedChange {
    /// The path of the success text, spelled as in the patch: for a move the new one (A6.3).
    pub(crate) listed: String,
    /// The path that the hunk names.
    pub(crate) at: Place,
    pub(crate) action: Action,
}

#[derive(Debug)]
pub(crate) enum Action {
    Add {
        target: PathBuf,
        before: Seen,
        new: Content,
    },
    Delete {
        before: Seen,
    },
    Update {
        target: PathBuf,
        before: Seen,
        new: Content,
        edits: Vec<Edit>,
        destination: Option<Box<Destination>>,
    },
}

/// Where a moved file goes.
#[derive(Debug)]
pub(crate) struct Destination {
    pub(crate) at: Place,
    /// The file that is written: what the path means, links followed.
    pub(crate) target: PathBuf,
    pub(crate) before: Seen,
    /// It is the source itself by another spelling: there is nothing to remove.
    pub(crate) alias: bool,
}

/// What lay at a path when the patch was planned.
#[derive(Debug)]
pub(crate) enum Seen {
    Nothing,
    File(Facts, Content),
    /// Something that was not read: no file, or one that could not be, and then why.
    Unread(Facts, Option<io::Error>),
    /// The link itself, not what it points to.
    Link(Facts),
    /// What an earlier change of the same patch will have left.
    Planned(Option<Content>),
}

impl Seen {
    pub(crate) fn facts(&self) -> Option<&Facts> {
        match self {
            Self::File(facts, _) | Self::Unread(facts, _) | Self::Link(facts) => Some(facts),
            Self::Nothing | Self::Planned(_) => None,
        }
    }

    pub(crate) fn bytes(&self) -> Option<Content> {
        match self {
            Self::File(_, bytes) => Some(Arc::clone(bytes)),
            Self::Planned(planned) => planned.clone(),
            Self::Nothing | Self::Unread(..) | Self::Link(_) => None,
        }
    }

    /// Whether what lies there now is known to the byte.
    pub(crate) fn is_exact(&self) -> bool {
        match self {
            Self::Nothing | Self::File(..) | Self::Planned(_) => true,
            Self::Unread(..) | Self::Link(_) => false,
        }
    }

    /// Whether it is the work of an earlier change, and not there yet.
    pub(crate) fn is_planned(&self) -> bool {
        matches!(self, Self::Planned(_))
    }

    fn sha256(&self) -> Option<[u8; 32]> {
        match self {
            Self::File(_, bytes) => Some(Sha256::digest(bytes.as_slice()).into()),
            Self::Nothing | Self::Unread(..) | Self::Link(_) | Self::Planned(_) => None,
        }
    }
}

impl PlannedChange {
    /// What it is.
    #[must_use]
    pub fn kind(&self) -> ChangeKind {
        match self.action {
            Action::Add { .. } => ChangeKind::Add,
            Action::Delete { .. } => ChangeKind::Delete,
            Action::Update { .. } => ChangeKind::Update,
        }
    }

    /// The absolute path that the hunk names; links are not resolved.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.at.shown
    }

    /// The absolute path that the file is moved to; links are not resolved.
    #[must_use]
    pub fn move_to(&self) -> Option<&Path> {
        self.destination().map(|to| to.at.shown.as_path())
    }

    /// The bytes of the file that it writes; absent when it only removes one.
    #[must_use]
    pub fn content(&self) -> Option<&[u8]> {
        match &self.action {
            Action::Add { new, .. } | Action::Update { new, .. } => Some(new),
            Action::Delete { .. } => None,
        }
    }

    /// The change as the hunks of a unified diff with one line around each change (A7.3). Computed when
    /// asked for.
    #[must_use]
    pub fn unified_diff(&self) -> String {
        let nothing = Content::default();
        match &self.action {
            Action::Add { before, new, .. } => {
                let old = before.bytes().unwrap_or(nothing);
                diff::unified(&old, new, &diff::whole(&old, new))
            }
            Action::Delete { before } => {
                let old = before.bytes().unwrap_or(nothing);
                diff::unified(&old, b"", &diff::whole(&old, b""))
            }
            Action::Update { before, new, edits, .. } => {
                diff::unified(&before.bytes().unwrap_or(nothing), new, edits)
            }
        }
    }

    /// Files that would be written or removed: all that approval has to speak about. Their content is
    /// hashed here.
    #[must_use]
    pub fn writes(&self) -> Vec<FileFact> {
        let seen = self.written().into_iter();
        seen.map(|(path, seen)| FileFact { path: path.to_owned(), sha256: seen.and_then(Seen::sha256) })
            .collect()
    }

    /// The paths of [`writes`](Self::writes).
    pub(crate) fn written_paths(&self) -> Vec<&Path> {
        self.written().into_iter().map(|(path, _)| path).collect()
    }

    /// Each file that would be written or removed, with what is known of its bytes.
    fn written(&self) -> Vec<(&Path, Option<&Seen>)> {
        match &self.action {
            Action::Add { target, before, .. } | Action::Update { target, before, destination: None, .. } => {
                vec![(target, Some(before))]
            }
            Action::Delete { before } => vec![(&self.at.entry, Some(before))],
            Action::Update { before, destination: Some(to), .. } => {
                // A link that is moved goes away itself; the file behind it is only read.
                let source = if self.at.is_link() { None } else { Some(before) };
                vec![(&self.at.entry, source), (&to.target, Some(&to.before))]
            }
        }
    }

    /// Files that are only read.
    #[must_use]
    pub fn reads(&self) -> Vec<FileFact> {
        match &self.action {
            Action::Update { target, before, destination: Some(_), .. } if *target != self.at.entry => {
                vec![FileFact { path: target.clone(), sha256: before.sha256() }]
            }
            Action::Update { .. } | Action::Add { .. } | Action::Delete { .. } => Vec::new(),
        }
    }

    /// Where it moves its file to.
    pub(crate) fn destination(&self) -> Option<&Destination> {
        match &self.action {
            Action::Update { destination, .. } => destination.as_deref(),
            Action::Add { .. } | Action::Delete { .. } => None,
        }
    }

    /// Whether it builds on an earlier change of the same patch.
    pub(crate) fn is_late(&self) -> bool {
        match &self.action {
            Action::Add { before, .. } | Action::Delete { before } => before.is_planned(),
            Action::Update { before, destination, .. } => {
                let planned = |to: &Destination| to.before.is_planned();
                before.is_planned() || destination.as_deref().is_some_and(planned)
            }
        }
    }
}
