//! Terminals of a command's own making.
//!
//! `/dev/pts` holds the terminals of the user, which a command must not write to: what is written there can pass for
//! the user's own work. A command on pipes gets an empty one in its place, and may make terminals of its own there
//! (`script`, `expect`, test suites). One that has a terminal from us keeps the `/dev/pts` in which that has its name,
//! and can make none.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use landlock::{AccessFs, BitFlags, make_bitflags};
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;
use rustix::mount::{MountFlags, MoveMountFlags, OpenTreeFlags, mount, move_mount, open_tree};

/// What may be done with them.
const ACCESS: BitFlags<AccessFs> =
    make_bitflags!(AccessFs::{ReadFile | WriteFile | ReadDir | Truncate | IoctlDev});

/// What may be done with what makes them, which is no folder.
const MAKER_ACCESS: BitFlags<AccessFs> =
    make_bitflags!(AccessFs::{ReadFile | WriteFile | Truncate | IoctlDev});

/// A rule for what lies below a descriptor, as the kernel takes it.
#[repr(C, packed)]
struct PathBeneath {
    allowed: u64,
    parent: libc::c_int,
}

/// The kind of that rule.
const PATH_BENEATH: libc::c_int = 1;

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
    allow(ruleset, terminals.as_fd(), ACCESS)?;
    let maker = openat(CWD, c"/dev/ptmx", OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    allow(ruleset, maker.as_fd(), MAKER_ACCESS)
}

/// Adds a rule. One system call.
#[allow(unsafe_code)]
fn allow(ruleset: BorrowedFd<'_>, parent: BorrowedFd<'_>, access: BitFlags<AccessFs>) -> Result<(), Errno> {
    let rule = PathBeneath { allowed: access.bits(), parent: parent.as_raw_fd() };
    // SAFETY: the rule lives until the call returns, which only reads it, and is laid out as the kernel's
    // `struct landlock_path_beneath_attr`; both descriptors are open.
    let status = unsafe {
        let no_flags: libc::c_uint = 0;
        libc::syscall(
            libc::SYS_landlock_add_rule,
            ruleset.as_raw_fd(),
            PATH_BENEATH,
            &raw const rule,
            no_flags,
        )
    };
    if status == 0 { Ok(()) } else { Err(super::last_error()) }
}
