//! A plan becomes true: all of it, or the part that is named (runtime.md A6).
//!
//! 1. Each file is compared with what was planned. Time has passed: somebody may have been asked.
//! 2. Everything is made ready (see `stage`). A failure up to here leaves no trace.
//! 3. The changes land in the order of the patch, each after a last look. The first failure stops; what
//!    landed stands and is named, nothing is rolled back (A6.1).

use std::io;
use std::path::{Path, PathBuf};

use crate::change::PlannedChange;
use crate::delta::Delta;
use crate::fs::Fs;
use crate::land::{Check, Remains, Unlanded, check, land};
use crate::place::Locator;
use crate::plan::Plan;
use crate::report::Summary;
use crate::stage::{Staged, Stager};

/// Why a change did not happen. The display is what the model reads: the operating system's reason is
/// kept for the operator (A6).
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A file is not as it was when the patch was verified.
    #[error("{} changed after the patch was verified; read it again before patching it", .0.display())]
    Conflict(PathBuf),
    /// The directories for a new file could not be made.
    #[error("Failed to create parent directories for {}", .0.display())]
    Parents(PathBuf, #[source] Option<io::Error>),
    /// A file could not be written.
    #[error("Failed to write file {}", .0.display())]
    Write(PathBuf, #[source] Option<io::Error>),
    /// A file could not be deleted.
    #[error("Failed to delete file {}", .0.display())]
    Delete(PathBuf, #[source] Option<io::Error>),
    /// A moved file is at its new path, and at its old one still.
    #[error("Failed to remove original {}", .0.display())]
    RemoveOriginal(PathBuf, #[source] Option<io::Error>),
    /// The call was cancelled before anything landed.
    #[error("the patch was cancelled")]
    Cancelled,
}

impl Failure {
    pub(crate) fn write(path: &Path, error: impl Into<Option<io::Error>>) -> Self {
        Self::Write(path.to_owned(), error.into())
    }

    pub(crate) fn parents(path: &Path, error: io::Error) -> Self {
        Self::Parents(path.to_owned(), Some(error))
    }
}

/// A commit that worked.
#[derive(Debug)]
pub struct Committed {
    /// What changed.
    pub delta: Delta,
    /// The same in the words of the patch.
    pub summary: Summary,
}

/// A commit that failed. What `delta` and `summary` tell stands all the same.
#[derive(Debug, thiserror::Error)]
#[error("{failure}")]
pub struct CommitError {
    /// Why.
    #[source]
    pub failure: Failure,
    /// How many changes of the plan landed, from the first on.
    pub landed: usize,
    /// What landed before.
    pub delta: Delta,
    /// The same in the words of the patch.
    pub summary: Summary,
    /// A file that was being written in place and is now neither old nor new.
    pub torn: Option<PathBuf>,
}

/// Follows a commit.
pub trait Watch {
    /// Whether the commit should stop. It is asked as long as nothing has landed.
    fn cancelled(&self) -> bool {
        false
    }

    /// A file is about to be written or removed.
    fn before(&mut self, _path: &Path) {}

    /// It was.
    fn after(&mut self, _path: &Path) {}
}

/// Nobody follows.
impl Watch for () {}

/// Makes a plan true.
///
/// # Errors
/// The first failure, with what stands.
pub fn commit(plan: &Plan, fs: &dyn Fs, watch: &mut dyn Watch) -> Result<Committed, Box<CommitError>> {
    let mut stager = Stager::new(fs);
    let mut delta = Delta::default();
    let mut summary = Summary::default();
    let (mut landed, mut torn) = (0, None);
    let outcome = stage_all(plan, fs, &mut stager, watch).map_err(Unlanded::from).and_then(|staged| {
        for (change, staged) in plan.changes.iter().zip(staged) {
            if let Err(unlanded) = settle(fs, &mut stager, change, staged, watch) {
                delta.remained(change, unlanded.remains);
                match (unlanded.remains, &unlanded.failure) {
                    (Remains::BothPlaces, _) => summary.added.push(change.listed.clone()),
                    (Remains::Torn, Failure::Write(path, _)) => torn = Some(path.clone()),
                    (Remains::Untouched | Remains::Torn, _) => {}
                }
                return Err(unlanded);
            }
            delta.landed(change);
            summary.note(change.kind(), &change.listed);
            landed += 1;
        }
        Ok(())
    });
    match outcome {
        Ok(()) => Ok(Committed { delta, summary }),
        Err(Unlanded { failure, remains: _ }) => {
            stager.remove_empty_directories();
            Err(Box::new(CommitError { failure, landed, delta, summary, torn }))
        }
    }
}

/// Checks and stages all changes. One that builds on another is left for its turn.
fn stage_all<'f>(
    plan: &Plan,
    fs: &'f dyn Fs,
    stager: &mut Stager<'f>,
    watch: &dyn Watch,
) -> Result<Vec<Option<Staged<'f>>>, Failure> {
    let mut locator = Locator::thorough(fs);
    let mut all = Vec::with_capacity(plan.changes.len());
    for change in &plan.changes {
        if watch.cancelled() {
            return Err(Failure::Cancelled);
        }
        if change.is_late() {
            all.push(None);
            continue;
        }
        still_leads_there(&mut locator, change)?;
        check(fs, change, Check::Bytes)?;
        all.push(Some(stager.stage(change)?));
    }
    Ok(all)
}

/// The path must still mean the file that was approved: no link may have been put in its way.
fn still_leads_there(locator: &mut Locator<'_>, change: &PlannedChange) -> Result<(), Failure> {
    let mut places = vec![&change.at];
    places.extend(change.destination().map(|to| &to.at));
    for place in places {
        let now = locator.locate(place.shown.clone());
        if !now.is_ok_and(|now| now.entry == place.entry && now.target == place.target) {
            return Err(Failure::Conflict(place.shown.clone()));
        }
    }
    Ok(())
}

/// Lands one change.
fn settle<'f>(
    fs: &'f dyn Fs,
    stager: &mut Stager<'f>,
    change: &PlannedChange,
    staged: Option<Staged<'f>>,
    watch: &mut dyn Watch,
) -> Result<(), Unlanded> {
    check(fs, change, Check::Facts)?;
    let staged = match staged {
        Some(staged) => staged,
        None => stager.stage(change)?,
    };
    let paths = change.written_paths();
    for path in &paths {
        watch.before(path);
    }
    land(fs, stager, change, staged)?;
    for path in &paths {
        watch.after(path);
    }
    Ok(())
}

/// Lets one change that was just planned happen.
pub(crate) fn commit_now<'f>(
    fs: &'f dyn Fs,
    stager: &mut Stager<'f>,
    change: &PlannedChange,
) -> Result<(), Failure> {
    let landed = stager.stage(change).map_err(Unlanded::from).and_then(|staged| {
        check(fs, change, Check::Facts)?;
        land(fs, stager, change, staged)
    });
    match landed {
        Ok(()) => {
            stager.keep_directories();
            Ok(())
        }
        Err(unlanded) => {
            stager.remove_empty_directories();
            Err(unlanded.failure)
        }
    }
}
