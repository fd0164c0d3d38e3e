//! Mounts: everything read-only but what may be written, as seen by one command.
//!
//! In a mount namespace of its own the whole tree is made read-only, and copies of the writable roots, made before, are
//! put in their places. A mount cannot be renamed or removed. So each root stays where it is; and so do the folders
//! between one root and another inside it, which are mounted on themselves for that alone: else a command could move
//! the inner one away, with what is protected in it, and reach it by another name the next time.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, IntoRawFd, RawFd};
use std::path::{Path, PathBuf};

use rustix::fs::CWD;
use rustix::io::Errno;
use rustix::mount::{
    MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount_change, move_mount, open_tree,
};
use tenon_tools::WritableRoot;

use super::c_path;

/// A copy of the tree below a path, to be mounted there.
const COPY: OpenTreeFlags = OpenTreeFlags::OPEN_TREE_CLONE
    .union(OpenTreeFlags::OPEN_TREE_CLOEXEC)
    .union(OpenTreeFlags::AT_RECURSIVE)
    .union(OpenTreeFlags::AT_SYMLINK_NOFOLLOW);

/// What is mounted for one command.
#[derive(Debug)]
pub(super) struct Mounts {
    /// Whether everything else is read-only. Not where `/` is a root.
    lock_all: bool,
    /// Outer ones before inner ones.
    writable: Vec<Place>,
    /// Inside them, and outer ones before inner ones, too.
    read_only: Vec<CString>,
    /// Covered by the null device.
    covered: Vec<CString>,
}

#[derive(Debug)]
struct Place {
    path: CString,
    /// Made by the child, and a descriptor of the child's alone: the parent, whose memory this is, must not close it.
    copy: Option<RawFd>,
}

impl Mounts {
    /// What has to be mounted for these roots, and to cover these files.
    pub(super) fn plan(roots: &[WritableRoot], covered: &[PathBuf]) -> io::Result<Self> {
        let (writable, read_only) = places(roots);
        let place = |path: &PathBuf| Ok(Place { path: c_path(path)?, copy: None });
        Ok(Self {
            lock_all: roots.iter().all(|root| root.path() != Path::new("/")),
            writable: writable.iter().map(place).collect::<io::Result<_>>()?,
            read_only: read_only.iter().map(|path| c_path(path)).collect::<io::Result<_>>()?,
            covered: covered.iter().map(|path| c_path(path)).collect::<io::Result<_>>()?,
        })
    }

    /// Mounts it, in the namespace of the calling process, which has to execute a program or to end afterwards: what is
    /// opened here is closed by that. System calls only.
    #[allow(unsafe_code)]
    pub(super) fn mount(&mut self) -> Result<(), Errno> {
        // What is mounted here must not show outside, and nothing that is mounted outside later here.
        mount_change(c"/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
        if self.lock_all {
            for place in &mut self.writable {
                place.copy = Some(open_tree(CWD, &*place.path, COPY)?.into_raw_fd());
            }
            make_read_only(CWD, c"/", 0)?;
            for place in &mut self.writable {
                if let Some(copy) = place.copy.take() {
                    // SAFETY: this process has opened it just now and does not close it.
                    mount_at(unsafe { BorrowedFd::borrow_raw(copy) }, &place.path)?;
                }
            }
        }
        for path in &self.read_only {
            let copy = open_tree(CWD, &**path, COPY)?;
            make_read_only(copy.as_fd(), c"", libc::AT_EMPTY_PATH)?;
            mount_at(copy.as_fd(), path)?;
        }
        for path in &self.covered {
            let null = open_tree(CWD, c"/dev/null", COPY)?;
            match mount_at(null.as_fd(), path) {
                // What has gone, and what cannot be reached, need not be covered.
                Ok(()) | Err(Errno::NOENT | Errno::ACCESS) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// The folders to be mounted writable, and what is to be mounted read-only in them, outer ones first.
fn places(roots: &[WritableRoot]) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let is_inside_a_root =
        |path: &Path| roots.iter().any(|root| path != root.path() && path.starts_with(root.path()));
    let protected = roots.iter().flat_map(WritableRoot::read_only);
    let mut read_only: Vec<PathBuf> =
        protected.filter(|path| is_inside_a_root(path) && path.symlink_metadata().is_ok()).cloned().collect();
    let mut writable: Vec<PathBuf> = roots.iter().map(|root| root.path().to_owned()).collect();
    let held: Vec<PathBuf> = writable.iter().chain(&read_only).cloned().collect();
    let between = held.iter().flat_map(|path| path.ancestors().skip(1)).filter(|path| is_inside_a_root(path));
    writable.extend(between.map(Path::to_owned));
    for paths in [&mut writable, &mut read_only] {
        paths.sort_by(|one, other| {
            one.components().count().cmp(&other.components().count()).then_with(|| one.cmp(other))
        });
        paths.dedup();
    }
    (writable, read_only)
}

fn mount_at(copy: BorrowedFd<'_>, path: &CString) -> Result<(), Errno> {
    move_mount(copy, c"", CWD, &**path, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
}

/// Makes a mount and all below it read-only. One system call.
#[allow(unsafe_code)]
fn make_read_only(folder: BorrowedFd<'_>, path: &std::ffi::CStr, flags: libc::c_int) -> Result<(), Errno> {
    let attributes =
        libc::mount_attr { attr_set: libc::MOUNT_ATTR_RDONLY, attr_clr: 0, propagation: 0, userns_fd: 0 };
    // SAFETY: path and attributes live until the call returns, which only reads them, and the size is theirs.
    let status = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            folder.as_raw_fd(),
            path.as_ptr(),
            flags | libc::AT_RECURSIVE,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    if status == 0 { Ok(()) } else { Err(super::last_error()) }
}

#[cfg(test)]
#[path = "mounts_tests.rs"]
mod tests;
