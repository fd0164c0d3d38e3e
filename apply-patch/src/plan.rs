//! A patch held against the files: everything that would happen, in memory (runtime.md A7).
//!
//! Changes are planned in the order of the patch, and each sees the files as those before it will have
//! left them: a file may be moved away and another put in its place. Nothing is written here.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::change::{Action, Content, Destination, PlannedChange, Seen};
use crate::diff;
use crate::error::VerifyError;
use crate::fs::{Facts, Fs, Kind};
use crate::patch::{Chunk, Hunk, Patch};
use crate::place::{Locator, Place, absolute};
use crate::replace::{Edit, Mismatch, replace};
use crate::retry::Torn;
use crate::text::{MAX_FILE_BYTES, is_utf16};

/// A verified patch that has not happened yet.
#[derive(Debug)]
pub struct Plan {
    pub(crate) changes: Vec<PlannedChange>,
}

impl Plan {
    /// The changes in the order of the patch; none for an empty patch.
    #[must_use]
    pub fn changes(&self) -> &[PlannedChange] {
        &self.changes
    }
}

/// Holds a patch against the files below or outside `cwd`, which is absolute.
///
/// # Errors
/// The first hunk that does not fit; then nothing is planned at all.
pub fn plan(patch: &Patch, cwd: &Path, fs: &dyn Fs) -> Result<Plan, VerifyError> {
    plan_again(patch, cwd, fs, None)
}

/// The same for a patch that may have been tried before, and then left a file damaged: that file is
/// planned for as if it were whole.
pub(crate) fn plan_again(
    patch: &Patch,
    cwd: &Path,
    fs: &dyn Fs,
    torn: Option<&Torn>,
) -> Result<Plan, VerifyError> {
    let mut planner = Planner { torn, ..Planner::verifying(cwd, fs) };
    let changes: Result<_, _> = patch.hunks.iter().map(|hunk| planner.change(hunk)).collect();
    Ok(Plan { changes: changes? })
}

/// Plans one hunk after the other.
#[derive(Debug)]
pub(crate) struct Planner<'a> {
    cwd: &'a Path,
    fs: &'a dyn Fs,
    locator: Locator<'a>,
    /// Whether all is verified before anything happens. Else each change happens before the next is
    /// planned, and files that only go are not read.
    verifies: bool,
    /// What earlier changes leave behind: bytes, or nothing.
    planned: HashMap<PathBuf, Option<Content>>,
    taken: HashSet<Claim>,
    torn: Option<&'a Torn>,
}

/// What only one hunk of a patch may name (A7.2).
#[derive(Debug, PartialEq, Eq, Hash)]
enum Claim {
    Path(PathBuf),
    /// A file has several names when it has hard links.
    File((u64, u64)),
}

impl<'a> Planner<'a> {
    /// For a plan of a whole patch.
    pub(crate) fn verifying(cwd: &'a Path, fs: &'a dyn Fs) -> Self {
        Self::new(cwd, fs, Locator::thorough(fs), true)
    }

    /// For changes that happen as soon as they are planned (A6.1).
    pub(crate) fn direct(cwd: &'a Path, fs: &'a dyn Fs) -> Self {
        Self::new(cwd, fs, Locator::quick(fs), false)
    }

    fn new(cwd: &'a Path, fs: &'a dyn Fs, locator: Locator<'a>, verifies: bool) -> Self {
        Self { cwd, fs, locator, verifies, planned: HashMap::new(), taken: HashSet::new(), torn: None }
    }

    /// Plans one hunk.
    pub(crate) fn change(&mut self, hunk: &Hunk) -> Result<PlannedChange, VerifyError> {
        match hunk {
            Hunk::Add { path, contents } => self.add(path, contents),
            Hunk::Delete { path } => self.delete(path),
            Hunk::Update { path, move_to, chunks } => self.update(path, move_to.as_deref(), chunks),
        }
    }

