//! File descriptors that tasks wait on.

use std::io;
use std::os::fd::OwnedFd;

use tokio::io::unix::AsyncFd;

/// Makes tasks able to wait for `fd`, which becomes non-blocking. Needs a tokio runtime with I/O enabled.
#[allow(unsafe_code)]
pub(crate) fn awaitable(fd: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    rustix::io::ioctl_fionbio(&fd, true)?;
    // SAFETY: an `OwnedFd` is open as long as it lives, always refers to the same description, and is owned by the
    // `AsyncFd`, which lends it out shared only.
    Ok(unsafe { AsyncFd::register(fd) }?)
}
