//! From a path in a patch to the file it means (runtime.md A7.1, A6.5).
//!
//! The path is joined to the working directory and `.` and `..` are taken out by its text; what comes
//! out is shown and used, so that both mean the same (A9). Links are then resolved by hand, component by
//! component, as far as anything exists: policy has to be asked about the file that would really be
//! written, and the write must go to the file that policy was asked about.

use std::collections::{HashMap, VecDeque};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};

use rustix::io::Errno;

use crate::fs::{Facts, Fs, Kind};

/// Links that one path may lead through, as the kernel has it.
const MAX_LINKS: usize = 40;

/// A path with what it means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// Absolute, without `.` and `..`: the form for people and the model (A5.6).
    pub(crate) shown: PathBuf,
    /// The directory entry that the path names: links in directories resolved, in the last place not.
    pub(crate) entry: PathBuf,
    /// The file behind it, all links resolved. Nothing need exist there.
    pub(crate) target: PathBuf,
    /// What lies at `entry`; nothing when it does not exist or cannot be looked at.
    pub(crate) entry_facts: Option<Facts>,
}

impl Place {
    /// Whether the path names a link.
    pub(crate) fn is_link(&self) -> bool {
        self.entry_facts.is_some_and(|facts| facts.kind == Kind::Link)
    }
}

/// Joins a path of a patch to `cwd` and takes `.` and `..` out of it.
pub(crate) fn absolute(cwd: &Path, spelled: &str) -> PathBuf {
    let joined = cwd.join(spelled);
    let bytes = joined.as_os_str().as_encoded_bytes();
    // Most paths have nothing to be taken out.
    if !bytes.windows(2).any(|pair| matches!(pair, b"//" | b"/.")) && !bytes.ends_with(b"/") {
        return joined;
    }
    let mut path = PathBuf::with_capacity(joined.as_os_str().len());
    for component in joined.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                path.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => path.push(component),
        }
    }
    path
}

/// Finds places; remembers directories.
#[derive(Debug)]
pub(crate) struct Locator<'f> {
    fs: &'f dyn Fs,
    /// Whether links in directories are resolved too. Only policy needs that: to the kernel the path
    /// means the same.
    directories: bool,
    known: HashMap<PathBuf, PathBuf>,
}

impl<'f> Locator<'f> {
    /// Resolves every link of a path.
    pub(crate) fn thorough(fs: &'f dyn Fs) -> Self {
        Self { fs, directories: true, known: HashMap::new() }
    }

    /// Resolves only links in the last place, by as few looks as can be.
    pub(crate) fn quick(fs: &'f dyn Fs) -> Self {
        Self { fs, directories: false, known: HashMap::new() }
    }

    /// What a path means that is [`absolute`] already.
    ///
    /// # Errors
    /// When links lead in a circle.
    pub(crate) fn locate(&mut self, shown: PathBuf) -> io::Result<Place> {
        let entry = match (shown.parent(), shown.file_name()) {
            (Some(parent), Some(name)) if self.directories => self.directory(parent)?.join(name),
            _ => shown.clone(),
        };
        let entry_facts = self.fs.facts(&entry).ok();
        let target = match entry_facts {
            Some(facts) if facts.kind == Kind::Link => real(self.fs, &entry)?,
            Some(_) | None => entry.clone(),
        };
        Ok(Place { shown, entry, target, entry_facts })
    }

    fn directory(&mut self, path: &Path) -> io::Result<PathBuf> {
        if let Some(known) = self.known.get(path) {
            return Ok(known.clone());
        }
        let found = real(self.fs, path)?;
        self.known.insert(path.to_owned(), found.clone());
        Ok(found)
    }
}

/// Resolves all links of an absolute path; what does not exist is kept as it is.
fn real(fs: &dyn Fs, path: &Path) -> io::Result<PathBuf> {
    let mut todo: VecDeque<OsString> = VecDeque::new();
    push_front(&mut todo, path);
    let mut found = PathBuf::from("/");
    let mut links = 0;
    while let Some(name) = todo.pop_front() {
        if name == ".." {
            found.pop();
            continue;
        }
        let next = found.join(&name);
        let is_link = fs.facts(&next).is_ok_and(|facts| facts.kind == Kind::Link);
        if !is_link {
            found = next;
            continue;
        }
        links += 1;
        if links > MAX_LINKS {
            return Err(Errno::LOOP.into());
        }
        let link = fs.read_link(&next)?;
        if link.is_absolute() {
            found = PathBuf::from("/");
        }
        push_front(&mut todo, &link);
    }
    Ok(found)
}

/// Puts the components of `path` before those still to be walked.
fn push_front(todo: &mut VecDeque<OsString>, path: &Path) {
    for component in path.components().rev() {
        let name: &OsStr = match component {
            Component::Normal(name) => name,
            Component::ParentDir => OsStr::new(".."),
            Component::Prefix(_) | Component::RootDir | Component::CurDir => continue,
        };
        todo.push_front(name.to_owned());
    }
}

#[cfg(test)]
#[path = "place_tests.rs"]
mod tests;