    fn add(&mut self, path: &str, contents: &str) -> Result<PlannedChange, VerifyError> {
        let at = self.locate(path, |path, source| VerifyError::ReadForUpdate { path, source })?;
        let target = self.target_of(&at);
        // Nothing has to be known of the place; what cannot be read now cannot be written later.
        let before = self.look(&at, &target).unwrap_or(Seen::Nothing);
        self.claim(&at, &target, before.facts())?;
        let new: Content = Arc::new(contents.as_bytes().to_vec());
        self.leave(&target, Some(&new));
        Ok(PlannedChange { listed: path.to_owned(), at, action: Action::Add { target, before, new } })
    }

    fn delete(&mut self, path: &str) -> Result<PlannedChange, VerifyError> {
        let failed = |path, source| VerifyError::ReadForDelete { path, source };
        let at = self.locate(path, failed)?;
        self.claim(&at, &at.entry, None)?;
        let before = self.look_at_entry(&at).map_err(|source| failed(at.shown.clone(), source))?;
        self.leave(&at.entry, None);
        Ok(PlannedChange { listed: path.to_owned(), at, action: Action::Delete { before } })
    }

    fn update(
        &mut self,
        path: &str,
        move_to: Option<&str>,
        chunks: &[Chunk],
    ) -> Result<PlannedChange, VerifyError> {
        let failed = |path, source| VerifyError::ReadForUpdate { path, source };
        let at = self.locate(path, failed)?;
        let target = self.target_of(&at);
        let before = self.look(&at, &target).and_then(|seen| must_be_file(seen, &at.shown));
        let before = before.map_err(|source| failed(at.shown.clone(), source))?;
        self.claim(&at, &target, before.facts())?;
        let old = before.bytes().unwrap_or_default();
        let (new, edits) = match self.torn.and_then(|torn| torn.mend(&target, &old)) {
            None => updated(&old, chunks, &at.shown)?,
            Some(whole) => {
                let (new, _) = updated(&whole, chunks, &at.shown)?;
                let edits = diff::whole(&old, &new);
                (new, edits)
            }
        };
        let destination = match move_to {
            Some(move_to) => self.destination(move_to, &at, before.facts())?,
            None => None,
        };
        match &destination {
            Some(destination) => {
                self.leave(&at.entry, None);
                self.leave(&destination.target, Some(&new));
            }
            None => self.leave(&target, Some(&new)),
        }
        let listed = move_to.unwrap_or(path).to_owned();
        Ok(PlannedChange { listed, at, action: Action::Update { target, before, new, edits, destination } })
    }

    /// Where a moved file goes. None when it stays where it is.
    fn destination(
        &mut self,
        move_to: &str,
        from: &Place,
        source: Option<&Facts>,
    ) -> Result<Option<Box<Destination>>, VerifyError> {
        let at = self.locate(move_to, |path, source| VerifyError::ReadForUpdate { path, source })?;
        if at.entry == from.entry {
            return Ok(None);
        }
        // A link to the file that goes away is replaced, not followed: the write would be undone.
        let target = self.target_of(&at);
        let before = match at.entry_facts {
            Some(link) if target == from.entry => Seen::Link(link),
            Some(_) | None => self.look(&at, &target).unwrap_or(Seen::Nothing),
        };
        let target = if target == from.entry { at.entry.clone() } else { target };
        // A file with one name under two spellings, on a disk that is blind to case.
        let same =
            |there: &Facts| source.is_some_and(|facts| facts.identity == there.identity && there.links == 1);
        let alias = before.facts().is_some_and(same) && !from.is_link();
        Ok(Some(Box::new(Destination { at, target, before, alias })))
    }

    fn locate(
        &mut self,
        spelled: &str,
        failed: impl Fn(PathBuf, io::Error) -> VerifyError,
    ) -> Result<Place, VerifyError> {
        let found = self.locator.locate(absolute(self.cwd, spelled));
        found.map_err(|source| failed(absolute(self.cwd, spelled), source))
    }

    /// The file behind a place: a link that an earlier change removed or replaced leads nowhere.
    fn target_of(&self, at: &Place) -> PathBuf {
        if self.planned.contains_key(&at.entry) { at.entry.clone() } else { at.target.clone() }
    }

    fn leave(&mut self, path: &Path, content: Option<&Content>) {
        if self.verifies {
            self.planned.insert(path.to_owned(), content.cloned());
        }
    }

