//! Shared memory of a command's own.
//!
//! POSIX semaphores and shared memory are files in `/dev/shm`: Python's multiprocessing, browsers and databases do not
//! run without. That of the user is not given away, since others trust what lies there; a command that may write gets
//! an empty one in its place, which its children share and which is gone with the last of them.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;
use rustix::mount::{MountFlags, mount};

use super::{Limits, c_path, files};

/// Where the C library has it.
const PLACE: &str = "/dev/shm";

/// Bytes that one command's may take. They are memory as any other once they are written, and none before.
const MAX_BYTES: u64 = 1024 * 1024 * 1024;

/// Ready to be mounted.
#[derive(Debug)]
pub(super) struct SharedMemory {
    place: CString,
    options: CString,
}

impl SharedMemory {
    /// For a command in `folder`: none where nothing may be written, and where the mode, or the folder, is about the
    /// host's own.
    pub(super) fn plan(limits: &Limits, folder: &Path) -> io::Result<Option<Self>> {
        let Ok(place) = Path::new(PLACE).canonicalize() else { return Ok(None) };
        let about_it = |path: &Path| path.starts_with(&place) || place.starts_with(path);
        let named = limits.roots().iter().any(|root| about_it(root.path()));
        if limits.roots().is_empty() || named || folder.starts_with(&place) {
            return Ok(None);
        }
        let options = CString::new(format!("size={MAX_BYTES},mode=1777"))?;
        Ok(Some(Self { place: c_path(&place)?, options }))
    }

    /// Mounts it and allows it in `ruleset`. For a child between fork and exec, in its own mount namespace: system
    /// calls only.
    pub(super) fn give(&self, ruleset: BorrowedFd<'_>) -> Result<(), Errno> {
        mount(c"tmpfs", &*self.place, c"tmpfs", MountFlags::NOSUID | MountFlags::NODEV, &*self.options)?;
        let folder = openat(CWD, &*self.place, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
        files::allow(ruleset, folder.as_fd(), files::below_a_root())
    }
}

#[cfg(test)]
#[path = "memory_tests.rs"]
mod tests;
