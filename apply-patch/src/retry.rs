//! What stands of patches that failed half-way, so that trying them again is safe.
//!
//! A commit that fails in its middle leaves what landed (runtime.md A6.1), and the model may send the
//! same patch again. A change that removed lines would not fit any more, but one that only adds would
//! happen twice. So a failed patch is remembered with the bytes that its changes left. When it comes
//! again, changes whose files still have those bytes are done already and left out; where a file has
//! other bytes, its changes are planned like any others.

use std::collections::{HashMap, HashSet, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest, Sha256};

use crate::change::{Action, ChangeKind, Content, PlannedChange};
use crate::commit::CommitError;
use crate::fs::{Fs, Kind};
use crate::patch::Patch;
use crate::place::Locator;
use crate::plan::Plan;
use crate::report::Summary;

/// Failed patches that are remembered; the oldest is forgotten for a new one.
const MAX_REMEMBERED: usize = 16;

type Sha256Hash = [u8; 32];

/// Failed patches. Clones share their memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Retries(Arc<Mutex<VecDeque<Failed>>>);

/// A patch that failed after some of it had landed.
#[derive(Debug, Clone)]
struct Failed {
    /// Of its text and the folder it was for.
    key: Sha256Hash,
    standing: Vec<Standing>,
    torn: Option<Torn>,
}

/// A change that landed.
#[derive(Debug, Clone)]
struct Standing {
    /// Its place among the hunks of the patch.
    hunk: usize,
    kind: ChangeKind,
    listed: String,
    left: Vec<Left>,
}

/// What a patch left at a path.
#[derive(Debug, Clone)]
struct Left {
    /// The path that the patch means.
    shown: PathBuf,
    /// The file behind it.
    path: PathBuf,
    /// Absent where nothing was left.
    sha256: Option<Sha256Hash>,
}

/// A file that is neither old nor new.
#[derive(Debug, Clone)]
pub(crate) struct Torn {
    path: PathBuf,
    /// Of the bytes that it was left with.
    sha256: Sha256Hash,
    old: Content,
}

impl Torn {
    /// What `path` held before it was damaged, if that is still all that happened to it.
    pub(crate) fn mend(&self, path: &Path, bytes: &[u8]) -> Option<Content> {
        (path == self.path && hash(bytes) == self.sha256).then(|| Arc::clone(&self.old))
    }
}

impl Retries {
    /// Looks at what stands of a patch, which loses those hunks.
    pub(crate) fn attempt(&self, text: &str, patch: &mut Patch, cwd: &Path, fs: &dyn Fs) -> Attempt {
        let key = key(text, cwd);
        let known = self.lock().iter().find(|failed| failed.key == key).cloned();
        let (standing, torn) = known.map_or_else(Default::default, |failed| (failed.standing, failed.torn));
        let standing = still_standing(standing, fs);
        let done: HashSet<usize> = standing.iter().map(|change| change.hunk).collect();
        let hunks: Vec<usize> = (0..patch.hunks.len()).filter(|hunk| !done.contains(hunk)).collect();
        let mut number = 0..;
        patch.hunks.retain(|_| number.next().is_none_or(|hunk| !done.contains(&hunk)));
        Attempt { memory: self.clone(), key, hunks, standing, torn }
    }

    fn forget(&self, key: Sha256Hash) {
        self.lock().retain(|failed| failed.key != key);
    }