    fn claim(&mut self, at: &Place, target: &Path, facts: Option<&Facts>) -> Result<(), VerifyError> {
        if !self.verifies {
            return Ok(());
        }
        let mut claims = vec![Claim::Path(target.to_owned())];
        if at.shown != target {
            claims.push(Claim::Path(at.shown.clone()));
        }
        claims.extend(facts.filter(|facts| facts.links > 1).map(|facts| Claim::File(facts.identity)));
        let fresh = claims.into_iter().all(|claim| self.taken.insert(claim));
        if fresh { Ok(()) } else { Err(VerifyError::Duplicate { path: at.shown.clone() }) }
    }

    /// What lies at `target`, which is where `at` leads or its entry itself; read if it is a file.
    fn look(&self, at: &Place, target: &Path) -> io::Result<Seen> {
        if let Some(planned) = self.planned.get(target) {
            return Ok(Seen::Planned(planned.clone()));
        }
        // It was looked at already, unless it is behind a link.
        let known = at.entry_facts.filter(|_| at.entry == target);
        let facts = match known.map_or_else(|| self.fs.facts(target), Ok) {
            Ok(facts) => facts,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Seen::Nothing),
            Err(error) => return Err(error),
        };
        if facts.kind != Kind::File || facts.len > MAX_FILE_BYTES {
            return Ok(Seen::Unread(facts, None));
        }
        let read = if self.verifies { self.fs.read(target) } else { self.fs.read_seen(target, &facts) };
        match read {
            Ok((facts, bytes)) if facts.kind == Kind::File => Ok(Seen::File(facts, Arc::new(bytes))),
            Ok((facts, _)) => Ok(Seen::Unread(facts, None)),
            Err(error) => Ok(Seen::Unread(facts, Some(error))),
        }
    }

    /// What would be deleted: a file, which is read first, or a link.
    fn look_at_entry(&self, at: &Place) -> io::Result<Seen> {
        match at.entry_facts {
            Some(facts) if facts.kind == Kind::Link && !self.planned.contains_key(&at.entry) => {
                Ok(Seen::Link(facts))
            }
            Some(facts) if !self.verifies && facts.kind != Kind::Directory => Ok(Seen::Unread(facts, None)),
            Some(_) | None => must_be_file(self.look(at, &at.entry)?, &at.shown),
        }
    }
}

/// Only a file with bytes can be updated, moved or deleted.
fn must_be_file(seen: Seen, shown: &Path) -> io::Result<Seen> {
    match seen {
        Seen::File(..) | Seen::Planned(Some(_)) => Ok(seen),
        Seen::Nothing | Seen::Planned(None) => Err(rustix::io::Errno::NOENT.into()),
        Seen::Unread(_, Some(error)) => Err(error),
        Seen::Unread(facts, None) if facts.kind == Kind::File => Err(io::Error::other(format!(
            "it has {} bytes, and a patch can change files of up to {MAX_FILE_BYTES} bytes",
            facts.len
        ))),
        Seen::Unread(..) | Seen::Link(_) => {
            Err(io::Error::other(format!("path `{}` is not a file", shown.display())))
        }
    }
}

/// The bytes of an updated file. A pure rename has no chunks and keeps them all.
fn updated(old: &Content, chunks: &[Chunk], shown: &Path) -> Result<(Content, Vec<Edit>), VerifyError> {
    if chunks.is_empty() {
        return Ok((Arc::clone(old), diff::whole(old, old)));
    }
    if is_utf16(old) {
        let source =
            io::Error::other("it is UTF-16 text, which a patch cannot change; convert it to UTF-8 first");
        return Err(VerifyError::ReadForUpdate { path: shown.to_owned(), source });
    }
    let path = shown.to_owned();
    let replaced = replace(old, chunks).map_err(|mismatch| match mismatch {
        Mismatch::Context(context) => VerifyError::Context { path, context },
        Mismatch::Lines(lines) => VerifyError::Lines { path, lines },
    })?;
    Ok((Arc::new(replaced.bytes), replaced.edits))
}
