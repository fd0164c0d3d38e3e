//! Who a command is: the same user, without power over the machine.

use std::ffi::{CStr, CString};
use std::io;

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;
use rustix::process::{getegid, geteuid};
use rustix::thread::{
    CapabilitySet, CapabilitySets, UnshareFlags, capabilities, set_capabilities, set_no_new_privs,
};

use super::error::Step;

/// What a superuser keeps: power over files and over who it is, which the other fences hold. None over the machine.
const KEPT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::NET_BIND_SERVICE);

/// How a command comes to a mount namespace of its own.
#[derive(Debug)]
pub(super) struct Identity {
    /// The user and the group, each mapped to itself; none for a superuser, who needs no user namespace. (In one he
    /// could not write the files of others any more, in a container whose folder is another's for example.)
    maps: Option<(CString, CString)>,
}

impl Identity {
    /// That of this process.
    pub(super) fn own() -> io::Result<Self> {
        if capabilities(None)?.effective.contains(CapabilitySet::SYS_ADMIN) {
            return Ok(Self { maps: None });
        }
        let to_itself = |id: u32| CString::new(format!("{id} {id} 1\n"));
        let maps = (to_itself(geteuid().as_raw())?, to_itself(getegid().as_raw())?);
        Ok(Self { maps: Some(maps) })
    }

    /// Enters a mount namespace, and a user namespace where that is needed. System calls only.
    #[allow(unsafe_code)]
    pub(super) fn enter_namespaces(&self) -> Result<(), (Step, Errno)> {
        let flags = match self.maps {
            Some(_) => UnshareFlags::NEWUSER | UnshareFlags::NEWNS,
            None => UnshareFlags::NEWNS,
        };
        // SAFETY: the descriptor table is not among what is left.
        unsafe { rustix::thread::unshare_unsafe(flags) }.map_err(|error| (Step::Namespaces, error))?;
        if let Some((user, group)) = &self.maps {
            let map = || {
                // Without this nobody without privileges may map a group.
                write_to(c"/proc/self/setgroups", c"deny")?;
                write_to(c"/proc/self/uid_map", user)?;
                write_to(c"/proc/self/gid_map", group)
            };
            map().map_err(|error| (Step::UserMap, error))?;
        }
        Ok(())
    }

    /// Gives up what is not kept, for good: no program that is run gets it back. System calls only.
    pub(super) fn give_up_privileges() -> Result<(), Errno> {
        set_no_new_privs(true)?;
        let had = capabilities(None)?;
        let kept = CapabilitySets {
            effective: had.effective & KEPT,
            permitted: had.permitted & KEPT,
            inheritable: CapabilitySet::empty(),
        };
        set_capabilities(None, kept)
    }
}

fn write_to(path: &CStr, text: &CStr) -> Result<(), Errno> {
    let file = openat(CWD, path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(&file, text.to_bytes()).map(drop)
}
