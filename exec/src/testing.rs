//! What the tests of this crate share: real processes, and ways to see them without waiting for a time.

#[path = "../tests/support/alone.rs"]
pub(crate) mod alone;

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use tokio::io::unix::AsyncFd;

use crate::environment::Environment;
use crate::spawn::{Input, Launch, Streams, awaitable};

/// Longer than anything takes that does happen; a test that waits as long has failed.
pub(crate) const LONG: Duration = Duration::from_secs(20);

pub(crate) fn environment() -> Environment {
    [("PATH".into(), std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into()))].into()
}

pub(crate) fn bash(script: &str, folder: &Path) -> Launch {
    Launch {
        program: PathBuf::from("/bin/bash"),
        arguments: vec!["-c".into(), script.into()],
        environment: environment(),
        folder: folder.to_owned(),
        limits: None,
    }
}

/// Streams into one pipe, and its other end.
pub(crate) fn one_pipe() -> (Streams, OwnedFd) {
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC).expect("a pipe");
    let errors = writer.try_clone().expect("a second end");
    (Streams { input: Input::Null, output: writer, errors }, reader)
}

/// Reads lines of numbers from a pipe until there are `count`.
pub(crate) async fn numbers(reader: OwnedFd, count: usize) -> (Vec<i32>, OwnedFd) {
    let read = move || {
        let mut file = File::from(reader);
        let mut text = String::new();
        let mut byte = [0];
        while text.matches('\n').count() < count {
            file.read_exact(&mut byte).expect("the next byte");
            text.push(char::from(byte[0]));
        }
        (text.lines().map(|line| line.trim().parse().expect("a number")).collect(), OwnedFd::from(file))
    };
    tokio::time::timeout(LONG, tokio::task::spawn_blocking(read)).await.expect("in time").expect("read")
}

/// Holds on to a process that is alive now.
pub(crate) struct Witness(Option<AsyncFd<OwnedFd>>);

impl Witness {
    pub(crate) fn new(pid: i32) -> Self {
        let pidfd = pidfd_open(Pid::from_raw(pid).expect("a pid"), PidfdFlags::empty());
        Self(pidfd.ok().map(|pidfd| awaitable(pidfd).expect("a reactor")))
    }

    /// Waits until the process is dead.
    pub(crate) async fn death(&self) {
        if let Some(pidfd) = &self.0 {
            drop(
                tokio::time::timeout(LONG, pidfd.readable())
                    .await
                    .expect("a process still lives")
                    .expect("polled"),
            );
        }
    }

    /// Whether it is dead already.
    pub(crate) fn is_dead(&self) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let Some(pidfd) = &self.0 else { return true };
        let mut polled = [PollFd::new(pidfd.get_ref(), PollFlags::IN)];
        poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).expect("polled") > 0
    }
}

/// Runs a future and tells how long it took.
pub(crate) async fn timed<T>(future: impl Future<Output = T>) -> (T, Duration) {
    let start = Instant::now();
    let value = tokio::time::timeout(LONG, future).await.expect("in time");
    (value, start.elapsed())
}
