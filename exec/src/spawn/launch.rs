//! Starting one process.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal};

use super::children::OwnChild;
use super::error::SpawnError;
use super::vfork;
use crate::environment::Environment;
use crate::sandbox::{Limits, Sandbox};

/// What is to be started.
#[derive(Debug)]
pub(crate) struct Launch {
    /// The program: a path, or a name to be looked up in the PATH of `environment`.
    pub(crate) program: PathBuf,
    /// Its arguments, without its name.
    pub(crate) arguments: Vec<OsString>,
    /// Its whole environment.
    pub(crate) environment: Environment,
    /// Where it starts.
    pub(crate) folder: PathBuf,
    /// What it is held to, where it is.
    pub(crate) limits: Option<Limits>,
}

/// What a process reads from.
#[derive(Debug)]
pub(crate) enum Input {
    /// The null device.
    Null,
    /// The reading end of a pipe.
    Pipe(OwnedFd),
    /// The process's side of a terminal, which becomes its controlling one.
    Terminal(OwnedFd),
}

/// The process's ends of its standard streams. Ours are closed once it has started, so that a reader sees the end.
#[derive(Debug)]
pub(crate) struct Streams {
    /// Standard input.
    pub(crate) input: Input,
    /// Standard output.
    pub(crate) output: OwnedFd,
    /// Standard error; with a copy of the same end as `output`, the order of writing is kept.
    pub(crate) errors: OwnedFd,
}

impl Launch {
    /// Starts it: leader of a new session and process group, told to terminate when the calling thread ends. All of
    /// this is done when it returns.
    pub(super) fn start(&self, streams: Streams) -> Result<OwnChild, SpawnError> {
        let (sandbox, report) = match &self.limits {
            Some(limits) => {
                let (sandbox, report) = Sandbox::prepare(limits, &self.folder, streams.terminal())?;
                (Some(sandbox), Some(report))
            }
            None => (None, None),
        };
        let terminal = matches!(streams.input, Input::Terminal(_));
        OwnChild::begin(|| start(self, streams.into_descriptors()?, terminal, sandbox)).map_err(|error| {
            match report.and_then(|report| report.failure(&error)) {
                Some(failure) => failure.into(),
                None => SpawnError::classify(self, error),
            }
        })
    }
}

impl Streams {
    fn terminal(&self) -> Option<BorrowedFd<'_>> {
        match &self.input {
            Input::Terminal(end) => Some(end.as_fd()),
            Input::Null | Input::Pipe(_) => None,
        }
    }

    pub(super) fn into_descriptors(self) -> io::Result<[OwnedFd; 3]> {
        let input = match self.input {
            Input::Null => rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?,
            Input::Pipe(end) | Input::Terminal(end) => end,
        };
        Ok([input, self.output, self.errors])
    }
}

/// Starts it with all that is done in the child: its session, its descriptors, and the fences last of all.
#[allow(unsafe_code)]
fn start(
    launch: &Launch,
    streams: [OwnedFd; 3],
    terminal: bool,
    mut sandbox: Option<Sandbox>,
) -> io::Result<Pid> {
    let parent = rustix::process::getpid();
    let mut set_up = || {
        lead_session(parent, terminal)?;
        close_on_exec()?;
        sandbox.as_mut().map_or(Ok(()), Sandbox::enter)
    };
    // SAFETY: each of the three makes system calls only, and what the fences open stays theirs no longer than they are
    // put up, or is kept as a mere number.
    unsafe { vfork::start(launch, streams, &mut set_up) }
}

/// Makes the calling process the leader of a session, with `terminal` that of its standard input, and has it terminated
/// when the thread ends that has started it. System calls only.
fn lead_session(parent: Pid, terminal: bool) -> io::Result<()> {
    rustix::process::setsid()?;
    if terminal {
        rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())?;
    }
    rustix::process::set_parent_process_death_signal(Some(Signal::TERM))?;
    // The parent may have died before the signal was set: then nobody would send it.
    if rustix::process::getppid() != Some(parent) {
        return Err(io::Error::from(rustix::io::Errno::SRCH));
    }
    Ok(())
}

/// Marks every descriptor but the three streams, so that the program which the process becomes has none of them: one
/// that was opened elsewhere without care would be a way out.
#[allow(unsafe_code)]
fn close_on_exec() -> io::Result<()> {
    let (first, last, flags): (libc::c_uint, libc::c_uint, libc::c_uint) =
        (3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC);
    // SAFETY: the call takes numbers only, and the descriptors stay open here.
    match unsafe { libc::syscall(libc::SYS_close_range, first, last, flags) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
