//! Reading what a command prints, as fast as it comes.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::io::Errno;
use tokio::io::unix::AsyncFd;
use tokio::sync::watch;

use crate::output::Output;
use crate::spawn::{Exit, awaitable};

/// Bytes taken in one read.
const READ_BYTES: usize = 64 * 1024;

/// The reading end of a command's output.
#[derive(Debug)]
pub(crate) struct Source(AsyncFd<OwnedFd>);

impl Source {
    /// Takes `fd`, which must be open for reading. Needs a tokio runtime with I/O enabled.
    pub(crate) fn new(fd: OwnedFd) -> io::Result<Self> {
        awaitable(fd).map(Self)
    }

    /// Reads once, as soon as there is something; 0 at the end.
    pub(crate) async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let mut ready = self.0.readable().await?;
            match ready.try_io(|fd| rustix::io::read(fd, &mut *buffer).map_err(io::Error::from)) {
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                // A terminal whose other side is closed says it this way.
                Ok(Err(error)) if Errno::from_io_error(&error) == Some(Errno::IO) => return Ok(0),
                Ok(read) => return read,
                Err(_would_block) => {}
            }
        }
    }

    /// How many bytes are there to be read.
    fn available(&self) -> u64 {
        rustix::io::ioctl_fionread(&self.0).unwrap_or(0)
    }
}

/// Reads `source` into `output` until its end. What the process wrote before its own end is told from what others
/// write after: the output has settled when that is read.
pub(crate) async fn pump(source: Source, output: Arc<Output>, mut exit: watch::Receiver<Option<Exit>>) {
    let mut buffer = vec![0; READ_BYTES];
    // Bytes to be read before the output has settled; none while the process runs.
    let mut unsettled: Option<u64> = None;
    loop {
        if unsettled == Some(0) {
            output.set_flow(|flow| flow.settled = true);
        }
        let read = tokio::select! {
            read = source.read(&mut buffer) => read,
            ended = exit.wait_for(Option::is_some), if unsettled.is_none() => {
                drop(ended);
                unsettled = Some(source.available());
                continue;
            }
        };
        let count = read.unwrap_or_else(|error| {
            tracing::warn!(%error, "the output of a command cannot be read any more");
            0
        });
        let Some(bytes) = buffer.get(..count).filter(|bytes| !bytes.is_empty()) else { break };
        output.push(bytes);
        unsettled = unsettled.map(|left| left.saturating_sub(count as u64));
    }
    output.set_flow(|flow| flow.closed = true);
}

#[cfg(test)]
#[path = "pump_tests.rs"]
mod tests;
