//! Landlock: which files may be written, created, linked and controlled, and what of the world beside files may be
//! reached.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreatedAttr, RulesetError, Scope, make_bitflags,
};
use rustix::io::Errno;

use super::Limits;

/// The oldest that has what is needed: truncation, device control, abstract sockets and signals (Linux 6.12).
const OLDEST: ABI = ABI::V6;

/// Devices that hold nothing and lead nowhere, and the command's own terminal.
const DEVICES: [&str; 6] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

/// What is a special file on its own disk is the machine's, wherever its name stands.
const NEVER: BitFlags<AccessFs> = make_bitflags!(AccessFs::{MakeChar | MakeBlock | IoctlDev});

/// A rule for what lies below a descriptor, as the kernel takes it.
#[repr(C, packed)]
struct Rule {
    allowed: u64,
    parent: libc::c_int,
}

/// The kind of that rule.
const PATH_BENEATH: libc::c_int = 1;

/// What is allowed below a writable root.
pub(super) fn below_a_root() -> BitFlags<AccessFs> {
    AccessFs::from_all(OLDEST) & !NEVER
}

/// Makes the rules. They follow the files that are there now, under whatever name they are met.
pub(super) fn ruleset(limits: &Limits, terminal: Option<BorrowedFd<'_>>) -> io::Result<OwnedFd> {
    let ruleset: Option<OwnedFd> = build(limits, terminal).map_err(io::Error::other)?.into();
    ruleset.ok_or_else(|| Errno::OPNOTSUPP.into())
}

fn build(
    limits: &Limits,
    terminal: Option<BorrowedFd<'_>>,
) -> Result<landlock::RulesetCreated, RulesetError> {
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(OLDEST))?
        .scope(Scope::AbstractUnixSocket | Scope::Signal)?;
    if !limits.network() {
        ruleset = ruleset.handle_access(AccessNet::BindTcp | AccessNet::ConnectTcp)?;
    }
    let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
    let mut created = ruleset.create()?;
    if let Ok(root) = PathFd::new("/") {
        created = created.add_rule(PathBeneath::new(root, AccessFs::from_read(OLDEST)))?;
    }
    for root in limits.roots() {
        // One that has just gone cannot be written.
        if let Ok(folder) = PathFd::new(root.path()) {
            created = created.add_rule(PathBeneath::new(folder, below_a_root()))?;
        }
    }
    for path in DEVICES {
        if let Ok(file) = PathFd::new(path) {
            created = created.add_rule(PathBeneath::new(file, device))?;
        }
    }
    if let Some(terminal) = terminal {
        created = created.add_rule(PathBeneath::new(terminal, device))?;
    }
    Ok(created)
}

/// Holds the calling process, and all that it becomes and starts, to the rules. One system call.
#[allow(unsafe_code)]
pub(super) fn restrict(ruleset: BorrowedFd<'_>) -> Result<(), Errno> {
    let (fd, flags): (libc::c_int, libc::c_uint) = (ruleset.as_raw_fd(), 0);
    // SAFETY: the call takes a descriptor, which is open, and flags, and touches no memory of ours.
    let status = unsafe { libc::syscall(libc::SYS_landlock_restrict_self, fd, flags) };
    if status == 0 { Ok(()) } else { Err(super::last_error()) }
}

/// Adds a rule for what lies below `parent` to a ruleset that holds nobody yet. One system call.
#[allow(unsafe_code)]
pub(super) fn allow(
    ruleset: BorrowedFd<'_>,
    parent: BorrowedFd<'_>,
    access: BitFlags<AccessFs>,
) -> Result<(), Errno> {
    let rule = Rule { allowed: access.bits(), parent: parent.as_raw_fd() };
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
