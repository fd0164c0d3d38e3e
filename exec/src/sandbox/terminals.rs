//! Terminals of a command's own making.
//!
//! `/dev/pts` holds the terminals of the user, which a command must not write to: what is written there can pass for
//! the user's own work. A command on pipes gets an empty one in its place, and may make terminals of its own there
//! (`script`, `expect`, test suites). One that has a terminal from us keeps the `/dev/pts` in which that has its name,
//! and can make none.

use std::os::fd::{AsFd, BorrowedFd};

use landlock::{AccessFs, BitFlags, make_bitflags};
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;
use rustix::mount::{MountFlags, MoveMountFlags, OpenTreeFlags, mount, move_mount, open_tree};

use super::files;

/// What may be done with them.
const ACCESS: BitFlags<AccessFs> =
    make_bitflags!(AccessFs::{ReadFile | WriteFile | ReadDir | Truncate | IoctlDev});

/// What may be done with what makes them, which is no folder.
const MAKER_ACCESS: BitFlags<AccessFs> =
    make_bitflags!(AccessFs::{ReadFile | WriteFile | Truncate | IoctlDev});

/// Mounts an empty `/dev/pts` and allows it in `ruleset`. For a child between fork and exec, in its own mount namespace:
/// system calls only.
pub(super) fn give(ruleset: BorrowedFd<'_>) -> Result<(), Errno> {
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    mount(c"devpts", c"/dev/pts", c"devpts", flags, c"newinstance,ptmxmode=0666,mode=0620")?;
    let copy = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    let maker = open_tree(CWD, c"/dev/pts/ptmx", copy)?;
    // Where it is a link, it is covered all the same.
    move_mount(maker.as_fd(), c"", CWD, c"/dev/ptmx", MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
    let terminals = openat(CWD, c"/dev/pts", OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    files::allow(ruleset, terminals.as_fd(), ACCESS)?;
    let maker = openat(CWD, c"/dev/ptmx", OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    files::allow(ruleset, maker.as_fd(), MAKER_ACCESS)
}
