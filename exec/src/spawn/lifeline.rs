//! What ends our processes when we cannot: a small process that holds the other end of a pipe.
//!
//! The parent-death signal reaches the leaders of sessions only, and can be ignored. So a shell is told of every
//! session that begins and ends; when its input comes to an end, we are gone, and it kills what is left.

use std::collections::BTreeSet;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};

/// What the shell runs. It reads `+ID` and `- ID` lines. At the end it kills every process of the sessions it knows
/// of, whatever group they are in, until it finds none, but not more often than 50 times. Only built-ins are used.
const SCRIPT: &str = r#"
known=' '
while read -r what id; do
    case $what in
        +) known="$known$id " ;;
        -) case $known in *" $id "*) known="${known%% "$id" *} ${known#* "$id" }" ;; esac ;;
    esac
done
round=0
while [ "$known" != ' ' ] && [ $round -lt 50 ]; do
    round=$((round + 1))
    found=
    for process in /proc/[0-9]*; do
        { read -r line < "$process/stat"; } 2> /dev/null || continue
        set -- ${line##*) }
        case $1 in Z|X) continue ;; esac
        case $known in *" $4 "*) kill -s KILL "${process#/proc/}" 2> /dev/null && found=yes ;; esac
    done
    [ -n "$found" ] || break
done
"#;

/// The process, and our end of its pipe. Dropping it lets the process go: it kills what it still knows of.
#[derive(Debug)]
pub(super) struct Lifeline {
    child: Child,
    pipe: Option<OwnedFd>,
}

impl Lifeline {
    /// Starts it, with these sessions to begin with.
    pub(super) fn start(sessions: &BTreeSet<i32>) -> io::Result<Self> {
        Self::start_by("/bin/sh", sessions)
    }

    fn start_by(shell: &str, sessions: &BTreeSet<i32>) -> io::Result<Self> {
        let (input, pipe) = pipe_with(PipeFlags::CLOEXEC)?;
        // A shell that stands still must not hold us up: what it cannot take counts as a failure.
        rustix::io::ioctl_fionbio(&pipe, true)?;
        let mut command = Command::new(shell);
        command.args(["-c", SCRIPT]).env_clear().current_dir("/");
        command.stdin(input).stdout(Stdio::null()).stderr(Stdio::null());
        leave_session(&mut command);
        let mut lifeline = Self { child: command.spawn()?, pipe: Some(pipe) };
        for session in sessions {
            lifeline.tell('+', *session)?;
        }
        Ok(lifeline)
    }

    /// The number of its process.
    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// A session has begun.
    pub(super) fn begun(&mut self, session: i32) -> io::Result<()> {
        self.tell('+', session)
    }

    /// Nothing is left of a session; its number may soon be another's.
    pub(super) fn ended(&mut self, session: i32) -> io::Result<()> {
        self.tell('-', session)
    }

    /// Ends it without its having killed anything: it does not hear us any more.
    pub(super) fn abandon(mut self) {
        let _ = self.child.kill();
    }

    fn tell(&mut self, what: char, session: i32) -> io::Result<()> {
        // That it has gone does not always show on the pipe: a process that is just being started elsewhere may have a
        // copy of its end until it executes.
        if self.child.try_wait()?.is_some() {
            return Err(Errno::PIPE.into());
        }
        let line = format!("{what} {session}\n");
        if let Some(pipe) = &self.pipe {
            // So short a line is written whole or not at all.
            rustix::io::write(pipe, line.as_bytes())?;
        }
        Ok(())
    }
}

impl Drop for Lifeline {
    fn drop(&mut self) {
        self.pipe = None;
        // It ends by itself now, and quickly; a failure means that somebody else has reaped it.
        let _ = self.child.wait();
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
