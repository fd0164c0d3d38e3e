//! A server's process, its group, and their end.

use std::ffi::OsStr;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::kin::{Kin, MARK, Mark};
use super::stderr::Tail;
use crate::config::StdioConfig;
use crate::error::StartError;

/// How long a server may take to leave by itself once its input has ended.
pub(crate) const EOF_GRACE: Duration = Duration::from_secs(1);
/// How long it, and all that it started, may take once they are asked to end.
pub(crate) const TERM_GRACE: Duration = Duration::from_secs(2);
/// How long it is waited for processes that were killed.
const KILL_GRACE: Duration = Duration::from_millis(500);
/// How long the end of its standard error may take to arrive.
const DRAIN_GRACE: Duration = Duration::from_millis(100);
/// How often it is looked whether anybody is left: nobody tells.
const LOOK_EVERY: Duration = Duration::from_millis(25);

/// A running server. It ends with this value, and so does all that it started.
#[derive(Debug)]
pub(crate) struct Process {
    kin: Kin,
    exited: watch::Receiver<Option<ExitStatus>>,
    tail: Tail,
    /// Waits for the process, so that it is reaped as soon as it has ended.
    waiter: JoinHandle<()>,
    drain: JoinHandle<()>,
    /// Whether nobody is left: then the number of the group may be another's by now.
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
        let mark = Mark::new();
        let mut command = Command::new(program(config, cwd));
        command
            .args(&config.args)
            .env_clear()
            .envs(&config.environment)
            .env(MARK, mark.value())
            .current_dir(cwd)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        let mut child = command.spawn().map_err(|error| cannot(&error))?;
        let group = child.id().and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(group), (Some(stdin), Some(stdout), Some(stderr))) = (group, streams) else {
            return Err(cannot(&"it has no streams"));
        };
        let tail = Tail::default();
        let drain = tokio::spawn(tail.clone().drain(server.to_owned(), stderr));
        let (told, exited) = watch::channel(None);
        let waiter = tokio::spawn(wait(child, told));
        let process = Self { kin: Kin { group, mark }, exited, tail, waiter, drain, done: false };
        Ok((process, Streams { stdin, stdout }))
    }

    /// Fires when the process has ended; what it started may live on.
    pub(crate) fn exited(&self) -> watch::Receiver<Option<ExitStatus>> {
        self.exited.clone()
    }

    /// Ends the server, whose input has been closed, and all that it started: first it may leave by itself, then they
    /// are asked to, then they are killed, down to the last process. How the server itself ended.
    pub(crate) async fn end(mut self) -> Ended {
        let _ = tokio::time::timeout(EOF_GRACE, self.exited.wait_for(Option::is_some)).await;
        if self.signal(Signal::TERM).await && !self.gone_within(TERM_GRACE, None).await {
            tracing::debug!(group = self.kin.group.as_raw_nonzero().get(), "killing what a server has left");
            self.gone_within(KILL_GRACE, Some(Signal::KILL)).await;
        }
        self.done = true;
        // One that even SIGKILL does not end is not waited for.
        let exited = tokio::time::timeout(KILL_GRACE, self.exited.wait_for(Option::is_some)).await;
        let status = exited.ok().and_then(Result::ok).and_then(|status| *status);
        // What was written to the end is still in the pipe, unless somebody who was not found holds it open.
        let _ = tokio::time::timeout(DRAIN_GRACE, &mut self.drain).await;
        Ended { status, stderr: self.tail.lines() }
    }

    /// Whether nobody is left within this time. Whoever is found meanwhile is sent `signal`.
    async fn gone_within(&self, grace: Duration, signal: Option<Signal>) -> bool {
        let gone = async {
            while match signal {
                Some(signal) => self.signal(signal).await,
                None => self.look(Kin::are_left).await,
            } {
                tokio::time::sleep(LOOK_EVERY).await;
            }
        };
        tokio::time::timeout(grace, gone).await.is_ok()
    }

    /// Whether anybody was there to be told.
    async fn signal(&self, signal: Signal) -> bool {
        self.look(move |kin| kin.signal(signal)).await
    }

    /// Looks for processes, on a thread that may wait for it.
    async fn look(&self, work: impl FnOnce(&Kin) -> bool + Send + 'static) -> bool {
        let kin = self.kin.clone();
        // What cannot be looked for, since everything ends, counts as gone.
        tokio::task::spawn_blocking(move || work(&kin)).await.unwrap_or_default()
    }
}

async fn wait(mut child: Child, told: watch::Sender<Option<ExitStatus>>) {
    let status = child.wait().await.unwrap_or_else(|_| ExitStatus::from_raw(0));
    told.send_replace(Some(status));
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.done {
            self.kin.signal(Signal::KILL);
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
