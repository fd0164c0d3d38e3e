//! Getting a change ready: everything that can fail without a trace is done before anything lands.
//!
//! New bytes go to a temporary file beside the target, with the target's owner, mode and extended
//! attributes, so that only a rename is left to do. Where that would lose something (a further hard
//! link, an attribute that cannot be given) or is not allowed, the file is to be written in place.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::change::{Action, Content, Destination, PlannedChange, Seen};
use crate::commit::Failure;
use crate::fs::{Facts, Fs, Kind};
use crate::leftover::{Owner, sweep};

/// Permissions of a temporary file before it has those of its target: no wider than any.
const PRIVATE_MODE: u32 = 0o600;
/// Permissions of a new file, less the process's mask.
const NEW_MODE: u32 = 0o666;
/// Names tried for a temporary file before giving up. None should be taken; but who knows.
const MAX_TEMP_NAMES: usize = 1000;

/// Permissions with which a temporary file is made, until it has all of `mode`. It has another owner and
/// group then, perhaps: only where both count as much as everybody else may they have their part at once.
fn narrow_mode(mode: u32) -> u32 {
    if mode >> 3 & 0o7 == mode & 0o7 { mode & 0o777 } else { PRIVATE_MODE & mode }
}

/// Whether the file is the user's, who may write to it by its permission bits.
fn is_plainly_writable(facts: &Facts, user: u32) -> bool {
    facts.mode & 0o200 != 0 && facts.owner == user
}

/// A change that is ready to land.
#[derive(Debug)]
pub(crate) enum Staged<'f> {
    /// The bytes wait in a temporary file.
    Temp(TempFile<'f>),
    /// The bytes are to be written over the old ones.
    InPlace,
    /// The file is to be renamed as it is.
    Rename,
    /// There is nothing to write.
    Nothing,
}

/// A temporary file. It goes when it is dropped.
#[derive(Debug)]
pub(crate) struct TempFile<'f> {
    fs: &'f dyn Fs,
    path: PathBuf,
    landed: bool,
}

impl TempFile<'_> {
    /// Gives the file its name: one where nothing lies if `fresh`, else any.
    pub(crate) fn land(mut self, target: &Path, fresh: bool) -> io::Result<()> {
        if fresh { self.fs.rename_new(&self.path, target) } else { self.fs.rename(&self.path, target) }?;
        self.landed = true;
        Ok(())
    }
}

impl Drop for TempFile<'_> {
    fn drop(&mut self) {
        if !self.landed {
            // Nobody is left to be told. The name says whose it is.
            let _ = self.fs.remove(&self.path);
        }
    }
}

/// Makes changes ready, and remembers the directories that had to be made for them.
#[derive(Debug)]
pub(crate) struct Stager<'f> {
    fs: &'f dyn Fs,
    made: Vec<PathBuf>,
    /// Whether each change lands as soon as it is staged. Then a rename that is refused is told in time,
    /// and what is only a question of permission bits need not be asked.
    lands_next: bool,
    /// Who writes.
    user: u32,
    /// Folders in which what others left behind was looked for.
    swept: HashSet<OsString>,
}

/// Whose attributes a written file gets.
struct Donor<'a> {
    path: &'a Path,
    facts: Facts,
}

impl<'f> Stager<'f> {
    pub(crate) fn new(fs: &'f dyn Fs) -> Self {
        let user = rustix::process::geteuid().as_raw();
        Self { fs, made: Vec::new(), lands_next: false, user, swept: HashSet::new() }
    }

    /// For changes that land as soon as they are staged.
    pub(crate) fn direct(fs: &'f dyn Fs) -> Self {
        Self { lands_next: true, ..Self::new(fs) }
    }

    /// Removes the directories that were made and are still empty.
    pub(crate) fn remove_empty_directories(&mut self) {
        for directory in self.made.drain(..).rev() {
            // It fails where something landed, and that is right.
            let _ = self.fs.remove_dir(&directory);
        }
    }

    /// The change is made: directories made for it stay.
    pub(crate) fn keep_directories(&mut self) {
        self.made.clear();
    }

