//! What holds a command to its sandbox mode (runtime.md D9): four fences, all put up in the child between fork and exec.
//!
//! | fence | holds |
//! |---|---|
//! | mounts in a namespace of its own (`mounts`) | everything read-only but the writable roots; `.git` and the like inside them read-only again; roots and the folders above them cannot be moved away; the sockets of others covered (`sockets`) |
//! | Landlock (`files`) | writing, creating, linking and device control below the roots only; abstract sockets, TCP ports, signals and tracing out of the command |
//! | seccomp (`calls`) | inet sockets, and calls that would undo or get round the rest |
//! | privileges (`identity`) | no new ones by setuid programs, none over the machine |
//!
//! Two fences stand where either would do for most of it: Landlock knows files and not names, and cannot take out a
//! part of what it gives; mounts know names, and hold what Landlock does not see, such as modes, owners and times.
//!
//! All that allocates happens in the parent ([`Sandbox::prepare`]). The child ([`Sandbox::enter`]) makes system calls
//! and nothing else.

mod calls;
mod denial;
mod error;
mod files;
mod identity;
mod limits;
mod memory;
mod mounts;
mod sockets;
mod terminals;

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};

use calls::Filter;
use identity::Identity;
use memory::SharedMemory;
use mounts::Mounts;

pub(crate) use denial::Denial;
pub use error::SandboxError;
use error::Step;
pub(crate) use limits::Limits;

/// The fences of one command, ready to be put up.
#[derive(Debug)]
pub(crate) struct Sandbox {
    identity: Identity,
    mounts: Mounts,
    folder: CString,
    files: OwnedFd,
    /// Whether it may make terminals.
    makes_terminals: bool,
    shared_memory: Option<SharedMemory>,
    filter: Filter,
    /// Where the child says which fence does not stand.
    report: OwnedFd,
}

/// Hears which fence could not be put up.
#[derive(Debug)]
pub(crate) struct Report {
    mode: &'static str,
    pipe: OwnedFd,
}

impl Sandbox {
    /// Makes everything ready for a command in `folder`, with this terminal if it has one.
    pub(crate) fn prepare(
        limits: &Limits,
        folder: &Path,
        terminal: Option<BorrowedFd<'_>>,
    ) -> Result<(Self, Report), SandboxError> {
        let failed = |step| move |error: io::Error| SandboxError::new(limits.mode(), step, error);
        let (pipe, report) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)
            .map_err(|error| failed(Step::Preparation)(error.into()))?;
        let sandbox = Self {
            identity: Identity::own().map_err(failed(Step::Preparation))?,
            mounts: Mounts::plan(limits.roots(), &sockets::to_be_covered(limits))
                .map_err(failed(Step::Preparation))?,
            folder: c_path(folder).map_err(failed(Step::Preparation))?,
            files: files::ruleset(limits, terminal).map_err(failed(Step::Landlock))?,
            makes_terminals: terminal.is_none(),
            shared_memory: SharedMemory::plan(limits, folder).map_err(failed(Step::Preparation))?,
            filter: Filter::new(limits.network()).map_err(failed(Step::Preparation))?,
            report,
        };
        Ok((sandbox, Report { mode: limits.mode(), pipe }))
    }

    /// Puts the fences up around the calling process. For a child between fork and exec: it makes system calls only.
    pub(crate) fn enter(&mut self) -> io::Result<()> {
        self.put_up().map_err(|(step, error)| {
            // A pipe that is empty has room for a byte.
            let _ = rustix::io::write(&self.report, &[step.code()]);
            error.into()
        })
    }

    fn put_up(&mut self) -> Result<(), (Step, Errno)> {
        self.identity.enter_namespaces()?;
        self.mounts.mount().map_err(|error| (Step::Mounts, error))?;
        if self.makes_terminals {
            // Where they are not to be had, the command can make none: nothing is lost but that.
            let _ = terminals::give(self.files.as_fd());
        }
        if let Some(shared_memory) = &self.shared_memory {
            // The same: without it, the command has the host's, and cannot write there.
            let _ = shared_memory.give(self.files.as_fd());
        }
        // The folder is another one now: the same by name, on a mount that can be written.
        rustix::process::chdir(&*self.folder).map_err(|error| (Step::Folder, error))?;
        Identity::give_up_privileges().map_err(|error| (Step::Privileges, error))?;
        files::restrict(self.files.as_fd()).map_err(|error| (Step::Landlock, error))?;
        self.filter.apply().map_err(|error| (Step::Seccomp, error))
    }
}

impl Report {
    /// Why the child did not start, if it is for the sandbox; `error` is what it gave.
    pub(crate) fn failure(&self, error: &io::Error) -> Option<SandboxError> {
        let mut code = [0];
        let count = rustix::io::read(&self.pipe, &mut code).ok()?;
        let step = (count == 1).then(|| Step::of_code(code[0])).flatten()?;
        let error =
            error.raw_os_error().map_or_else(|| io::Error::from(error.kind()), io::Error::from_raw_os_error);
        Some(SandboxError::new(self.mode, step, error))
    }
}

/// A path for system calls.
fn c_path(path: &Path) -> io::Result<CString> {
    Ok(CString::new(path.as_os_str().as_bytes())?)
}

/// What the last system call of this thread failed with.
fn last_error() -> Errno {
    Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::INVAL)
}
