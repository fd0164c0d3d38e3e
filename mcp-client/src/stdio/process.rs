//! A server's process, its group, and their end.

use std::ffi::OsStr;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::stderr::Tail;
use crate::config::StdioConfig;
use crate::error::StartError;

/// How long a server may take to leave by itself once its input has ended.
pub(crate) const EOF_GRACE: Duration = Duration::from_secs(1);
/// How long it, and those it started, may take once they are asked to end.
pub(crate) const TERM_GRACE: Duration = Duration::from_secs(2);
/// How long it is waited for processes that were killed.
const KILL_GRACE: Duration = Duration::from_millis(500);
/// How often it is looked whether a group is empty: nobody tells.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// A running server: a group of its own, that ends with this value.
#[derive(Debug)]
pub(crate) struct Process {
    group: Group,
    exited: watch::Receiver<Option<ExitStatus>>,
    tail: Tail,
    /// Waits for the process, so that it is reaped as soon as it has ended.
    waiter: JoinHandle<()>,
    drain: JoinHandle<()>,
    /// Whether the group is known to be empty: then its number may be another's by now.
    done: bool,
}

/// The streams that are spoken over.
#[derive(Debug)]
pub(crate) struct Streams {
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
}

impl Process {
    /// Starts a server in this folder, unless it is configured for another.
    ///
    /// # Errors
    /// When the program cannot be started.
    pub(crate) fn spawn(
        server: &str,
        config: &StdioConfig,
        cwd: &Path,
    ) -> Result<(Self, Streams), StartError> {
        let cwd = config.cwd.as_deref().unwrap_or(cwd);
        let cannot = |error: &dyn std::fmt::Display| {
            StartError::new(format!("cannot start `{}`: {error}", config.command.to_string_lossy()))
        };
        if !cwd.is_dir() {
            return Err(cannot(&format_args!("the working folder {} is not there", cwd.display())));
        }
        let mut command = Command::new(program(config, cwd));
        command
            .args(&config.args)
            .env_clear()
            .envs(&config.environment)
            .current_dir(cwd)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        let mut child = command.spawn().map_err(|error| cannot(&error))?;
        let group = child.id().and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(pid), (Some(stdin), Some(stdout), Some(stderr))) = (group, streams) else {
            return Err(cannot(&"it has no streams"));
        };
        let tail = Tail::default();
        let drain = tokio::spawn(tail.clone().drain(server.to_owned(), stderr));
        let (told, exited) = watch::channel(None);
        let waiter = tokio::spawn(wait(child, told));
        let process = Self { group: Group(pid), exited, tail, waiter, drain, done: false };
        Ok((process, Streams { stdin, stdout }))
    }

    /// Fires when the process has ended; its group may live on.
    pub(crate) fn exited(&self) -> watch::Receiver<Option<ExitStatus>> {
        self.exited.clone()
    }

    /// Ends the group, whose input has been closed: first it may leave by itself, then it is asked to, then it is
    /// killed, down to the last process. How the server itself ended.
    pub(crate) async fn end(mut self) -> Ended {
        if !self.leaves_within(EOF_GRACE).await {
            self.group.signal(Signal::TERM);
            if !self.leaves_within(TERM_GRACE).await {
                self.group.signal(Signal::KILL);
            }
        }
        // The process has ended, or cannot but end; those that it started may not know.
        self.group.clear().await;
        self.done = true;
        // One that even SIGKILL does not end is not waited for.
        let exited = tokio::time::timeout(KILL_GRACE, self.exited.wait_for(Option::is_some)).await;
        let status = exited.ok().and_then(Result::ok).and_then(|status| *status);
        // What was written to the end is still in the pipe, unless somebody who left the group holds it open.
        let _ = tokio::time::timeout(LOOK_EVERY * 10, &mut self.drain).await;
        Ended { status, stderr: self.tail.lines() }
    }

    async fn leaves_within(&mut self, grace: Duration) -> bool {
        tokio::time::timeout(grace, self.exited.wait_for(Option::is_some)).await.is_ok()
    }
}

async fn wait(mut child: Child, told: watch::Sender<Option<ExitStatus>>) {
    let status = child.wait().await.unwrap_or_else(|_| ExitStatus::from_raw(0));
    told.send_replace(Some(status));
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.done {
            self.group.signal(Signal::KILL);
        }
        self.waiter.abort();
        self.drain.abort();
    }
}

/// How a server's process ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) status: Option<ExitStatus>,
    /// The last lines of its standard error.
    pub(crate) stderr: Vec<String>,
}

impl Ended {
    /// The exit status and the last words, for people.
    pub(crate) fn describe(&self) -> String {
        let status = match self.status {
            Some(status) => match (status.code(), status.signal()) {
                (Some(code), _) => format!("exited with code {code}"),
                (None, Some(signal)) => format!("was killed by signal {signal}"),
                (None, None) => "ended".to_owned(),
            },
            None => "ended".to_owned(),
        };
        if self.stderr.is_empty() {
            return format!("the server {status}");
        }
        format!("the server {status}; its last words:\n{}", self.stderr.join("\n"))
    }
}

#[derive(Debug)]
struct Group(Pid);

impl Group {
    /// Whether anybody was there to be told.
    fn signal(&self, signal: Signal) -> bool {
        kill_process_group(self.0, signal).is_ok()
    }

    fn is_empty(&self) -> bool {
        test_kill_process_group(self.0).is_err()
    }

    /// Ends what is left of it, and waits until it has gone.
    async fn clear(&self) {
        if !self.signal(Signal::TERM) || self.is_emptied(TERM_GRACE).await {
            return;
        }
        self.signal(Signal::KILL);
        tracing::debug!(group = self.0.as_raw_nonzero().get(), "killed what a server had left");
        // Whoever is killed has gone at once; that it is reaped is another's matter, and may never be.
        self.is_emptied(KILL_GRACE).await;
    }

    /// Whether nobody is left within this time.
    async fn is_emptied(&self, within: Duration) -> bool {
        let empty = async {
            while !self.is_empty() {
                tokio::time::sleep(LOOK_EVERY).await;
            }
        };
        tokio::time::timeout(within, empty).await.is_ok()
    }
}

/// The program, looked up on the server's own `PATH` where it is a bare name.
fn program(config: &StdioConfig, cwd: &Path) -> PathBuf {
    let command = Path::new(&config.command);
    if command.components().count() > 1 || command.is_absolute() {
        return if command.is_absolute() { command.to_owned() } else { cwd.join(command) };
    }
    let path = config.environment.get(OsStr::new("PATH"));
    let found = path.into_iter().flat_map(std::env::split_paths).map(|dir| dir.join(command));
    found.into_iter().find(|candidate| is_executable(candidate)).unwrap_or_else(|| command.to_owned())
}

fn is_executable(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

#[cfg(test)]
#[path = "process_tests.rs"]
mod tests;
