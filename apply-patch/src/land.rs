//! Letting a change that is ready happen, if the files are still as they were.

use std::io;
use std::path::Path;

use crate::change::{Action, Content, Destination, PlannedChange, Seen};
use crate::commit::Failure;
use crate::fs::{Fs, Kind};
use crate::stage::{Staged, Stager};

/// How sure one has to be that a file is as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Check {
    /// Compare the bytes: time has passed since the plan.
    Bytes,
    /// Compare size and times, and the bytes only if these differ.
    Facts,
}

/// What a failed landing left behind.
#[derive(Debug)]
pub(crate) struct Unlanded {
    pub(crate) failure: Failure,
    pub(crate) remains: Remains,
}

/// The state of the files of a change that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Remains {
    /// As it was.
    Untouched,
    /// The destination of a move is written, the source still there (A6.7).
    BothPlaces,
    /// The file was being written in place, and neither the old nor the new bytes are whole.
    Torn,
}

impl From<Failure> for Unlanded {
    fn from(failure: Failure) -> Self {
        Self { failure, remains: Remains::Untouched }
    }
}

/// Checks that everything `change` concerns is as it was planned.
pub(crate) fn check(fs: &dyn Fs, change: &PlannedChange, how: Check) -> Result<(), Failure> {
    let unchanged = |path: &Path, seen: &Seen| {
        if is_as_seen(fs, path, seen, how) { Ok(()) } else { Err(Failure::Conflict(path.to_owned())) }
    };
    match &change.action {
        Action::Add { target, before, .. } => unchanged(target, before),
        Action::Delete { before } => unchanged(&change.at.entry, before),
        Action::Update { target, before, destination, .. } => {
            unchanged(target, before)?;
            destination.as_ref().map_or(Ok(()), |to| unchanged(&to.target, &to.before))
        }
    }
}

fn is_as_seen(fs: &dyn Fs, path: &Path, seen: &Seen, how: Check) -> bool {
    let absent = || fs.facts(path).is_err();
    let same = |facts| fs.facts(path).is_ok_and(|now| now.same_content(facts));
    let holds = |bytes: &Content| fs.holds(path, bytes).unwrap_or(false);
    match seen {
        Seen::Nothing | Seen::Planned(None) => absent(),
        Seen::Planned(Some(bytes)) => holds(bytes),
        Seen::File(facts, bytes) => how == Check::Facts && same(facts) || holds(bytes),
        Seen::Unread(facts, _) => same(facts),
        Seen::Link(facts) => {
            fs.facts(path).is_ok_and(|now| now.kind == Kind::Link && now.identity == facts.identity)
        }
    }
}

/// Lets a staged and checked change happen.
pub(crate) fn land<'f>(
    fs: &'f dyn Fs,
    stager: &mut Stager<'f>,
    change: &PlannedChange,
    staged: Staged<'f>,
) -> Result<(), Unlanded> {
    match &change.action {
        Action::Delete { .. } => {
            let entry = &change.at.entry;
            fs.remove(entry).map_err(|error| Failure::Delete(entry.clone(), Some(error)).into())
        }
        Action::Add { target, before, new } => write(fs, target, before, new, staged),
        Action::Update { target, before, new, destination: None, .. } => {
            write(fs, target, before, new, staged)
        }
        Action::Update { target, before, new, destination: Some(to), .. } if to.alias => {
            let rewritten = !matches!(staged, Staged::Nothing);
            write(fs, target, before, new, staged)?;
            let Err(error) = fs.rename(&change.at.entry, &to.at.entry) else { return Ok(()) };
            // Under its old name the file is to have its old bytes.
            if let Some(old) = before.bytes().filter(|_| rewritten) {
                overwrite(fs, target, Some(new), &old)?;
            }
            Err(Failure::RemoveOriginal(change.at.shown.clone(), Some(error)).into())
        }
        Action::Update { destination: Some(to), .. } => moved(fs, stager, change, to, staged),
    }
}

/// A move: the destination is there before the source goes.
fn moved<'f>(
    fs: &'f dyn Fs,
    stager: &mut Stager<'f>,
    change: &PlannedChange,
    to: &Destination,
    staged: Staged<'f>,
) -> Result<(), Unlanded> {
    let Action::Update { target, before, new, .. } = &change.action else { return Ok(()) };
    let staged = if matches!(staged, Staged::Rename) {
        match rename(fs, &change.at.entry, &to.target, &to.before) {
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                stager.write_moved(target, before, new, to)?
            }
            other => return other.map_err(|error| written(&to.target, error).into()),
        }
    } else {
        staged
    };
    write(fs, &to.target, &to.before, new, staged)?;
    fs.remove(&change.at.entry).map_err(|error| Unlanded {
        failure: Failure::RemoveOriginal(change.at.shown.clone(), Some(error)),
        remains: Remains::BothPlaces,
    })
}

/// Where nothing was seen, nothing may be replaced.
fn is_fresh(before: &Seen) -> bool {
    matches!(before, Seen::Nothing | Seen::Planned(None))
}

fn rename(fs: &dyn Fs, from: &Path, to: &Path, before: &Seen) -> io::Result<()> {
    if is_fresh(before) { fs.rename_new(from, to) } else { fs.rename(from, to) }
}

/// A file that is mounted by itself, as containers do, cannot be replaced; nor can some in folders that only
/// let files be made. They may still be written.
fn bars_renames(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ResourceBusy | io::ErrorKind::PermissionDenied)
}

/// Something that came up at a free path is a conflict, not a failed write.
fn written(target: &Path, error: io::Error) -> Failure {
    if error.kind() == io::ErrorKind::AlreadyExists {
        Failure::Conflict(target.to_owned())
    } else {
        Failure::write(target, error)
    }
}

fn write(
    fs: &dyn Fs,
    target: &Path,
    before: &Seen,
    new: &Content,
    staged: Staged<'_>,
) -> Result<(), Unlanded> {
    match staged {
        Staged::Temp(temp) => match temp.land(target, is_fresh(before)) {
            Err(error) if !is_fresh(before) && bars_renames(&error) => {
                overwrite(fs, target, before.bytes().as_ref(), new)
            }
            landed => landed.map_err(|error| written(target, error).into()),
        },
        Staged::InPlace => overwrite(fs, target, before.bytes().as_ref(), new),
        Staged::Rename | Staged::Nothing => Ok(()),
    }
}

/// Writes over the old bytes, and puts them back when that fails.
fn overwrite(fs: &dyn Fs, target: &Path, old: Option<&Content>, new: &Content) -> Result<(), Unlanded> {
    let mode = fs.facts(target).map(|facts| facts.mode).unwrap_or_default();
    let mut file = fs.open_existing(target).map_err(|error| Failure::write(target, error))?;
    let replace = |file: &mut std::fs::File, bytes: &Content| {
        fs.write(file, bytes)?;
        fs.set_len(file, bytes.len() as u64)?;
        // A write takes these bits away.
        if mode & 0o6000 == 0 { Ok(()) } else { fs.set_mode(file, mode) }
    };
    let Err(error) = replace(&mut file, new) else { return Ok(()) };
    drop(file);
    let restored =
        old.is_some_and(|old| fs.open_existing(target).and_then(|mut file| replace(&mut file, old)).is_ok());
    let remains = if restored { Remains::Untouched } else { Remains::Torn };
    Err(Unlanded { failure: Failure::write(target, error), remains })
}
