//! How paths of the machine's own file system are walked.
//!
//! A path was looked at before it is written: by policy, and by whoever was asked. Between the look and the write a
//! process that may write in the workspace, and nowhere else, could put a link in the place of a folder. So paths
//! that are resolved are walked in a way that stops at any link.

use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

/// The machine's own file system. Paths are to be resolved: what has a link in any place but the last is not found
/// (`ELOOP`). So a link that is put in the way of a path after policy was asked about it leads nowhere.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealFs;

/// The same for who may go wherever links lead, and quicker in one folder: paths below it are walked from there.
#[derive(Debug)]
pub(crate) struct NearFs {
    folder: PathBuf,
    /// Absent where it cannot be opened; then it is no quicker.
    opened: Option<OwnedFd>,
}

impl NearFs {
    /// Near an absolute path.
    pub(crate) fn new(folder: &Path) -> Self {
        let opened = rustix::fs::open(folder, WALKED, Mode::empty()).ok();
        Self { folder: folder.to_owned(), opened }
    }
}

/// How folders are opened that are only walked through.
const WALKED: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// A folder from which the rest of a path is walked.
#[derive(Debug)]
pub(crate) enum Start<'a> {
    Kept(BorrowedFd<'a>),
    Opened(OwnedFd),
}

impl AsFd for Start<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Kept(folder) => *folder,
            Self::Opened(folder) => folder.as_fd(),
        }
    }
}

/// From where a path is walked, and how.
pub(crate) trait Walk: Send + Sync + fmt::Debug {
    fn walk<'a>(&'a self, path: &'a Path) -> io::Result<(Start<'a>, &'a Path)>;

    fn open(&self, path: &Path, flags: OFlags, mode: u32) -> io::Result<File> {
        let (at, path) = self.walk(path)?;
        // Follows no link, and does not wait for the other end of a pipe.
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Ok(rustix::fs::openat(at, path, flags, Mode::from_raw_mode(mode))?.into())
    }
}

impl Walk for RealFs {
    fn walk<'a>(&'a self, path: &'a Path) -> io::Result<(Start<'a>, &'a Path)> {
        match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) => Ok((Start::Opened(open_resolved(parent)?), Path::new(name))),
            _ => Ok((Start::Kept(CWD), path)),
        }
    }
}

impl Walk for NearFs {
    fn walk<'a>(&'a self, path: &'a Path) -> io::Result<(Start<'a>, &'a Path)> {
        let (path_bytes, folder) = (path.as_os_str().as_bytes(), self.folder.as_os_str().as_bytes());
        Ok(match (&self.opened, path_bytes.strip_prefix(folder)) {
            // It is not taken apart into components: that would take longer than the kernel's walk.
            (Some(opened), Some([b'/', below @ ..])) if below.first().is_some_and(|byte| *byte != b'/') => {
                (Start::Kept(opened.as_fd()), Path::new(OsStr::from_bytes(below)))
            }
            _ => (Start::Kept(CWD), path),
        })
    }
}

/// Opens a folder on whose path no link may lie.
fn open_resolved(folder: &Path) -> io::Result<OwnedFd> {
    match rustix::fs::openat2(CWD, folder, WALKED, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        // Not every kernel knows it, and not every sandbox lets it through.
        Err(Errno::NOSYS | Errno::PERM) => open_name_by_name(folder),
        opened => Ok(opened?),
    }
}

/// The same by more calls.
fn open_name_by_name(folder: &Path) -> io::Result<OwnedFd> {
    let mut at = rustix::fs::open("/", WALKED, Mode::empty())?;
    for name in folder.components() {
        if let Component::Normal(name) = name {
            at = rustix::fs::openat(&at, name, WALKED | OFlags::NOFOLLOW, Mode::empty())?;
        }
    }
    Ok(at)
}

#[cfg(test)]
#[path = "walk_tests.rs"]
mod tests;
