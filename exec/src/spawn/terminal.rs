//! Terminals.

use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use tokio::io::unix::AsyncFd;

use super::descriptor::awaitable;
use super::launch::{Input, Streams};

/// The size of every terminal (runtime.md B1).
const SIZE: Winsize = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };

/// Our side of a terminal, to be typed on.
#[derive(Debug)]
pub(crate) struct Keyboard(AsyncFd<OwnedFd>);

impl Keyboard {
    /// Types all of `bytes`, as fast as they are taken.
    pub(crate) async fn type_in(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let mut ready = self.0.writable().await?;
            match ready.try_io(|fd| rustix::io::write(fd, bytes).map_err(io::Error::from)) {
                Ok(Ok(count)) => bytes = bytes.get(count..).unwrap_or_default(),
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(Err(error)) => return Err(error),
                Err(_would_block) => {}
            }
        }
        Ok(())
    }
}

/// Makes a terminal: the process's streams, what it prints, and what can be typed on.
pub(crate) fn open_terminal() -> io::Result<(Streams, OwnedFd, Keyboard)> {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    let name = ptsname(&ours, Vec::new())?;
    let theirs = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
    tcsetwinsize(&theirs, SIZE)?;
    let streams =
        Streams { output: theirs.try_clone()?, errors: theirs.try_clone()?, input: Input::Terminal(theirs) };
    // A second descriptor: reading and typing are waited for apart.
    let keyboard = Keyboard(awaitable(ours.try_clone()?)?);
    Ok((streams, ours, keyboard))
}