    /// Makes `change` ready.
    pub(crate) fn stage(&mut self, change: &PlannedChange) -> Result<Staged<'f>, Failure> {
        match &change.action {
            Action::Delete { .. } => Ok(Staged::Nothing),
            Action::Add { target, before, new } => self.rewrite(target, before, new),
            Action::Update { target, before, new, destination: None, .. } => {
                self.rewrite(target, before, new)
            }
            Action::Update { target, before, new, destination: Some(to), edits } => {
                let hard_linked = to.before.facts().is_some_and(|facts| facts.links > 1);
                if to.alias {
                    if edits.is_empty() { Ok(Staged::Nothing) } else { self.rewrite(target, before, new) }
                } else if edits.is_empty() && !change.at.is_link() && !hard_linked {
                    self.make_room(to)
                } else {
                    self.write_moved(target, before, new, to)
                }
            }
        }
    }

    /// Stages a write that a rename turned out not to do: the two names are on two file systems.
    pub(crate) fn write_moved(
        &mut self,
        from: &Path,
        source: &Seen,
        new: &Content,
        to: &Destination,
    ) -> Result<Staged<'f>, Failure> {
        let facts = self.existing(from, source);
        let donor = facts.map(|facts| Donor { path: from, facts });
        self.write(&to.target, self.existing(&to.target, &to.before), new, donor.as_ref())
    }

    /// New bytes for a file that keeps its attributes, or for a new one.
    fn rewrite(&mut self, target: &Path, before: &Seen, new: &Content) -> Result<Staged<'f>, Failure> {
        let existing = self.existing(target, before);
        let donor = existing.map(|facts| Donor { path: target, facts });
        self.write(target, existing, new, donor.as_ref())
    }

    /// What lies at a target that was seen or will have been made. Its bytes were compared, its mode, owner
    /// and further names were not: those are taken as they are now, unless they were seen just before.
    fn existing(&self, target: &Path, before: &Seen) -> Option<Facts> {
        match before {
            Seen::Planned(Some(_)) => self.fs.facts(target).ok(),
            Seen::File(facts, _) | Seen::Unread(facts, _) if self.lands_next => Some(*facts),
            Seen::File(facts, _) | Seen::Unread(facts, _) => Some(self.fs.facts(target).unwrap_or(*facts)),
            // A link that is seen as itself is replaced like nothing.
            Seen::Nothing | Seen::Link(_) | Seen::Planned(None) => None,
        }
    }

    /// Checks that a file can be renamed to its destination, and makes the directories.
    fn make_room(&mut self, to: &Destination) -> Result<Staged<'f>, Failure> {
        if let Some(facts) = self.existing(&to.target, &to.before) {
            self.must_be_writable(&to.target, &facts)?;
        }
        let parent = to.target.parent().unwrap_or(Path::new("/"));
        if self.fs.facts(parent).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            self.make_directories(parent).map_err(|error| Failure::parents(&to.target, error))?;
        }
        Ok(Staged::Rename)
    }

    /// Only a file may be overwritten, and only by who may write to it.
    fn must_be_writable(&self, target: &Path, facts: &Facts) -> Result<(), Failure> {
        if facts.kind != Kind::File {
            return Err(Failure::write(target, None));
        }
        if self.lands_next && is_plainly_writable(facts, self.user) {
            return Ok(());
        }
        self.fs.may_write(target).map_err(|error| Failure::write(target, error))
    }

    fn write(
        &mut self,
        target: &Path,
        existing: Option<Facts>,
        new: &Content,
        donor: Option<&Donor<'_>>,
    ) -> Result<Staged<'f>, Failure> {
        if let Some(facts) = existing {
            self.must_be_writable(target, &facts)?;
            if facts.links > 1 {
                return Ok(Staged::InPlace);
            }
        }
        let mode = donor.map_or(NEW_MODE, |donor| narrow_mode(donor.facts.mode));
        let (mut file, temp) = match self.create_temp(target, mode) {
            Ok(made) => made,
            // A file may be writable where its directory is not.
            Err(Failure::Write(_, Some(error)))
                if existing.is_some() && error.kind() == io::ErrorKind::PermissionDenied =>
            {
                return Ok(Staged::InPlace);
            }
            Err(failure) => return Err(failure),
        };
        self.fs.write(&mut file, new).map_err(|error| Failure::write(target, error))?;
        if let Some(Donor { path, facts }) = donor
            && self.fs.copy_attributes(path, facts, &file).is_err()
        {
            if existing.is_some() {
                return Ok(Staged::InPlace);
            }
            // A moved file is new where it goes: what cannot be kept is lost, but it can be used.
            let mode = facts.mode & 0o777;
            self.fs.set_mode(&file, mode).map_err(|error| Failure::write(target, error))?;
        }
        Ok(Staged::Temp(temp))
    }

    /// Makes a temporary file beside `target`. Directories are made only when they turn out to be
    /// missing (A6).
    fn create_temp(&mut self, target: &Path, mode: u32) -> Result<(std::fs::File, TempFile<'f>), Failure> {
        let parent = target.parent().unwrap_or(Path::new("/"));
        let error = match self.create_unused(parent, mode) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.make_directories(parent).map_err(|error| Failure::parents(target, error))?;
                match self.create_unused(parent, mode) {
                    Ok(made) => return Ok(made),
                    Err(error) => error,
                }
            }
            Ok(made) => return Ok(made),
            Err(error) => error,
        };
        Err(Failure::write(target, error))
    }

    fn create_unused(&mut self, parent: &Path, mode: u32) -> io::Result<(std::fs::File, TempFile<'f>)> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        if !self.swept.contains(parent.as_os_str()) {
            sweep(self.fs, parent);
            self.swept.insert(parent.into());
        }
        for _ in 0..MAX_TEMP_NAMES {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(Owner::my_name(number));
            match self.fs.create(&path, mode) {
                Ok(file) => return Ok((file, TempFile { fs: self.fs, path, landed: false })),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    fn make_directories(&mut self, directory: &Path) -> io::Result<()> {
        match self.fs.create_dir(directory) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let parent = directory.parent().ok_or(error)?;
                self.make_directories(parent)?;
                self.fs.create_dir(directory)?;
            }
            // Somebody else was quicker; if it is no directory, the write will say so.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
            Err(error) => return Err(error),
        }
        self.made.push(directory.to_owned());
        Ok(())
    }
}

#[cfg(test)]
#[path = "stage_tests.rs"]
mod tests;