    fn remember(&self, failed: Failed) {
        let mut known = self.lock();
        known.retain(|other| other.key != failed.key);
        if known.len() == MAX_REMEMBERED {
            known.pop_front();
        }
        known.push_back(failed);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<Failed>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One attempt at a patch, perhaps not the first.
#[derive(Debug)]
pub(crate) struct Attempt {
    memory: Retries,
    key: Sha256Hash,
    /// For each change of the plan its place among the hunks of the patch.
    hunks: Vec<usize>,
    standing: Vec<Standing>,
    torn: Option<Torn>,
}

impl Attempt {
    pub(crate) fn torn(&self) -> Option<&Torn> {
        self.torn.as_ref()
    }

    /// What stood before this attempt.
    pub(crate) fn stood(&self) -> Summary {
        let mut summary = Summary::default();
        for change in &self.standing {
            summary.note(change.kind, &change.listed);
        }
        summary
    }

    /// All of the patch stands.
    pub(crate) fn succeeded(&self) {
        self.memory.forget(self.key);
    }

    /// A part of the plan stands, besides what stood before.
    pub(crate) fn failed(&self, plan: &Plan, error: &CommitError, fs: &dyn Fs) {
        let landed = plan.changes.iter().take(error.landed);
        let mut standing = self.standing.clone();
        standing.extend(landed.zip(&self.hunks).map(|(change, hunk)| Standing::of(change, *hunk)));
        settle(&mut standing);
        let torn = match &error.torn {
            Some(path) => plan.changes.get(error.landed).and_then(|change| self.tear(change, path, fs)),
            None => self.torn.clone(),
        };
        if !standing.is_empty() || torn.is_some() {
            self.memory.remember(Failed { key: self.key, standing, torn });
        }
    }

    fn tear(&self, change: &PlannedChange, path: &Path, fs: &dyn Fs) -> Option<Torn> {
        let (_, left) = fs.read(path).ok()?;
        // What it held before it was damaged for the first time.
        let before = self.torn.as_ref().filter(|torn| torn.path == path).map(|torn| Arc::clone(&torn.old));
        let old = before.or_else(|| match &change.action {
            Action::Update { target, before, .. } if target == path => before.bytes(),
            // These do not depend on what was there.
            Action::Update { .. } | Action::Add { .. } | Action::Delete { .. } => None,
        })?;
        Some(Torn { path: path.to_owned(), sha256: hash(&left), old })
    }
}

impl Standing {
    fn of(change: &PlannedChange, hunk: usize) -> Self {
        let left = |shown: &PathBuf, path: &PathBuf, content: Option<&Content>| Left {
            shown: shown.clone(),
            path: path.clone(),
            sha256: content.map(|content| hash(content)),
        };
        let at = &change.at;
        let left = match &change.action {
            Action::Add { target, new, .. } | Action::Update { target, new, destination: None, .. } => {
                vec![left(&at.shown, target, Some(new))]
            }
            Action::Delete { .. } => vec![left(&at.shown, &at.entry, None)],
            Action::Update { new, destination: Some(to), .. } if to.alias => {
                vec![left(&to.at.shown, &to.at.entry, Some(new))]
            }
            Action::Update { new, destination: Some(to), .. } => {
                vec![left(&at.shown, &at.entry, None), left(&to.at.shown, &to.target, Some(new))]
            }
        };
        Self { hunk, kind: change.kind(), listed: change.listed.clone(), left }
    }
}

/// Where changes follow each other on a path, the last one's bytes are there.
fn settle(standing: &mut [Standing]) {
    let mut last: HashMap<PathBuf, Option<Sha256Hash>> = HashMap::new();
    for left in standing.iter().flat_map(|change| &change.left) {
        last.insert(left.path.clone(), left.sha256);
    }
    for left in standing.iter_mut().flat_map(|change| &mut change.left) {
        left.sha256 = last.get(&left.path).copied().flatten();
    }
}

/// Those whose files are as they were left. A change on a path that is not goes, and with it those that
/// it shares another path with: they build on each other.
fn still_standing(mut standing: Vec<Standing>, fs: &dyn Fs) -> Vec<Standing> {
    let mut locator = Locator::thorough(fs);
    let mut lost: HashSet<PathBuf> = HashSet::new();
    for left in standing.iter().flat_map(|change| &change.left) {
        if !left.is_there(&mut locator, fs) {
            lost.insert(left.path.clone());
        }
    }
    loop {
        let before = standing.len();
        standing.retain(|change| {
            let stands = change.left.iter().all(|left| !lost.contains(&left.path));
            if !stands {
                lost.extend(change.left.iter().map(|left| left.path.clone()));
            }
            stands
        });
        if standing.len() == before {
            return standing;
        }
    }
}

impl Left {
    fn is_there(&self, locator: &mut Locator<'_>, fs: &dyn Fs) -> bool {
        let Ok(place) = locator.locate(self.shown.clone()) else { return false };
        match self.sha256 {
            Some(sha256) => {
                let holds = |(facts, bytes): (crate::fs::Facts, Vec<u8>)| {
                    facts.kind == Kind::File && hash(&bytes) == sha256
                };
                place.target == self.path && fs.read(&self.path).is_ok_and(holds)
            }
            None => {
                let absent = |error: io::Error| error.kind() == io::ErrorKind::NotFound;
                place.entry == self.path && fs.facts(&self.path).is_err_and(absent)
            }
        }
    }
}

fn key(text: &str, cwd: &Path) -> Sha256Hash {
    let cwd = cwd.as_os_str().as_encoded_bytes();
    Sha256::new().chain_update(cwd).chain_update([0]).chain_update(text.trim()).finalize().into()
}

fn hash(bytes: &[u8]) -> Sha256Hash {
    Sha256::digest(bytes).into()
}

#[cfg(test)]
#[path = "retry_tests.rs"]
mod tests;
