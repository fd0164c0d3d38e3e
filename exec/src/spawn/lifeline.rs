//! What ends our processes when we cannot: a small process that holds the other end of a pipe.
//!
//! The parent-death signal reaches the leaders of sessions only, and can be ignored. So a shell is told of every
//! session that begins and ends; when its input comes to an end, we are gone, and it kills what is left.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::children::OwnChild;
use super::marks::{MARK, Marks};

/// What the shell runs.
const SCRIPT: &str = include_str!("lifeline.sh");

/// The length of a mark that the shell can go by: it reads an environment as one text, without the borders of its
/// variables, and finds in it only what is as long as a UUID for sure.
const MARK_LENGTH: usize = 36;

/// How long it may take to end what we have left. It looks through all processes up to 50 times.
const PATIENCE: Duration = Duration::from_secs(5);

/// The process, and our end of its pipe. Dropping it lets the process go: it kills what it still knows of.
#[derive(Debug)]
pub(super) struct Lifeline {
    child: OwnChild,
    pipe: Option<OwnedFd>,
}

impl Lifeline {
    /// Starts it, with these sessions and marks to begin with.
    pub(super) fn start(sessions: &BTreeSet<i32>, marks: &Marks) -> io::Result<Self> {
        Self::start_by("/bin/sh", sessions, marks)
    }

    fn start_by(shell: &str, sessions: &BTreeSet<i32>, marks: &Marks) -> io::Result<Self> {
        let (input, pipe) = pipe_with(PipeFlags::CLOEXEC)?;
        // A shell that stands still must not hold us up: what it cannot take counts as a failure.
        rustix::io::ioctl_fionbio(&pipe, true)?;
        let mut command = Command::new(shell);
        command.args(["-c", SCRIPT, "lifeline", MARK]).env_clear().current_dir("/");
        command.stdin(input).stdout(Stdio::null()).stderr(Stdio::null());
        leave_session(&mut command);
        let child = OwnChild::begin(|| command.spawn().map(|child| Pid::from_child(&child)))?;
        let mut lifeline = Self { child, pipe: Some(pipe) };
        for session in sessions {
            lifeline.begun(*session)?;
        }
        for mark in marks.iter() {
            lifeline.marked(mark)?;
        }
        Ok(lifeline)
    }

    /// Processes that bear this mark are ours. One that the shell could mistake for another is not told.
    pub(super) fn marked(&mut self, mark: &OsStr) -> io::Result<()> {
        let is_plain = |byte: &u8| byte.is_ascii_hexdigit() || *byte == b'-';
        match mark.to_str() {
            Some(mark) if mark.len() == MARK_LENGTH && mark.as_bytes().iter().all(is_plain) => {
                self.tell(&format!("= {mark}"))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// A session has begun.
    pub(super) fn begun(&mut self, session: i32) -> io::Result<()> {
        self.tell(&format!("+ {session}"))
    }

    /// Nothing is left of a session; its number may soon be another's.
    pub(super) fn ended(&mut self, session: i32) -> io::Result<()> {
        self.tell(&format!("- {session}"))
    }

    /// Ends it without its having killed anything: it does not hear us any more.
    pub(super) fn abandon(self) {
        self.child.kill();
    }

    fn ends_within(&self, time: Duration) -> bool {
        let Ok(pidfd) = pidfd_open(self.child.pid(), PidfdFlags::empty()) else { return true };
        let timeout = Timespec::try_from(time).ok();
        // Interrupted is as good as too late: it has been told to end, and may be killed.
        poll(&mut [PollFd::new(&pidfd, PollFlags::IN)], timeout.as_ref()).is_ok_and(|ready| ready > 0)
    }

    fn tell(&mut self, what: &str) -> io::Result<()> {
        // That it has gone does not always show on the pipe: a process that is just being started elsewhere may have a
        // copy of its end until it executes.
        if self.child.try_wait()?.is_some() {
            return Err(Errno::PIPE.into());
        }
        if let Some(pipe) = &self.pipe {
            // So short a line is written whole or not at all.
            rustix::io::write(pipe, format!("{what}\n").as_bytes())?;
        }
        Ok(())
    }
}

impl Drop for Lifeline {
    fn drop(&mut self) {
        // We live: nobody is left to another's care.
        let _ = self.tell(".");
        self.pipe = None;
        // It ends by itself now, and quickly: unless it stands still, or a process that is just being started, and is
        // kept from it, has a copy of our end.
        if !self.ends_within(PATIENCE) {
            self.child.kill();
        }
        self.child.wait();
    }
}

/// Makes the child the leader of a session, so that what ends ours does not end it.
#[allow(unsafe_code)]
fn leave_session(command: &mut Command) {
    // SAFETY: between fork and exec the closure makes one system call; it allocates nothing and takes no lock.
    unsafe {
        command.pre_exec(|| Ok(rustix::process::setsid().map(drop)?));
    }
}

#[cfg(test)]
#[path = "lifeline_tests.rs"]
mod tests;
