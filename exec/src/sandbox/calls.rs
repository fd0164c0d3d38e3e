//! Seccomp: system calls that would undo the other fences, or get round them.

use std::collections::BTreeMap;
use std::io;

use libc::c_long;
use rustix::io::Errno;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter, sock_filter,
};

/// Calls that no command gets.
const REFUSED: &[c_long] = &[
    // Another process's memory, descriptors and steps.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Mounts.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    // Other namespaces, and files without their names.
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    // System calls that no filter sees.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // The kernel's own machinery, and what it keeps for others.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_syslog,
];

/// `open_tree_attr`, which the library does not name yet; the same number on every architecture.
const SYS_OPEN_TREE_ATTR: c_long = 467;

/// What asks for a new namespace.
const NEW_NAMESPACES: [libc::c_int; 8] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWCGROUP,
    // CLONE_NEWTIME, which `clone` knows as something else and only `unshare` takes.
    0x80,
];

/// System calls from here on are those of the x32 ABI, by which everything could be had under another number.
const X32_BIT: u32 = 0x4000_0000;

/// A filter, ready to be applied.
#[derive(Debug)]
pub(super) struct Filter(BpfProgram);

impl Filter {
    /// The filter of commands that may dial, or may not.
    pub(super) fn new(network: bool) -> io::Result<Self> {
        let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
        let rules = rules(network).map_err(io::Error::other)?;
        let refuse = SeccompAction::Errno(libc::EPERM.cast_unsigned());
        let filter =
            SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch).map_err(io::Error::other)?;
        let mut program = prelude();
        program.extend(BpfProgram::try_from(filter).map_err(io::Error::other)?);
        Ok(Self(program))
    }

    /// Holds the calling process, and all that it becomes and starts, to the filter. System calls only.
    pub(super) fn apply(&self) -> Result<(), Errno> {
        apply_filter(&self.0).map_err(|error| match error {
            seccompiler::Error::Prctl(error) | seccompiler::Error::Seccomp(error) => {
                Errno::from_io_error(&error).unwrap_or(Errno::INVAL)
            }
            seccompiler::Error::Backend(_)
            | seccompiler::Error::EmptyFilter
            | seccompiler::Error::ThreadSync(_) => Errno::INVAL,
        })
    }
}

/// Calls that are said not to exist, so that programs do without: those of x32, and `clone3`, whose arguments no filter
/// can see (the C library then takes `clone`). Then the filter proper begins, with the check of the architecture.
fn prelude() -> BpfProgram {
    const LOAD_NUMBER: u16 = 0x20;
    const JUMP_IF_EQUAL: u16 = 0x15;
    const JUMP_IF_GREATER_OR_EQUAL: u16 = 0x35;
    const RETURN: u16 = 0x06;
    const RETURN_ERROR: u32 = 0x0005_0000;
    let instruction = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    let clone3 = u32::try_from(libc::SYS_clone3).unwrap_or(u32::MAX);
    vec![
        instruction(LOAD_NUMBER, 0, 0, 0),
        instruction(JUMP_IF_GREATER_OR_EQUAL, 1, 0, X32_BIT),
        instruction(JUMP_IF_EQUAL, 0, 1, clone3),
        instruction(RETURN, 0, 0, RETURN_ERROR | libc::ENOSYS.cast_unsigned()),
    ]
}

/// What is refused, call by call: always, or when one of some conditions holds.
fn rules(network: bool) -> Result<BTreeMap<i64, Vec<SeccompRule>>, BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        REFUSED.iter().chain([&SYS_OPEN_TREE_ATTR]).map(|call| (*call, Vec::new())).collect();
    for call in [libc::SYS_unshare, libc::SYS_clone] {
        // The flags are the first argument of both, but the lowest byte of clone's is the signal at the end.
        let flags = NEW_NAMESPACES.iter().filter(|flag| call == libc::SYS_unshare || **flag > 0xff);
        let asked = flags.map(|flag| {
            let flag = u64::from(flag.cast_unsigned());
            when(0, SeccompCmpOp::MaskedEq(flag), flag)
        });
        rules.insert(call, asked.collect::<Result<_, _>>()?);
    }
    if !network {
        for call in [libc::SYS_socket, libc::SYS_socketpair] {
            let local = u64::from(libc::AF_UNIX.cast_unsigned());
            rules.insert(call, vec![when(0, SeccompCmpOp::Ne, local)?]);
        }
    }
    Ok(rules)
}

fn when(argument: u8, compared: SeccompCmpOp, value: u64) -> Result<SeccompRule, BackendError> {
    let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, compared, value)?;
    SeccompRule::new(vec![condition])
}
