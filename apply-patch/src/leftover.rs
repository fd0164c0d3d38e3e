//! Temporary files that a killed process left behind.
//!
//! A process that is killed while it stages cannot clean up. The name of a temporary file says whose it
//! is: the process by its number and its start, and the world in which that number means something (this
//! boot, this number space: containers share folders, not numbers). Whoever makes a temporary file in a
//! folder first removes those there whose process is certainly gone. Others stay: what cannot be told
//! for sure is not ours to remove.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use sha2::{Digest, Sha256};

use crate::fs::{Fs, Kind};

/// How the name of every temporary file starts.
pub(crate) const PREFIX: &str = ".tenon-patch-";
const SUFFIX: &str = ".tmp";
/// Entries of a folder that are looked at: cleaning up must not take longer than the work.
pub(crate) const MAX_ENTRIES: usize = 4096;
/// Bytes of a hash that tell one world from another.
const WORLD_BYTES: usize = 4;

/// A process that makes temporary files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Owner {
    /// In hexadecimal. Absent where the system does not tell, and then nobody's files are removed.
    world: Option<String>,
    process: u32,
    /// In the kernel's ticks since it booted; 0 where the system does not tell.
    start: u64,
}

impl Owner {
    /// This process.
    pub(crate) fn me() -> &'static Self {
        static ME: OnceLock<Owner> = OnceLock::new();
        ME.get_or_init(|| {
            let process = std::process::id();
            let start = start_of(process);
            Self { world: world().filter(|_| start.is_some()), process, start: start.unwrap_or_default() }
        })
    }

    /// A name for a temporary file of this process.
    pub(crate) fn my_name(number: u64) -> String {
        static MINE: OnceLock<String> = OnceLock::new();
        let mine = MINE.get_or_init(|| Self::me().names());
        format!("{mine}{number}{SUFFIX}")
    }

    /// How the names of its files start.
    fn names(&self) -> String {
        let world = self.world.as_deref().unwrap_or("0");
        format!("{PREFIX}{world}-{}-{}-", self.process, self.start)
    }

    /// Whose file it is, by its name.
    fn of(name: &OsStr) -> Option<Self> {
        let middle = name.to_str()?.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
        let mut parts = middle.split('-');
        let (world, process, start) = (parts.next()?, parts.next()?, parts.next()?);
        let owner = Self {
            world: Some(world.to_owned()),
            process: process.parse().ok()?,
            start: start.parse().ok()?,
        };
        parts.next()?.parse::<u64>().ok()?;
        parts.next().is_none().then_some(owner)
    }

    /// Whether it certainly does not run any more, as far as this process can tell.
    fn is_gone(&self) -> bool {
        let Some(process) = i32::try_from(self.process).ok().and_then(Pid::from_raw) else { return false };
        match test_kill_process(process) {
            Err(Errno::SRCH) => true,
            // It is there; but is it the same?
            Ok(()) | Err(_) => start_of(self.process).is_some_and(|start| start != self.start),
        }
    }
}

/// Removes what processes that are gone left in `folder`. Nothing of this can fail a patch.
pub(crate) fn sweep(fs: &dyn Fs, folder: &Path) {
    let me = Owner::me();
    if me.world.is_none() {
        return;
    }
    for name in fs.names(folder, PREFIX, MAX_ENTRIES).unwrap_or_default() {
        let dead = |owner: &Owner| owner.world == me.world && owner != me && owner.is_gone();
        let path = folder.join(&name);
        if Owner::of(&name).as_ref().is_some_and(dead)
            && fs.facts(&path).is_ok_and(|facts| facts.kind == Kind::File)
            && let Err(error) = fs.remove(&path)
        {
            tracing::debug!(path = %path.display(), %error, "a temporary file was left behind");
        }
    }
}

/// Names this boot of this machine and the space in which process numbers count.
fn world() -> Option<String> {
    let boot = fs::read("/proc/sys/kernel/random/boot_id").ok()?;
    let numbers = fs::read_link("/proc/self/ns/pid").ok()?;
    let hash =
        Sha256::new().chain_update(boot).chain_update(numbers.as_os_str().as_encoded_bytes()).finalize();
    Some(hash.iter().take(WORLD_BYTES).map(|byte| format!("{byte:02x}")).collect())
}

/// When a process started. Its name, which may hold anything, stands in brackets before that.
fn start_of(process: u32) -> Option<u64> {
    /// The place of the start behind the name.
    const START: usize = 19;
    let stat = fs::read(format!("/proc/{process}/stat")).ok()?;
    let name_end = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(stat.get(name_end + 1..)?).ok()?;
    rest.split_whitespace().nth(START)?.parse().ok()
}

#[cfg(test)]
#[path = "leftover_tests.rs"]
mod tests;
