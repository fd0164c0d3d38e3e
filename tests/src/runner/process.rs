//! A client that is a program.

use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::Stdio;

use anyhow::Context as _;
use async_trait::async_trait;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::client::{Client, Exit, Finished, GRACE, Launch};

/// Runs a program in a process group of its own.
#[derive(Debug, Clone)]
pub struct ProcessClient {
    /// The program.
    pub program: PathBuf,
    /// Arguments before those of the launch.
    pub args: Vec<String>,
}

#[async_trait]
impl Client for ProcessClient {
    async fn run(&self, launch: Launch) -> anyhow::Result<Finished> {
        let mut child = Command::new(&self.program)
            .args(&self.args)
            .args(&launch.args)
            .env_clear()
            .envs(&launch.environment)
            .current_dir(&launch.cwd)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("could not start {}", self.program.display()))?;
        let group = child.id();
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let mut ended = Box::pin(to_the_end(&mut child, &mut stdout, &mut stderr));
        let exit = match timeout(launch.limit, &mut ended).await {
            Ok(exit) => exit?,
            Err(_) => {
                kill_group(group);
                // Whatever holds the pipes open beyond the kill left the group: what was read so far has to do.
                let _ = timeout(GRACE, &mut ended).await;
                Exit::TimedOut
            }
        };
        drop(ended);
        Ok(Finished { exit, stdout, stderr })
    }
}

/// Reads both outputs until nobody holds them open, then reaps the child.
async fn to_the_end(child: &mut Child, stdout: &mut Vec<u8>, stderr: &mut Vec<u8>) -> anyhow::Result<Exit> {
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let (status, out, err) = tokio::join!(child.wait(), read(out, stdout), read(err, stderr));
    out.context("standard output")?;
    err.context("standard error")?;
    let status = status.context("the end of the client")?;
    Ok(match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => anyhow::bail!("the client ended neither by itself nor by a signal: {status}"),
    })
}

async fn read(pipe: Option<impl AsyncRead + Unpin>, into: &mut Vec<u8>) -> std::io::Result<()> {
    match pipe {
        Some(mut pipe) => pipe.read_to_end(into).await.map(|_| ()),
        None => Ok(()),
    }
}

fn kill_group(id: Option<u32>) {
    let pid = id.and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    if let Some(pid) = pid {
        // It may have ended in the meantime.
        let _ = kill_process_group(pid, Signal::KILL);
    }
}

#[cfg(test)]
#[path = "process_tests.rs"]
mod tests;
