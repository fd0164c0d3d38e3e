//! The client as a function: the program's library, run in the test's own process.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use tenon::{Invocation, TerminalInfo};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::client::{Client, Exit, Finished, GRACE, Launch};

/// Runs `tenon::run` with an empty standard input and no terminal.
#[derive(Debug, Clone, Copy, Default)]
pub struct InProcessClient;

#[async_trait]
impl Client for InProcessClient {
    async fn run(&self, launch: Launch) -> anyhow::Result<Finished> {
        let (stdout, stderr) = (Captured::default(), Captured::default());
        let (cancellation, quit) = (CancellationToken::new(), CancellationToken::new());
        let mut args = vec!["tenon".into()];
        args.extend(launch.args);
        let invocation = Invocation {
            args,
            environment: launch.environment,
            cwd: launch.cwd,
            stdin: Box::new(io::empty()),
            stdout: Box::new(stdout.clone()),
            stderr: Box::new(stderr.clone()),
            terminal: TerminalInfo::default(),
            tty: None,
            cancellation: cancellation.clone(),
            quit: quit.clone(),
        };
        // A task of its own: a panic is its error, and not the test's.
        let mut running = tokio::spawn(tenon::run(invocation));
        let exit = match timeout(launch.limit, &mut running).await {
            Ok(status) => Exit::Code(status?.into()),
            Err(_) => {
                // As a user would: one Ctrl-C, and another one when that does not help.
                cancellation.cancel();
                if timeout(GRACE, &mut running).await.is_err() {
                    quit.cancel();
                    running.abort();
                    let _ = running.await;
                }
                Exit::TimedOut
            }
        };
        Ok(Finished { exit, stdout: stdout.take(), stderr: stderr.take() })
    }
}

/// What was written, kept.
#[derive(Debug, Clone, Default)]
struct Captured(Arc<Mutex<Vec<u8>>>);

impl Captured {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
#[path = "in_process_tests.rs"]
mod tests;
